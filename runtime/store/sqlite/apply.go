package sqlite

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// slack is by how much a task may grow by chunks of artifacts before it is noted in its row and with its account.
const slack = 64 << 10

// Apply implements [store.Store].
func (s *Store) Apply(ctx context.Context, key store.Key, expect int64, u store.Update,
	view *store.View) (store.Snapshot, error) {
	c := &change{Change: relational.Change{Key: key}, view: view}
	r := s.cache.Get(key)
	if r == nil {
		var err error
		if r, err = load(&s.base, relational.ByKey(key)); err != nil {
			return store.Snapshot{}, err
		}
		c.read = r
	}
	r.Mu.Lock()
	after := r.Task.View(new(int), false)
	r.Mu.Unlock()
	c.Change.Change = stored.ForUpdate(s.base.Codec, &u, expect, int32(s.me), after) //nolint:gosec // instances are few
	return result(&c.snap, s.write(ctx, c.apply))
}

// apply makes an update. It runs on the writer's goroutine.
func (c *change) apply(w *writer) (err error) {
	if c.r, err = w.row(c.Key, 0, c.read); err != nil {
		return err
	}
	owner, err := w.ledger.owner(w, c.Key.Owner)
	if err != nil {
		return err
	}
	c.Was, c.Run = &c.r.Meta, nil
	c.ask(w, owner)
	limits := w.s.options.limits()
	if err := c.Decide(c.Was, c.r.Task, w.now.UnixNano(), &limits); err != nil {
		return err
	}
	if c.Effects.Again {
		return w.again(c.r, c.Effects, c.view, &c.snap)
	}
	w.changed[c.r.N] = struct{}{} // before room is made: the task itself must not go for it
	if err := c.charge(w); err != nil {
		delete(w.changed, c.r.N)
		return err
	}
	c.N, c.Owner = c.r.N, owner.n
	if err := c.write(w, owner); err != nil {
		return err
	}
	if err := w.base.Compact(context.Background(), &c.Change, c.r, w, w.s.options.Events, w.s.options.TaskBytes); err != nil {
		return err
	}
	if err := c.writeTask(w); err != nil {
		return err
	}
	w.ledger.move(owner, c.Was, &c.Next)
	w.then(func() { c.publish(w.s) })
	return nil
}

// ask fills in what the rules must know. A statement that fails here fails the whole transaction, whatever the rules return.
func (c *change) ask(w *writer, o *owner) {
	c.Ask(c.Was, c.r.Task)
	u, r := c.U, &c.Rules
	r.Facts.Repeated = w.repeated(o, u.Repeat)
	if u.Redeem != nil {
		r.Facts.NoTicket = w.base.Admits(context.Background(), c.r.N, *u.Redeem)
	}
	if u.Push != nil {
		_ = w.push(o, c.r.N, u.Push, r.Push)
	}
}

// charge makes room for the next version and charges the account for it.
func (c *change) charge(w *writer) error {
	limits := w.s.options.limits()
	more, ok := c.Charge(c.Was, &limits)
	if !ok {
		return nil
	}
	ok, err := w.makeRoom(c.Key.Owner.Principal, c.Was, more)
	if err != nil || !ok && !c.Effects.Must {
		return orFull(err)
	}
	c.Next.Charged = int64(c.Effects.Held)
	return nil
}

// write stores all of the change but the row of its task.
func (c *change) write(w *writer, o *owner) error {
	if err := w.base.Write(context.Background(), &c.Change, w); err != nil {
		return err
	}
	if p := c.Rules.Push; p != nil && p.New {
		w.ledger.addPushes(o.account, 1)
	}
	if c.U.Repeat == nil {
		return nil
	}
	if err := w.roomForRepeat(o.account); err != nil {
		return err
	}
	w.base.AddRepeat(&c.Change, w)
	return nil
}

// writeTask updates the row of the task. After most chunks of an artifact it is not changed.
func (c *change) writeTask(w *writer) error {
	was, m, u := c.Was, &c.Next, c.U
	chunk := c.Head == nil && m.Charged == was.Charged && m.Calls == was.Calls && m.Done == was.Done &&
		m.Oldest == was.Oldest && m.Snapshot == was.Snapshot && u.Input == nil && u.Saved == nil && u.Asked == nil
	if chunk {
		return nil
	}
	args := []any{
		m.Version, m.Oldest, m.Epoch, orNull(int64(m.Runner)), m.Calls, m.Done, m.Messages.Bytes, m.LastStatus.Bytes,
		m.Artifacts.Bytes, m.Log, m.Charged, m.Asked, m.Input, m.Saved,
	}
	const counters = `UPDATE task SET version=?, oldest=?, epoch=?, runner=?, calls=?, done=?, said=?, status=?, made=?, log=?,
		charged=?, asked=?, input=?, saved=?`
	if !c.Effects.Moved {
		_, err := w.exec(counters+" WHERE n=?", append(args, c.r.N)...)
		return err
	}
	args = append(args, int64(m.Rest()), m.Rested)
	if c.Head == nil {
		_, err := w.exec(counters+", rest=?, rested=? WHERE n=?", append(args, c.r.N)...)
		return err
	}
	_, err := w.exec(counters+", rest=?, rested=?, state=?, at=?, wire=?, head=? WHERE n=?",
		append(args, int64(m.Status), m.At, w.s.base.Codec.Wire, c.Head, c.r.N)...)
	return err
}

// publish shows the change to readers.
func (c *change) publish(s *Store) {
	r := c.r
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if err := c.Publish(s.base.Codec, r); err != nil {
		s.options.Logger.Error("an event does not fit its task", "task", r.Key.Task, "error", err)
		s.cache.Drop(r.Key)
	}
	c.snap = r.Snapshot(c.view)
	c.snap.Run = c.Run
	s.cache.Put(r.Key, r, r.Meta.Cost())
}
