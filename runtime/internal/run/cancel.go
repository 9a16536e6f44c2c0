package run

import (
	"context"
	"errors"
	"sync"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Cancel ends a task for its client (A2A 1.0 §3.1.5). The task is canceled at once; a handler at work on it is told
// through its context, with the cause ErrCanceled, and nothing it still says counts. An ended task cannot be
// canceled, not even a canceled one (T17).
func (r *Runner) Cancel(ctx context.Context, key store.Key) (task runtime.Task, err error) {
	h := r.tasks.use(key)
	defer r.tasks.drop(h)
	h.mu.Lock()
	defer h.mu.Unlock()
	err = decide(func() error {
		task, err = r.cancelOnce(ctx, h)
		return err
	})
	return task, err
}

// cancelOnce decides on the task as it stands. Callers must hold h.mu.
func (r *Runner) cancelOnce(ctx context.Context, h *handle) (runtime.Task, error) {
	snap, err := h.load(r, store.View{History: new(int)})
	if err != nil {
		return nil, err
	}
	info := snap.Task.TaskInfo()
	if !taskstate.May(info.State, taskstate.Cancel, runtime.StateCanceled) {
		return nil, runtime.ErrTaskNotCancelable.With("the task has ended: %s", info.State).
			WithMetadata("taskId", info.ID)
	}
	w := write{expect: snap.Version, view: &store.Full, update: store.Update{
		Event: made(r, ctx, r.Protocol.NewStatus(info.ID, info.ContextID, runtime.StateCanceled, nil, r.Now())), Stamp: newStamp(),
	}}
	if h.commit(r, context.Background(), &w) != committed {
		return nil, w.err // unconfirmed, too: the client asks again
	}
	h.revoke(ErrCanceled)
	for _, cancel := range r.parked.take(h.key) { // the tasks of other agents for which this one has waited
		r.cancelOther(context.Background(), r.newBackgroundCall(), cancel)
	}
	return w.snap.Task, nil
}

// decisions is how often a client's update is decided anew when others were faster: a handler at work on another instance
// writes all the time.
const decisions = 50

// decide does what depends on the task as it stands, and is refused when the task has changed meanwhile. What it says of a
// task that has ended meanwhile does not change any more.
func decide(do func() error) (err error) {
	for range decisions {
		if err = do(); !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrEnded) {
			return err
		}
	}
	if errors.Is(err, store.ErrEnded) {
		return do()
	}
	return err
}

// maxParked is for how many tasks it is known what to cancel with them.
const maxParked = 10_000

// parked says what is to be canceled with tasks that wait with the question of another agent: no handler is there to do
// it. It is in memory alone, and says nothing of tasks that waited before the process began.
type parked struct {
	mu    sync.Mutex
	tasks map[store.Key][]func(context.Context) error
}

func (p *parked) put(key store.Key, cancel []func(context.Context) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tasks == nil {
		p.tasks = map[store.Key][]func(context.Context) error{}
	}
	if len(p.tasks) >= maxParked {
		for other := range p.tasks {
			delete(p.tasks, other)
			break
		}
	}
	p.tasks[key] = cancel
}

func (p *parked) take(key store.Key) []func(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancel := p.tasks[key]
	delete(p.tasks, key)
	return cancel
}

// passOn notes that the call ends with the question of another agent.
func (e *conclusion) passOn(asked *askedCall) {
	if asked == nil {
		return
	}
	c := e.c
	c.task.notes.ask(asked)
	c.r.parked.put(store.Key{Owner: c.owner, Task: c.taskID()}, c.task.notes.takeOpen())
}
