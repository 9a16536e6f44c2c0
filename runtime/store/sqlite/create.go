package sqlite

import (
	"context"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	c := &creation{key: key, new: &n, view: view}
	if err := c.prepare(s.codec); err != nil {
		return store.Snapshot{}, err
	}
	return given(&c.snap, s.write(ctx, c.do))
}

// creation is a new task on its way into the file.
type creation struct {
	key  store.Key
	new  *store.New
	view *store.View

	meta              meta
	doc, head, config []byte
	request           []byte
	snap              store.Snapshot
}

// prepare does on the caller's goroutine what can be done without the file.
func (c *creation) prepare(k *codec) (err error) {
	n := c.new
	info, p := n.Task.TaskInfo(), n.Private
	c.meta = meta{
		context: info.ContextID, skill: p.Skill, clientID: p.ClientID, trace: p.Trace, state: info.State, at: info.At.UnixNano(), version: 1,
		asked: p.Asked, input: p.Input, saved: p.Saved,
	}
	if c.doc, err = k.append(nil, n.Task); err != nil {
		return err
	}
	if c.head, err = k.head(n.Task); err != nil {
		return err
	}
	if n.Call != nil {
		if c.request, err = k.request(n.Call.Request); err != nil {
			return err
		}
	}
	if n.Push != nil {
		if c.config, err = encodePush(n.Push); err != nil {
			return err
		}
		c.meta.pushed = true
	}
	c.meta.size = size{said: int64(n.Size.Bytes), log: int64(eventBytes + len(c.doc)), head: int64(len(c.head))}
	c.meta.since = c.meta.size.log
	return nil
}

func (c *creation) do(w *writer) error {
	o := &w.s.options
	if c.meta.content() > o.TaskBytes {
		return store.ErrTooLarge
	}
	owner, err := w.ledger.owner(w, c.key.Owner)
	if err != nil {
		return err
	}
	if n, found, err := w.one("SELECT n FROM task WHERE owner=? AND id=?", owner.n, c.key.Task); found || err != nil {
		return c.again(w, n, err)
	}
	if err := w.repeated(owner, c.new.Repeat); err != nil {
		return err
	}
	if c.new.Push != nil {
		if err := w.roomForPush(owner.account); err != nil {
			return err
		}
	}
	m := c.meta
	if c.new.Call != nil {
		m.epoch, m.runner, m.calls = 1, w.s.me, 1
	}
	m.settle(w.now)
	m.charged = m.held()
	if ok, err := w.makeRoom(c.key.Owner.Principal, &none, m.holding()); !ok {
		return orFull(err)
	}
	return c.insert(w, owner, m)
}

// again is what is returned for a task that is there already.
func (c *creation) again(w *writer, n int64, err error) error {
	if err != nil {
		return err
	}
	r, err := w.row(c.key, n, nil)
	if err != nil {
		return err
	}
	if !r.stamps.made(c.new.Stamp) {
		return store.ErrExists
	}
	return w.repeat(r, c.new.Stamp, c.view, &c.snap)
}

func (c *creation) insert(w *writer, o *owner, m meta) error {
	n := w.nextN
	w.nextN++
	if err := w.insertTask(n, o, c.key.Task, &m, c.head); err != nil {
		return err
	}
	if err := w.insertEvent(n, 1, runtime.EventTask, m.state, c.new.Stamp, c.doc, nil); err != nil {
		return err
	}
	if call := c.new.Call; call != nil {
		call.N, call.Attempt, call.Made = 1, 1, c.new.Task.TaskInfo().Artifacts
		if err := w.insertCall(n, call, call.Made, c.new.Stamp, c.request); err != nil {
			return err
		}
	}
	if p := c.new.Push; p != nil {
		if err := w.putPush(o.account, n, p, c.config, &m); err != nil {
			return err
		}
	}
	if err := w.addRepeat(o, c.key.Task, c.new.Repeat, c.new.Call); err != nil {
		return err
	}
	w.ledger.move(o, &none, &m)
	w.touched[n] = struct{}{}
	w.then(func() {
		r := &row{n: n, key: c.key, task: c.new.Task}
		r.publish(m, nil, c.new.Stamp)
		c.snap = r.snapshot(c.view)
		c.snap.Run = c.new.Call
		w.s.cache.put(r, m.cost())
	})
	return nil
}

func (w *writer) insertTask(n int64, o *owner, id string, m *meta, head []byte) error {
	_, err := w.exec(`INSERT INTO task(n, owner, account, id, context, skill, clientid, state, at, version, oldest, epoch, runner,
		calls, done, said, status, made, log, charged, rest, rested, asked, input, saved, trace, wire, head)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		n, o.n, o.account.n, id, m.context, m.skill, m.clientID, int64(m.state), m.at, m.version, m.oldest, m.epoch, orNull(m.runner),
		m.calls, m.done, m.size.said, m.size.status, m.size.made, m.size.log, m.charged, int64(m.rest), m.rested, m.asked,
		m.input, m.saved, m.trace, w.s.codec.wire, head)
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

func (w *writer) insertEvent(
	n, seq int64, kind runtime.EventKind, state runtime.State, stamp uint64, doc, messages []byte,
) error {
	_, err := w.exec("INSERT INTO event(task, seq, kind, state, stamp, wire, doc, messages) VALUES(?,?,?,?,?,?,?,?)",
		n, seq, int64(kind), int64(state), stamp, w.s.codec.wire, doc, messages)
	return err
}

func (w *writer) insertCall(n int64, c *store.Call, made int, stamp uint64, request []byte) error {
	_, err := w.exec("INSERT INTO call(task, n, stamp, attempt, made, wire, request, input, value) VALUES(?,?,?,?,?,?,?,?,?)",
		n, c.N, stamp, c.Attempt, made, w.s.codec.wire, request, c.Input, c.Value)
	return err
}

// row returns a task for a change: one that was decoded before, if it still is what is in the file.
func (w *writer) row(key store.Key, n int64, read *row) (*row, error) {
	r := w.s.cache.get(key)
	if r == nil {
		var err error
		if r, err = w.fetch(key, n, read); err != nil {
			return nil, err
		}
		w.s.cache.put(r, r.meta.cost())
	}
	if _, ok := w.touched[r.n]; ok {
		return nil, errLater
	}
	return r, nil
}

// fetch reads a task from the file, of which the caller has read the content.
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
	if _, ok := w.touched[n]; ok {
		return nil, errLater
	}
	m, found, err := w.meta(n, w.s.me)
	if err != nil || !found {
		return nil, orNotFound(err)
	}
	if read == nil || read.n != n || read.meta.version != m.version {
		return w.s.codec.load(w.conn, key, n, w.s.me)
	}
	m.since, m.size = read.meta.since, read.meta.size
	read.meta = m
	return read, nil
}

// cost is about how much memory the decoded task takes.
func (m *meta) cost() int64 { return 2 * m.content() }

// repeat answers a change that was made before: the task as it is by now, and the call that the change brought up.
func (w *writer) repeat(r *row, stamp uint64, view *store.View, snap *store.Snapshot) error {
	run, err := w.begun(r, stamp)
	if err != nil {
		return err
	}
	w.then(func() {
		*snap = r.snapshot(view)
		snap.Run = run
	})
	return nil
}
