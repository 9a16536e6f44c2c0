package engine

import (
	"sync/atomic"
	"time"
)

// upkeep is what the engine does now and then: it ends calls whose time is up, has the store drop old tasks, and looks
// for push notifications that another instance has left.
type upkeep struct {
	swept    time.Time
	sweeping atomic.Bool // on a goroutine of its own, since that may take long
}

// sweepEvery is how often the store is told to drop what is due.
const sweepEvery = 30 * time.Second

// tickerStarted begins the upkeep: there is a stream or a task.
func (e *Engine) tickerStarted() {
	e.upkeep.swept = time.Now()
	e.Start()
}

// tick does the upkeep, at each tick of the streams' timer.
func (e *Engine) tick(now time.Time) {
	for _, c := range e.due(now) {
		go c.expire()
	}
	if now.Sub(e.upkeep.swept) < sweepEvery {
		return
	}
	e.upkeep.swept = now
	e.deliveries.Wake()
	if !e.upkeep.sweeping.Swap(true) {
		go e.sweep()
	}
}

// sweep has the store drop what is due, a little at a time.
func (e *Engine) sweep() {
	defer e.upkeep.sweeping.Store(false)
	dropped := 0
	for more := true; more && !e.isClosing(); {
		var n int
		var err error
		if n, more, err = e.store.Sweep(e.soon()); err != nil {
			e.logger.Error("store could not be swept", "error", err)
			return
		}
		dropped += n
	}
	if dropped > 0 {
		e.logger.Debug("tasks dropped", "tasks", dropped)
	}
}
