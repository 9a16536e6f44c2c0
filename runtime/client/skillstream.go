package client

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/news"
)

// Event is one step of a streamed call of a skill.
type Event[Out any] struct {
	// Raw is the generated event (*a2a.Task, *a2a.TaskStatusUpdateEvent, …); nil in the last step, and in a step for an artifact that
	// came with a repeated task instead of an event.
	Raw               any
	TaskID, ContextID string
	State             runtime.State // of the task, if known
	Progress          string        // text of a new status's message
	// Artifact is an artifact, or the next chunk of one; nil in other steps.
	Artifact *runtime.ArtifactData
	// Done marks the last step, with the decoded output and the result.
	Done   bool
	Output Out
	Result *Result

	status runtime.Message // whose text is Progress; nil without
}

// Text returns the progress, or the text of the artifact's chunk.
func (e Event[Out]) Text() string {
	if e.Artifact != nil {
		return text(e.Artifact.Parts, "")
	}
	return e.Progress
}

// Stream calls the skill and yields its steps: progress and chunks of artifacts as they come, and finally the output (Done). An error, as
// of Call, is the last element. Ending the loop early leaves the task running. An agent without streams is called in one go.
//
// An agent may send the whole task again instead of events, above all after a broken connection. Steps are made of its new parts, so that
// each progress and each chunk comes once.
func (s *Skill[In, Out]) Stream(ctx context.Context, c *Client, in In, opts ...CallOption) iter.Seq2[Event[Out], error] {
	return func(yield func(Event[Out], error) bool) {
		parts, err := s.In(in)
		if err != nil {
			yield(Event[Out]{}, fmt.Errorf("input of skill %q: %w", s.ID, err))
			return
		}
		cl := c.newCall(opts)
		cl.convention = s.By
		s.stream(ctx, c, parts, cl, yield)
	}
}

// stream calls the skill with the parts of a message and yields the steps.
func (s *Skill[In, Out]) stream(ctx context.Context, c *Client, parts []runtime.Part, cl *call, yield func(Event[Out], error) bool) {
	ctx, done := cl.policy.limit(ctx)
	defer done()
	c = c.cards.current(ctx, c)
	if err := cl.nest(ctx, c, s.ID, parts); err != nil {
		yield(Event[Out]{}, s.failed(err))
		return
	}
	defer cl.reportEnd(ctx)
	var out Out
	r, err := byNewest(ctx, c, s.ID, cl, func(c *Client) (*Result, error) {
		r, passed, err := s.steps(ctx, c, parts, cl, yield)
		cl.taken = cl.taken || passed > 0
		if err != nil {
			return nil, s.failed(err)
		}
		out, err = s.output(c, r, cl)
		return r, err
	})
	switch {
	case errors.Is(err, errStopped):
	case r == nil:
		yield(Event[Out]{}, err)
	default:
		last := Event[Out]{TaskID: r.TaskID, ContextID: r.ContextID, State: r.State, Result: r}
		if err == nil {
			last.Done, last.Output = true, out
		}
		yield(last, err)
	}
}

// steps yields the steps of a call by the client's card, and returns the result and the number of events.
func (s *Skill[In, Out]) steps(
	ctx context.Context, c *Client, parts []runtime.Part, cl *call, yield func(Event[Out], error) bool,
) (*Result, int, error) {
	run := streaming[In, Out]{skill: s, client: c, call: cl, yield: yield, tracker: tracker{protocol: c.protocol}}
	r, err := run.steps(ctx, parts)
	passed := run.passed
	for next := c.credentials.answerAuth(r, err, cl); next != nil; next = c.credentials.answerAuth(r, err, cl) {
		cl, run.call, run.tracker, run.passed = next, next, tracker{protocol: c.protocol}, 0
		r, err = run.steps(ctx, authorizedParts())
		passed += run.passed
	}
	return r, passed, err
}

// streaming is one iteration of a streamed call.
type streaming[In, Out any] struct {
	skill   *Skill[In, Out]
	client  *Client
	call    *call
	yield   func(Event[Out], error) bool
	tracker tracker
	passed  int    // events
	status  string // id of the last status message
	resumes bool   // the message continues a task, whose artifacts so far are not new
}

// steps yields the steps and returns the result.
func (r *streaming[In, Out]) steps(ctx context.Context, parts []runtime.Part) (*Result, error) {
	cl := r.call
	if cl.nested != nil {
		result, done, send, err := r.resume(ctx, parts, cl)
		if done {
			return result, err
		}
		parts = send
	}
	if !r.client.agent.info.Streaming || cl.nested != nil && (cl.notices != nil || cl.data.ReturnImmediately) {
		return r.client.send(ctx, r.skill.ID, parts, cl)
	}
	request, err := r.client.sendRequest(r.skill.ID, parts, cl)
	if err != nil {
		return nil, err
	}
	r.resumes, cl.whole = cl.message.TaskID != "" && !cl.ownTask, true
	return r.collect(ctx, Method{Role: runtime.RoleStream}, request, cl)
}

// collect yields the steps of a stream and returns the result.
func (r *streaming[In, Out]) collect(ctx context.Context, m Method, request any, cl *call) (*Result, error) {
	for e, err := range r.client.stream(ctx, m, request, cl) {
		if err == nil {
			err = r.pass(e)
		}
		if err == errStopped {
			return nil, err
		}
		if err != nil {
			if faultOf(ctx, err) == faultLost {
				cl.note(faultLost)
			}
			id := "" // as long as it is not known
			if r.tracker.task != nil {
				id = r.tracker.task.TaskInfo().ID
			}
			return nil, cl.awaited(ctx, id, err)
		}
		if r.waits(cl) {
			break // the agent may keep the stream open, but sends nothing before the answer
		}
	}
	if r.tracker.message != nil {
		return messageResult(r.tracker.message), nil
	}
	if r.tracker.task == nil {
		return nil, invalid("stream", errors.New("it held neither task nor message"))
	}
	return taskResult(r.tracker.task), nil
}

// waits reports whether the task now waits for input, for an authorization that the client answers by itself or, in a handler's call, for
// any: the handler may forward that. A task that this message continues may begin the stream as it was before the message.
func (r *streaming[In, Out]) waits(cl *call) bool {
	task, g := r.tracker.task, &r.client.credentials
	if task == nil || r.resumes && r.passed == 1 {
		return false
	}
	state := task.TaskInfo().State
	return state == runtime.StateInputRequired || r.call.nested != nil && state.Interrupted() ||
		len(g.grants) > 0 && g.answerAuth(taskResult(task), nil, cl) != nil
}

// pass turns an event into steps.
func (r *streaming[In, Out]) pass(e runtime.Event) error {
	info := e.EventInfo()
	var more []runtime.ArtifactData // of a whole task, beyond those of the events before it
	if task, ok := e.(runtime.Task); ok && info.Kind == runtime.EventTask && (r.tracker.task != nil || !r.resumes) {
		var known []runtime.ArtifactData
		if r.tracker.task != nil {
			known = r.tracker.task.ArtifactList()
		}
		more = news.Artifacts(known, task.ArtifactList())
	}
	artifact := r.artifact(e)
	if err := r.tracker.add(e); err != nil {
		return err
	}
	r.passed++
	step := Event[Out]{Raw: e.Generated(), TaskID: info.TaskID, ContextID: info.ContextID, State: info.State}
	id, state := "", runtime.StateUnspecified
	if t := r.tracker.task; t != nil {
		id, state = t.TaskInfo().ID, t.TaskInfo().State
		step.State = state
	}
	answer := r.tracker.message
	if r.tracker.task != nil {
		answer = nil
	}
	if err := r.call.report(r.client, id, state, answer); err != nil {
		return err
	}
	switch e := e.(type) {
	case runtime.Message:
	case runtime.StatusUpdate: // a task too
		if m := e.StatusMessage(); m != nil && (m.MessageInfo().ID == "" || m.MessageInfo().ID != r.status) {
			step.status, step.Progress, r.status = m, messageText(m), m.MessageInfo().ID
		}
	case runtime.ArtifactUpdate:
		step.Artifact = artifact
	}
	if !r.yield(step, nil) {
		return errStopped
	}
	step.Raw, step.Progress, step.status = nil, "", nil
	for i := range more {
		step.Artifact = &more[i]
		if !r.yield(step, nil) {
			return errStopped
		}
	}
	return nil
}

// artifact returns the artifact of an update, or its new parts; nil if there are none. Where streams have updates only, a subscription begins
// with the task's artifacts so far.
func (r *streaming[In, Out]) artifact(e runtime.Event) *runtime.ArtifactData {
	u, ok := e.(runtime.ArtifactUpdate)
	if !ok {
		return nil
	}
	a := u.ArtifactUpdate()
	if a.Append || r.tracker.task == nil || !r.client.links.version.Rules.UpdatesOnly {
		return &a
	}
	fresh := news.Artifacts(r.tracker.task.ArtifactList(), []runtime.ArtifactData{a})
	if len(fresh) == 0 {
		return nil
	}
	return &fresh[0]
}
