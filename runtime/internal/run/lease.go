package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/store"
)

// lease renews this instance's lease on the tasks that it runs, in rounds: one at the start and, where instances share
// a store, several within each lease. With each round it takes over tasks that nobody runs. An instance that could not
// renew for too long stops its handlers before another takes their tasks over.
type lease struct {
	r    *Runner
	turn chan struct{} // has something while there is a round, and for ever when the runner is closed

	mu       sync.Mutex
	started  bool
	stopped  bool
	timer    *time.Timer   // of the next round
	period   time.Duration // of the lease; 0: it never ends
	renewed  time.Time     // when it was renewed last
	watchdog *time.Timer   // stops the handlers when it was not renewed
	until    time.Time     // when the lease that was lost ends; zero: none was
	away     time.Time     // since when the store cannot be reached; zero: it can, as far as is known
	watchers []func(ready bool)
}

// The parts of a lease. It is renewed so often that an instance outlives an outage of the store that is an eighth of the
// lease, in the worst case: about half of it passes between two renewals, and in finding out that the store hangs and
// that it is back.
const (
	renewEvery = 4  // one such part passes between two rounds
	renewIn    = 6  // one is for the renewal
	retryEvery = 20 // one passes after a renewal that failed
	callIn     = 3  // one is for any other call of the store

	leastRenewal = 500 * time.Millisecond // is for a renewal, however short the lease
	roundSoon    = time.Second            // passes until the next round when there is more to take over, at most
)

// start begins the rounds.
func (l *lease) start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.started && !l.stopped {
		l.started = true
		l.timer = time.AfterFunc(0, l.round)
	}
}

// round renews the lease, takes over what there is, and sets the time of the next round.
func (l *lease) round() {
	select {
	case l.turn <- struct{}{}:
	default:
		return // the runner is closed
	}
	begin := time.Now()
	ok := l.renew()
	more := !ok
	if ok {
		ctx, cancel := l.within(renewEvery)
		more = l.r.takeOver(ctx)
		cancel()
	}
	<-l.turn // before the next one may begin
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.period / renewEvery
	switch {
	case !ok && l.period > 0:
		next = min(l.period/retryEvery, roundSoon)
	case more && (next == 0 || next > roundSoon):
		next = roundSoon
	}
	if next > 0 && !l.stopped {
		l.timer.Reset(max(feed.Jitter(next)-time.Since(begin), 0))
	}
}

// mayBeDurable reports whether what is given back to the store may be taken up again: that is not known until the store has
// granted a lease, which an agent that is stopped at its start does not wait for.
func (r *Runner) mayBeDurable() bool { return r.durable.Load() || !r.lease.granted() }

// granted reports whether there was a lease, so that it is known whether the store is durable.
func (l *lease) granted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.renewed.IsZero()
}

// within returns a context for what may take a part of the lease.
func (l *lease) within(part time.Duration) (context.Context, context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.period == 0 {
		return l.r.Soon(), func() {}
	}
	return context.WithTimeout(l.r.Soon(), max(l.period/part, leastRenewal))
}

// renew renews the lease and reports whether it did.
func (l *lease) renew() bool {
	if l.lapsing() {
		return false
	}
	ctx, cancel := l.within(renewIn)
	defer cancel()
	r, begin := l.r, time.Now()
	granted, err := r.Store.Renew(ctx)
	if err != nil {
		l.unreachable(begin, err)
		return false
	}
	l.reachable()
	if !l.note(begin, granted) {
		return false
	}
	r.durable.Store(granted.Durable)
	r.tasks.looks.Store(granted.For > 0 && !granted.Wakes)
	r.leased(granted.For)
	if granted.For > 0 {
		if !r.tasks.shared.Swap(true) {
			r.tasks.watchAll()
		}
		r.Deliveries.Wake() // what was due elsewhere may have been given back
	}
	if granted.Over != nil {
		r.admission.cancelAll(ErrLost, func(c *call) bool { return c.task.runsHere.Load() && granted.Over(c.handle.key) })
	}
	for _, key := range granted.Lost {
		if h := r.tasks.find(key); h != nil {
			r.checkEpoch(h)
			r.tasks.drop(h)
		}
	}
	return true
}

// lapsing reports whether the handlers were stopped and the lease is not over yet. If it were renewed now, nobody could
// take their tasks over.
func (l *lease) lapsing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.until)
}

// expired reports whether the lease is not trusted any more and was not renewed since.
func (l *lease) expired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.period != 0 && (!l.until.IsZero() || time.Since(l.renewed) >= l.trusted())
}

// note notes a lease that was granted, unless the handlers were stopped meanwhile.
func (l *lease) note(begin time.Time, granted store.Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if begin.Before(l.until) || l.stopped {
		l.until = time.Now().Add(granted.For)
		return false
	}
	if !l.until.IsZero() { // the one that was lost is over
		l.until = time.Time{}
		l.r.admission.forget()
	}
	if l.period, l.renewed = granted.For, begin; l.period == 0 {
		return true
	}
	left := time.Until(begin.Add(l.trusted()))
	if l.watchdog == nil {
		l.watchdog = time.AfterFunc(left, l.lose)
	} else {
		l.watchdog.Reset(left)
	}
	return true
}

// trusted is for how long a lease is trusted: less than it lasts.
func (l *lease) trusted() time.Duration { return l.period * 2 / 3 }

// outage is how long a handler waits for a store that does not take what it says. An instance that cannot renew its lease
// meanwhile stops the handler before. 0 where the lease never ends.
func (l *lease) outage() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 2 * l.period
}

// lose stops all handlers: the lease could not be renewed.
func (l *lease) lose() {
	l.mu.Lock()
	late := !l.stopped && time.Since(l.renewed) >= l.trusted()
	if late {
		l.until = time.Now().Add(l.period)
	}
	l.mu.Unlock()
	if late {
		l.r.Logger.Error("the store was not reached for too long: what runs here is left to others")
		l.r.admission.cancelAll(ErrLost, func(c *call) bool { return c.task.runsHere.Load() })
	}
}

// stop ends the rounds, and gives back what is still run.
func (l *lease) stop() {
	l.mu.Lock()
	again := l.stopped
	l.stopped = true
	for _, t := range []*time.Timer{l.timer, l.watchdog} {
		if t != nil {
			t.Stop()
		}
	}
	l.mu.Unlock()
	if again {
		return
	}
	select {
	case l.turn <- struct{}{}: // what is being taken over is given back, too
	case <-time.After(LastGrace):
	}
	if err := l.r.Store.Close(l.r.admission.unstored()...); err != nil {
		l.r.Logger.Error("the store could not be closed", "error", err)
	}
}

// Whether an instance is ready is what its lease says: it is renewed several times within each lease, so that it is
// known soon when the store cannot be reached, also while nobody asks for anything.

// Why an instance is not ready.
var (
	ErrDraining = errors.New("shutting down")
	ErrAway     = errors.New("the store cannot be reached")
)

// Ready says why requests should go to another instance; nil: this one answers them.
func (r *Runner) Ready() error {
	r.lease.mu.Lock()
	away := !r.lease.away.IsZero()
	r.lease.mu.Unlock()
	switch {
	case r.Draining():
		return ErrDraining
	case away:
		return ErrAway
	}
	return nil
}

// WatchReady has f called when the store cannot be reached any more, and when it can again. f must be quick.
func (r *Runner) WatchReady(f func(ready bool)) {
	r.lease.mu.Lock()
	defer r.lease.mu.Unlock()
	r.lease.watchers = append(r.lease.watchers, f)
}

// unreachable notes that the store was not reached. What follows is not logged, until it is.
func (l *lease) unreachable(since time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped || !l.away.IsZero() {
		return
	}
	l.away = since
	l.r.Logger.Warn("the store cannot be reached", "error", err)
	l.tell(false)
}

// reachable notes that the store was reached.
func (l *lease) reachable() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away.IsZero() {
		return
	}
	l.r.Logger.Info("the store can be reached again", "after", time.Since(l.away).Round(time.Millisecond))
	l.away = time.Time{}
	l.tell(true)
}

// tell tells those who watch. Callers must hold l.mu.
func (l *lease) tell(ready bool) {
	for _, f := range l.watchers {
		f(ready)
	}
}
