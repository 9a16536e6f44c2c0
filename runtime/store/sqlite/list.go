package sqlite

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// List implements [store.Store]. A page and its total are of one moment.
func (s *Store) List(ctx context.Context, of store.Owner, q store.Query) (page store.Page, err error) {
	cur, err := store.ReadCursor(of, q)
	if err != nil {
		return page, err
	}
	err = s.reading(ctx, func(c *conn) (err error) {
		page, err = s.list(c, of, q, cur)
		return err
	})
	return page, err
}

func (s *Store) list(c *conn, of store.Owner, q store.Query, cur store.Cursor) (page store.Page, err error) {
	o, found, err := c.one("SELECT o.n FROM account a JOIN owner o ON o.account=a.n WHERE a.principal=? AND o.tenant=?",
		of.Principal, of.Tenant)
	page.Tasks = []runtime.Task{}
	if err != nil || !found {
		return page, err
	}
	if page.Total, err = total(c, o, q); err != nil {
		return page, err
	}
	rows, err := find(c, o, q, cur)
	if err != nil {
		return page, err
	}
	for i, f := range rows {
		if i == q.Size {
			page.Next = rows[i-1].token(of, q)
			break
		}
		snap, err := s.get(c, store.Key{Owner: of, Task: f.id}, f.n, &q.View)
		if err != nil {
			return page, err
		}
		if q.Bytes > 0 && i > 0 && page.Bytes+snap.Bytes > q.Bytes {
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

// filter is the condition of a query with the index that has its order.
func filter(o int64, q store.Query) (from, where string, args []any) {
	from, where, args = "task INDEXED BY task_at", "owner=?", []any{o}
	if q.State != runtime.StateUnspecified {
		from, where, args = "task INDEXED BY task_state", where+" AND state=?", append(args, int64(q.State))
	}
	if q.Context != "" {
		from, where, args = "task INDEXED BY task_context", where+" AND context=?", append(args, q.Context)
	}
	if !q.After.IsZero() {
		where, args = where+" AND at>=?", append(args, q.Since())
	}
	for _, skill := range q.Without {
		where, args = where+" AND skill<>?", append(args, skill)
	}
	return from, where, args
}

// find returns up to q.Size+1 tasks behind the cursor.
func find(c *conn, o int64, q store.Query, cur store.Cursor) (rows []found, err error) {
	from, where, args := filter(o, q)
	if cur.ID != "" {
		at := cur.At.UnixNano()
		where, args = where+" AND at<=? AND (at<? OR id>?)", append(args, at, at, cur.ID)
	}
	err = c.query("SELECT n, at, id FROM "+from+" WHERE "+where+" ORDER BY at DESC, id LIMIT ?", func(v []value) error {
		rows = append(rows, found{num(v[0]), num(v[1]), text(v[2])})
		return nil
	}, append(args, q.Size+1)...)
	return rows, err
}

// total counts the tasks that match: from the usage if that tells.
func total(c *conn, o int64, q store.Query) (int, error) {
	var n int64
	var err error
	if q.Context == "" && q.After.IsZero() && len(q.Without) == 0 {
		sql, args := "SELECT sum(tasks) FROM usage WHERE owner=?", []any{o}
		if q.State != runtime.StateUnspecified {
			sql, args = sql+" AND state=?", append(args, int64(q.State))
		}
		n, _, err = c.one(sql, args...)
		return int(n), err
	}
	from, where, args := filter(o, q)
	n, _, err = c.one("SELECT count(*) FROM "+from+" WHERE "+where, args...)
	return int(n), err
}
