package engine

import (
	"context"
	"errors"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// A store that does not answer in time may have done what it was asked for all the same. Then the work is this
// instance's, which goes on renewing its lease, and nobody else takes it over. So whoever asked is told that it failed,
// and the store is asked again, with the same stamp, until it answers.

// unheard is the error of an update that may have been made, or may be yet.
type unheard struct{ error }

func (u unheard) Unwrap() error { return u.error }

// isUnheard reports whether err is that of an update that may have been made.
func isUnheard(err error) bool {
	_, yes := errors.AsType[unheard](err)
	return yes
}

// mayHaveDone reports whether a store that failed with err may have done what it was asked for.
func mayHaveDone(err error) bool {
	return hiccup(err) && store.Unsure(err) && !errors.Is(err, store.ErrUnavailable)
}

// errand makes a call that has no handler, for what is done in the background. It has yet to be admitted.
func (e *Engine) errand() *Call {
	c := &Call{e: e, state: over}
	c.live = &c.own
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// insist asks the store for something in the background until it answers: ask is called with the task's lock held. The
// call is admitted, and counted in for as long, which is why there are not many and the shutdown waits for them. What
// is left then, or when the lease cannot be renewed, is left to others with the rest.
func (c *Call) insist(key store.Key, ask func(l *live) error) {
	e := c.e
	l := e.use(key)
	e.hold(c)
	go func() {
		defer e.dismiss(c)
		defer e.drop(l)
		for wait := firstRetry; e.pause(wait, e.closing); wait = min(2*wait, lastRetry) {
			if e.isClosing() || e.keeper.lapsing() {
				return
			}
			l.mu.Lock()
			err := ask(l)
			l.mu.Unlock()
			if !hiccup(err) {
				return
			}
		}
	}()
}

// hearOf insists on an update that may have been made, and begins the call that it brings up, without its sender.
func (c *Call) hearOf(key store.Key, ask func(l *live) (store.Snapshot, error)) {
	c.e.log("", key.Task, key.Owner.Principal).Warn("the store does not say whether it has taken a message, asking again")
	c.insist(key, func(l *live) error {
		snap, err := ask(l)
		if err == nil && snap.Run != nil && !c.e.keeper.lapsing() {
			l.note(snap.Version)
			c.e.begin(l, &snap)
		}
		return err
	})
}

// hearOfUpdate is hearOf for an update that expected a version.
func (c *Call) hearOfUpdate(key store.Key, version int64, u store.Update) {
	c.hearOf(key, func(l *live) (store.Snapshot, error) {
		return l.commit(c.e, version, &u, &store.View{History: new(int)})
	})
}

// hearOfCreation is hearOf for the making of the call's task.
func (c *Call) hearOfCreation(n store.New) {
	key := c.live.key
	c.hearOf(key, func(*live) (store.Snapshot, error) {
		return c.e.store.Create(c.e.soon(), key, n, &store.View{History: new(int)})
	})
}

// begin runs a call that was taken on without a sender, or whose sender has left. The caller holds l.mu.
func (e *Engine) begin(l *live, snap *store.Snapshot) {
	if e.Draining() {
		return // it is given back
	}
	l.unseat(ErrLost) // it went on here without the store's consent
	c, err := e.revive(l.key, snap)
	if err != nil {
		e.giveUp(l.key, snap, cannotGoOn)
		return
	}
	now := snap.Task.TaskInfo().State
	l.run, l.ended, c.seen = c, false, now == runtime.StateWorking
	c.promote(snap, now)
	c.launch(false)
}
