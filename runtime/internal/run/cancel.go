package run

import (
	"context"
	"errors"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// Cancel ends a task for its client (A2A 1.0 §3.1.5). The task is canceled at once; a handler at work on it is told
// through its context, with the cause task.ErrCanceled, and nothing it still says counts. An ended task cannot be
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
		Event: r.make.newStatus(ctx, info.ID, info.ContextID, runtime.StateCanceled, nil, r.Now()), Stamp: newStamp(),
	}}
	if h.commit(r, context.Background(), &w) != committed {
		return nil, w.err // unconfirmed, too: the client asks again
	}
	h.revoke(task.ErrCanceled)
	r.cancelParked(h.key)
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
