package run

import (
	"sync/atomic"
	"time"
)

// upkeep is what a runner does now and then: it ends calls whose time is up, has the store drop old tasks, and looks
// for push notifications that another instance has left.
type upkeep struct {
	swept    time.Time
	sweeping atomic.Bool // on a goroutine of its own, since that may take long
}

// sweepEvery is how often the store is told to drop what is due.
const sweepEvery = 30 * time.Second

// TickerStarted begins the upkeep: there is a stream or a task.
func (r *Runner) TickerStarted() {
	r.upkeep.swept = time.Now()
	r.Start()
}

// Tick does the upkeep, at each tick of the streams' timer.
func (r *Runner) Tick(now time.Time) {
	for _, c := range r.admission.due(now) {
		go c.expire()
	}
	if now.Sub(r.upkeep.swept) < sweepEvery {
		return
	}
	r.upkeep.swept = now
	r.Deliveries.Wake()
	if !r.upkeep.sweeping.Swap(true) {
		go r.sweep()
	}
}

// sweep has the store drop what is due, a little at a time.
func (r *Runner) sweep() {
	defer r.upkeep.sweeping.Store(false)
	dropped := 0
	for more := true; more && !r.admission.isClosing(); {
		var n int
		var err error
		if n, more, err = r.Store.Sweep(r.Soon()); err != nil {
			r.Logger.Error("store could not be swept", "error", err)
			return
		}
		dropped += n
	}
	if dropped > 0 {
		r.Logger.Debug("tasks dropped", "tasks", dropped)
	}
}
