package relational

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime/store"
)

// ErrClosed is what a closed store says.
var ErrClosed = fmt.Errorf("%w: it is closed", store.ErrUnavailable)

// Job is a change that waits for a writer, which makes many of them in one transaction.
type Job struct {
	state atomic.Int32
	Done  chan struct{} // closed when the job has ended
	Err   error         // why nothing of it was made, once it has ended
}

// States of a job.
const (
	waiting   = iota
	taken     // by the writer
	abandoned // by its caller
)

// NewJob makes a job.
func NewJob() *Job { return &Job{Done: make(chan struct{})} }

// Wait waits for the end of a job that is in a queue. If ctx ends before, the error says whether the job was abandoned in time
// (ErrUnavailable) or may be stored (ErrUnknown).
func (j *Job) Wait(ctx context.Context) (wasAbandoned bool, err error) {
	select {
	case <-j.Done:
		return false, j.Err
	case <-ctx.Done():
	}
	if j.state.CompareAndSwap(waiting, abandoned) {
		return true, fmt.Errorf("%w: %w", store.ErrUnavailable, context.Cause(ctx))
	}
	return false, fmt.Errorf("%w: %w", store.ErrUnknown, context.Cause(ctx))
}

// Take reports whether the writer is to make the job: its caller still waits for it.
func (j *Job) Take() bool { return j.state.CompareAndSwap(waiting, taken) || j.state.Load() == taken }

// End answers the job.
func (j *Job) End(err error) {
	j.Err = err
	close(j.Done)
}

// Queue holds the jobs that wait for a writer.
type Queue[J any] struct {
	mu     sync.Mutex
	jobs   []J
	wake   chan struct{}
	closed bool
}

// NewQueue makes a queue.
func NewQueue[J any]() *Queue[J] { return &Queue[J]{wake: make(chan struct{}, 1)} }

// Put adds a job.
func (q *Queue[J]) Put(j J) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	q.jobs = append(q.jobs, j)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// Take removes the first jobs, as long as more says that another one goes with them, and reports whether the queue is open.
func (q *Queue[J]) Take(more func(J) bool) (jobs []J, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := slices.IndexFunc(q.jobs, func(j J) bool { return !more(j) })
	if n < 0 {
		n = len(q.jobs)
	}
	jobs = q.jobs[:n:n]
	if q.jobs = q.jobs[n:]; len(q.jobs) == 0 {
		q.jobs = nil
	}
	return jobs, !q.closed
}

// Len is how many jobs wait.
func (q *Queue[J]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs)
}

// Wait returns when there may be jobs, or the queue is closed.
func (q *Queue[J]) Wait() { <-q.wake }

// Close has the queue take no more jobs.
func (q *Queue[J]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.wake)
	}
}
