package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// The writer is the one goroutine that changes the file. It puts all waiting jobs into one transaction, so that they
// share its cost. A job decides before it writes: a job that is refused has written nothing and needs no undoing. When a
// statement fails, the whole transaction is rolled back and all its jobs fail. Readers see changes only after COMMIT.

// job is one change.
type job struct {
	// do makes the change, within the transaction. An error without a failed statement refuses the job.
	do    func(*writer) error
	state atomic.Int32
	done  chan struct{}
	err   error
}

// States of a job.
const (
	waiting   = iota
	taken     // by the writer
	abandoned // by its caller
)

// errLater puts a job off to the next transaction: its task was changed in this one already, or there is room for it only
// by evicting a task that was. What it has evicted so far stays evicted.
var errLater = errors.New("in the next batch")

// errClosed is what a closed store says.
var errClosed = fmt.Errorf("%w: it is closed", store.ErrUnavailable)

// queue holds the waiting jobs.
type queue struct {
	mu     sync.Mutex
	jobs   []*job
	wake   chan struct{}
	closed bool
}

// write runs do on the writer's goroutine and waits for it. If ctx ends before, the error says whether the job was
// abandoned in time (ErrUnavailable) or may be stored (ErrUnknown).
func (s *Store) write(ctx context.Context, do func(*writer) error) error {
	j := &job{do: do, done: make(chan struct{})}
	if err := s.queue.put(j); err != nil {
		return err
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	if j.state.CompareAndSwap(waiting, abandoned) {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, context.Cause(ctx))
	}
	return fmt.Errorf("%w: %w", store.ErrUnknown, context.Cause(ctx))
}

// result returns what a job has made, unless its outcome is unknown: then the writer may still be writing to it.
func result[T any](made *T, err error) (T, error) {
	if errors.Is(err, store.ErrUnknown) {
		var nothing T
		return nothing, err
	}
	return *made, err
}

func (q *queue) put(j *job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed
	}
	q.jobs = append(q.jobs, j)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// take returns the waiting jobs, and whether the queue is open.
func (q *queue) take() (jobs []*job, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs, q.jobs = q.jobs, nil
	return jobs, !q.closed
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.wake)
	}
}

// writer is the state of the goroutine that writes.
type writer struct {
	s *Store
	*conn
	base    relational.Base // asks within the transaction
	now     time.Time
	changed map[int64]struct{} // tasks that the batch has changed
	after   []func()           // what publishes it, in order: only when it is in the file may readers see it
	ledger  ledger
	foreign int64 // how often somebody else has changed the file
	nextN   int64 // number of the next task
}

func newWriter(s *Store, c *conn) *writer {
	w := &writer{s: s, conn: c, changed: map[int64]struct{}{}}
	w.base = relational.Base{Driver: within{c}, Now: func() time.Time { return w.now }}
	return w
}

// mostJobs is how many jobs a transaction has at most.
const mostJobs = 256

func (w *writer) run() {
	defer close(w.s.stopped)
	var later []*job
	for {
		if len(later) == 0 {
			<-w.s.queue.wake
		}
		runtime.Gosched() // callers that were just answered may put their next jobs in
		jobs, open := w.s.queue.take()
		jobs = append(later, jobs...)
		if len(jobs) == 0 && !open {
			return
		}
		n := min(len(jobs), mostJobs)
		later = slices.Concat(w.batch(jobs[:n:n]), jobs[n:])
	}
}

// batch does jobs in one transaction, and returns those that have to wait for the next one. When it fails for a reason
// that may lie with one of the jobs, each has a transaction of its own.
func (w *writer) batch(jobs []*job) (later []*job) {
	jobs = slices.DeleteFunc(jobs, func(j *job) bool {
		return !j.state.CompareAndSwap(waiting, taken) && j.state.Load() == abandoned
	})
	if len(jobs) == 0 {
		return nil
	}
	later, err := w.transaction(jobs)
	if err == nil {
		return later
	}
	if len(jobs) == 1 || !oneJobs(err) {
		refuse(jobs, err)
		return nil
	}
	for _, j := range jobs {
		left, err := w.transaction([]*job{j})
		if later = append(later, left...); err != nil {
			refuse([]*job{j}, err)
		}
	}
	return later
}

// oneJobs reports whether a failure may lie with one of the jobs, and not with the file, the disk or the memory.
func oneJobs(err error) bool {
	switch code(err) {
	case codeError, codeTooBig, codeConstraint, codeMismatch, codeMisuse, codeRange:
		return true
	}
	return false
}

func refuse(jobs []*job, err error) {
	for _, j := range jobs {
		j.err = err
		close(j.done)
	}
}

// transaction does the jobs, and publishes them if they are in the file. With an error none is.
func (w *writer) transaction(jobs []*job) (later []*job, err error) {
	if err := w.begin(); err != nil {
		return nil, err
	}
	done := make([]*job, 0, len(jobs))
	for _, j := range jobs {
		j.err = j.do(w)
		switch {
		case w.failed != nil:
			return nil, w.rollback(w.failed)
		case j.err == errLater:
			later = append(later, j)
		default:
			done = append(done, j)
		}
	}
	if err := w.ledger.flush(w); err != nil {
		return nil, w.rollback(err)
	}
	if _, err := w.exec("COMMIT"); err != nil {
		return nil, w.rollback(err)
	}
	w.s.stats.committed(done, w.ledger.all)
	for _, then := range w.after {
		then()
	}
	clear(w.after) // they know tasks
	for _, j := range done {
		close(j.done)
	}
	return later, nil
}

// begin starts a transaction. What was remembered is forgotten when another process has changed the file.
func (w *writer) begin() error {
	w.failed = nil
	if err := w.s.mayWrite(); err != nil {
		return err
	}
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		if code(err) != codeError {
			return err
		}
		_ = w.rollback(nil) // one was open after all
		if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
	}
	w.now = w.s.options.Clock()
	clear(w.changed)
	w.after = w.after[:0]
	version, _, err := w.one("PRAGMA data_version")
	if err != nil {
		return w.rollback(err)
	}
	if version != w.foreign {
		if err := w.checkLast(); err != nil {
			return w.rollback(err)
		}
		w.s.cache.Clear()
		w.ledger.forget()
	} else if len(w.ledger.owners) > mostOwners {
		w.ledger.shrink()
	}
	w.foreign = version
	return nil
}

// rollback gives the transaction up, which SQLite may have done already.
func (w *writer) rollback(err error) error {
	_ = w.script("ROLLBACK")
	w.ledger.forget()
	w.failed = nil
	return err
}

// then has f called when the batch is in the file.
func (w *writer) then(f func()) { w.after = append(w.after, f) }
