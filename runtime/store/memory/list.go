package memory

import (
	"context"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// found is a row, with the time at which it is in the list.
type found struct {
	*row
	at int64
}

// List implements [store.Store]. A page is made of the tasks' states at the time of the call: the filters are checked in the
// index, and a task that changed before its copy was made is shown as it is then.
func (m *Store) List(_ context.Context, owner store.Owner, q store.Query) (store.Page, error) {
	cur, err := store.ReadCursor(owner, q)
	if err != nil {
		return store.Page{}, err
	}
	rows, total := m.find(owner, q, cur)
	page := store.Page{Total: total, Tasks: make([]runtime.Task, 0, min(q.Size, len(rows)))}
	for i, r := range rows {
		room := i < q.Size
		if room && r.lock() == nil {
			n := r.json(q.View)
			if room = q.Bytes == 0 || len(page.Tasks) == 0 || page.Bytes+n <= q.Bytes; room {
				var snap store.Snapshot
				snap, err = r.snapshot(&q.View)
				page.Tasks, page.Bytes = append(page.Tasks, snap.Task), page.Bytes+n
			}
			r.mu.Unlock()
		}
		if err != nil {
			return store.Page{}, err
		}
		if !room {
			last := rows[i-1]
			page.Next = store.Cursor{At: time.Unix(0, last.at), ID: last.id}.Token(owner, q)
			break
		}
	}
	return page, nil
}

// find returns up to q.Size+1 matching rows behind the cursor, and how many match in all. It takes the lock of the index.
func (m *Store) find(owner store.Owner, q store.Query, cur store.Cursor) (rows []found, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.owners[owner]
	if o == nil {
		return nil, 0
	}
	g := &o.all
	if q.Context != "" {
		if g = m.contexts[name{o, q.Context}]; g == nil {
			return nil, 0
		}
	}
	counted := q.After.IsZero() && len(q.Without) == 0 && (q.State == runtime.StateUnspecified || g.counts != nil)
	switch { // what is known without looking at the rows
	case !counted:
	case q.State == runtime.StateUnspecified:
		total = g.n
	case int(q.State) < len(g.counts):
		total = g.counts[q.State]
	}
	since, at := q.Since(), cur.At.UnixNano()
	start := g.front
	if r := m.rows[name{o, cur.ID}]; counted && r != nil && r.at == at && (g == &o.all || g == r.group) {
		start = r // everything behind the cursor follows its row, which has not moved
	}
	for r := start; r != nil && (q.After.IsZero() || r.at >= since); r = g.next(r) { // the list is ordered by time
		if q.State != runtime.StateUnspecified && r.state != q.State || slices.Contains(q.Without, r.Skill) {
			continue
		}
		if !counted {
			total++
		}
		if len(rows) <= q.Size && (cur.ID == "" || before(at, cur.ID, r.at, r.id)) {
			rows = append(rows, found{r, r.at})
		}
		if counted && len(rows) > q.Size {
			break
		}
	}
	return rows, total
}
