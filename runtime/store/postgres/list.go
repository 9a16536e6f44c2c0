package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// List implements [store.Store]. A page and its total are of one moment; the tasks are as they are just after it.
func (s *Store) List(ctx context.Context, of store.Owner, q store.Query) (page store.Page, err error) {
	page.Tasks = []runtime.Task{}
	cur, err := store.ReadCursor(of, q)
	if err != nil {
		return page, err
	}
	o, err := s.ledger.owner(ctx, of)
	if err != nil || o.n == 0 {
		return page, err
	}
	rows, total, err := s.find(ctx, o.n, q, cur)
	if err != nil {
		return page, err
	}
	page.Total = total
	if len(rows) > q.Size {
		rows = rows[:q.Size]
		page.Next = rows[q.Size-1].token(of, q)
	}
	numbers := make([]int64, len(rows))
	for i, f := range rows {
		numbers[i] = f.n
	}
	snaps, err := s.snapshots(ctx, numbers, &q.View)
	if err != nil {
		return page, err
	}
	for i, snap := range snaps {
		if snap.Task == nil { // dropped meanwhile
			continue
		}
		if q.Bytes > 0 && len(page.Tasks) > 0 && page.Bytes+snap.Bytes > q.Bytes {
			page.Next = rows[i-1].token(of, q)
			break
		}
		page.Tasks, page.Bytes = append(page.Tasks, snap.Task), page.Bytes+snap.Bytes
	}
	return page, nil
}

// found is a task of a page.
type found struct {
	n, at int64
	id    string
}

func (f *found) token(of store.Owner, q store.Query) string {
	return store.Cursor{At: time.Unix(0, f.at), ID: f.id}.Token(of, q)
}

// filter is the condition of a query. The index that has its order is task_at, task_state or task_context.
type filter struct {
	strings.Builder
	args []any
}

// and adds a condition, in which ? stands for each of the arguments.
func (f *filter) and(condition string, args ...any) {
	if f.Len() > 0 {
		f.WriteString(" AND ")
	}
	for _, arg := range args {
		f.args = append(f.args, arg)
		condition = strings.Replace(condition, "?", fmt.Sprint("$", len(f.args)), 1)
	}
	f.WriteString(condition)
}

func filterOf(o int64, q *store.Query) *filter {
	f := new(filter)
	f.and("owner=?", o)
	if q.State != runtime.StateUnspecified {
		f.and("state=?", int16(q.State))
	}
	if q.Context != "" {
		f.and("context=?", q.Context)
	}
	if !q.After.IsZero() {
		f.and("at>=?", q.Since())
	}
	if len(q.Without) > 0 {
		f.and("skill<>ALL(?::text[])", q.Without)
	}
	return f
}

// pageSQL finds up to q.Size+1 tasks behind the cursor. Both conditions on the time are needed: the first one is where
// the index is entered.
func pageSQL(o int64, q *store.Query, cur store.Cursor) (sql string, args []any) {
	f := filterOf(o, q)
	if cur.ID != "" {
		at := cur.At.UnixNano()
		f.and("at<=? AND (at<? OR id>?)", at, at, cur.ID)
	}
	f.args = append(f.args, int64(q.Size+1))
	return fmt.Sprintf("SELECT n, at, id FROM a2a.task WHERE %s ORDER BY at DESC, id LIMIT $%d", f, len(f.args)), f.args
}

// totalSQL counts the tasks that match: by the sums if they tell.
func totalSQL(o int64, q *store.Query) (sql string, args []any) {
	if q.Context != "" || !q.After.IsZero() || len(q.Without) > 0 {
		f := filterOf(o, q)
		return "SELECT count(*) FROM a2a.task WHERE " + f.String(), f.args
	}
	f := new(filter)
	f.and("owner=?", o)
	if q.State != runtime.StateUnspecified {
		f.and("state=?", int16(q.State))
	}
	return "SELECT coalesce(sum(tasks), 0)::bigint FROM a2a.counts WHERE " + f.String(), f.args
}

// find returns the tasks of a page and one more, and how many match in all, in one transaction and one round trip.
func (s *Store) find(ctx context.Context, o int64, q store.Query, cur store.Cursor) (rows []found, total int, err error) {
	var b pgx.Batch
	b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	sql, args := totalSQL(o, &q)
	b.Queue(s.sql(sql), args...).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	sql, args = pageSQL(o, &q, cur)
	b.Queue(s.sql(sql), args...).Query(func(list pgx.Rows) error {
		for list.Next() {
			var f found
			if err := list.Scan(&f.n, &f.at, &f.id); err != nil {
				return err
			}
			rows = append(rows, f)
		}
		return list.Err()
	})
	b.Queue("COMMIT")
	return rows, total, s.batch(ctx, &b)
}
