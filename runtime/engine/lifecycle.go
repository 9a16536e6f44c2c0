package engine

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
func (c *Call) execute() {
	defer c.e.dismiss(c)
	defer c.cancel(nil)
	var out []byte
	err := errExit
	defer func() {
		if err == errExit {
			c.Logger().Error("skill ended its goroutine")
		}
		if next := c.settle(out, err); next != nil {
			go next.execute()
		}
	}()
	out, err = c.call()
}

// expire ends a call whose time is up, as if the handler had returned: nobody waits for one that ignores its context. What it still
// says is refused.
func (c *Call) expire() {
	c.live.mu.Lock()
	if c.over {
		c.live.mu.Unlock()
		return
	}
	c.cancel(ErrTimeout)
	next := c.close(nil, ErrTimeout)
	c.live.mu.Unlock()
	if next != nil {
		go next.execute()
	}
}

// call waits for the skill's turn and runs it. A panic becomes an error.
func (c *Call) call() (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.Logger().Error("skill panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	if err := c.turn(); err != nil {
		return nil, err
	}
	if c.skill.slots != nil {
		defer func() { <-c.skill.slots }()
	}
	timeout := c.skill.Timeout
	if timeout <= 0 {
		timeout = c.e.limits.Timeout
	}
	c.run = runContext{c.ctx, time.Now().Add(timeout)}
	if timeout <= exactTimeout {
		timer := time.AfterFunc(timeout, c.expire)
		defer timer.Stop()
	} else {
		c.overdue.Store(c.run.deadline.UnixNano())
		c.e.beat.start()
	}
	return c.skill.Run(&c.run, c, c.input)
}

var (
	errPanic = errors.New("the skill panicked")
	errExit  = errors.New("the skill ended its goroutine")
)

// turn waits until the skill may run once more, and marks the task as being worked on.
func (c *Call) turn() error {
	if c.skill.slots != nil {
		select {
		case c.skill.slots <- struct{}{}:
		default:
			select {
			case c.skill.slots <- struct{}{}:
			case <-c.ctx.Done():
				return context.Cause(c.ctx)
			}
		}
	}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	c.working = true
	if c.live.version != 0 && !c.resumed { // it was created while it waited
		return c.status(runtime.StateWorking, runtime.MessageData{}, nil)
	}
	return nil
}

// settle turns the handler's return into the end of its task, a question, or an answer without a task. It returns the next call
// when another message came meanwhile and the task goes on.
func (c *Call) settle(out []byte, err error) (next *Call) {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if c.over { // its time was up
		return nil
	}
	return c.close(out, err)
}

// close is settle with the lock held. An end that the store does not take is tried again in the background.
func (c *Call) close(out []byte, err error) (next *Call) {
	c.over = true
	c.conclude(out, err)
	if err := c.write(); store.Unsure(err) {
		c.persist(err)
		return nil
	}
	return c.leave()
}

// leave lets go of the task when the call is over, and returns the next call. The caller holds c.live.mu.
func (c *Call) leave() (next *Call) {
	c.decide()
	c.release()
	if c.live.version == 0 {
		return nil
	}
	defer c.e.drop(c.live)
	c.live.run = nil
	if len(c.live.queue) == 0 {
		return nil
	}
	if state, err := c.live.state(c.e); err == nil && state.Terminal() || errors.Is(err, store.ErrNotFound) {
		for _, q := range c.live.queue {
			q.abandon()
		}
		c.live.queue = nil
		return nil
	}
	next, c.live.queue = c.live.queue[0], c.live.queue[1:]
	c.live.run = next
	next.prepare()
	return next
}

// release lets the sender go that waits for a call on another goroutine: the call is over, or canceled. The caller holds c.live.mu.
func (c *Call) release() {
	if c.ended != nil && !c.isReleased {
		c.isReleased = true
		close(c.ended)
	}
}

// abandon gives up a queued call: its task ended before its turn. Its message stays in the history.
func (c *Call) abandon() {
	c.over = true
	c.cancel(nil)
	c.release()
	c.e.dismiss(c)
	c.e.drop(c.live)
}

// prepare readies a queued call whose turn has come: what the call before it saved is there now, and if that one asked for input
// the task is being worked on again.
func (c *Call) prepare() {
	snap, err := c.live.load(c.e, store.View{History: new(int)})
	if err != nil {
		return
	}
	c.private = snap.Private
	if snap.Task.TaskInfo().State.Interrupted() {
		if err := c.status(runtime.StateWorking, runtime.MessageData{}, nil); err != nil {
			c.e.log(c.skill.ID, c.id).Error("task does not go on", "error", err)
		}
	}
}

// conclude decides what the handler's return comes to: the events that [Call.write] stores, or an answer without a task. The caller holds c.live.mu.
func (c *Call) conclude(out []byte, err error) {
	switch {
	case err != nil:
		c.giveUp(err)
	case c.reply == nil && !errors.Is(context.Cause(c.ctx), ErrCanceled):
		c.finish(out)
	}
}

// giveUp decides what a handler's error comes to.
func (c *Call) giveUp(err error) {
	var public *runtime.Error
	var o *outcome
	cause := context.Cause(c.ctx)
	switch {
	case c.reply != nil:
		c.e.log(c.skill.ID, "").Warn("skill failed after its answer", "error", err)
	case errors.Is(cause, ErrCanceled):
		c.e.log(c.skill.ID, c.id).Info("task canceled") // it ended then
	case errors.Is(cause, errLost) || errors.Is(err, store.ErrEnded):
		c.e.log(c.skill.ID, c.id).Info("task goes on elsewhere", "error", err)
		c.err = err
	case errors.As(err, &o):
		c.end(o.state, o.said)
	case c.live.version == 0 && errors.As(err, &public):
		c.err = public
	case c.live.version == 0 && errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrNotFound):
		c.err = err
	default:
		c.fail(c.explain(err))
	}
}

// explain finds the text for the client: nothing of an error that is not meant for it.
func (c *Call) explain(err error) string {
	var public *runtime.Error
	cause := context.Cause(c.ctx)
	switch {
	case errors.As(err, &public):
		return cmp.Or(public.Note, public.Message)
	case errors.Is(cause, ErrTimeout):
		c.e.log(c.skill.ID, c.id).Warn("skill took longer than allowed", "error", err)
		return "The work took longer than allowed."
	case errors.Is(cause, errShutdown):
		c.e.log(c.skill.ID, c.id).Info("skill stopped by the shutdown")
		return "The agent was shut down before the work was done."
	case errors.Is(err, store.ErrTooLarge), errors.Is(err, store.ErrFull):
		c.e.log(c.skill.ID, c.id).Warn("answer not kept", "error", err)
		return unkept
	}
	if !errors.Is(err, errPanic) && !errors.Is(err, errExit) {
		c.e.log(c.skill.ID, c.id).Error("skill failed", "error", err)
	}
	return "The skill failed unexpectedly."
}

// end decides on the status with which the call ends, with a message unless there is nothing in it.
func (c *Call) end(state runtime.State, said runtime.MessageData) {
	if err := c.check(said.Parts); err != nil {
		c.e.log(c.skill.ID, c.id).Error("answer refused", "error", err)
		c.fail("The skill's answer could not be sent.")
		return
	}
	c.ending.status = c.newStatus(state, said)
}

// fail decides that the call ends as a failure, and takes nothing else along.
func (c *Call) fail(reason string) {
	c.ending, c.private.Saved = ending{failed: true}, nil
	c.end(runtime.StateFailed, runtime.MessageData{Parts: []runtime.Part{runtime.Text(reason)}})
}

// finish decides on the result and the completion of the task.
func (c *Call) finish(out []byte) {
	if len(out) > 0 {
		data := c.result(out)
		if err := c.check(data.Parts); err != nil {
			c.fail(c.explain(err))
			return
		}
		c.ending.artifact = c.newArtifact(&data)
	}
	var said runtime.MessageData
	if c.closing != nil {
		said = *c.closing
	}
	c.end(runtime.StateCompleted, said)
}

// result makes the artifact of a skill's output: a data part with an output schema, else text. A client that takes text but no JSON gets the
// JSON as text (R301).
func (c *Call) result(out []byte) runtime.ArtifactData {
	c.one[0] = runtime.Part{Kind: runtime.PartText, Text: string(out)}
	if c.skill.OutputSchema != "" && (accepts(c.req.AcceptedOutputModes, runtime.MediaJSON) || !accepts(c.req.AcceptedOutputModes, runtime.MediaText)) {
		c.one[0] = runtime.Part{Kind: runtime.PartData, Data: out, MediaType: runtime.MediaJSON}
	}
	return runtime.ArtifactData{
		ID: runtime.ResultArtifact, Parts: c.one[:], Metadata: c.skill.metadata,
		Extensions: skillsExtension, LastChunk: true,
	}
}

var skillsExtension = []string{runtime.SkillsExtension}

// cancelTask ends a task for its client (A2A 1.0 §3.1.5). The task is canceled at once; a handler at work on it is told through its context, with the
// cause ErrCanceled, and nothing it still says counts. An ended task cannot be canceled, not even a canceled one (T17).
func (e *Engine) cancelTask(ctx context.Context, key store.Key) (runtime.Task, error) {
	if _, err := e.store.Get(context.Background(), key, store.View{History: new(int)}); err != nil {
		return nil, err
	}
	l := e.use(key)
	defer e.drop(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	snap, err := l.load(e, store.View{History: new(int)})
	if err != nil {
		return nil, err
	}
	info := snap.Task.TaskInfo()
	if info.State.Terminal() {
		return nil, runtime.ErrTaskNotCancelable.With("the task has ended: %s", info.State).WithMetadata("taskId", key.Task)
	}
	u := store.Update{Event: e.newStatus(ctx, key.Task, info.ContextID, runtime.StateCanceled, nil, e.now())}
	err = l.retry(e, context.Background(), func() (err error) {
		snap, err = l.commit(e, u, &store.Full)
		return err
	})
	if err != nil {
		return nil, err
	}
	if l.run != nil {
		l.run.cancel(ErrCanceled)
		l.run.release()
	}
	for _, q := range l.queue {
		q.release()
	}
	return snap.Task, nil
}
