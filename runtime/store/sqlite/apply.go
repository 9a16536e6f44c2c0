package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/runtime"
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
	if u.Size == (store.Size{}) {
		u.Size = store.SizeOf(u.Event, u.Messages)
	}
	c.events = []runtime.Event{u.Event}
	c.rules = taskstate.Update{
		Expect: expect, Epoch: u.Epoch, Stamp: u.Stamp, Done: u.Done, Call: u.Call != nil, Redeem: u.Redeem != nil,
		Ticket: u.Ticket != nil,
	}
	r.mu.Lock()
	after := r.task.View(new(int), false)
	r.mu.Unlock()
	c.prepare(s, after)
	return given(&c.snap, s.write(ctx, c.apply))
}

// change is a new task, or an update of one, on its way into the file.
type change struct {
	key    store.Key
	view   *store.View
	u      *store.Update   // of a new task: what comes with it
	events []runtime.Event // of a new task: after the task
	task   runtime.Task    // a new one; nil: the change is an update
	start  meta            // of a new one
	read   *row            // by the caller, when nobody had it at hand
	snap   store.Snapshot  // the answer

	rules taskstate.Update // what the rules are asked
	brought
	at int64 // time of the status, if there is a new one

	r       *row
	was     *meta
	next    meta
	effects taskstate.Effects
	run     *store.Call
}

// brought is what a change brings, as bytes.
type brought struct {
	docs     [][]byte // the events
	messages []byte
	head     []byte // the task without history and artifacts, if there is a new status
	config   []byte // push configuration
	request  []byte // of the call
	ticket   []byte // request of the ticket
}

// prepare does on the caller's goroutine what can be done without the writer: it finds out whether the events fit the
// task, of which after has no history and no artifacts, and makes bytes of all.
func (c *change) prepare(s *Store, after runtime.Task) {
	c.rules.By = int32(s.me) //nolint:gosec // instances are few
	c.rules.Facts = &taskstate.Facts{Unfit: c.encode(s.codec, after)}
	if c.u.Push != nil {
		c.rules.Push = &taskstate.Push{Bad: c.u.Push.Check()}
	}
}

func (c *change) encode(k *codec, after runtime.Task) (err error) {
	u := c.u
	if c.task != nil {
		doc, err := k.append(nil, c.task)
		if err != nil {
			return err
		}
		c.docs = append(c.docs, doc)
	}
	for i, e := range c.events {
		info := e.EventInfo()
		size := store.Size{}
		if i == len(c.events)-1 {
			size = u.Size
		}
		c.rules.Events = append(c.rules.Events,
			taskstate.Event{Kind: info.Kind, State: info.State, Size: taskstate.Size(size)})
		if err := after.Apply(e); err != nil {
			return fmt.Errorf("%w: %w", store.ErrUnfit, err)
		}
		doc, err := k.append(nil, e)
		if err != nil {
			return err
		}
		c.docs = append(c.docs, doc)
	}
	if c.messages, err = k.messages(u.Messages); err != nil {
		return err
	}
	if c.newStatus() {
		if c.head, err = k.head(after); err != nil {
			return err
		}
		c.at = after.TaskInfo().At.UnixNano()
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

// newStatus reports whether the change brings a status: the first one, or an update of it.
func (c *change) newStatus() bool {
	return slices.ContainsFunc(c.rules.Events, func(e taskstate.Event) bool { return e.Kind != runtime.EventArtifact })
}

// apply makes an update.
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
	w.touched[c.r.n] = struct{}{} // before room is made: the task itself must not go for it
	if err := c.charge(w); err != nil {
		delete(w.touched, c.r.n)
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

// ask finds out what the rules have to know, and prepares the next version of what they do not. A statement that fails
// has the whole transaction fail, whatever the rules make of it.
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
	bytes, content := len(c.messages), c.was.Messages.Held()+c.was.Artifacts.Held()
	for _, doc := range c.docs {
		bytes += eventBytes + len(doc)
	}
	for i := range r.Events {
		content += r.Events[i].Size.Held()
	}
	m.log += int64(bytes)
	m.since += int64(bytes)
	r.Private, r.Log = m.privateBytes(), m.beside(content)
	if u.Call != nil || u.Done != 0 {
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

// decide asks the rules, of a task that is too large once more without what was replaced in it.
func (c *change) decide(w *writer) (err error) {
	now, limits := w.now.UnixNano(), w.s.options.limits()
	if c.effects, err = c.was.Apply(&c.next.State, &c.rules, now, &limits); errors.Is(err, store.ErrTooLarge) {
		counted := c.was.State
		counted.Artifacts = recountArtifacts(c.r.task)
		c.rules.Log += c.was.Artifacts.Held() - counted.Artifacts.Held()
		c.effects, err = counted.Apply(&c.next.State, &c.rules, now, &limits)
	}
	return err
}

// charge finds room for what the task is going to be, and has the account charged for it.
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

// write puts what the change brings into the file, but for the row of its task.
func (c *change) write(w *writer, o *owner) error {
	u, n := c.u, c.r.n
	if err := c.writeEvents(w); err != nil {
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

// writeEvents appends to the log. The stamp and the messages are kept with the last event.
func (c *change) writeEvents(w *writer) error {
	state := c.was.Status
	for i, doc := range c.docs {
		e, stamp, messages := c.rules.Events[i], uint64(0), []byte(nil)
		if e.Kind != runtime.EventArtifact {
			state = e.State
		}
		if i == len(c.docs)-1 {
			stamp, messages = c.u.Stamp, c.messages
		}
		_, err := w.exec("INSERT INTO event(task, seq, kind, state, stamp, wire, doc, messages) VALUES(?,?,?,?,?,?,?,?)",
			c.r.n, c.was.Version+int64(i)+1, int64(e.Kind), int64(state), stamp, w.s.codec.wire, doc, messages)
		if err != nil {
			return err
		}
	}
	return nil
}

// writeTask brings the task's row up to date. The next of many chunks needs nothing but its event.
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

// publish makes the change one that readers see.
func (c *change) publish(s *Store) {
	r := c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range c.events {
		if err := r.task.Apply(e); err != nil { // it fitted when it was prepared
			s.options.Logger.Error("an event does not fit its task", "task", c.key.Task, "error", err)
			s.cache.drop(r.key)
		}
		behind := len(c.events) - i // it and those after it
		r.append(s.codec.record(c.next.Version-int64(behind-1), e, c.docs[len(c.docs)-behind]))
	}
	for _, m := range c.u.Messages {
		r.task.AddMessage(m)
	}
	r.meta = c.next
	c.snap = r.snapshot(c.view)
	c.snap.Run = c.run
	s.cache.put(r, r.meta.cost())
}
