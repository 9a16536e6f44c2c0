package sqlite

import (
	"context"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	c := &change{Change: relational.Change{Key: key}, view: view, task: n.Task.View(nil, true), start: stored.NewMeta(&n)}
	c.Change.Change = stored.ForNew(s.base.Codec, &n, int32(s.me)) //nolint:gosec // instances are few
	return result(&c.snap, s.write(ctx, c.create))
}

// create makes a new task.
func (c *change) create(w *writer) error {
	owner, err := w.ledger.owner(w, c.Key.Owner)
	if err != nil {
		return err
	}
	if n, found, err := w.one("SELECT n FROM task WHERE owner=? AND id=?", owner.n, c.Key.Task); found || err != nil {
		return c.existing(w, n, err)
	}
	c.r = &stored.Row{N: w.nextN, Key: c.Key, Task: c.task}
	c.Was, c.Run = &c.start, nil
	c.ask(w, owner)
	limits := w.s.options.limits()
	if err := c.Decide(c.Was, nil, w.now.UnixNano(), &limits); err != nil {
		return err
	}
	if err := c.charge(w); err != nil {
		return err
	}
	if err := w.ledger.open(w, owner); err != nil {
		return err
	}
	w.nextN++
	w.changed[c.r.N] = struct{}{}
	c.N, c.Owner = c.r.N, owner.n
	w.Add(dialect.InsertTask(), taskRow(c.N, owner.n, owner.account.n, c.Key.Task, &c.Next, w.s.base.Codec.Wire, c.Head)...)
	if err := c.write(w, owner); err != nil {
		return err
	}
	w.ledger.move(owner, &none, &c.Next)
	w.then(func() { c.publish(w.s) })
	return nil
}

// existing answers the creation of a task that is there already.
func (c *change) existing(w *writer, n int64, err error) error {
	if err != nil {
		return err
	}
	r, err := w.row(c.Key, n, nil)
	if err != nil {
		return err
	}
	effects, again := r.Meta.Again(c.Rules.By, c.Rules.Stamp)
	if !again {
		return store.ErrExists
	}
	return w.again(r, effects, c.view, &c.snap)
}

// taskRow is a row of task, in the order of the dialect's columns.
func taskRow(n, owner, account int64, id string, m *stored.Meta, wire int64, head []byte) []any {
	return []any{
		n, owner, account, id, m.Context, m.Skill, m.ClientID, int64(m.Status), m.At, m.Version, m.Oldest, m.Epoch, orNull(int64(m.Runner)),
		m.Calls, m.Done, m.Messages.Bytes, m.LastStatus.Bytes, m.Artifacts.Bytes, m.Log, m.Charged, int64(m.Rest()), m.Rested, m.Asked, m.Input,
		m.Saved, m.Trace, wire, head,
	}
}

func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func orFull(err error) error {
	if err == nil {
		return store.ErrFull
	}
	return err
}

// row returns a task for a change, from the cache if it is there. It fails with errLater for one that the transaction has
// changed already. read is the row that the caller has read, if any.
func (w *writer) row(key store.Key, n int64, read *stored.Row) (*stored.Row, error) {
	r := w.s.cache.Get(key)
	if r == nil {
		var err error
		if r, err = w.fetch(key, n, read); err != nil {
			return nil, err
		}
		w.s.cache.Put(key, r, r.Meta.Cost())
	}
	if _, ok := w.changed[r.N]; ok {
		return nil, errLater
	}
	return r, nil
}

// fetch reads a task from the file, without its content if the caller has read that at the same version.
func (w *writer) fetch(key store.Key, n int64, read *stored.Row) (*stored.Row, error) {
	if n == 0 && read != nil {
		n = read.N
	}
	which := relational.ByNumber(n)
	if n == 0 {
		which = relational.ByKey(key)
	}
	n, _, m, err := w.base.MetaOf(context.Background(), which)
	if err != nil {
		return nil, err
	}
	if _, ok := w.changed[n]; ok {
		return nil, errLater
	}
	if read == nil || read.N != n || read.Meta.Version != m.Version {
		return load(&w.base, relational.ByNumber(n))
	}
	m.Since, m.Log, m.Content = read.Meta.Since, read.Meta.Log, read.Meta.Content
	read.Meta = m
	return read, stamps(&w.base, n, &read.Meta)
}

// again answers a change that was made before, with the task as it is now and the call that the caller must begin.
func (w *writer) again(r *stored.Row, e taskstate.Effects, view *store.View, snap *store.Snapshot) (err error) {
	var run *store.Call
	if e.Begin != 0 {
		if run, err = w.base.Began(context.Background(), r.N, &r.Meta); err != nil {
			return err
		}
	}
	w.then(func() {
		*snap = r.Snapshot(view)
		snap.Run = run
	})
	return nil
}
