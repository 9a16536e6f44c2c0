package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

func TestABatchChangesOneRowOfAnAccountAndOneOfEverybodys(t *testing.T) {
	s := &Store{database: database{schema: "a2a."}}
	s.ledger.init(&s.database, s.options.limits())
	a, b := relational.Owner{N: 7, Account: 3}, relational.Owner{N: 9, Account: 2}
	deltas := []*delta{
		{Delta: relational.Delta{Owner: a, Sums: relational.Sums{Tasks: 1, Bytes: 100}, States: [16]int8{1: 1}}},
		{Delta: relational.Delta{Owner: b, Sums: relational.Sums{Bytes: 5}}},
		{Delta: relational.Delta{Owner: a, Sums: relational.Sums{Bytes: 20, RestedTasks: 1, RestedBytes: 120}, States: [16]int8{1: -1, 3: 1}}},
		{Delta: relational.Delta{Owner: b, Sums: relational.Sums{Bytes: -5}}},
	}
	var batch pgx.Batch
	s.ledger.queueSums(&batch, 1, deltas)
	if batch.Len() != 2 {
		t.Fatalf("%d statements", batch.Len())
	}
	want := "[1 [0 3] [1 1] [120 120] [1 1] [120 120] [0 0] [0 0]]"
	if got := fmt.Sprint(batch.QueuedQueries[0].Arguments); got != want {
		t.Errorf("the accounts change by %s, want %s", got, want)
	}
	if got := fmt.Sprint(batch.QueuedQueries[1].Arguments); got != "[1 [7] [3] [1]]" {
		t.Errorf("the counts change by %s", got)
	}
	var none pgx.Batch
	if s.ledger.queueSums(&none, 0, []*delta{{Delta: relational.Delta{Owner: a}}, deltas[1], deltas[3]}); none.Len() != 0 {
		t.Errorf("%d statements for changes that add up to nothing", none.Len())
	}
}

func TestAChangeCountsFromTheDecisionOnAndNoMoreWhenItIsNotWritten(t *testing.T) {
	s := &Store{}
	s.ledger.init(&s.database, &relational.Limits{Tasks: 10, Bytes: 1000})
	a := s.ledger.account("p")
	held := func(want relational.Sums) {
		t.Helper()
		if a.held != want || s.ledger.all.held != want {
			t.Errorf("held are %+v, by all %+v, want %+v", a.held, s.ledger.all.held, want)
		}
	}
	d := &delta{Delta: relational.Delta{Owner: relational.Owner{Of: store.Owner{Principal: "p"}}, Sums: relational.Sums{Tasks: 1, Bytes: 10}}}
	s.ledger.count(d)
	held(relational.Sums{Tasks: 1, Bytes: 10})
	s.ledger.settled(d, store.ErrConflict)
	held(relational.Sums{})
	s.ledger.count(d)
	a.since = a.unwritten // it is being read while the change is on its way, and was not in what is read
	s.ledger.settled(d, nil)
	if held(d.Sums); a.since != d.Sums || a.unwritten != (relational.Sums{}) {
		t.Errorf("beside what is read come %+v, unwritten are %+v", a.since, a.unwritten)
	}
	a.read = time.Now()
	s.ledger.count(d)
	if s.ledger.settled(d, fmt.Errorf("%w: cut", store.ErrUnknown)); !a.read.IsZero() {
		t.Error("after a change that may be written the sums are not read anew")
	}
}

func TestAChangeIsSettledWhereItWasCountedAlsoWhenTheAccountIsNoLongerInMemory(t *testing.T) {
	s := &Store{}
	s.ledger.init(&s.database, &relational.Limits{Tasks: 10, Bytes: 1000})
	d := &delta{Delta: relational.Delta{Owner: relational.Owner{Of: store.Owner{Principal: "p"}}, Sums: relational.Sums{Tasks: 1, Bytes: 10}}}
	s.ledger.count(d)
	for i := range mostKnown {
		s.ledger.account(fmt.Sprint(i))
	}
	s.ledger.settled(d, store.ErrConflict)
	if a := s.ledger.account("p"); a.held != (relational.Sums{}) || a.unwritten != (relational.Sums{}) {
		t.Errorf("held are %+v, of them %+v unwritten", a.held, a.unwritten)
	}
}

func TestAWriterWithNothingToSendIsReady(t *testing.T) {
	s := replicas(t, 1, Options{})[0]
	for i := range 3 {
		if err := begin(s, keyOf("p", fmt.Sprint(i)), 1); err != nil {
			t.Fatal(err)
		}
		eventually(t, "that no batch is on its way", func() bool { return s.writers[0].began.Load() == nil })
	}
}

// replicas opens stores on one schema.
func replicas(t *testing.T, n int, o Options) (list []*Store) {
	address := postgrestest.Server(t)
	for range n {
		list = append(list, mustOpen(t, address, o))
	}
	return list
}

var (
	beginning = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	bg        = context.Background()
)

func keyOf(principal, id string) store.Key {
	return store.Key{Owner: store.Owner{Principal: principal}, Task: id}
}

// begin makes a task.
func begin(s *Store, k store.Key, stamp uint64) error {
	task := a2a.Protocol().NewTask(k.Task, "c", beginning)
	_, err := s.Create(bg, k, store.New{Task: task, Private: store.Private{Skill: "skill"}, Stamp: stamp}, nil)
	return err
}

// conclude ends a task that has version 1.
func conclude(s *Store, k store.Key, stamp uint64) error {
	e := a2a.Protocol().NewStatus(k.Task, "c", runtime.StateCompleted, nil, beginning)
	_, err := s.Apply(bg, k, 1, store.Update{Event: e, Stamp: stamp}, nil)
	return err
}

// wrongSums compares the sums with the rows.
const wrongSums = `SELECT coalesce(string_agg(format('account %s: %s counted, %s there', account, counted, there), '; '), '') FROM
	(SELECT account, ARRAY[sum(tasks), sum(bytes), sum(restedtasks), sum(restedbytes), sum(pushes), sum(notes)]::bigint[] AS counted FROM a2a.usage GROUP BY account) c
	FULL JOIN (SELECT account, ARRAY[count(charged), coalesce(sum(charged), 0)+sum(b), count(*) FILTER (WHERE rest>0), coalesce(sum(charged) FILTER (WHERE rest>0),0),
		coalesce(sum(pushes), 0), sum(b)]::bigint[] AS there FROM (SELECT x.account, t.charged, t.rest, t.pushes, 0 AS b FROM a2a.task t, LATERAL (VALUES (t.account), (0)) x(account)
		UNION ALL SELECT x.account, NULL, NULL, NULL, n.bytes FROM a2a.note n, LATERAL (VALUES (n.account), (0)) x(account)) y GROUP BY account) r USING (account)
	WHERE coalesce(counted, '{0,0,0,0,0,0}')<>coalesce(there, '{0,0,0,0,0,0}')`

const wrongCounts = `SELECT coalesce(string_agg(format('owner %s, state %s: %s counted, %s there', owner, state, counted, there), '; '), '') FROM
	(SELECT owner, state, sum(tasks)::bigint AS counted FROM a2a.counts GROUP BY owner, state) c
	FULL JOIN (SELECT owner, state, count(*) AS there FROM a2a.task GROUP BY owner, state) r USING (owner, state) WHERE coalesce(counted, 0)<>coalesce(there, 0)`

// sound holds the sums to the rows.
func sound(t *testing.T, s *Store) {
	t.Helper()
	for _, sql := range []string{wrongSums, wrongCounts} {
		var wrong string
		if _, err := s.one(bg, sql, nil, &wrong); err != nil || wrong != "" {
			t.Errorf("%s %v", wrong, err)
		}
	}
}

func (s *Store) rows(t *testing.T, table string) (n int64) {
	t.Helper()
	if _, err := s.one(bg, "SELECT count(*) FROM a2a."+table, nil, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReplicasThatStartAtOnceMakeTheTablesOnce(t *testing.T) {
	for range 5 {
		address := postgrestest.Server(t)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				s, err := Open(bg, address, a2a.Protocol(), Options{Agent: "agent"})
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

func TestReplicasThatMakeRoomAtOnceKeepTheLimitAndTheSums(t *testing.T) {
	const most, each = 40, 100
	all := replicas(t, 3, Options{Tasks: most, OwnerTasks: most})
	var wg sync.WaitGroup
	for i, s := range all {
		for j := range 2 {
			wg.Go(func() {
				for n := range each {
					k := keyOf(fmt.Sprint("p", n%3), fmt.Sprint("t", i, "-", j, "-", n))
					stamp := uint64(i*10_000 + j*1000 + n + 1)
					if err := begin(s, k, stamp); err != nil && !errors.Is(err, store.ErrFull) {
						t.Errorf("create: %v", err)
					} else if err == nil {
						if err := conclude(s, k, stamp+100_000); err != nil && !errors.Is(err, store.ErrNotFound) {
							t.Errorf("end: %v", err)
						}
					}
				}
			})
		}
	}
	wg.Wait()
	sound(t, all[0])
	for _, s := range all { // what the others did is a second old at most
		for _, a := range s.ledger.accounts {
			a.read = time.Time{}
		}
		s.ledger.all.read = time.Time{}
	}
	if err := begin(all[0], keyOf("p0", "last"), 7_000_000); err != nil {
		t.Fatal(err)
	}
	if n := all[0].rows(t, "task"); n > most {
		t.Errorf("in the end there are %d tasks, and room for %d", n, most)
	}
	sound(t, all[0])
}

func TestTheSameMessageThroughReplicasIsTakenOnOnce(t *testing.T) {
	all := replicas(t, 3, Options{})
	for n := range 20 {
		var wg sync.WaitGroup
		made := make([]error, len(all))
		for i, s := range all {
			wg.Go(func() {
				task := a2a.Protocol().NewTask(fmt.Sprint("t", n, "-", i), "c", beginning)
				_, made[i] = s.Create(bg, keyOf("p", fmt.Sprint("t", n, "-", i)), store.New{
					Task: task, Private: store.Private{Skill: "skill"}, Stamp: uint64(n*10 + i + 1),
					Repeat: &store.Repeat{Key: fmt.Sprint("m", n), For: time.Hour},
				}, nil)
			})
		}
		wg.Wait()
		took, again := 0, 0
		for _, err := range made {
			var r *store.Repeated
			switch {
			case err == nil:
				took++
			case errors.As(err, &r) && r.Same:
				again++
			default:
				t.Errorf("message %d: %v", n, err)
			}
		}
		if took != 1 || again != len(all)-1 {
			t.Fatalf("message %d was taken on %d times, and known %d times", n, took, again)
		}
	}
	sound(t, all[0])
}
