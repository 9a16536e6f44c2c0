package sqlite

import (
	"context"

	"github.com/a2agen/a2agen/runtime/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	info, p := n.Task.TaskInfo(), n.Private
	c := &change{key: key, view: view, new: &n, changes: n.Then, task: n.Task.View(nil, true)}
	c.u = &store.Update{Stamp: n.Stamp, Call: n.Call, Push: n.Push, Repeat: n.Repeat, Unread: n.Unread}
	c.rules = taskstate.Update{Stamp: n.Stamp, Call: n.Call != nil}
	if n.Done {
		c.rules.Done = 1
	}
	c.start = meta{
		context: info.ContextID, skill: p.Skill, clientID: p.ClientID, trace: p.Trace, asked: p.Asked, input: p.Input, saved: p.Saved,
	}
	c.prepare(s, n.Task.View(new(int), false))
	return result(&c.snap, s.write(ctx, c.create))
}

// create makes a new task.
func (c *change) create(w *writer) error {
	owner, err := w.ledger.owner(w, c.key.Owner)
	if err != nil {
		return err
	}
	if n, found, err := w.one("SELECT n FROM task WHERE owner=? AND id=?", owner.n, c.key.Task); found || err != nil {
		return c.again(w, n, err)
	}
	c.r = &row{n: w.nextN, key: c.key, task: c.task}
	c.was, c.run = &c.start, nil
	c.ask(w, owner)
	limits := w.s.options.limits()
	c.effects, err = taskstate.Create(&c.next.State, &c.rules, w.now.UnixNano(), &limits)
	if err != nil {
		return err
	}
	if err := c.charge(w); err != nil {
		return err
	}
	if err := w.ledger.open(w, owner); err != nil {
		return err
	}
	w.nextN++
	w.changed[c.r.n] = struct{}{}
	if err := w.insertTask(c.r.n, owner, c.key.Task, &c.next, c.head); err != nil {
		return err
	}
	if err := c.write(w, owner); err != nil {
		return err
	}
	w.ledger.move(owner, &none, &c.next)
	w.then(func() { c.publish(w.s) })
	return nil
}

// again answers the creation of a task that is there already.
func (c *change) again(w *writer, n int64, err error) error {
	if err != nil {
		return err
	}
	r, err := w.row(c.key, n, nil)
	if err != nil {
		return err
	}
	effects, again := r.meta.Again(c.rules.By, c.rules.Stamp)
	if !again {
		return store.ErrExists
	}
	return w.repeat(r, effects, c.view, &c.snap)
}

func (w *writer) insertTask(n int64, o *owner, id string, m *meta, head []byte) error {
	_, err := w.exec(`INSERT INTO task(n, owner, account, id, context, skill, clientid, state, at, version, oldest, epoch, runner,
		calls, done, said, status, made, log, charged, rest, rested, asked, input, saved, trace, wire, head)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		n, o.n, o.account.n, id, m.context, m.skill, m.clientID, int64(m.Status), m.at, m.Version, m.oldest, m.Epoch,
		orNull(int64(m.Runner)), m.Calls, m.Done, m.Messages.Bytes, m.LastStatus.Bytes, m.Artifacts.Bytes, m.log, m.charged,
		int64(m.Rest()), m.Rested, m.asked, m.input, m.saved, m.trace, w.s.codec.wire, head)
	return err
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
func (w *writer) row(key store.Key, n int64, read *row) (*row, error) {
	r := w.s.cache.get(key)
	if r == nil {
		var err error
		if r, err = w.fetch(key, n, read); err != nil {
			return nil, err
		}
		w.s.cache.put(r, r.meta.cost())
	}
	if _, ok := w.changed[r.n]; ok {
		return nil, errLater
	}
	return r, nil
}

// fetch reads a task from the file, without its content if the caller has read that at the same version.
func (w *writer) fetch(key store.Key, n int64, read *row) (*row, error) {
	if n == 0 && read != nil {
		n = read.n
	}
	if n == 0 {
		var found bool
		var err error
		if n, found, err = w.number(key); err != nil || !found {
			return nil, orNotFound(err)
		}
	}
	if _, ok := w.changed[n]; ok {
		return nil, errLater
	}
	m, found, err := w.meta(n, w.s.me)
	if err != nil || !found {
		return nil, orNotFound(err)
	}
	if read == nil || read.n != n || read.meta.Version != m.Version {
		return w.s.codec.load(w.conn, key, n, w.s.me)
	}
	m.since, m.log, m.Content = read.meta.since, read.meta.log, read.meta.Content
	read.meta = m
	return read, w.work(n, &read.meta)
}

// cost is about how much memory the decoded task takes.
func (m *meta) cost() int64 { return int64(2 * (m.Held() + m.privateBytes())) }

// repeat answers a change that was made before, with the task as it is now and the call that the caller must begin.
func (w *writer) repeat(r *row, e taskstate.Effects, view *store.View, snap *store.Snapshot) (err error) {
	var run *store.Call
	if e.Begin != 0 {
		if run, err = w.call(r.n, e.Begin); err != nil {
			return err
		}
	}
	w.then(func() {
		*snap = r.snapshot(view)
		snap.Run = run
	})
	return nil
}
