package postgres

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/testkit/storetest"
)

func options(l memory.Limits) Options {
	return Options{
		Tasks: l.Tasks, Bytes: int64(l.Bytes), TaskBytes: int64(l.TaskBytes), OwnerTasks: l.OwnerTasks, OwnerBytes: int64(l.OwnerBytes),
		Events: l.Events, Pushes: l.Pushes, Ended: l.Ended, Parked: l.Parked,
	}
}

// tested is a store with what another instance needs to be opened beside it.
type tested struct {
	*Store
	address string
	given   Options
}

func openTested(t *testing.T, address string, o Options) *tested {
	t.Helper()
	s, err := Open(context.Background(), address, a2a.Protocol(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		checkOwners(t, s)
	})
	return &tested{s, address, o}
}

// orphan ends the lease of an instance that is heard of no more.
func orphan(t *testing.T, s *tested) {
	t.Helper()
	expire(t, s.address, s.Store)
}

// wrong compares what is counted with what is there.
func wrong(of store.Store) (list []string, err error) {
	s := of.(*tested).Store
	for _, sql := range []string{wrongSums, wrongCounts, wrongLogs, wrongCalls} {
		var text string
		if _, err := s.one(context.Background(), sql, nil, &text); err != nil {
			return nil, err
		}
		if text != "" {
			list = append(list, text)
		}
	}
	return list, nil
}

const wrongLogs = `SELECT coalesce(string_agg(format('task %s has %s events from %s, and should have those from %s to %s', id, events, first, oldest+1,
	version), '; '), '') FROM (SELECT t.id, t.oldest, t.version, min(e.seq-coalesce(octet_length(e.run)/2, 1)+1) AS first,
	sum(coalesce(octet_length(e.run)/2, 1)) AS events, max(e.seq) AS last FROM a2a.task t LEFT JOIN a2a.event e ON e.task=t.n GROUP BY t.n) l
	WHERE coalesce(events, 0)<>version-oldest OR events>0 AND (first<>oldest+1 OR last<>version)`

const wrongCalls = `SELECT coalesce(string_agg(format('task %s has %s open calls, of which %s are there', id, calls-done, there), '; '), '') FROM
	(SELECT t.id, t.calls, t.done, (SELECT count(*) FROM a2a.call c WHERE c.task=t.n) AS there FROM a2a.task t) x WHERE there<>calls-done`

func TestPostgreSQLIsAStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{
			Protocol: a2a.Protocol(),
			Open: func(t *testing.T, l memory.Limits) store.Store {
				return openTested(t, postgrestest.Server(t), options(l))
			},
			Heir: func(t *testing.T, s store.Store) store.Store {
				old := s.(*tested)
				orphan(t, old)
				return openTested(t, old.address, old.given)
			},
			Leave: func(t *testing.T, s store.Store) store.Store {
				old := s.(*tested)
				return openTested(t, old.address, old.given)
			},
			OpenAt: func(t *testing.T, l memory.Limits, clock func() time.Time) store.Store {
				o := options(l)
				o.Clock = clock
				return openTested(t, postgrestest.Server(t), o)
			},
			Wrong:   wrong,
			Durable: true,
			Crash:   crash,
		}
	})
}

// end is the end of a process before its n-th write: from then on no statement reaches the server.
type end struct {
	mu    sync.Mutex
	left  int
	armed bool
}

func (e *end) next(ctx context.Context, writes bool) context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	if writes && e.armed && e.left > 0 {
		e.left--
	}
	if e.left > 0 {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

func (e *end) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	return e.next(ctx, !strings.HasPrefix(strings.TrimSpace(q.SQL), "SELECT"))
}

func (e *end) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (e *end) TraceBatchStart(ctx context.Context, _ *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	writes := false
	for _, q := range b.Batch.QueuedQueries {
		writes = writes || !strings.HasPrefix(q.SQL, "SELECT")
	}
	return e.next(ctx, writes)
}

func (e *end) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (e *end) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// crash ends the process before its n-th write.
func crash(t *testing.T, n int, script func(store.Store)) (store.Store, bool) {
	e := &end{left: n}
	s := openTested(t, postgrestest.Server(t), Options{tracer: e})
	e.armed = true
	script(s)
	e.mu.Lock()
	crashed := e.left == 0
	e.left = 0
	e.mu.Unlock()
	orphan(t, s)
	return openTested(t, s.address, Options{}), crashed
}
