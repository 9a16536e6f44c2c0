package run

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// A task that waits for an authorization goes on by the next message, or by a handle: a text that nobody can guess,
// that is good once, and that says nothing. Whoever gets the authorization, such as the callback of OAuth, redeems it.
// The store finds its task by the hash, so that any instance, and the next process, know it. What is made of it for a
// person is in the task, as everything that is said.

// maxValue is how long what a handle is redeemed with may be as JSON.
const maxValue = 64 << 10

// ErrHandle: a handle is used, too old, one whose task has ended, or was never given. Nobody is told which.
var ErrHandle = errors.New("the handle is not good")

// Redeem has the handler that gave out a handle called again, with a value that is kept as JSON until that call is
// over. Then the handle is used up, and every other one of its task. [ErrHandle] says that it is not good; after any
// other error it may be tried again. Redeem does not wait for the handler.
func (r *Runner) Redeem(ctx context.Context, handle string, value any) error {
	b, err := json.Marshal(value)
	switch {
	case err != nil:
		return fmt.Errorf("redeem: %w", err)
	case len(b) > maxValue:
		return fmt.Errorf("redeem: %w", ErrTooLarge)
	}
	c := r.newBackgroundCall()
	if err := r.admission.admit(c); err != nil {
		return err
	}
	defer r.admission.dismiss(c)
	hash := sha256.Sum256([]byte(handle))
	key, ticket, err := r.Store.Ticket(r.Soon(), hash)
	if err == nil {
		h := r.tasks.use(key)
		defer r.tasks.drop(h)
		h.mu.Lock()
		defer h.mu.Unlock()
		work := store.Call{Request: ticket.Request, Value: b}
		err = decide(func() error { return c.redeem(ctx, h, hash, work) })
	}
	switch {
	case errors.Is(err, store.ErrTicket), errors.Is(err, store.ErrEnded), errors.Is(err, store.ErrNotFound):
		return ErrHandle
	case err != nil:
		return fmt.Errorf("redeem: %w", err)
	}
	return nil
}

// redeem takes the call of a ticket on, if the task is as it stands now. Callers must hold h.mu.
func (c *call) redeem(ctx context.Context, h *handle, hash [sha256.Size]byte, work store.Call) error {
	r := c.r
	snap, err := h.load(r, store.View{History: new(int)})
	if err != nil {
		return err
	}
	if r.Skills.byID[snap.Private.Skill] == nil {
		return store.ErrTicket
	}
	work.Input = snap.Private.Input
	info := snap.Task.TaskInfo()
	w := write{expect: snap.Version, view: &store.View{History: new(int)}, update: store.Update{
		Event: made(r, ctx, r.Protocol.NewStatus(info.ID, info.ContextID, runtime.StateWorking, nil, r.Now())),
		Call:  &work, Redeem: &hash, Stamp: newStamp(),
	}}
	switch h.commit(r, context.Background(), &w) {
	case unconfirmed:
		if w.perhaps {
			c.task.retryUnconfirmed(h.key, w.copy())
		}
	case committed:
		if w.snap.Run != nil {
			r.begin(h, &w.snap)
		}
	}
	return w.err
}
