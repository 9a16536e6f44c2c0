package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/store"
)

// courier carries the events of tasks to where their clients want to be told. What is due is in the store: the courier
// claims a little of it at a time, so that its memory does not grow with what waits, and nothing that waits here is
// lost when the process ends. Each configuration has one notification on its way at most, which keeps them in order.
//
// A host that does not answer must delay nobody else. What waits for it here is put back, which means forgotten: the
// claim runs out, and it falls due again.
type courier struct {
	e      *Engine
	pusher Pusher
	bodies budget.Budget // of notifications that are on their way
	ctx    context.Context
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	claims  bool // a goroutine claims
	again   bool // there may be more than it knows
	full    bool // it ended because there was no room
	stopped bool
	timer   *time.Timer // until it is to look again
	hosts   map[string]*host
	waiting []*host // those with a queue, longest waiting first
	parcels map[parcelKey]*parcel
	active  int // on their way
	trying  int // of them to hosts that have not answered in time yet
}

// bodyBytes is how many bytes notifications on their way may have in all.
const bodyBytes = 64 << 20

func newCourier(e *Engine, p Pusher) courier {
	ctx, stop := context.WithCancel(context.Background())
	return courier{
		e: e, pusher: p, ctx: ctx, stop: stop, bodies: budget.Budget{Limit: bodyBytes},
		hosts: map[string]*host{}, parcels: map[parcelKey]*parcel{},
	}
}

// wake has the courier look what is due.
func (c *courier) wake() {
	if !c.e.pushes() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
}

// look is wake. The caller holds c.mu.
func (c *courier) look() {
	c.again = true
	if !c.claims && !c.stopped {
		c.claims = true
		c.done.Add(1)
		go c.claim()
	}
}

// claim takes what is due until there is no more of it, or no more room.
func (c *courier) claim() {
	defer c.done.Done()
	for c.room() {
		ctx, cancel := c.soon()
		due, next, err := c.e.store.Due(ctx, claimAtOnce, claimFor)
		if cancel(); err != nil && c.ctx.Err() == nil {
			c.e.logger.Warn("what push notifications are due could not be read, trying again", "error", err)
		}
		if err != nil {
			due, next = nil, lastRetry
		}
		now := time.Now()
		c.mu.Lock()
		for i := range due {
			c.take(&parcel{Delivery: due[i], at: now}, now)
		}
		rests := len(due) == 0 && c.rest(next)
		c.mu.Unlock()
		if rests {
			return
		}
	}
}

// soon is the context of a call of the store, which ends with the courier.
func (c *courier) soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.ctx, storeTime)
}

// room reports whether more can be claimed; if not, the goroutine is to end.
func (c *courier) room() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.parcels)+claimAtOnce > inHand {
		c.putBack(time.Now())
	}
	c.full = len(c.parcels)+claimAtOnce > inHand
	if c.full || c.stopped {
		c.claims = false
		if c.full {
			c.lookIn(silence) // by then it is known who is slow
		}
		return false
	}
	c.again = false
	return true
}

// rest ends the claiming until something falls due, and reports whether it may. The caller holds c.mu.
func (c *courier) rest(next time.Duration) bool {
	if c.again {
		return false
	}
	c.claims = false
	if next >= 0 {
		c.lookIn(min(max(next, time.Millisecond), lookAnyway))
	}
	return true
}

// lookIn has the courier look what is due after a while. The caller holds c.mu.
func (c *courier) lookIn(d time.Duration) {
	if c.stopped {
		return
	}
	if c.timer == nil {
		c.timer = time.AfterFunc(d, c.wake)
		return
	}
	c.timer.Reset(d)
}

// take puts a parcel into the queue of its host. The caller holds c.mu.
func (c *courier) take(p *parcel, now time.Time) {
	switch old := c.parcels[p.name()]; {
	case old == nil:
	case old.away:
		old.next = p
		return
	default: // its claim ran out
		old.Delivery, old.at = p.Delivery, p.at
		return
	}
	name := c.pusher.Host(&p.Push.Config)
	h := c.hosts[name]
	if h == nil {
		h = &host{name: name}
		c.hosts[name] = h
	}
	if h.slow(now) && len(h.queue) > 0 {
		return
	}
	p.host = h
	c.parcels[p.name()] = p
	if h.queue = append(h.queue, p); len(h.queue) == 1 {
		c.waiting = append(c.waiting, h)
	}
	c.send(now)
}

// putBack forgets what waits for hosts that are slow. The caller holds c.mu.
func (c *courier) putBack(now time.Time) {
	for _, h := range c.waiting {
		if h.slow(now) {
			for _, p := range h.queue[1:] {
				delete(c.parcels, p.name())
			}
			clear(h.queue[1:])
			h.queue = h.queue[:1]
		}
	}
}

// send sends what may be sent, a host's turn after the other's. The caller holds c.mu.
func (c *courier) send(now time.Time) {
	for i := 0; i < len(c.waiting) && c.active < ways && !c.stopped; {
		h := c.waiting[i]
		if h.active >= h.places() || !h.good && c.trying >= untried {
			i++
			continue
		}
		p := h.queue[0]
		h.queue[0], h.queue = nil, h.queue[1:]
		c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
		if len(h.queue) > 0 {
			c.waiting = append(c.waiting, h)
		}
		if now.Sub(p.at) > freshFor {
			delete(c.parcels, p.name())
			continue
		}
		h.left(now)
		p.away = true
		c.active++
		tried := !h.good
		if tried {
			c.trying++
		}
		c.done.Add(1)
		go c.carry(p, tried)
	}
}

// carry brings one parcel on its way.
func (c *courier) carry(p *parcel, tried bool) {
	defer c.done.Done()
	begin := time.Now()
	answered := c.deliver(p)
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.parcels, p.name())
	c.active--
	if tried {
		c.trying--
	}
	p.host.back(now, answered, now.Sub(begin))
	if p.next != nil {
		c.take(p.next, now)
	}
	c.send(now)
	if h := p.host; h.active == 0 && len(h.queue) == 0 && len(c.hosts) > manyHosts {
		delete(c.hosts, h.name)
	}
	c.look() // for what has happened to the task meanwhile
}

// log is the logger for one delivery. The receiver's address may hold secrets: its host has to do.
func (c *courier) log(p *parcel) *slog.Logger {
	return c.e.log(c.about(p).Skill, p.Key.Task, p.Key.Owner.Principal).With("push", p.Push.ID, "host", p.host.name)
}

// close lets what is on its way arrive until ctx is done, but not for long, and sends nothing more. What is claimed is
// given back to the store, for the next instance.
func (c *courier) close(ctx context.Context) {
	c.mu.Lock()
	c.stopped = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	grace, cancel := context.WithTimeout(ctx, lastGrace)
	defer cancel()
	defer context.AfterFunc(grace, c.stop)()
	c.done.Wait()
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	last, end := context.WithTimeout(context.Background(), lastGrace)
	defer end()
	for _, p := range c.parcels {
		if c.e.store.Settle(last, p.Delivery, store.Outcome{}) != nil && last.Err() != nil {
			break // the claims run out
		}
	}
	clear(c.parcels)
}
