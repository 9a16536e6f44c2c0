package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// looks ask for the revisions of tasks that are in the cache. Those that come at the same time go in one query: each
// reader of a stream looks once a second, and there may be thousands.
type looks struct {
	db *database

	mu       sync.Mutex
	waiting  map[int64]*look // by task, for the next query
	inFlight int             // queries
}

// look is the question for one task. It joins only a query that begins afterwards.
type look struct {
	done chan struct{}
	rev  int64
	err  error
}

const (
	mostInFlight = 4    // queries at the same time: above it, questions wait and go together
	mostLooks    = 5000 // tasks in a query
)

// revsSQL reads the revisions of tasks.
const revsSQL = "SELECT n, rev FROM a2a.task WHERE n=ANY($1)"

// lookTime is how long a look may take.
const lookTime = 5 * time.Second

// rev returns the revision of a task, 0 if it is not there.
func (l *looks) rev(ctx context.Context, n int64) (int64, error) {
	l.mu.Lock()
	one := l.waiting[n]
	if one == nil {
		if l.waiting == nil {
			l.waiting = map[int64]*look{}
		}
		one = &look{done: make(chan struct{})}
		l.waiting[n] = one
	}
	if l.inFlight < mostInFlight {
		l.inFlight++
		go l.askWaiting()
	}
	l.mu.Unlock()
	select {
	case <-one.done:
		return one.rev, one.err
	case <-ctx.Done():
		return 0, readFailed(context.Cause(ctx))
	}
}

// askWaiting asks until there is nothing to ask.
func (l *looks) askWaiting() {
	for {
		l.mu.Lock()
		asked := l.take()
		if len(asked) == 0 {
			l.inFlight--
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		err := l.askRevs(asked)
		for _, one := range asked {
			one.err = err
			close(one.done)
		}
	}
}

// take takes the tasks of one query. Callers must hold l.mu.
func (l *looks) take() map[int64]*look {
	if len(l.waiting) <= mostLooks {
		all := l.waiting
		l.waiting = nil
		return all
	}
	some := make(map[int64]*look, mostLooks)
	for n, one := range l.waiting {
		if some[n] = one; len(some) == mostLooks {
			break
		}
	}
	for n := range some {
		delete(l.waiting, n)
	}
	return some
}

func (l *looks) askRevs(asked map[int64]*look) error {
	ns := make([]int64, 0, len(asked))
	for n := range asked {
		ns = append(ns, n)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	return l.db.query(ctx, revsSQL, func(row relational.Row) error {
		var n, rev int64
		err := row.Scan(&n, &rev)
		asked[n].rev = rev
		return err
	}, ns)
}
