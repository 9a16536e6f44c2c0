package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/nested"
)

// A call that is made with the context of a handler belongs to the handler's task: it has an id and a key that are the
// same when the handler is called again, its outcome is kept with the task, and it ends with the task. Such calls
// follow the agent's task by its stream from the beginning, since a task that is not known cannot be canceled or found again.

// Name names the agent in the calls that a handler's task keeps: a name that stays when the agent
// moves. Without it that is the URL given to [New], or else that of the interface.
func Name(name string) Option { return func(c *Client) { c.called = name } }

// nestedCall is a call of a handler, as its task keeps it.
type nestedCall struct {
	handler nested.Handler
	nested.Known
	answering bool // the message answers a question, and the agent has not confirmed it
}

// nest registers a call that a handler makes with the handler's task.
func (cl *call) nest(ctx context.Context, c *Client, skill string, parts []runtime.Part) error {
	h := nested.From(ctx)
	if h == nil {
		return nil
	}
	content, err := contentOf(parts, cl)
	if err != nil {
		return err
	}
	end := &call{header: cl.header, extensions: cl.extensions, policy: cl.policy, skill: skill}
	known, err := h.Call(nested.Call{
		Agent: c.identity(), Skill: skill, Content: content, Parts: parts, Keys: c.agent.keys,
		Cancel: func(ctx context.Context, task string) error {
			end.message.TaskID = task
			m, request := c.ofTask(runtime.RoleCancel, task)
			_, err := c.cards.newest(c).ask(ctx, patient, m, request, end)
			if errors.Is(err, runtime.ErrTaskNotCancelable) || errors.Is(err, runtime.ErrTaskNotFound) { // it has ended
				return nil
			}
			return err
		},
	})
	if err != nil {
		return err
	}
	cl.nested = &nestedCall{handler: h, Known: known}
	if cl.message.ID == "" && cl.key == "" {
		cl.message.ID = known.Key
	}
	if c.agent.keys && cl.key == "" {
		cl.key = known.Key
	}
	if cl.first.IsZero() {
		cl.first = known.Sent
	}
	if cl.message.TaskID == "" && c.links.version.Rules.ClientIDs {
		cl.message.TaskID, cl.ownTask = known.Key, true
	}
	return nil
}

// identity is the name under which a handler's task keeps calls of the agent.
func (c *Client) identity() string {
	name := cmp.Or(c.called, c.cards.base)
	if name == "" {
		name = c.links.all[0].iface.URL
	}
	return name + "\x00" + c.Tenant()
}

// contentOf is a digest of the content of a message.
func contentOf(parts []runtime.Part, cl *call) (sum [sha256.Size]byte, err error) {
	metadata, err := object(cl.metadata)
	if err != nil {
		return sum, fmt.Errorf("message metadata: %w", err)
	}
	request, err := object(cl.reqMetadata)
	if err != nil {
		return sum, fmt.Errorf("request metadata: %w", err)
	}
	info := cl.message
	info.ID = ""
	b, err := json.Marshal([]any{parts, cl.parts, info, string(metadata), string(request)})
	return sha256.Sum256(b), err
}

// report reports the agent's answer to the handler's task: a task in a state, or a message without one.
func (cl *call) report(c *Client, task string, state runtime.State, m runtime.Message) error {
	n := cl.nested
	if n == nil {
		cl.taken = !cl.safe
		return nil
	}
	if n.answering {
		n.answering = false
		n.handler.Answered(n.ID)
	}
	if m != nil {
		b, err := c.protocol.Versions[0].AppendEvent(nil, m)
		if err != nil {
			return fmt.Errorf("remember an answer: %w", err)
		}
		return n.handler.Replied(n.ID, b)
	}
	if task != "" && n.Task == "" {
		n.Task = task
		if err := n.handler.Began(n.ID, task); err != nil {
			return err
		}
	}
	if state.Terminal() {
		n.handler.Ended(n.ID)
	}
	return nil
}

// reportResult reports a result to the handler's task.
func (cl *call) reportResult(c *Client, r *Result) error {
	if r.Task != nil {
		return cl.report(c, r.TaskID, r.State, nil)
	}
	return cl.report(c, "", r.State, r.message)
}

// reportEnd reports to the handler's task that a call ended with its context.
func (cl *call) reportEnd(ctx context.Context) {
	if cl.nested != nil && ctx.Err() != nil {
		cl.nested.handler.Left(cl.nested.ID)
	}
}

// errInterrupted is the cause of an unknown outcome of a handler's call.
var errInterrupted = errors.New("the handler was interrupted when it may have sent the message, and the other agent " +
	"does not promise idempotency")

// resume goes on with a call that was made before: by an earlier attempt of the handler, or for an earlier message. It
// reports done = false if a message is to be sent, with its parts.
func (r *streaming[In, Out]) resume(
	ctx context.Context, parts []runtime.Part, cl *call,
) (result *Result, done bool, send []runtime.Part, err error) {
	n, c := cl.nested, r.client
	switch {
	case n.Reply != nil:
		e, err := c.protocol.Versions[0].ReadEvent(bytes.Clone(n.Reply))
		m, ok := e.(runtime.Message)
		if err != nil || !ok {
			return nil, true, nil, cl.unknownOutcome(ctx, errInterrupted)
		}
		return messageResult(m), true, nil, r.pass(m)
	case n.Task != "":
		return r.resumeTask(ctx, parts, cl)
	case n.Sent.IsZero() || c.agent.keys:
		return nil, false, parts, nil
	}
	if cl.message.TaskID != "" {
		if task, found := c.taken(ctx, cl); found {
			result, err := r.follow(ctx, task, cl)
			return result, true, nil, err
		}
	}
	return nil, true, nil, cl.unknownOutcome(ctx, errInterrupted)
}

// unknownOutcome is the error of a call that was made before and whose outcome is unknown.
func (cl *call) unknownOutcome(ctx context.Context, err error) error {
	cl.lost = true
	return cl.lostCall(ctx, cl.nested.Task, err)
}

// resumeTask is resume for a call whose task is known.
func (r *streaming[In, Out]) resumeTask(
	ctx context.Context, parts []runtime.Part, cl *call,
) (result *Result, done bool, send []runtime.Part, err error) {
	n, c := cl.nested, r.client
	task, err := c.task(ctx, patient, n.Task, cl)
	switch {
	case errors.Is(err, runtime.ErrTaskNotFound) && c.agent.keys && n.Answer == nil:
		return nil, false, parts, nil // the agent says whether it has ever had the message
	case errors.Is(err, runtime.ErrTaskNotFound):
		return nil, true, nil, cl.unknownOutcome(ctx, err)
	case err != nil:
		return nil, true, nil, cl.awaited(ctx, n.Task, err)
	}
	if n.Answer == nil || !stillAsks(task, n.Answer.Question) {
		if n.Answer != nil { // the task was answered by another client, or went on by itself
			n.answering = true
		}
		result, err = r.follow(ctx, task, cl)
		return result, true, nil, err
	}
	n.answering = true
	cl.convention, cl.parts = nil, nil
	cl.first = time.Time{} // the answer was not sent: the task still waits
	cl.message = runtime.MessageInfo{ID: n.Answer.Key, TaskID: n.Task, ContextID: task.TaskInfo().ContextID}
	if cl.key = ""; c.agent.keys {
		cl.key = n.Answer.Key
	}
	return nil, false, n.Answer.Parts, nil
}

// stillAsks reports whether a task waits for the answer to a question.
func stillAsks(task runtime.Task, token string) bool {
	k, err := readToken(token)
	if err != nil || k.Task != task.TaskInfo().ID || !task.TaskInfo().State.Interrupted() {
		return false
	}
	m := task.StatusMessage()
	return k.Question == "" || m == nil || m.MessageInfo().ID == "" || m.MessageInfo().ID == k.Question
}

// follow yields the steps of a task until it settles.
func (r *streaming[In, Out]) follow(ctx context.Context, task runtime.Task, cl *call) (*Result, error) {
	c, id := r.client, task.TaskInfo().ID
	settles := settled(task.TaskInfo().State) || cl.data.ReturnImmediately
	if !settles && c.agent.info.Streaming && cl.notices == nil {
		cl.whole, cl.taskID = true, id
		m, request := c.ofTask(runtime.RoleSubscribe, id)
		result, err := r.collect(ctx, m, request, cl)
		if !c.links.refused(err) {
			return result, err
		}
	}
	if !settles {
		var err error
		if task, err = c.await(ctx, id, cl); err != nil {
			return nil, cl.awaited(ctx, id, err)
		}
	}
	return taskResult(task), r.pass(task)
}
