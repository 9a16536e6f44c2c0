package mcptools

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/nested"
)

// call is a call as the handler that makes it sees it.
type call struct {
	server *Server
	task   Task
	tool   Tool
	args   json.RawMessage

	handler nested.Handler // nil: ctx is not that of a handler
	known   nested.Known
	running *running
}

// begin notes a call with the handler's task, which may know it: from an earlier attempt, or from before a question.
func (s *Server) begin(ctx context.Context, t Task, tool Tool, args json.RawMessage) (*call, error) {
	c := &call{server: s, task: t, tool: tool, args: args, handler: nested.From(ctx)}
	if c.handler == nil {
		return c, nil
	}
	var err error
	c.known, err = c.handler.Call(nested.Call{
		Agent: "mcp:" + s.Name, Skill: tool.Name, Content: sha256.Sum256(args), Parts: []runtime.Part{runtime.Data(args)},
		Cancel: func(_ context.Context, id string) error { return s.waiting.cancel(id) },
	})
	return c, err
}

// result is what the tool gives: at once, from before, or after an answer.
func (c *call) result(ctx context.Context) (*sdk.CallToolResult, error) {
	switch {
	case c.known.Reply != nil:
		result := &sdk.CallToolResult{}
		if err := json.Unmarshal(c.known.Reply, result); err != nil {
			return nil, c.lost()
		}
		return result, nil
	case c.known.Task != "":
		return c.resume(ctx)
	case !c.known.Sent.IsZero() && !c.tool.Again:
		return nil, c.lost()
	}
	return c.call(ctx)
}

func (c *call) lost() error { return &LostError{Server: c.server.Name, Tool: c.tool.Name} }

// call calls the tool. Where the server has forgotten the session, or the call may be made twice, a lost connection is made
// anew, once.
func (c *call) call(ctx context.Context) (*sdk.CallToolResult, error) {
	for attempt := 0; ; attempt++ {
		dialing, cancel := context.WithTimeout(ctx, c.server.timeout())
		conn, err := c.server.connection(dialing)
		cancel()
		if err != nil {
			return nil, c.server.unreachable(nil, err)
		}
		c.running = conn.start(ctx, c.tool.Name, c.args, c.handler != nil)
		result, err := c.follow(ctx)
		if err == nil || ctx.Err() != nil || attempt > 0 {
			return result, err
		}
		if !notTaken(err) && !(c.tool.Again && errors.Is(err, sdk.ErrConnectionClosed)) {
			return nil, err
		}
		c.server.drop(ctx, conn)
	}
}

// follow follows a call until the tool has a result or a question, and tells the task of its progress.
func (c *call) follow(ctx context.Context) (*sdk.CallToolResult, error) {
	silence := time.NewTimer(c.server.timeout())
	defer silence.Stop()
	for {
		select {
		case text := <-c.running.progress:
			silence.Reset(c.server.timeout())
			if err := c.task.Progress("%s", text); err != nil {
				c.running.cancel()
				return nil, err
			}
		case q := <-c.running.questions:
			return nil, c.ask(q)
		case o := <-c.running.done:
			return c.end(o)
		case <-silence.C:
			c.running.cancel()
			return nil, &UnreachableError{Server: c.server.Name, Err: context.DeadlineExceeded}
		case <-ctx.Done():
			c.running.cancel()
			return nil, context.Cause(ctx)
		}
	}
}

// end tells the task of the end of a call. What the tool said of its progress before comes first.
func (c *call) end(o outcome) (*sdk.CallToolResult, error) {
	for len(c.running.progress) > 0 {
		if err := c.task.Progress("%s", <-c.running.progress); err != nil {
			return nil, err
		}
	}
	if o.err != nil {
		if c.known.Task != "" {
			c.handler.Ended(c.known.ID)
		}
		return nil, c.running.explain(o.err)
	}
	if c.handler == nil {
		return o.result, nil
	}
	reply, err := json.Marshal(o.result)
	if err != nil {
		return nil, fmt.Errorf("remember a result: %w", err)
	}
	return o.result, c.handler.Replied(c.known.ID, reply)
}

// running is a call that the server works on.
type running struct {
	id        string // and progress token
	conn      *connection
	cancel    context.CancelFunc // tells the server so, too
	over      <-chan struct{}    // closed when it is canceled, or has ended
	asks      bool               // somebody can be asked
	asking    lock               // one question at a time
	progress  chan string
	told      int // how often it was told of progress
	questions chan *question
	done      chan outcome // holds one
}

type outcome struct {
	result *sdk.CallToolResult
	err    error
}

// Limits of what a tool says meanwhile.
const (
	maxWaitingProgress = 64   // that nobody has read
	maxProgress        = 1000 // in all
)

// runningKey finds the call in the context of what belongs to it.
type runningKey struct{}

// start calls a tool. The call goes on until it is canceled, whatever becomes of ctx.
func (c *connection) start(ctx context.Context, tool string, args json.RawMessage, asks bool) *running {
	r := &running{id: rand.Text(), conn: c, asks: asks, progress: make(chan string, maxWaitingProgress),
		questions: make(chan *question, 1), done: make(chan outcome, 1)}
	ctx, r.cancel = context.WithCancel(context.WithValue(context.WithoutCancel(ctx), runningKey{}, r))
	r.over = ctx.Done()
	c.mu.Lock()
	c.calls[r.id] = r
	c.mu.Unlock()
	go func() {
		defer r.cancel()
		params := &sdk.CallToolParams{Name: tool, Arguments: args, Meta: sdk.Meta{}}
		params.SetProgressToken(r.id)
		result, err := c.session.CallTool(ctx, params)
		c.mu.Lock()
		delete(c.calls, r.id)
		c.mu.Unlock()
		r.done <- outcome{result, err}
	}()
	return r
}

// progress is told of the progress of a call.
func (c *connection) progress(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
	token, _ := req.Params.ProgressToken.(string)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.calls[token]
	if r == nil || r.told >= maxProgress {
		return
	}
	r.told++
	select {
	case r.progress <- progressText(req.Params):
	default: // nobody follows it as fast
	}
}

func progressText(p *sdk.ProgressNotificationParams) string {
	if p.Total > 0 {
		return cmp.Or(excerpt(p.Message, maxExcerpt), fmt.Sprintf("%g of %g", p.Progress, p.Total))
	}
	return cmp.Or(excerpt(p.Message, maxExcerpt), fmt.Sprintf("%g", p.Progress))
}

// explain says what the error of a call means.
func (r *running) explain(err error) error {
	var answered *jsonrpc.Error
	switch s := r.conn.server; {
	case errors.Is(err, sdk.ErrConnectionClosed), notTaken(err) && (r.conn.trips == nil || !r.conn.trips.refused()):
		return &UnreachableError{Server: s.Name, Err: err, Stderr: r.conn.stderr()}
	case r.conn.trips != nil && r.conn.trips.refused():
		return s.unreachable(r.conn, err)
	case errors.As(err, &answered):
		return &CallError{Server: s.Name, Code: answered.Code, Text: excerpt(answered.Message, maxExcerpt)}
	default:
		return s.unreachable(r.conn, err)
	}
}

// rejected is the code of the library for a request that was not sent, or that an HTTP server did not take.
const rejected = -32005

// notTaken reports whether the server has not begun with a call: it has forgotten the session, or the request did not
// reach it.
func notTaken(err error) bool {
	var answered *jsonrpc.Error
	return errors.Is(err, sdk.ErrSessionMissing) ||
		errors.As(err, &answered) && answered.Code == rejected && answered.Message == "rejected by transport"
}

// stderr is what the command printed last; "" for a URL.
func (c *connection) stderr() string {
	if c.process == nil {
		return ""
	}
	return c.process.errors.String()
}
