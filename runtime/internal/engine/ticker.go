package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// ticker is the one timer for all streams, for long timeouts and for the store's retention: it finds the streams that
// were silent for too long and has them write a heartbeat. It runs from the first stream or task until the engine shuts
// down.
type ticker struct {
	e       *Engine
	now     atomic.Int64 // number of the present tick, from 1
	running atomic.Bool
	// sweeping: the store is being swept, on a goroutine of its own, since that may take long.
	sweeping atomic.Bool

	mu      sync.Mutex
	streams map[*Stream]struct{}
	timer   *time.Timer
	swept   time.Time
	stopped bool
}

// sweepEvery is how often the store is told to drop what is due.
const sweepEvery = 30 * time.Second

// beatTicks is how many ticks make a heartbeat.
const beatTicks = 4

func (t *ticker) interval() time.Duration {
	return max(min(t.e.limits.Heartbeat, t.e.limits.Stall)/beatTicks, time.Millisecond)
}

// start arms the timer if it is not.
func (t *ticker) start() {
	if t.running.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil && !t.stopped {
		t.timer = time.AfterFunc(t.interval(), t.tick)
		t.swept = time.Now()
		t.running.Store(true)
		t.e.Start()
	}
}

func (t *ticker) add(st *Stream) {
	t.mu.Lock()
	if t.streams == nil {
		t.streams = map[*Stream]struct{}{}
	}
	t.streams[st] = struct{}{}
	st.heard.Store(t.now.Load())
	t.mu.Unlock()
	t.start()
}

func (t *ticker) remove(st *Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.streams, st)
}

func (t *ticker) tick() {
	now := time.Now()
	for _, c := range t.e.due(now) {
		go c.expire()
	}
	sweep := t.beat(now)
	if sweep {
		t.e.deliveries.Wake() // something may have fallen due by another instance
	}
	if sweep && !t.sweeping.Swap(true) {
		go t.sweep()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stopped {
		t.timer.Reset(t.interval())
	}
}

// sweep has the store drop what is due, a little at a time.
func (t *ticker) sweep() {
	defer t.sweeping.Store(false)
	dropped := 0
	for more := true; more && !t.e.isClosing(); {
		var n int
		var err error
		if n, more, err = t.e.store.Sweep(t.e.soon()); err != nil {
			t.e.logger.Error("store could not be swept", "error", err)
			return
		}
		dropped += n
	}
	if dropped > 0 {
		t.e.logger.Debug("tasks dropped", "tasks", dropped)
	}
}

// beat wakes the silent streams and reports whether it is time to sweep.
func (t *ticker) beat(now time.Time) (sweep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	silent := t.now.Add(1) - int64(t.e.limits.Heartbeat/t.interval())
	for st := range t.streams {
		if st.heard.Load() <= silent {
			st.silent.Store(true)
			st.reader.signal()
		}
	}
	if now.Sub(t.swept) < sweepEvery {
		return false
	}
	t.swept = now
	return true
}

func (t *ticker) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	for st := range t.streams {
		st.reader.signal() // the engine is closing
	}
	if t.timer != nil {
		t.timer.Stop()
	}
}
