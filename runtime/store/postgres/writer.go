package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// A change is decided on its caller's goroutine. A writer only sends it: all that waits goes together as one batch,
// which is one transaction in one round trip, and no transaction ever waits for its client. What a change was decided
// on is part of its statements: one that finds another rev of its task undoes the batch, and the others are sent
// again without it.

// write is what one change sends.
type write struct {
	s       *Store
	n       int64            // of the task
	key     store.Key        // of it
	runner  int32            // who ran it before
	rev     int64            // revision of it that the change was decided on; 0: the task is new, or there is none
	next    *taskstate.State // what it becomes, the zero State if it is dropped; nil: the write changes no task
	server  int32            // by which it was decided
	task    statement        // of the row of the task. Those of a batch come first, in the order of their numbers
	event   []any            // columns of an event after the number of its task, which is inserted by that statement
	rest    []statement
	sums    []*delta
	repeats *relational.Repeats // to which the write adds a message
	bytes   int
	*relational.Job
}

type statement struct {
	sql  string
	args []any
}

func (s *Store) newWrite() *write {
	return &write{s: s, server: s.target.server.Load(), Job: relational.NewJob()}
}

// Add implements [relational.Out].
func (w *write) Add(sql string, args ...any) {
	w.rest = append(w.rest, w.measured(w.s.sql(sql), args))
}

// Fenced implements [relational.Out]: without a row that changes, the write is undone, with [relational.ErrStale].
func (w *write) Fenced(sql string, args ...any) {
	w.rest = append(w.rest, w.measured(w.s.fenced(sql), args))
}

// Event implements [relational.Out]. The first event goes with the statement of the task.
func (w *write) Event(row []any) {
	if w.event == nil {
		w.event = row[1:]
	} else {
		w.Add(dialect.InsertEvent(), row...)
	}
}

// fence sets the statement of the row of the task, as fenced does. It also inserts the event, if there is one.
func (w *write) fence(sql string, args ...any) {
	text := ""
	if w.event == nil {
		text = w.s.fenced(sql)
	} else {
		text = w.s.withEvent(sql, len(args))
	}
	w.task = w.measured(text, append(args, w.event...))
}

func (w *write) measured(sql string, args []any) statement {
	w.bytes += len(args) * 8
	for _, a := range args {
		if b, ok := a.([]byte); ok {
			w.bytes += len(b)
		}
	}
	return statement{sql, args}
}

// settle ends what was reserved for the write.
func (w *write) settle(err error) {
	for _, d := range w.sums {
		w.s.ledger.settled(d, err)
	}
	if w.repeats != nil && err != nil {
		w.repeats.Failed()
	}
}

// writers is how many connections write.
const writers = 2

// How many changes wait for the first writer before another one is used, and how long its batch may take.
const (
	mostWaiting = 32
	slowBatch   = 50 * time.Millisecond
)

// pick chooses a writer: the first one, unless it is slow or more waits for it than its next batch should have. A
// batch costs as much as several changes, so that a large one is cheaper than two small ones.
func (s *Store) pick() *writer {
	for _, w := range s.writers[:writers-1] {
		if w.ready() {
			return w
		}
	}
	return s.writers[writers-1]
}

func (w *writer) ready() bool {
	began := w.began.Load()
	return w.queue.Len() < mostWaiting && (began == nil || time.Since(*began) < slowBatch)
}

// send has a writer send w, and waits. relational.ErrStale: another was faster. What was reserved for w is settled, whatever
// comes of it.
func (s *Store) send(ctx context.Context, w *write) error {
	if err := s.pick().queue.Put(w); err != nil {
		w.settle(err)
		return err
	}
	abandoned, err := w.Wait(ctx)
	if abandoned {
		w.settle(err)
	}
	return err
}

// writer sends what waits, one batch after the other.
type writer struct {
	s    *Store
	lane int // among the writers of this instance

	queue *relational.Queue[*write]
	began atomic.Pointer[time.Time] // when the batch was taken that is on its way; nil: none is
}

// take returns what waits, up to a batch, and whether the writer is open.
func (w *writer) take() (list []*write, open bool) {
	n, bytes := 0, 0
	list, open = w.queue.Take(func(one *write) bool {
		if n == mostWrites || bytes >= mostBytes {
			return false
		}
		n, bytes = n+1, bytes+one.bytes
		return true
	})
	if w.began.Store(nil); len(list) > 0 {
		now := time.Now()
		w.began.Store(&now)
	}
	return list, open
}

// What a batch has at most, and how long it may take.
const (
	mostWrites = 128
	mostBytes  = 1 << 20
	batchTime  = 10 * time.Second
)

func (w *writer) run() {
	for {
		runtime.Gosched() // callers that were just answered may put their next changes in
		list, open := w.take()
		if len(list) == 0 {
			if !open {
				return
			}
			w.queue.Wait()
			continue
		}
		list = slices.DeleteFunc(list, func(one *write) bool { return !one.Take() })
		if len(list) > 0 {
			w.batch(list)
		}
	}
}

// mostTries is how often a batch is sent that fails for a reason that passes.
const mostTries = 3

// batch sends writes as one transaction, and sends the others again when one of them is at fault.
func (w *writer) batch(list []*write) {
	slices.SortFunc(list, func(a, b *write) int { return cmp.Compare(a.n, b.n) })
	for tries := 1; len(list) > 0; {
		bad, err := w.transaction(list)
		switch {
		case err == nil:
			w.s.stats.transactions.Add(1)
			w.s.stats.writes.Add(int64(len(list)))
			w.answer(list, nil)
			return
		case bad >= 0 && err == relational.ErrStale:
			stale := w.stale(list, bad)
			w.s.stats.conflicts.Add(int64(len(stale)))
			w.answer(stale, relational.ErrStale)
			list = slices.DeleteFunc(list, func(one *write) bool { return slices.Contains(stale, one) })
		case bad >= 0:
			w.answer(list[bad:bad+1], err)
			list = slices.Delete(list, bad, bad+1)
		case passes(err) && tries < mostTries:
			tries++
		default:
			w.answer(list, err)
			return
		}
	}
}

// stale returns the write that a batch has found to be stale, and those that another look finds: when another instance
// has changed many of these tasks, the batch is not sent again for each of them.
func (w *writer) stale(list []*write, found int) []*write {
	stale, revs := []*write{list[found]}, map[int64]int64{}
	for _, one := range list {
		if one.rev != 0 {
			revs[one.n] = 0
		}
	}
	if err := w.s.query(context.Background(), revsSQL, func(row relational.Row) error {
		var n, rev int64
		err := row.Scan(&n, &rev)
		revs[n] = rev
		return err
	}, slices.Collect(maps.Keys(revs))); err != nil {
		return stale
	}
	for i, one := range list {
		if i != found && one.rev != 0 && one.rev != revs[one.n] {
			stale = append(stale, one)
		}
	}
	return stale
}

func (w *writer) answer(list []*write, err error) {
	for _, one := range list {
		one.settle(err)
		if err == nil && one.n != 0 {
			w.s.published(one.key, one.n, one.runner, one.next)
		}
		one.End(err)
	}
}

// transaction sends writes. When one of them is at fault it returns which, -1 when none is.
func (w *writer) transaction(list []*write) (bad int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), batchTime)
	defer cancel()
	conn, err := w.s.senders.Acquire(ctx)
	if err != nil {
		return -1, writeFailed(err, false)
	}
	defer conn.Release()
	for i, one := range list {
		if one.server != w.s.target.server.Load() {
			return i, relational.ErrStale
		}
	}
	b, of := w.assemble(list)
	results := conn.SendBatch(ctx, b)
	for i := range b.Len() {
		if _, err := results.Exec(); err != nil {
			_ = results.Close()
			return blame(err, i, of)
		}
	}
	if err := results.Close(); err != nil {
		return blame(err, len(of), of)
	}
	return -1, nil
}

// assemble puts the statements of writes in the order in which all replicas lock rows. of says whose each one is.
func (w *writer) assemble(list []*write) (b *pgx.Batch, of []int) {
	b = &pgx.Batch{}
	queue := func(i int, st statement) {
		b.Queue(st.sql, st.args...)
		of = append(of, i)
	}
	var sums []*delta
	for i, one := range list {
		if one.task.sql != "" {
			queue(i, one.task)
		}
		sums = append(sums, one.sums...)
	}
	for i, one := range list {
		for _, st := range one.rest {
			queue(i, st)
		}
	}
	w.s.ledger.queueSums(b, w.s.laneOf(w.lane), sums)
	return b, of
}

// blame says whose fault an error of the i-th statement is.
func blame(err error, i int, of []int) (int, error) {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok || pg.SeverityUnlocalized != "ERROR": // the other one is in the language of the server
	case slices.Contains([]string{"40P01", "40001", "55P03"}, pg.Code):
		return -1, errPasses
	case i >= len(of): // it is of the sums, or of the commit
	case pg.Code == codeStale:
		return of[i], relational.ErrStale
	case ofOne(pg.Code):
		return of[i], writeFailed(err, true)
	}
	return -1, writeFailed(err, true)
}

// ofOne reports whether an error lies with the data of one statement, by the class of its code.
func ofOne(code string) bool {
	return code != "" && slices.Contains([]string{"22", "23", "42", "54"}, code[:2])
}

// errPasses marks errors of a batch that may be sent again: nothing happened.
var errPasses = fmt.Errorf("%w: it collided with another transaction", store.ErrUnavailable)

func passes(err error) bool { return errors.Is(err, errPasses) }
