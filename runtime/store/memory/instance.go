package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// sharing is what a [Store] knows of its instances.
type sharing struct {
	shared   bool            // there are several
	lives    map[int32]*life // by number
	watchers map[*watcher]struct{}
}

// life is an instance for as long as its lease lasts: one that was late has another. The lock of the index guards it.
type life struct {
	number int32 // from 1
	until  time.Time
	lost   []store.Key
}

type watcher struct {
	by   *Store
	key  store.Key
	wake func()
}

// Instance makes a store of one of several instances that share m, each with a lease of that length. It is for tests:
// what a memory holds is gone with its process. Make all of them before the first is used, and do not use m itself.
func (m *Store) Instance(lease time.Duration) store.Store {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.shared {
		m.shared, m.lives, m.watchers = true, map[int32]*life{}, map[*watcher]struct{}{}
	}
	i := &Store{index: m.index, lease: lease}
	i.begin()
	return i
}

// begin starts a new lease. Callers must hold the lock of the index.
func (m *Store) begin() {
	l := &life{number: int32(len(m.lives) + 1), until: m.clock().Add(m.lease)} //nolint:gosec // instances are few
	m.lives[l.number] = l
	m.life.Store(l)
}

// tell tells the other instances that a task was changed by one of them, and one that it no longer runs it.
func (sh *sharing) tell(r *row, was int32, by *life) {
	key := r.key()
	if was != 0 && was != r.st.Runner && was != by.number {
		sh.lives[was].lost = append(sh.lives[was].lost, key)
	}
	for w := range sh.watchers {
		if w.key == key && w.by.life.Load() != by {
			go w.wake()
		}
	}
}

// Watch implements [store.Store]. Nobody else changes the tasks of a single instance.
func (m *Store) Watch(key store.Key, wake func()) (stop func()) {
	if !m.shared {
		return func() {}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &watcher{m, key, wake}
	m.watchers[w] = struct{}{}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, w)
	}
}

// each calls f for every task, in the order in which they were made, with its lock held.
func (m *Store) each(f func(*row)) {
	m.mu.Lock()
	rows := slices.SortedFunc(maps.Values(m.rows), func(a, b *row) int { return cmp.Compare(a.number, b.number) })
	m.mu.Unlock()
	for _, r := range rows {
		if r.lock() == nil {
			f(r)
			r.mu.Unlock()
		}
	}
}

// Renew implements [store.Store].
func (m *Store) Renew(context.Context) (store.Lease, error) {
	if !m.shared {
		return store.Lease{}, nil
	}
	m.mu.Lock()
	l, now := m.life.Load(), m.clock()
	lease := store.Lease{For: m.lease, Lost: l.lost, Durable: true}
	l.lost = nil
	late := !now.Before(l.until)
	if late {
		m.begin()
	} else {
		l.until = now.Add(m.lease)
	}
	m.mu.Unlock()
	if late {
		m.each(func(r *row) {
			if r.st.Runner == l.number {
				lease.Lost = append(lease.Lost, r.key())
			}
		})
	}
	return lease, nil
}

// Claim implements [store.Store].
func (m *Store) Claim(_ context.Context, skills []string, max int) (runs []store.Run, err error) {
	if !m.shared {
		return nil, nil
	}
	m.each(func(r *row) {
		if len(runs) == max || !slices.Contains(skills, r.Skill) {
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		by, was := m.life.Load(), r.st.Runner
		if !r.st.Claim(&r.st, by.number, was != 0 && m.clock().After(m.lives[was].until)) {
			return
		}
		m.tell(r, was, by)
		call := *r.call // the one before may still be read
		call.Attempt = int(r.st.Attempt)
		r.call = &call
		snap, _ := r.snapshot(&store.View{History: new(int)}) // it has not ended: there is nothing to read
		snap.Run = r.call
		runs = append(runs, store.Run{Key: r.key(), Snapshot: snap, Call: r.call})
	})
	return runs, nil
}

// Close implements [store.Store].
func (m *Store) Close(left ...store.Key) error {
	if !m.shared {
		return nil
	}
	m.mu.Lock()
	l := m.life.Load()
	l.until = m.clock() // what is left is nobody's
	m.mu.Unlock()
	m.each(func(r *row) {
		if !slices.Contains(left, r.key()) {
			r.st.GiveBack(&r.st, l.number)
		}
	})
	return nil
}
