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

// A call that is made with the context of a handler is one of the handler's task: it has an id and a key that are the
// same when the handler is called again, the task remembers what became of it, and it ends with the task. Such calls
// follow the agent's task from its beginning, by its stream, since what is not known cannot be canceled or found again.

// Name says what the agent is called in what a handler's task remembers of its calls: a name that stays when the agent
// moves. Without it that is the URL given to [New], or else that of the interface.
func Name(name string) Option { return func(c *Client) { c.called = name } }

// nestedCall is what the task of a handler knows of a call.
type nestedCall struct {
	handler nested.Handler
	nested.Known
	answering bool // the message answers a question, and is not known to have been taken
}

// nest notes a call that a handler makes.
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
		Cancel: func(ctx context.Context, task string) error { return end.cancelTask(ctx, c, task) },
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

// identity is what a handler's task calls the agent.
func (c *Client) identity() string {
	name := cmp.Or(c.called, c.cards.base)
	if name == "" {
		name = c.links.all[0].iface.URL
	}
	return name + "\x00" + c.Tenant()
}

// contentOf is a digest of what a message says.
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

// cancelTask cancels a task. One that has ended needs no canceling.
func (cl *call) cancelTask(ctx context.Context, c *Client, task string) error {
	cl.message.TaskID = task
	m, request := c.ofTask(runtime.RoleCancel, task)
	_, err := c.cards.newest(c).ask(ctx, patient, m, request, cl)
	if errors.Is(err, runtime.ErrTaskNotCancelable) || errors.Is(err, runtime.ErrTaskNotFound) {
		return nil
	}
	return err
}

// learned tells the handler's task what the agent made of the message: a task in a state, or a message without one.
func (cl *call) learned(c *Client, task string, state runtime.State, m runtime.Message) error {
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

// noted is learned of a result.
func (cl *call) noted(c *Client, r *Result) error {
	if r.Task != nil {
		return cl.learned(c, r.TaskID, r.State, nil)
	}
	return cl.learned(c, "", r.State, r.message)
}

// left tells the handler's task that a call is over, whatever came of it.
func (cl *call) left(ctx context.Context) {
	if cl.nested != nil && ctx.Err() != nil {
		cl.nested.handler.Left(cl.nested.ID)
	}
}

// errCutShort is why it is not known what became of a call.
var errCutShort = errors.New("the handler was interrupted when it may have sent the message, and the other agent " +
	"does not promise to know it again")

// again goes on with a call that was made before: by an earlier attempt of the handler, or for an earlier message. It
// reports false if a message is to be sent, and of which parts.
func (r *streaming[In, Out]) again(
	ctx context.Context, parts []runtime.Part, cl *call,
) (result *Result, known bool, send []runtime.Part, err error) {
	n, c := cl.nested, r.client
	switch {
	case n.Reply != nil:
		e, err := c.protocol.Versions[0].ReadEvent(bytes.Clone(n.Reply))
		m, ok := e.(runtime.Message)
		if err != nil || !ok {
			return nil, true, nil, cl.cutShort(ctx, errCutShort)
		}
		return messageResult(m), true, nil, r.pass(m)
	case n.Task != "":
		return r.againInTask(ctx, parts, cl)
	case n.Sent.IsZero() || c.agent.keys:
		return nil, false, parts, nil
	}
	if cl.message.TaskID != "" {
		if task, found := c.taken(ctx, cl); found {
			result, err := r.follow(ctx, task, cl)
			return result, true, nil, err
		}
	}
	return nil, true, nil, cl.cutShort(ctx, errCutShort)
}

// cutShort is the error of a call that was made before, when it is not known what became of it.
func (cl *call) cutShort(ctx context.Context, err error) error {
	cl.lost = true
	return cl.lostCall(ctx, cl.nested.Task, err)
}

// againInTask is again for a call whose task is known.
func (r *streaming[In, Out]) againInTask(
	ctx context.Context, parts []runtime.Part, cl *call,
) (result *Result, known bool, send []runtime.Part, err error) {
	n, c := cl.nested, r.client
	task, err := c.task(ctx, patient, n.Task, cl)
	switch {
	case errors.Is(err, runtime.ErrTaskNotFound) && c.agent.keys && n.Answer == nil:
		return nil, false, parts, nil // the agent says whether it has ever had the message
	case errors.Is(err, runtime.ErrTaskNotFound):
		return nil, true, nil, cl.cutShort(ctx, err)
	case err != nil:
		return nil, true, nil, cl.awaited(ctx, n.Task, err)
	}
	if n.Answer == nil || !stillAsks(task, n.Answer.Question) {
		if n.Answer != nil { // somebody else has answered, or it goes on by itself
			n.answering = true
		}
		result, err = r.follow(ctx, task, cl)
		return result, true, nil, err
	}
	n.answering = true
	cl.convention, cl.parts = nil, nil
	cl.first = time.Time{} // the task would not wait any more
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

// follow yields what a task has, and what comes of it until it settles.
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
