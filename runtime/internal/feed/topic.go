package feed

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

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
