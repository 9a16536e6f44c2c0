package sqlite

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// The writer is the one goroutine that changes the file. It puts all waiting jobs into one transaction, so that they
// share its cost. A job decides before it writes: a job that is refused has written nothing and needs no undoing. When a
// statement fails, the whole transaction is rolled back and all its jobs fail. Readers see changes only after COMMIT.

// job is one change.
type job struct {
	*relational.Job
	// do makes the change, within the transaction. An error without a failed statement refuses the job.
	do func(*writer) error
}

// errLater puts a job off to the next transaction: its task was changed in this one already, or there is room for it only
// by evicting a task that was. What it has evicted so far stays evicted.
var errLater = errors.New("in the next batch")

// write runs do on the writer's goroutine and waits for it.
func (s *Store) write(ctx context.Context, do func(*writer) error) error {
	j := &job{relational.NewJob(), do}
	if err := s.queue.Put(j); err != nil {
		return err
	}
	_, err := j.Wait(ctx)
	return err
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
			w.s.queue.Wait()
		}
		runtime.Gosched() // callers that were just answered may put their next jobs in
		jobs, open := w.s.queue.Take(func(*job) bool { return true })
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
	jobs = slices.DeleteFunc(jobs, func(j *job) bool { return !j.Take() })
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
		j.End(err)
	}
}

// transaction does the jobs, and publishes them if they are in the file. With an error none is.
func (w *writer) transaction(jobs []*job) (later []*job, err error) {
	if err := w.begin(); err != nil {
		return nil, err
	}
	done := make([]*job, 0, len(jobs))
	for _, j := range jobs {
		j.Err = j.do(w)
		switch {
		case w.failed != nil:
			return nil, w.rollback(w.failed)
		case j.Err == errLater:
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
		close(j.Done)
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
