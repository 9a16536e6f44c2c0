package feed

import (
	"sync"
	"sync/atomic"
	"time"
)

// Ticker is the one timer for all streams: it finds those that were silent for too long and has them write a heartbeat.
// It runs from the first [Ticker.Start] to [Ticker.Stop].
type Ticker struct {
	// Every is the time between two ticks, Silence after how many ticks a stream is silent for too long.
	Every   time.Duration
	Silence int64
	Started func()              // is called once, by the first Start
	Tick    func(now time.Time) // is called at each tick, before the streams are looked at

	count   atomic.Int64
	running atomic.Bool

	mu      sync.Mutex
	streams map[*Stream]struct{}
	timer   *time.Timer
	stopped bool
}

// perHeartbeat is how many ticks make a heartbeat.
const perHeartbeat = 4

// SetPace sets the time between two ticks from the heartbeat of streams and the time that a client may take nothing.
func (t *Ticker) SetPace(heartbeat, stall time.Duration) {
	t.Every = max(min(heartbeat, stall)/perHeartbeat, time.Millisecond)
	t.Silence = int64(heartbeat / t.Every)
}

// Number returns the number of the present tick, from 1.
func (t *Ticker) Number() int64 { return t.count.Load() + 1 }

// Start starts the timer if it does not run.
func (t *Ticker) Start() {
	if t.running.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil && !t.stopped {
		t.Started()
		t.timer = time.AfterFunc(t.Every, t.tick)
		t.running.Store(true)
	}
}

// Stop ends the ticking and wakes all streams, which see that they are to end.
func (t *Ticker) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	for st := range t.streams {
		st.reader.Signal()
	}
	if t.timer != nil {
		t.timer.Stop()
	}
}

func (t *Ticker) add(st *Stream) {
	t.mu.Lock()
	if t.streams == nil {
		t.streams = map[*Stream]struct{}{}
	}
	t.streams[st] = struct{}{}
	st.seen.Store(t.Number())
	t.mu.Unlock()
	t.Start()
}

func (t *Ticker) remove(st *Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.streams, st)
}

func (t *Ticker) tick() {
	t.Tick(time.Now())
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count.Add(1)
	for st := range t.streams {
		if st.seen.Load() <= t.Number()-t.Silence {
			st.silent.Store(true)
			st.reader.Signal()
		}
	}
	if !t.stopped {
		t.timer.Reset(t.Every)
	}
}
