package sqlite

import (
	"context"
	"errors"

	"github.com/a2agen/a2agen/runtime/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// slack is by how much a task may grow by chunks of artifacts before it is noted in its row and with its account.
const slack = 64 << 10

// Apply implements [store.Store].
func (s *Store) Apply(ctx context.Context, key store.Key, expect int64, u store.Update,
	view *store.View) (store.Snapshot, error) {
	c := &change{key: key, u: &u, view: view}
	r := s.cache.get(key)
	if r == nil {
		var err error
		if r, err = s.load(key); err != nil {
			return store.Snapshot{}, err
		}
		c.read = r
	}
	c.changes = append([]store.Change{{Event: u.Event, Messages: u.Messages, Size: u.Size}}, u.Then...)
	c.rules = taskstate.Update{
		Expect: expect, Epoch: u.Epoch, Stamp: u.Stamp, Done: u.Done, Call: u.Call != nil, Redeem: u.Redeem != nil,
		Ticket: u.Ticket != nil,
	}
	r.mu.Lock()
	after := r.task.View(new(int), false)
	r.mu.Unlock()
	c.prepare(s, after)
	return result(&c.snap, s.write(ctx, c.apply))
}

// apply makes an update. It runs on the writer's goroutine.
func (c *change) apply(w *writer) (err error) {
	if c.r, err = w.row(c.key, 0, c.read); err != nil {
		return err
	}
	owner, err := w.ledger.owner(w, c.key.Owner)
	if err != nil {
		return err
	}
	c.was, c.run = &c.r.meta, nil
	c.ask(w, owner)
	if err := c.decide(w); err != nil {
		return err
	}
	if c.effects.Again {
		return w.repeat(c.r, c.effects, c.view, &c.snap)
	}
	w.changed[c.r.n] = struct{}{} // before room is made: the task itself must not go for it
	if err := c.charge(w); err != nil {
		delete(w.changed, c.r.n)
		return err
	}
	if err := c.write(w, owner); err != nil {
		return err
	}
	if err := c.compact(w); err != nil {
		return err
	}
	if err := c.writeTask(w); err != nil {
		return err
	}
	w.ledger.move(owner, c.was, &c.next)
	w.then(func() { c.publish(w.s) })
	return nil
}

// ask fills in what the rules must know, and the part of the next version that they do not decide on. A statement that
// fails here fails the whole transaction, whatever the rules return.
func (c *change) ask(w *writer, o *owner) {
	u, r, m := c.u, &c.rules, &c.next
	*m = *c.was
	if u.Input != nil {
		m.input = *u.Input
	}
	if u.Saved != nil {
		m.saved = *u.Saved
	}
	if u.Asked != nil {
		m.asked = *u.Asked
	}
	if r.Ends() {
		m.input, m.saved = nil, nil
	}
	if c.head != nil {
		m.at, m.head = c.at, int64(len(c.head))
	}
	for i := range c.log {
		m.log += c.log[i].bytes()
		m.since += c.log[i].bytes()
	}
	r.Private, r.Log = m.privateBytes(), c.logged(&c.was.State)
	if r.Call || r.Done != 0 {
		r.Artifacts = c.artifacts()
	}
	r.Facts.Repeated = w.repeated(o, u.Repeat)
	if u.Redeem != nil {
		r.Facts.NoTicket = w.admits(c.r.n, *u.Redeem)
	}
	if u.Push != nil {
		_ = w.push(o, c.r.n, u.Push, r.Push)
	}
}

// logged is how many bytes the log takes after the change of a task that was in a state.
func (c *change) logged(was *taskstate.State) int {
	content := was.Messages.Held() + was.Artifacts.Held()
	for i := range c.rules.Events {
		content += c.rules.Events[i].Size.Held()
	}
	return c.next.beside(content, was.Version+int64(len(c.rules.Events)))
}

// decide asks the rules. If the task is too large it counts the artifacts anew, some of which may have been replaced, and
// asks again.
func (c *change) decide(w *writer) (err error) {
	now, limits := w.now.UnixNano(), w.s.options.limits()
	if c.effects, err = c.was.Apply(&c.next.State, &c.rules, now, &limits); errors.Is(err, store.ErrTooLarge) {
		counted := c.was.State
		counted.Artifacts = recountArtifacts(c.r.task)
		c.rules.Log = c.logged(&counted)
		c.effects, err = counted.Apply(&c.next.State, &c.rules, now, &limits)
	}
	return err
}

// charge makes room for the next version and charges the account for it.
func (c *change) charge(w *writer) error {
	limits := w.s.options.limits()
	if !c.effects.Charge(int(c.was.charged), &limits) {
		return nil
	}
	held := int64(c.effects.Held)
	more := taskstate.Holding{Bytes: held - c.was.charged}
	if c.was.Version == 0 {
		more.Tasks = 1
	}
	ok, err := w.makeRoom(c.key.Owner.Principal, c.was, more)
	if err != nil || !ok && !c.effects.Must {
		return orFull(err)
	}
	c.next.charged = held
	return nil
}

// write stores all of the change but the row of its task.
func (c *change) write(w *writer, o *owner) error {
	u, n := c.u, c.r.n
	if err := c.writeLog(w); err != nil {
		return err
	}
	if err := c.writeCalls(w); err != nil {
		return err
	}
	if c.was.Pushes > 0 {
		if _, err := w.exec(wakeSQL, w.now.UnixNano(), n); err != nil {
			return err
		}
	}
	if u.Push != nil {
		if err := w.putPush(o.account, n, u.Push, c.config, c.next.Version); err != nil {
			return err
		}
	}
	if err := w.addRepeat(o, c.key.Task, u.Repeat, u.Call); err != nil {
		return err
	}
	return c.writeTickets(w)
}

// writeTask updates the row of the task. After most chunks of an artifact it is not changed.
func (c *change) writeTask(w *writer) error {
	was, m, u := c.was, &c.next, c.u
	chunk := c.head == nil && m.charged == was.charged && m.Calls == was.Calls && m.Done == was.Done &&
		m.oldest == was.oldest && m.snapshot == was.snapshot && u.Input == nil && u.Saved == nil && u.Asked == nil
	if chunk {
		return nil
	}
	args := []any{
		m.Version, m.oldest, m.Epoch, orNull(int64(m.Runner)), m.Calls, m.Done, m.Messages.Bytes, m.LastStatus.Bytes,
		m.Artifacts.Bytes, m.log, m.charged, m.asked, m.input, m.saved,
	}
	const counters = `UPDATE task SET version=?, oldest=?, epoch=?, runner=?, calls=?, done=?, said=?, status=?, made=?, log=?,
		charged=?, asked=?, input=?, saved=?`
	if !c.effects.Moved {
		_, err := w.exec(counters+" WHERE n=?", append(args, c.r.n)...)
		return err
	}
	args = append(args, int64(m.Rest()), m.Rested)
	if c.head == nil {
		_, err := w.exec(counters+", rest=?, rested=? WHERE n=?", append(args, c.r.n)...)
		return err
	}
	_, err := w.exec(counters+", rest=?, rested=?, state=?, at=?, wire=?, head=? WHERE n=?",
		append(args, int64(m.Status), m.at, w.s.codec.wire, c.head, c.r.n)...)
	return err
}

// publish shows the change to readers.
func (c *change) publish(s *Store) {
	r := c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	seq := c.was.Version
	for i := range c.log {
		for j := range c.log[i].ends {
			if seq++; seq > 1 {
				change := &c.changes[len(c.changes)-int(c.next.Version-seq)-1]
				s.take(r, change)
				if !c.u.Unread {
					r.append(s.codec.record(seq, change.Event, c.log[i].at(j)))
				}
			}
		}
	}
	if c.u.Unread {
		r.tail = nil
	}
	r.meta = c.next
	c.snap = r.snapshot(c.view)
	c.snap.Run = c.run
	s.cache.put(r, r.meta.cost())
}

// take applies an event to the decoded task. Callers must hold r.mu.
func (s *Store) take(r *row, change *store.Change) {
	if err := r.task.Apply(change.Event); err != nil { // it fitted when it was prepared
		s.options.Logger.Error("an event does not fit its task", "task", r.key.Task, "error", err)
		s.cache.drop(r.key)
	}
	for _, m := range change.Messages {
		r.task.AddMessage(m)
	}
}
