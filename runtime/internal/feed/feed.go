// Package feed gives the events of tasks to readers: streams, which are cursors in a task's log, and whoever waits for
// a task to change. It decides nothing about tasks.
package feed

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/store"
)

// Config is what a [Feed] works with.
type Config struct {
	Store    store.Store
	Protocol *runtime.Protocol
	// Context returns a context for a call of the store that begins now.
	Context func() context.Context
	// Show returns a task as the agent's hooks want it shown.
	Show       func(context.Context, runtime.Task) runtime.Task
	MaxStreams int
	Heartbeat  time.Duration   // silence after which a stream has something written
	Stall      time.Duration   // how long a client may take nothing
	Closing    <-chan struct{} // closed when streams are to end
}

// Feed gives readers the events of tasks.
type Feed struct {
	Config
	Ticker  Ticker
	streams atomic.Int64
}

// Streams returns how many streams are open.
func (f *Feed) Streams() int { return int(f.streams.Load()) }

// Admit counts an open stream that is none of a task, or refuses one too many. release counts it down.
func (f *Feed) Admit() (release func(), err error) {
	if err := f.admit(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { f.streams.Add(-1) }), nil
}

// admit counts one more open stream, or refuses one too many. Who is admitted must count it down again.
func (f *Feed) admit() error {
	if f.streams.Add(1) > int64(f.MaxStreams) {
		f.streams.Add(-1)
		return budget.ErrBusy.With("too many open streams, try again later")
	}
	return nil
}

func (f *Feed) isClosing() bool {
	select {
	case <-f.Closing:
		return true
	default:
		return false
	}
}

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

// Topic is the readers of one task. Its zero value has none.
type Topic struct {
	mu       sync.Mutex
	readers  []*Reader
	attached atomic.Int64 // number of readers
	read     atomic.Bool

	snapshots snapshots
}

// Reader is woken when its task has changed.
type Reader struct {
	wake chan struct{} // one signal for any number of changes
	poll *time.Timer   // wakes it now and then; nil: it is told of every change
	gone atomic.Bool   // nobody is to be woken any more
}

// PollEvery is about how often a reader looks at a store that others share, if what tells it of a change that was made
// elsewhere may be lost.
const PollEvery = time.Second

// NewReader makes a reader. looks says that other instances may change the task, and that it may not be told.
func NewReader(looks bool) *Reader {
	r := &Reader{wake: make(chan struct{}, 1)}
	if looks {
		r.poll = time.AfterFunc(time.Hour, func() {
			if !r.gone.Load() {
				r.Signal()
				r.poll.Reset(Jitter(PollEvery))
			}
		})
		r.poll.Reset(Jitter(PollEvery)) // not before r.poll is set
	}
	return r
}

// Jitter returns d, more or less, so that not all wake at once.
func Jitter(d time.Duration) time.Duration { return d*3/4 + rand.N(d/2) }

// Signal wakes the reader.
func (r *Reader) Signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Wake returns the channel on which the reader is woken.
func (r *Reader) Wake() <-chan struct{} { return r.wake }

// Attach adds a reader.
func (t *Topic) Attach(r *Reader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readers = append(t.readers, r)
	t.attached.Add(1)
	t.read.Store(true)
}

// Detach removes a reader.
func (t *Topic) Detach(r *Reader) {
	if r.poll != nil {
		r.gone.Store(true)
		r.poll.Stop()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, x := range t.readers {
		if x == r {
			t.readers = append(t.readers[:i], t.readers[i+1:]...)
			t.attached.Add(-1)
			return
		}
	}
}

// Wake tells the readers that the task has changed.
func (t *Topic) Wake() {
	if t.attached.Load() == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.readers {
		r.Signal()
	}
}

// WasRead reports whether there was a reader: its client may come back for the events after the last it saw.
func (t *Topic) WasRead() bool { return t.read.Load() }

// ExpectReader notes that a stream is about to begin.
func (t *Topic) ExpectReader() { t.read.Store(true) }
