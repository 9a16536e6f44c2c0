package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// runContext is a handler's context: canceled with a cause, never by the client's disconnect, and with the deadline of the
// skill's timeout, which a timer or the ticker enforces.
type runContext struct {
	context.Context
	deadline time.Time
}

// exactTimeout is up to which timeout a call gets a timer of its own; longer ones are left to the ticker.
const exactTimeout = time.Minute

func (c *runContext) Deadline() (time.Time, bool) { return c.deadline, true }

// execute calls the handler and settles what its return means for the task. It runs on the goroutine of the sender if that waits
// for the end, else on one of its own. A handler that ends its goroutine has failed.
func (t *Task) execute() {
	defer t.s.dismiss(t)
	defer t.cancel(nil)
	var out []byte
	err := errExit
	defer func() {
		if err == errExit {
			t.Logger().Error("skill ended its goroutine")
		}
		if next := t.settle(out, err); next != nil {
			go next.execute()
		}
	}()
	out, err = t.call()
}

// expire ends a call whose time is up, as if the handler had returned: nobody waits for one that ignores its context. What it still
// says is refused.
func (t *Task) expire() {
	t.l.mu.Lock()
	if t.over {
		t.l.mu.Unlock()
		return
	}
	t.cancel(ErrTimeout)
	next := t.close(nil, ErrTimeout)
	t.l.mu.Unlock()
	if next != nil {
		go next.execute()
	}
}

// call waits for the skill's turn and runs it. A panic becomes an error.
func (t *Task) call() (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.Logger().Error("skill panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	if err := t.turn(); err != nil {
		return nil, err
	}
	if t.skill.slots != nil {
		defer func() { <-t.skill.slots }()
	}
	timeout := t.skill.Timeout
	if timeout <= 0 {
		timeout = t.s.limits.Timeout
	}
	t.run = runContext{t.ctx, time.Now().Add(timeout)}
	if timeout <= exactTimeout {
		timer := time.AfterFunc(timeout, t.expire)
		defer timer.Stop()
	} else {
		t.overdue.Store(t.run.deadline.UnixNano())
		t.s.beat.start()
	}
	return t.skill.Run(&t.run, t, t.input)
}

var (
	errPanic = errors.New("the skill panicked")
	errExit  = errors.New("the skill ended its goroutine")
)

// turn waits until the skill may run once more, and marks the task as being worked on.
func (t *Task) turn() error {
	if t.skill.slots != nil {
		select {
		case t.skill.slots <- struct{}{}:
		default:
			select {
			case t.skill.slots <- struct{}{}:
			case <-t.ctx.Done():
				return context.Cause(t.ctx)
			}
		}
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	t.working = true
	if t.l.version != 0 && !t.resumed { // it was created while it waited
		return t.status(runtime.StateWorking, runtime.MessageData{}, nil)
	}
	return nil
}

// settle turns the handler's return into the end of its task, a question, or an answer without a task. It returns the next call
// when another message came meanwhile and the task goes on.
func (t *Task) settle(out []byte, err error) (next *Task) {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if t.over { // its time was up
		return nil
	}
	return t.close(out, err)
}

// close is settle with the lock held. An end that the store does not take is tried again in the background.
func (t *Task) close(out []byte, err error) (next *Task) {
	t.over = true
	t.conclude(out, err)
	if err := t.write(); store.Unsure(err) {
		t.persist(err)
		return nil
	}
	return t.leave()
}

// leave lets go of the task when the call is over, and returns the next call. The caller holds t.l.mu.
func (t *Task) leave() (next *Task) {
	t.decide()
	t.release()
	if t.l.version == 0 {
		return nil
	}
	defer t.s.drop(t.l)
	t.l.run = nil
	if len(t.l.queue) == 0 {
		return nil
	}
	if state, err := t.l.state(t.s); err == nil && state.Terminal() || errors.Is(err, store.ErrNotFound) {
		for _, q := range t.l.queue {
			q.abandon()
		}
		t.l.queue = nil
		return nil
	}
	next, t.l.queue = t.l.queue[0], t.l.queue[1:]
	t.l.run = next
	next.prepare()
	return next
}

// release lets the sender go that waits for a call on another goroutine: the call is over, or canceled. The caller holds t.l.mu.
func (t *Task) release() {
	if t.ended != nil && !t.isReleased {
		t.isReleased = true
		close(t.ended)
	}
}

// abandon gives up a queued call: its task ended before its turn. Its message stays in the history.
func (t *Task) abandon() {
	t.over = true
	t.cancel(nil)
	t.release()
	t.s.dismiss(t)
	t.s.drop(t.l)
}

// prepare readies a queued call whose turn has come: what the call before it saved is there now, and if that one asked for input
// the task is being worked on again.
func (t *Task) prepare() {
	snap, err := t.l.load(t.s, store.View{History: new(int)})
	if err != nil {
		return
	}
	t.private = snap.Private
	if snap.Task.TaskInfo().State.Interrupted() {
		if err := t.status(runtime.StateWorking, runtime.MessageData{}, nil); err != nil {
			t.s.log(t.skill.ID, t.id).Error("task does not go on", "error", err)
		}
	}
}

// conclude decides what the handler's return comes to: the events that [Task.write] stores, or an answer without a task. The caller holds t.l.mu.
func (t *Task) conclude(out []byte, err error) {
	switch {
	case err != nil:
		t.giveUp(err)
	case t.reply == nil && !errors.Is(context.Cause(t.ctx), ErrCanceled):
		t.finish(out)
	}
}

// giveUp decides what a handler's error comes to.
func (t *Task) giveUp(err error) {
	var public *runtime.Error
	var o *outcome
	cause := context.Cause(t.ctx)
	switch {
	case t.reply != nil:
		t.s.log(t.skill.ID, "").Warn("skill failed after its answer", "error", err)
	case errors.Is(cause, ErrCanceled):
		t.s.log(t.skill.ID, t.id).Info("task canceled") // it ended then
	case errors.Is(cause, errLost) || errors.Is(err, store.ErrEnded):
		t.s.log(t.skill.ID, t.id).Info("task goes on elsewhere", "error", err)
		t.err = err
	case errors.As(err, &o):
		t.end(o.state, o.said)
	case t.l.version == 0 && errors.As(err, &public):
		t.err = public
	case t.l.version == 0 && errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrNotFound):
		t.err = err
	default:
		t.fail(t.explain(err))
	}
}

// explain finds the text for the client: nothing of an error that is not meant for it.
func (t *Task) explain(err error) string {
	var public *runtime.Error
	cause := context.Cause(t.ctx)
	switch {
	case errors.As(err, &public):
		return cmp.Or(public.Note, public.Message)
	case errors.Is(cause, ErrTimeout):
		t.s.log(t.skill.ID, t.id).Warn("skill took longer than allowed", "error", err)
		return "The work took longer than allowed."
	case errors.Is(cause, errShutdown):
		t.s.log(t.skill.ID, t.id).Info("skill stopped by the shutdown")
		return "The agent was shut down before the work was done."
	case errors.Is(err, store.ErrTooLarge), errors.Is(err, store.ErrFull):
		t.s.log(t.skill.ID, t.id).Warn("answer not kept", "error", err)
		return unkept
	}
	if !errors.Is(err, errPanic) && !errors.Is(err, errExit) {
		t.s.log(t.skill.ID, t.id).Error("skill failed", "error", err)
	}
	return "The skill failed unexpectedly."
}

// end decides on the status with which the call ends, with a message unless there is nothing in it.
func (t *Task) end(state runtime.State, said runtime.MessageData) {
	if err := t.check(said.Parts); err != nil {
		t.s.log(t.skill.ID, t.id).Error("answer refused", "error", err)
		t.fail("The skill's answer could not be sent.")
		return
	}
	t.ending.status = t.newStatus(state, said)
}

// fail decides that the call ends as a failure, and takes nothing else along.
func (t *Task) fail(reason string) {
	t.ending, t.private.Saved = ending{failed: true}, nil
	t.end(runtime.StateFailed, runtime.MessageData{Parts: []runtime.Part{runtime.Text(reason)}})
}

// finish decides on the result and the completion of the task.
func (t *Task) finish(out []byte) {
	if len(out) > 0 {
		data := t.result(out)
		if err := t.check(data.Parts); err != nil {
			t.fail(t.explain(err))
			return
		}
		t.ending.artifact = t.newArtifact(&data)
	}
	var said runtime.MessageData
	if t.closing != nil {
		said = *t.closing
	}
	t.end(runtime.StateCompleted, said)
}

// result makes the artifact of a skill's output: a data part with an output schema, else text. A client that takes text but no JSON gets the
// JSON as text (R301).
func (t *Task) result(out []byte) runtime.ArtifactData {
	t.one[0] = runtime.Part{Kind: runtime.PartText, Text: string(out)}
	if t.skill.OutputSchema != "" && (accepts(t.req.AcceptedOutputModes, runtime.MediaJSON) || !accepts(t.req.AcceptedOutputModes, runtime.MediaText)) {
		t.one[0] = runtime.Part{Kind: runtime.PartData, Data: out, MediaType: runtime.MediaJSON}
	}
	return runtime.ArtifactData{
		ID: runtime.ResultArtifact, Parts: t.one[:], Metadata: t.skill.metadata,
		Extensions: skillsExtension, LastChunk: true,
	}
}

var skillsExtension = []string{runtime.SkillsExtension}
