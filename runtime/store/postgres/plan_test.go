package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// fillSQL makes 30,000 tasks of 50 accounts, of which nine tenths rest, with pushes, notes and messages that may be
// sent again.
const fillSQL = `
INSERT INTO a2a.account(principal) SELECT 'p'||i FROM generate_series(1, 50) i;
INSERT INTO a2a.owner(account, tenant) SELECT n, '' FROM a2a.account;
INSERT INTO a2a.task(n, rev, owner, account, at, version, oldest, epoch, calls, done, said, laststatus, artifacts, log, charged, rested,
	snapshot, body, since, began, runner, attempt, made, saidparts, laststatusparts, artifactparts, pushes, wire, state, rest, ticketed, clientid,
	asked, id, context, skill, trace, stamps, head)
	SELECT i, 1, 1+i%50, 1+i%50, i, 4, 0, 2, 1, CASE WHEN i%1000=0 THEN 0 ELSE 1 END, 9, 9, 9, 9, 3000, i, 0, 0, 9, 0, 0, 0, 0, 1, 0, 1, 0, 1,
	CASE WHEN i%10=0 THEN 2 ELSE 3 END, CASE WHEN i%10=0 THEN 0 ELSE 1 END, false, false, false, 't'||i, 'c'||i/10, 's', '', '', '{}'
	FROM generate_series(1, 30000) i;
INSERT INTO a2a.event(task, seq, kind, state, wire, doc) SELECT i, s, 1, 1, 1, '{}' FROM generate_series(1, 30000) i, generate_series(1, 2) s;
INSERT INTO a2a.usage(account, lane, tasks, bytes, restedtasks, restedbytes, pushes, notes)
	SELECT a, l, 100, 100000, 1, 1000, 0, 10 FROM generate_series(1, 3000) a, generate_series(1, 3) l;
INSERT INTO a2a.counts(owner, state, lane, tasks) SELECT o, s, l, 1 FROM generate_series(1, 3000) o, generate_series(1, 3) s, generate_series(1, 3) l;
INSERT INTO a2a.push(task, id, version, config, tasks, next, until, attempt, since, holder, due)
	SELECT i, 'p', '1.0', '{}', false, 1, 0, 0, 0, 0, CASE WHEN i%10=0 THEN i END FROM generate_series(1, 10000) i;
INSERT INTO a2a.repeat(owner, key, account, task, call, digest, until) SELECT 1+i%50, 'k'||i, 1+i%50, 't', 1, '', i FROM generate_series(1, 20000) i;
INSERT INTO a2a.ticket(hash, task, until, made, wire, request) SELECT int4send(i), i, i, 1, 1, '' FROM generate_series(1, 5000) i;
INSERT INTO a2a.note(owner, account, context, version, at, bytes, value) SELECT 1+i%50, 1+i%50, 'c'||i, 1, i, 600, '' FROM generate_series(1, 20000) i;
INSERT INTO a2a.body(task, version, wire, doc) SELECT i, 1, 1, '' FROM generate_series(1, 20000) i;
ANALYZE;`

func TestStatementsUseTheirIndexesOnFilledTables(t *testing.T) {
	address := postgrestest.Server(t)
	s := mustOpen(t, address, Options{})
	for _, sql := range strings.SplitAfter(fillSQL, ";\n") {
		if _, err := s.pool.Exec(bg, s.sql(sql)); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for name, c := range plans(s) {
		t.Run(name, func(t *testing.T) {
			plan := explain(t, s, c.sql, c.args)
			for _, word := range c.want {
				if !strings.Contains(plan, word) {
					t.Errorf("the plan does not use %s", word)
				}
			}
			for _, table := range []string{"task", "event", "push", "repeat", "note", "usage", "ticket", "body"} {
				if strings.Contains(plan, "Seq Scan on "+table+" ") {
					t.Errorf("all of %s is read", table)
				}
			}
			if t.Failed() {
				t.Log(plan)
			}
		})
	}
}

type plan struct {
	sql  string
	args []any
	want []string // indexes
}

func plans(s *Store) map[string]plan {
	list := map[string]plan{
		"evict":     {evictSQL, []any{int16(1), int64(5), int64(0)}, []string{"task_share", "event_pkey", "push_pkey"}},
		"rested":    {restedSQL, []any{int16(1), int64(500), int64(20), int64(5), int64(100)}, []string{"task_rest"}},
		"sweep":     {sweepSQL, []any{int16(1), int16(1), int64(20), int64(5), int64(500), int64(9), int64(100)}, []string{"task_rest", "event_pkey"}},
		"heaviest":  {heaviestSQL, []any{int64(6144)}, []string{"usage_heavy", "usage_pkey"}},
		"fold":      {foldLanesSQL, []any{int64(100)}, []string{"usage_below"}},
		"due":       {claimDueSQL, []any{int64(500), int64(10), int64(7), int64(1000)}, []string{"push_due", "push_pkey"}},
		"free":      {freeClaimsSQL, []any{int64(500), []int64{}}, []string{"push_held", "push_pkey"}},
		"next due":  {relational.NextDueSQL, nil, []string{"push_due"}},
		"settle":    {relational.SettleSQL(&dialect), []any{int64(5), "p", int64(1), int64(2), int64(0), int32(0), int64(0), new("x"), new(int64), new(int64)}, []string{"Index Scan using push_"}},
		"repeats":   {sweepRepeatsSQL, []any{int64(50), int64(10)}, []string{"repeat_until"}},
		"oldest":    {dialect.OldestRepeat(), []any{int64(5)}, []string{"repeat_account"}},
		"old notes": {oldNotesSQL, []any{int16(1), int64(50), int64(10)}, []string{"note_at"}},
		"most":      {mostNotesSQL, []any{int16(1), int64(0)}, []string{"usage_noted", "note_account"}},
		"idle":      {idleOwnersSQL, []any{int64(0), int64(9), int64(500)}, nil},
	}
	tasks, log := dialect.LoadSQL(relational.ByNumbers(nil))
	list["tasks"] = plan{tasks, []any{int64(9), []int64{5, 6}}, []string{"task_pkey", "body_pkey"}}
	list["logs"] = plan{log, []any{int64(9), []int64{5, 6}}, []string{"event_pkey", "(seq > ", "body_pkey"}}
	middle := store.Cursor{At: beginning, ID: "t5"}
	for name, q := range map[string]struct {
		store.Query
		index string
	}{
		"": {store.Query{}, "task_at"}, " of a state": {store.Query{State: runtime.StateWorking}, "task_state"},
		" of a context": {store.Query{Context: "c77"}, "task_context"}, " without a skill": {store.Query{Without: []string{"x"}}, "task_at"},
	} {
		q.Size = 50
		page := dialect.PageOf(5, &q.Query, store.Cursor{}, nil)
		list["first page"+name] = plan{page.SQL, page.Args, []string{q.index}}
		page = dialect.PageOf(5, &q.Query, middle, nil)
		list["later page"+name] = plan{page.SQL, page.Args, []string{q.index}}
	}
	total := dialect.TotalOf(5, &store.Query{Context: "c77"}, nil)
	list["total of a context"] = plan{total.SQL, total.Args, []string{"task_context"}}
	total = dialect.TotalOf(5, &store.Query{}, nil)
	list["total"] = plan{total.SQL, total.Args, []string{"counts_pkey"}}
	return list
}

// explain returns the plan of a statement, as it is used again and again with other arguments.
func explain(t *testing.T, s *Store, sql string, args []any) (text string) {
	t.Helper()
	err := pgx.BeginFunc(bg, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(bg, "SET LOCAL plan_cache_mode=force_generic_plan"); err != nil {
			return err
		}
		rows, err := tx.Query(bg, "EXPLAIN (COSTS OFF) "+s.sql(sql), args...)
		if err != nil {
			return err
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		text = strings.Join(lines, "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
