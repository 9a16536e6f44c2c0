package mcp

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/tool"
)

// cancelTime is how long CancelTask may take, and the agent to name the task that is to be canceled.
const cancelTime = 10 * time.Second

// steps are those of a call of a skill.
type steps = iter.Seq2[rpc.Event[*rpc.Result], error]

// call is one request that calls a tool.
type call struct {
	*skillTool
	req      *sdk.CallToolRequest
	opts     []rpc.CallOption
	progress *progress

	mu   sync.Mutex
	task string // its id; "" as long as the agent has not named it
}

// call calls the skill, or goes on with a task whose question was answered.
func (t *skillTool) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	c := &call{skillTool: t, req: req, progress: newProgress(ctx, req, t.Heartbeat)}
	defer c.progress.stop()
	if t.CallOptions != nil {
		c.opts = t.CallOptions(req)
	}
	running, stop := c.untilNamed(ctx)
	defer stop()
	next, result := c.begin(running)
	for next != nil && ctx.Err() == nil {
		var ask *rpc.InputRequiredError
		result, ask = c.follow(ctx, running, next)
		if next = nil; ask != nil {
			next, result = c.ask(ctx, running, ask)
		}
	}
	if err := ctx.Err(); err != nil {
		c.left(ctx)
		return nil, err
	}
	return result, nil
}

// begin starts a call, or goes on with one. It returns a result instead if nothing is to be done at the agent.
func (c *call) begin(ctx context.Context) (steps, *sdk.CallToolResult) {
	if c.req.Params.RequestState != "" {
		return c.goOn(ctx)
	}
	part, err := c.part(c.req.Params.Arguments)
	if err != nil {
		return nil, failure(words(err))
	}
	return c.skill.Stream(ctx, c.Client, []runtime.Part{part}, c.opts...), nil
}

// follow reports steps as progress, and returns what they come to: a result, or a question.
func (c *call) follow(ctx, running context.Context, steps steps) (*sdk.CallToolResult, *rpc.InputRequiredError) {
	for e, err := range steps {
		c.named(e.TaskID)
		switch {
		case ctx.Err() != nil:
			return nil, nil
		case err != nil || e.Done:
			return c.outcome(e.Result, err)
		case e.State == runtime.StateAuthRequired: // the stream may stay open until it is given
			return c.outcome(c.Client.Await(running, e.TaskID, c.opts...))
		case e.Artifact != nil || !e.State.Terminal() && !e.State.Interrupted(): // what is said in the end is in the result
			c.progress.say(e.Text())
		}
	}
	return failure("The tool did not answer."), nil
}

// outcome is what a call came to, as the client has it.
func (c *call) outcome(r *rpc.Result, err error) (*sdk.CallToolResult, *rpc.InputRequiredError) {
	var ask *rpc.InputRequiredError
	switch {
	case errors.As(err, &ask):
		return nil, ask
	case err != nil:
		return c.failed(err), nil
	}
	return c.result(r), nil
}

// untilNamed returns a context for calls of the agent that ends with ctx; but when the caller cancels before the agent
// has named the task, it goes on until then, for a moment, because the task must be canceled, too.
func (c *call) untilNamed(ctx context.Context) (context.Context, context.CancelFunc) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		if !canceled(ctx) || c.taskID() != "" {
			stop()
			return
		}
		timer := time.AfterFunc(cancelTime, stop)
		context.AfterFunc(running, func() { timer.Stop() })
	})
	return running, func() { forget(); stop() }
}

// canceled reports whether the caller has canceled the request, whose context has ended. If its connection broke, the
// SDK says so in the cause.
func canceled(ctx context.Context) bool { return context.Cause(ctx) == context.Canceled }

// left cancels the task of a call that the caller has canceled. Where only the connection broke, the task goes on (A2A
// 1.0 §3.1.2).
func (c *call) left(ctx context.Context) {
	task := c.taskID()
	if task == "" || !canceled(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	request := c.Protocol.NewTaskRequest(runtime.RoleCancel, runtime.TaskRequest{Tenant: c.Client.Tenant(), ID: task})
	// An error is nobody's any more: the task may have ended, or may not be canceled.
	_, _ = c.Client.Call(ctx, rpc.Method{Role: runtime.RoleCancel, RPC: "CancelTask"}, request, c.opts...)
}

func (c *call) named(task string) {
	if task == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.task = task
}

func (c *call) taskID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.task
}

// words are those of an error for a model.
func words(err error) string {
	var unanswerable *rpc.AskError
	if errors.As(err, &unanswerable) {
		return "The question cannot be answered any more. Call the tool again."
	}
	return tool.Text(err)
}
