package push

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"

	"github.com/a2agen/a2agen/runtime"
)

// hand calls the functions with the events of a notification. It runs to its end even if the sender goes away: the
// repeat then finds it done.
func (r *Receiver) hand(ctx context.Context, l *lane, a *arrival) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.limits.Callback)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			r.logger.ErrorContext(ctx, "a function for push notifications panicked",
				"task", a.note.TaskID, "panic", p, "stack", string(debug.Stack()))
			err = failed(errPanicked)
		}
	}()
	if a.gap != nil {
		r.logger.WarnContext(ctx, "push notifications are missing",
			"task", a.gap.TaskID, "first", a.gap.First, "last", a.gap.Last)
		if r.onGap != nil {
			r.onGap(*a.gap)
		}
	}
	if a.note.task == nil || r.whole {
		l.task = nil // it is no longer what is known
		return r.call(ctx, a.event, a.note)
	}
	for _, e := range r.difference(l.task, a.note.task) {
		if err := r.call(ctx, e, a.note); err != nil {
			return err
		}
		l.learn(r.protocol, a.note.task.TaskInfo(), e)
	}
	l.task = a.note.task.View(new(int), true)
	return nil
}

// call calls the functions with one event, and wakes those who wait for the task to settle.
func (r *Receiver) call(ctx context.Context, e runtime.Event, n *Notification) error {
	for _, f := range r.callbacks {
		generated := e.Generated()
		if !f.wants(generated) {
			continue
		}
		if err := f.call(ctx, generated, n); err != nil {
			return failed(err)
		}
	}
	r.tell(n.TaskID, e.EventInfo().State)
	return nil
}

var errPanicked = errors.New("a function panicked")

// failed is the answer when a function returned an error, which is none of the sender's business.
func failed(err error) error {
	e := refuse(http.StatusInternalServerError, "the notification could not be processed")
	if errors.Is(err, ErrGone) {
		e = refuse(http.StatusGone, "notifications of this task are no longer wanted")
	}
	e.cause = err
	return e
}
