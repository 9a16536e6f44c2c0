package memory

import (
	"context"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// List implements [store.Store]. A page is made of the tasks' states at the time of the call: the filters are checked in the
// index, and a task that changed before its copy was made is shown as it is then.
func (m *Store) List(_ context.Context, owner store.Owner, q store.Query) (store.Page, error) {
	cur, err := store.ReadCursor(owner, q)
	if err != nil {
		return store.Page{}, err
	}
	rows, total := m.find(owner, q, cur)
	page := store.Page{Total: total, Tasks: make([]runtime.Task, 0, min(q.Size, len(rows)))}
	for i, f := range rows {
		room := false
		if i < q.Size {
			room, err = f.row.addTo(&page, q)
		}
		if err != nil {
			return store.Page{}, err
		}
		if !room {
			last := rows[i-1]
			page.Next = store.Cursor{At: time.Unix(0, last.at), ID: last.row.id}.Token(owner, q)
			break
		}
	}
	return page, nil
}

// addTo adds the task to a page unless it is gone meanwhile. It reports whether there was room for it.
func (r *row) addTo(p *store.Page, q store.Query) (room bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return true, nil
	}
	n := r.json(q.View)
	if q.Bytes > 0 && len(p.Tasks) > 0 && p.Bytes+n > q.Bytes {
		return false, nil
	}
	snap, err := r.snapshot(&q.View)
	p.Tasks, p.Bytes = append(p.Tasks, snap.Task), p.Bytes+n
	return true, err
}

// found is a row with the time it was found at.
type found struct {
	row *row
	at  int64
}

// find returns up to q.Size+1 matching rows behind the cursor, and how many match in all.
func (m *Store) find(owner store.Owner, q store.Query, cur store.Cursor) ([]found, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.group(owner, q.Context)
	if g == nil {
		return nil, 0
	}
	total, counted := g.total(q)
	since := q.Since()
	var rows []found
	start := g.front
	if counted {
		// Everything behind the cursor follows the row of the cursor itself, if that has not moved.
		r := m.row(store.Key{Owner: owner, Task: cur.ID})
		if r != nil && r.at == cur.At.UnixNano() && (g == &r.owner.all || g == r.group) {
			start = r
		}
	}
	seen := 0
	for r := start; r != nil; r = g.next(r) {
		if !q.After.IsZero() && r.at < since {
			break // the list is ordered by time
		}
		if q.State != runtime.StateUnspecified && r.state != q.State || slices.Contains(q.Without, r.skill) {
			continue
		}
		seen++
		if len(rows) <= q.Size && (cur.ID == "" || before(cur.At.UnixNano(), cur.ID, r.at, r.id)) {
			rows = append(rows, found{r, r.at})
		}
		if counted && len(rows) > q.Size {
			break
		}
	}
	if !counted {
		total = seen
	}
	return rows, total
}

// total returns the number of matches if it is known without looking at the rows.
func (g *group) total(q store.Query) (n int, known bool) {
	switch {
	case !q.After.IsZero() || len(q.Without) > 0:
		return 0, false
	case q.State == runtime.StateUnspecified:
		return g.n, true
	case g.counts == nil:
		return 0, false
	case int(q.State) < len(g.counts):
		return g.counts[q.State], true
	}
	return 0, true
}
