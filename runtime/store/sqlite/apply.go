package sqlite

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// slack is by how much a task may grow by chunks of artifacts before it is noted in its row and with its account.
const slack = 64 << 10

// Apply implements [store.Store].
func (s *Store) Apply(ctx context.Context, key store.Key, expect int64, u store.Update,
	view *store.View) (store.Snapshot, error) {
	c := &change{key: key, expect: expect, u: &u, view: view}
	if err := c.prepare(s); err != nil {
		return store.Snapshot{}, err
	}
	return given(&c.snap, s.write(ctx, c.do))
}

// change is an update on its way into the file.
type change struct {
	key    store.Key
	expect int64
	u      *store.Update
	view   *store.View

	read                        *row // by the caller, when nobody had it at hand
	info                        runtime.EventInfo
	doc, messages, head, config []byte
	request, ticket             []byte // requests
	snap                        store.Snapshot

	r    *row
	next meta
	run  *store.Call
}

// prepare does on the caller's goroutine what can be done without the writer: it finds out whether the event fits the
// task, and makes bytes of all.
func (c *change) prepare(s *Store) (err error) {
	r := s.cache.get(c.key)
	if r == nil {
		if r, err = s.load(c.key); err != nil {
			return err
		}
		c.read = r
	}
	u, k := c.u, s.codec
	if u.Size == (store.Size{}) {
		u.Size = store.SizeOf(u.Event, u.Messages)
	}
	c.info = u.Event.EventInfo()
	r.mu.Lock()
	after := r.task.View(new(int), false)
	r.mu.Unlock()
	if err := after.Apply(u.Event); err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnfit, err)
	}
	if c.doc, err = k.append(nil, u.Event); err != nil {
		return err
	}
	if c.messages, err = k.messages(u.Messages); err != nil {
		return err
	}
	if c.info.Kind == runtime.EventStatus {
		if c.head, err = k.head(after); err != nil {
			return err
		}
		c.next.at = after.TaskInfo().At.UnixNano()
	}
	if u.Call != nil {
		if c.request, err = k.request(u.Call.Request); err != nil {
			return err
		}
	}
	if u.Ticket != nil {
		if c.ticket, err = k.request(u.Ticket.Request); err != nil {
			return err
		}
	}
	if u.Push != nil {
		c.config, err = encodePush(u.Push)
	}
	return err
}

func (c *change) do(w *writer) (err error) {
	c.run = nil
	if c.r, err = w.row(c.key, 0, c.read); err != nil {
		return err
	}
	if c.r.stamps.made(c.u.Stamp) {
		return w.repeat(c.r, c.u.Stamp, c.view, &c.snap)
	}
	owner, err := w.ledger.owner(w, c.key.Owner)
	if err != nil {
		return err
	}
	if err := c.allowed(w, owner); err != nil {
		return err
	}
	c.advance()
	c.hand(w.s.me)
	c.next.settle(w.now)
	w.touched[c.r.n] = struct{}{} // before room is made: the task itself must not go for it
	if err := c.fit(w); err != nil {
		delete(w.touched, c.r.n)
		return err
	}
	if err := c.write(w, owner); err != nil {
		return err
	}
	w.ledger.move(owner, &c.r.meta, &c.next)
	w.then(func() { c.publish(w.s) })
	return nil
}

// allowed says why the update cannot be made, as far as that does not depend on its size.
func (c *change) allowed(w *writer, o *owner) error {
	m, u := &c.r.meta, c.u
	if err := w.repeated(o, u.Repeat); err != nil {
		return err
	}
	switch {
	case m.state.Terminal():
		return store.ErrEnded
	case u.Epoch != 0 && (m.epoch != u.Epoch || m.runner != w.s.me):
		return store.ErrLost
	case (u.Epoch == 0 || c.expect != 0) && m.version != c.expect:
		return store.ErrConflict
	case u.Redeem != nil:
		return w.admits(c.r.n, *u.Redeem)
	case u.Push != nil:
		return w.roomForAnother(o.account, c.r.n, u.Push.ID)
	}
	return nil
}

// advance makes the next version, without what calls and room have to do with it.
func (c *change) advance() {
	at := c.next.at
	c.next = c.r.meta
	m, u := &c.next, c.u
	m.version++
	if u.Input != nil {
		m.input = *u.Input
	}
	if u.Saved != nil {
		m.saved = *u.Saved
	}
	if u.Asked != nil {
		m.asked = *u.Asked
	}
	bytes := int64(eventBytes + len(c.doc) + len(c.messages))
	m.size.log += bytes
	m.since += bytes
	if c.info.Kind != runtime.EventStatus {
		m.size.made += int64(u.Size.Bytes)
		return
	}
	m.size.said, m.size.status = m.size.said+int64(u.Size.Bytes), int64(u.Size.Bytes)
	m.size.head = int64(len(c.head))
	m.state, m.at = c.info.State, at
	if m.state.Terminal() {
		m.input, m.saved = nil, nil
	}
}

// hand passes the work on.
func (c *change) hand(me int64) {
	m, u := &c.next, c.u
	switch {
	case m.state.Terminal():
		m.done = m.calls
		m.epoch++
		m.runner = 0
	case c.ends():
		if m.done++; m.done == m.calls {
			m.epoch++
			m.runner = 0
		}
	case u.Call != nil:
		m.calls++
		if m.calls == m.done+1 { // nobody runs the task, or is to
			m.epoch++
			m.runner = me
		}
	}
}

// ends reports whether the update ends the call at work.
func (c *change) ends() bool {
	return c.u.Done != 0 && c.u.Done == c.r.meta.done+1 && c.r.meta.runner != 0
}

// fit finds room for what the task is going to be, or says why there is none. What ends the task with few words always
// has room.
func (c *change) fit(w *writer) error {
	from, m := &c.r.meta, &c.next
	last := m.state.Terminal() && c.u.Size.Bytes <= store.LastWords
	if limit := w.s.options.TaskBytes; m.content() > limit && !last {
		if c.recount(); m.content() > limit {
			return store.ErrTooLarge
		}
	}
	held := m.held()
	if more := held - m.charged; c.info.Kind == runtime.EventStatus || more >= slack || -more >= slack {
		if more > 0 && !last {
			if ok, err := w.makeRoom(c.key.Owner.Principal, from, holding{bytes: more}); !ok {
				return orFull(err)
			}
		}
		m.charged = held
	}
	return nil
}

// recount counts the artifacts anew, some of which may have been replaced.
func (c *change) recount() {
	made := int64(0)
	for _, a := range c.r.task.ArtifactList() {
		made += int64(store.SizeOfArtifact(&a).Bytes)
	}
	c.next.size.made = made
	if c.info.Kind != runtime.EventStatus {
		c.next.size.made += int64(c.u.Size.Bytes)
	}
}

// write puts the change into the file.
func (c *change) write(w *writer, o *owner) error {
	from, m, u, n := &c.r.meta, &c.next, c.u, c.r.n
	if err := w.insertEvent(n, m.version, c.info.Kind, m.state, u.Stamp, c.doc, c.messages); err != nil {
		return err
	}
	if err := c.writeCalls(w); err != nil {
		return err
	}
	if from.pushed {
		if _, err := w.exec("UPDATE push SET due=? WHERE task=? AND due IS NULL AND dead IS NULL", w.now.UnixNano(),
			n); err != nil {
			return err
		}
	}
	if u.Push != nil {
		if err := w.putPush(o.account, n, u.Push, c.config, m); err != nil {
			return err
		}
		m.pushed = true
	}
	if err := w.addRepeat(o, c.key.Task, u.Repeat, u.Call); err != nil {
		return err
	}
	if err := c.punch(w); err != nil {
		return err
	}
	if err := c.compact(w); err != nil {
		return err
	}
	return c.writeTask(w)
}

// writeTask brings the task's row up to date. The next of many chunks needs nothing but its event.
func (c *change) writeTask(w *writer) error {
	from, m, u := &c.r.meta, &c.next, c.u
	chunk := c.info.Kind != runtime.EventStatus && m.charged == from.charged && m.calls == from.calls &&
		m.done == from.done &&
		m.oldest == from.oldest && m.snapshot == from.snapshot && u.Input == nil && u.Saved == nil && u.Asked == nil
	if chunk {
		return nil
	}
	args := []any{
		m.version, m.oldest, m.epoch, orNull(m.runner), m.calls, m.done, m.size.said, m.size.status, m.size.made, m.size.log,
		m.charged, m.asked, m.input, m.saved,
	}
	const counters = `UPDATE task SET version=?, oldest=?, epoch=?, runner=?, calls=?, done=?, said=?, status=?, made=?, log=?,
		charged=?, asked=?, input=?, saved=?`
	if c.info.Kind != runtime.EventStatus && m.rest == from.rest && m.rested == from.rested {
		_, err := w.exec(counters+" WHERE n=?", append(args, c.r.n)...)
		return err
	}
	args = append(args, int64(m.rest), m.rested)
	if c.info.Kind != runtime.EventStatus {
		_, err := w.exec(counters+", rest=?, rested=? WHERE n=?", append(args, c.r.n)...)
		return err
	}
	_, err := w.exec(counters+", rest=?, rested=?, state=?, at=?, wire=?, head=? WHERE n=?",
		append(args, int64(m.state), m.at, w.s.codec.wire, c.head, c.r.n)...)
	return err
}

// publish makes the change one that readers see.
func (c *change) publish(s *Store) {
	r, u := c.r, c.u
	event := u.Event
	rec := s.codec.record(c.next.version, c.next.state, event, c.doc)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.task.Apply(event); err != nil { // it fitted when it was prepared
		s.options.Logger.Error("an event does not fit its task", "task", c.key.Task, "error", err)
		s.cache.drop(r.key)
	}
	for _, m := range u.Messages {
		r.task.AddMessage(m)
	}
	r.publish(c.next, rec, u.Stamp)
	c.snap = r.snapshot(c.view)
	c.snap.Run = c.run
	s.cache.put(r, c.next.cost())
}
