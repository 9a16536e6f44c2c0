package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// sharing is what a [Memory] knows of its instances. The lock of the index guards it.
type sharing struct {
	lives    map[int32]*holder // by number
	last     int32             // number
	watchers map[Key]map[*watcher]struct{}
	given    map[*row]struct{} // given back: nobody runs them
}

// holder is one life of an instance: it ends when its lease does, and the instance begins anew.
type holder struct {
	number int32 // from 1
	until  time.Time
	over   bool // the instance has another
	runs   map[*row]struct{}
	lost   []Key
}

type watcher struct {
	by   *instance
	wake func()
}

// Instance makes a store of one of several instances that share m, each with a lease of that length. It is for tests:
// what a memory holds is gone with its process. Make all of them before the first is used, and do not use m itself.
func (m *Memory) Instance(lease time.Duration) Store {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.shared {
		m.shared, m.lives, m.given = true, map[int32]*holder{}, map[*row]struct{}{}
	}
	i := &instance{Memory: m, lease: lease}
	i.begin()
	return i
}

// instance is the store of one instance.
type instance struct {
	*Memory
	lease time.Duration
	life  *holder // guarded by the lock of the index
}

// begin starts a new life. The caller holds the lock of the index.
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

// runs notes which instance runs a task after a change by one of them, and which did before. The caller holds both locks.
func (m *Memory) runs(r *row, was int32, by *holder) {
	delete(m.given, r)
	if h := m.lives[was]; h != nil && was != r.st.Runner {
		delete(h.runs, r)
		if h != by {
			h.lost = append(h.lost, r.key())
		}
	}
	switch h := m.lives[r.st.Runner]; {
	case h != nil:
		h.runs[r] = struct{}{}
	case r.st.Open():
		m.given[r] = struct{}{}
	}
}

// wake tells the instances that a task was changed by one of them. The caller holds the lock of the index.
func (m *Memory) wake(key Key, by *holder) {
	for w := range m.watchers[key] {
		if w.by.life != by {
			go w.wake()
		}
	}
}

// Find hides that of the memory, which would write for another.
func (i *instance) Find(Key) Ref { return nil }

func (i *instance) Create(_ context.Context, key Key, n New, view *View) (Snapshot, error) {
	return i.create(i.holder(), key, n, view)
}

func (i *instance) Apply(_ context.Context, key Key, expect int64, u Update, view *View) (Snapshot, error) {
	return i.apply(i.holder(), key, expect, u, view)
}

func (i *instance) Watch(key Key, wake func()) (stop func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w := &watcher{i, wake}
	if i.watchers == nil {
		i.watchers = map[Key]map[*watcher]struct{}{}
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

func (i *instance) Renew(context.Context) (Lease, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	lease := Lease{For: i.lease, Lost: i.life.lost, Durable: true}
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

func (i *instance) Claim(_ context.Context, skills []string, max int) (runs []Run, err error) {
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
	rows := slices.Collect(maps.Keys(i.given))
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
func (i *instance) claim(r *row, skills []string) (Run, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	was := r.st.Runner
	h := i.lives[was]
	orphan := h == nil || i.clock().After(h.until)
	if r.gone || !slices.Contains(skills, r.skill) || !r.st.Claim(&r.st, i.life.number, orphan) {
		return Run{}, false
	}
	i.runs(r, was, nil)
	call := *r.call // the one before may still be read
	call.Attempt = int(r.st.Attempt)
	r.call = &call
	snap, _ := r.snapshot(&View{History: new(int)}) // it has not ended: there is nothing to read
	snap.Run = r.call
	return Run{r.key(), snap, r.call}, true
}

func (i *instance) Close(left ...Key) error {
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

// Watch implements [Store].
func (m *Memory) Watch(Key, func()) (stop func()) { return func() {} }

// Claim implements [Store].
func (m *Memory) Claim(context.Context, []string, int) ([]Run, error) { return nil, nil }

// Renew implements [Store].
func (m *Memory) Renew(context.Context) (Lease, error) { return Lease{}, nil }

// Close implements [Store].
func (m *Memory) Close(...Key) error { return nil }
