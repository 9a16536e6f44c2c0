package engine

import (
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/store"
)

// keeper holds what this instance runs, and takes over what others have left: at the start, and where instances share a
// store with each renewal of the lease. An instance that is not heard of for too long stops its handlers before another
// takes their tasks over.
type keeper struct {
	e    *Engine
	turn chan struct{} // has something while there is a round, and for ever when the engine is closed

	mu      sync.Mutex
	started bool
	stopped bool
	timer   *time.Timer   // of the next round
	lease   time.Duration // 0: for ever
	last    time.Time     // when it was renewed
	deadman *time.Timer   // stops the handlers
	until   time.Time     // when the lease is over that was lost; zero: it is not
}

const (
	renewals  = 3           // within a lease
	roundSoon = time.Second // when a round has failed, or there is more to take over
	// takeAtOnce is how many tasks are taken over at a time.
	takeAtOnce = 100
	// attempts is how often a handler is called for one message.
	attempts = 3
)

// What a task ends with that was interrupted. Its reader is a person.
const (
	restarted  = "The agent was restarted while it worked on this. Please send the message again."
	tooOften   = "The agent was interrupted each time it worked on this, and does not try it again."
	cannotGoOn = "The agent can no longer work on this."
)

// Start has the engine take over what a process before has left. Work that comes in starts it, too.
func (e *Engine) Start() {
	k := &e.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.started && !k.stopped {
		k.started = true
		k.timer = time.AfterFunc(0, k.round)
	}
}

// round renews the lease, takes over what there is, and sets the time of the next round.
func (k *keeper) round() {
	select {
	case k.turn <- struct{}{}:
	default:
		return // the engine is closed
	}
	defer func() { <-k.turn }()
	ok := k.renew()
	more := !ok || k.takeOver()
	k.mu.Lock()
	defer k.mu.Unlock()
	next := k.lease / renewals
	if more && (next == 0 || next > roundSoon) {
		next = roundSoon
	}
	if next > 0 && !k.stopped {
		k.timer.Reset(feed.Jitter(next))
	}
}

// renew renews the lease and reports whether it did.
func (k *keeper) renew() bool {
	if k.lapsing() {
		return false
	}
	begin := time.Now()
	lease, err := k.e.store.Renew(k.e.soon())
	if err != nil {
		k.e.logger.Warn("the store does not answer", "error", err)
		return false
	}
	if !k.renewed(begin, lease) {
		return false
	}
	k.e.durable.Store(lease.Durable)
	if lease.For > 0 {
		if !k.e.shared.Swap(true) {
			k.e.watchAll()
		}
		k.e.deliveries.Wake() // what was due elsewhere may have been given back
	}
	for _, key := range lease.Lost {
		if l := k.e.find(key); l != nil {
			k.e.lookAfter(l)
			k.e.drop(l)
		}
	}
	return true
}

// lapsing reports whether the handlers were stopped and the lease is not over yet. Renewed, it would keep their tasks
// from everybody.
func (k *keeper) lapsing() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Now().Before(k.until)
}

// renewed takes note of a lease, unless the handlers were stopped meanwhile.
func (k *keeper) renewed(begin time.Time, lease store.Lease) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if begin.Before(k.until) || k.stopped {
		k.until = time.Now().Add(lease.For)
		return false
	}
	if !k.until.IsZero() { // a new life
		k.until = time.Time{}
		k.e.forget()
	}
	if k.lease, k.last = lease.For, begin; k.lease == 0 {
		return true
	}
	left := time.Until(begin.Add(k.patience()))
	if k.deadman == nil {
		k.deadman = time.AfterFunc(left, k.lose)
	} else {
		k.deadman.Reset(left)
	}
	return true
}

// patience is for how long a lease is trusted.
func (k *keeper) patience() time.Duration { return k.lease * 2 / renewals }

// lose stops all handlers: the lease could not be renewed.
func (k *keeper) lose() {
	k.mu.Lock()
	late := !k.stopped && time.Since(k.last) >= k.patience()
	if late {
		k.until = time.Now().Add(k.lease)
	}
	k.mu.Unlock()
	if !late {
		return
	}
	k.e.logger.Error("the store was not reached for too long: what runs here is left to others")
	k.e.admission.mu.Lock()
	defer k.e.admission.mu.Unlock()
	for c := range k.e.running {
		if c.task.held.Load() {
			c.cancel(ErrLost)
		}
	}
}

// stop ends the rounds, and gives back what is still run.
func (k *keeper) stop() {
	k.mu.Lock()
	again := k.stopped
	k.stopped = true
	for _, t := range []*time.Timer{k.timer, k.deadman} {
		if t != nil {
			t.Stop()
		}
	}
	k.mu.Unlock()
	if again {
		return
	}
	select {
	case k.turn <- struct{}{}: // what is being taken over is given back, too
	case <-time.After(lastGrace):
	}
	if err := k.e.store.Close(k.e.unsaid()...); err != nil {
		k.e.logger.Error("the store could not be closed", "error", err)
	}
}

// forget forgets what this instance held before its lease was over.
func (e *Engine) forget() {
	a := &e.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lost = nil
}

// unsaid are the tasks that may be held here still although they are not to be tried again as if nothing had happened:
// what their calls came to could not be stored.
func (e *Engine) unsaid() (left []store.Key) {
	a := &e.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.running {
		if c.task.held.Load() {
			left = append(left, c.live.key)
		}
	}
	return append(left, a.lost...)
}

// takeOver takes over tasks that nobody runs, as many as there are places, and reports whether there may be more.
func (k *keeper) takeOver() (more bool) {
	e := k.e
	if !e.durable.Load() || e.Draining() {
		return false
	}
	var free []string // skills without a bound of their own
	for _, sk := range e.skills {
		if sk.slots == nil {
			free = append(free, sk.ID)
		} else if n := min(cap(sk.slots)-len(sk.slots), e.places()); n > 0 {
			more = e.takeOverOf([]string{sk.ID}, n) || more
		} else {
			more = true
		}
	}
	if len(free) > 0 {
		more = e.takeOverOf(free, e.places()) || more
	}
	return more
}

// places is how many more calls may be admitted.
func (e *Engine) places() int {
	a := &e.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.draining {
		return 0
	}
	return e.limits.Running - len(a.running)
}

func (e *Engine) takeOverOf(skills []string, places int) (more bool) {
	n := min(places, takeAtOnce)
	if n <= 0 {
		return true
	}
	runs, err := e.store.Claim(e.soon(), skills, n)
	if err != nil {
		e.logger.Warn("tasks could not be taken over", "error", err)
		return true
	}
	for i := range runs {
		e.resume(&runs[i])
	}
	return len(runs) == n
}

// resume goes on with a task that was interrupted.
func (e *Engine) resume(run *store.Run) {
	if e.Draining() {
		return // it is given back
	}
	snap := &run.Snapshot
	snap.Run = run.Call
	c, err := e.revive(run.Key, snap)
	if err != nil {
		e.log(snap.Private.Skill, run.Key.Task, run.Key.Owner.Principal).Error("an interrupted task cannot go on", "error", err)
		e.giveUp(run.Key, snap, cannotGoOn)
		return
	}
	go func() {
		reason := c.takeUp(snap)
		c.view.Logger().Info("interrupted task taken over", "attempt", c.attempt, "again", reason == "")
		if reason != "" {
			c.abort(c.view.Fail(reason))
			return
		}
		c.execute()
	}()
}

// takeUp makes the call the one at work on its task, which was interrupted, and says why it is not tried again; "" that
// it is.
func (c *call) takeUp(snap *store.Snapshot) (reason string) {
	l, now := c.live, snap.Task.TaskInfo()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revoke(ErrLost)
	l.note(snap.Version)
	l.run, l.ended = c, false
	c.set(now.ID, now.ContextID)
	c.begins(snap)
	switch {
	case c.attempt > 1 && c.skill.OnCrash != CrashRetry:
		return restarted
	case c.attempt > attempts:
		return tooOften
	}
	c.seen = now.State == runtime.StateWorking
	c.promote(snap, now.State)
	return ""
}

// abort ends a call without its handler.
func (c *call) abort(err error) {
	defer c.e.dismiss(c)
	defer c.cancel(nil)
	if next := c.returned(nil, err); next != nil {
		go next.execute()
	}
}

// giveUp ends a task of which no call can be made, in the background.
func (e *Engine) giveUp(key store.Key, snap *store.Snapshot, reason string) {
	c, info := e.newBackgroundCall(), snap.Task.TaskInfo()
	e.adopt(c)
	defer e.dismiss(c)
	said := e.protocol.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: e.ids.next(), ContextID: info.ContextID, TaskID: info.ID},
		Parts:       []runtime.Part{runtime.Text(reason)},
	})
	c.task.retryUnconfirmed(key, &write{update: store.Update{
		Event: e.protocol.NewStatus(info.ID, info.ContextID, runtime.StateFailed, said, e.now()),
		Stamp: newStamp(), Epoch: snap.Epoch, Done: snap.Run.N,
	}})
}
