package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// sharing is what a [Store] knows of its instances. The lock of the index guards it.
type sharing struct {
	shared   bool              // there are several
	lives    map[int32]*holder // by number
	last     int32             // number
	watchers map[store.Key]map[*watcher]struct{}
	returned map[*row]struct{} // given back: nobody runs them
}

// holder is an instance for as long as its lease lasts: one that was late has another.
type holder struct {
	number int32 // from 1
	until  time.Time
	over   bool // the instance has another one by now
	runs   map[*row]struct{}
	lost   []store.Key
}

type watcher struct {
	by   *instance
	wake func()
}

// Instance makes a store of one of several instances that share m, each with a lease of that length. It is for tests:
// what a memory holds is gone with its process. Make all of them before the first is used, and do not use m itself.
func (m *Store) Instance(lease time.Duration) store.Store {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.shared {
		m.shared, m.lives, m.returned = true, map[int32]*holder{}, map[*row]struct{}{}
	}
	i := &instance{Store: m, lease: lease}
	i.begin()
	return i
}

// instance is the store of one instance.
type instance struct {
	*Store
	lease time.Duration
	life  *holder // guarded by the lock of the index
}

// begin starts a new lease. Callers must hold the lock of the index.
func (i *instance) begin() {
	if i.life != nil {
		i.life.over = true
	}
	i.last++
	i.life = &holder{number: i.last, until: i.clock().Add(i.lease), runs: map[*row]struct{}{}}
	i.lives[i.last] = i.life
}

func (i *instance) holder() *holder {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.life
}

// runs notes which instance runs a task after a change by one of them, and which did before. Callers must hold both locks.
func (sh *sharing) runs(r *row, was int32, by *holder) {
	delete(sh.returned, r)
	if h := sh.lives[was]; h != nil && was != r.st.Runner {
		delete(h.runs, r)
		if h != by {
			h.lost = append(h.lost, r.key())
		}
	}
	switch h := sh.lives[r.st.Runner]; {
	case h != nil:
		h.runs[r] = struct{}{}
	case r.st.Open():
		sh.returned[r] = struct{}{}
	}
}

// wake tells the instances that a task was changed by one of them. Callers must hold the lock of the index.
func (sh *sharing) wake(key store.Key, by *holder) {
	for w := range sh.watchers[key] {
		if w.by.life != by {
			go w.wake()
		}
	}
}

// Find hides that of the memory, which would write for another.
func (i *instance) Find(store.Key) store.Ref { return nil }

func (i *instance) Create(_ context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	return i.create(i.holder(), key, n, view)
}

func (i *instance) Apply(_ context.Context, key store.Key, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	return i.apply(i.holder(), key, expect, u, view)
}

func (i *instance) Watch(key store.Key, wake func()) (stop func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w := &watcher{i, wake}
	if i.watchers == nil {
		i.watchers = map[store.Key]map[*watcher]struct{}{}
	}
	if i.watchers[key] == nil {
		i.watchers[key] = map[*watcher]struct{}{}
	}
	i.watchers[key][w] = struct{}{}
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if delete(i.watchers[key], w); len(i.watchers[key]) == 0 {
			delete(i.watchers, key)
		}
	}
}

func (i *instance) Renew(context.Context) (store.Lease, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	lease := store.Lease{For: i.lease, Lost: i.life.lost, Durable: true}
	if now := i.clock(); now.Before(i.life.until) {
		i.life.lost, i.life.until = nil, now.Add(i.lease)
	} else {
		for r := range i.life.runs {
			lease.Lost = append(lease.Lost, r.key())
		}
		i.begin()
	}
	return lease, nil
}

func (i *instance) Claim(_ context.Context, skills []string, max int) (runs []store.Run, err error) {
	for _, r := range i.orphans() {
		if len(runs) == max {
			break
		}
		if run, ok := i.claim(r, skills); ok {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// orphans are the tasks of instances whose lease is over, and those that were given back, in the order in which they were
// made.
func (i *instance) orphans() []*row {
	i.mu.Lock()
	defer i.mu.Unlock()
	rows := slices.Collect(maps.Keys(i.returned))
	now := i.clock()
	maps.DeleteFunc(i.lives, func(_ int32, h *holder) bool { return h.over && len(h.runs) == 0 })
	for _, h := range i.lives {
		if now.After(h.until) {
			rows = slices.AppendSeq(rows, maps.Keys(h.runs))
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.number, b.number) })
	return rows
}

// claim takes a task over unless somebody was faster.
func (i *instance) claim(r *row, skills []string) (store.Run, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	was := r.st.Runner
	h := i.lives[was]
	orphan := h == nil || i.clock().After(h.until)
	if r.gone || !slices.Contains(skills, r.skill) || !r.st.Claim(&r.st, i.life.number, orphan) {
		return store.Run{}, false
	}
	i.runs(r, was, nil)
	call := *r.call // the one before may still be read
	call.Attempt = int(r.st.Attempt)
	r.call = &call
	snap, _ := r.snapshot(&store.View{History: new(int)}) // it has not ended: there is nothing to read
	snap.Run = r.call
	return store.Run{Key: r.key(), Snapshot: snap, Call: r.call}, true
}

func (i *instance) Close(left ...store.Key) error {
	i.mu.Lock()
	runs := maps.Clone(i.life.runs)
	i.life.until = i.clock() // what is left is nobody's
	i.mu.Unlock()
	for r := range runs {
		if !slices.Contains(left, r.key()) {
			i.giveBack(r)
		}
	}
	return nil
}

func (i *instance) giveBack(r *row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	was := r.st.Runner
	if r.st.GiveBack(&r.st, i.life.number) {
		i.runs(r, was, i.life)
	}
}

// A memory has one instance: nobody else changes a task or leaves one behind.

// Watch implements [store.Store].
func (m *Store) Watch(store.Key, func()) (stop func()) { return func() {} }

// Claim implements [store.Store].
func (m *Store) Claim(context.Context, []string, int) ([]store.Run, error) { return nil, nil }

// Renew implements [store.Store].
func (m *Store) Renew(context.Context) (store.Lease, error) { return store.Lease{}, nil }

// Close implements [store.Store].
func (m *Store) Close(...store.Key) error { return nil }
