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
			room, err = r.addTo(&page, q)
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

// addTo adds the task to a page, and reports whether there was room for it. Callers must hold the row's lock.
func (r *row) addTo(p *store.Page, q store.Query) (room bool, err error) {
	n := r.json(q.View)
	if q.Bytes > 0 && len(p.Tasks) > 0 && p.Bytes+n > q.Bytes {
		return false, nil
	}
	snap, err := r.snapshot(&q.View)
	p.Tasks, p.Bytes = append(p.Tasks, snap.Task), p.Bytes+n
	return true, err
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
	total, counted := g.total(q)
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
