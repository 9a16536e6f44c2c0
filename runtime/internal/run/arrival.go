package run

import (
	"context"
	"errors"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
)

// Message is a message for a handler, and how it is sent. It has been checked as far as that needs no task.
type Message struct {
	Request *runtime.SendRequest
	Info    runtime.MessageInfo // of the request's message
	Parts   []runtime.Part      // of the request's message
	Owner   store.Owner
	Caller  *runtime.Caller // as the handler sees the sender
	Permit  Permit          // nil: the sender may use all skills
	Sees    *route.Catalog  // the skills that there are for the sender
	// Wait: the sender waits until the handler's call is over. Without, the call goes on in the background.
	Wait bool
	// Named: an unknown task id is the client's for a new task (0.1).
	Named bool
	// Stored: the sender is told nothing but that the message was taken on (a notification), so that there must be a
	// task first.
	Stored bool
	// Extensions are those with a contract that the sender asks for, by URI.
	Extensions []string
	Push       *store.Push   // a configuration for the task; nil: none
	Repeat     *store.Repeat // by what the message is known when it comes again; nil: by nothing
}

// Permit says why the caller may not use a skill, also through a task of it; nil: the caller may.
type Permit func(skill string) error

// arrival is a message that is being taken on. It is its sender's until its call is launched or queued.
type arrival struct {
	r    *Runner
	c    *call
	info runtime.MessageInfo // as that of 1.0 would be
}

// Send takes a message on (A2A 1.0 §3.1.1, §3.4). With an answer, or an error, that is all there is to say.
func (r *Runner) Send(ctx context.Context, m *Message) (sent Sent, answer runtime.Message, err error) {
	for again := m.Named; ; again = false {
		c := r.newCall()
		c.req, c.parts, c.owner, c.push, c.repeat = m.Request, m.Parts, m.Owner, m.Push, m.Repeat
		c.ctx.values = values{ctx, m.Request, m.Caller}
		c.extensions = m.Extensions
		if len(m.Extensions) > 0 {
			c.task.activate(m.Extensions)
		}
		if !m.Wait {
			c.decided = make(chan struct{})
		}
		a := arrival{r, c, m.Info}
		if m.Named {
			err = a.nameTask(m)
		}
		switch {
		case err != nil:
		case a.info.TaskID != "":
			err = a.follow(m)
		default:
			answer, err = a.begin(m)
		}
		if err == nil && answer == nil {
			return Sent{c.skill.ID, c}, nil, nil
		}
		c.ctx.cancel(nil)
		if !again || !errors.Is(err, store.ErrExists) {
			return Sent{}, answer, err
		}
		// Two clients named one new task: the message follows the other.
	}
}

// nameTask takes the task id of a 0.1 message as that of a new task, unless there is such a task.
func (a *arrival) nameTask(m *Message) error {
	if a.info.TaskID != "" {
		_, err := a.r.Store.Head(a.r.Soon(), store.Key{Owner: m.Owner, Task: a.info.TaskID})
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	a.c.set(a.info.TaskID, "")
	a.c.task.private.ClientID = true
	a.info.TaskID = ""
	return nil
}

// begin takes on the first message of a task: it admits the call, which reading the message is work of already, finds the
// skill and its input, and runs it. Without a skill or an input there is no call: the answer is a message or, in the task,
// a question.
func (a *arrival) begin(m *Message) (answer runtime.Message, err error) {
	c := a.c
	c.handle = &c.ownHandle
	c.set(c.named(), a.info.ContextID)
	if err := a.r.admission.admit(c); err != nil {
		return nil, err
	}
	goesOn := false
	defer func() {
		if !goesOn {
			c.refuse()
		}
	}()
	message := route.Message{Metadata: a.info.Metadata, Parts: m.Parts, Permit: m.Permit}
	if router := a.r.Router; router != nil {
		said := m.Request.Message // m itself would have to be kept
		message.Router = func() (string, error) { return router(&c.ctx, said) }
	}
	if a.r.Chosen != nil {
		message.Choice = &route.Choice{Message: a.info.ID, Task: c.named()}
	}
	target, err := m.Sees.Route(c.ctx.request, &message)
	if choice := message.Choice; choice != nil {
		if err != nil {
			choice.Error = err.Error()
		}
		a.r.Chosen(choice)
	}
	if err != nil {
		return nil, err
	}
	if target.Skill == nil {
		help := runtime.MessageData{Parts: []runtime.Part{runtime.Text(m.Sees.Help())}}
		return c.task.message(help, c.task.private.ClientID), nil
	}
	c.skill = a.r.Skills.byID[target.Skill.ID]
	if err := c.skill.routed.CheckModes(m.Parts, m.Request.AcceptedOutputModes); err != nil {
		return nil, err
	}
	if target.Missing != nil {
		goesOn, err = c.asked(&target)
		return nil, err
	}
	c.input = target.Input
	// There must be a task at once when the sender gets no answer, has named it, or may send the message again.
	if m.Stored || m.Repeat != nil || m.Named && c.named() != "" {
		if err := a.found(); err != nil {
			return nil, err
		}
	}
	if !m.Wait || c.skill.Timeout > 0 { // the runner may make the task while the handler reads the message
		c.task.bind()
	}
	goesOn = true
	c.launch(m.Wait)
	return nil, nil
}

// found makes the task of a new call before its handler runs. Input that the handler could only refuse makes none.
func (a *arrival) found() error {
	c := a.c
	if err := c.decode(); err != nil {
		return err
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	c.task.auto = true
	return c.task.create(runtime.StateSubmitted)
}

// Sent is a message that was taken on, for its sender. The zero Sent is none.
type Sent struct {
	Skill string // the id of the skill that works on the message
	c     *call
}

// Key names the message's task.
func (s Sent) Key() store.Key { return s.c.handle.key }

// patience is how long a client that does not wait for the end (a stream, or returnImmediately) goes without a task
// when the handler has not decided between a task and a plain Message.
const patience = 200 * time.Millisecond

// awaitDecision waits, for a sender that does not wait for the end, until there is something to show. If the handler
// takes its time, the task is created for it.
func (c *call) awaitDecision() {
	select {
	case <-c.decided:
		return
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.decided:
		return
	case <-timer.C:
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if isClosed(c.decided) || c.handle.version != 0 {
		return
	}
	c.task.auto = true
	if err := c.task.create(runtime.StateWorking); err != nil {
		c.err = err // the handler may be making the task, too, and has not noted yet that it could not
		c.ctx.cancel(err)
	}
}

// First returns the task that a stream begins with and its version, and forgets it: the stream may be open for
// long.
func (s Sent) First() (runtime.Task, int64) {
	c := s.c
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	first := c.task.first
	c.task.first = nil
	return first, c.task.firstVersion
}

// Result returns what the sender of the message gets: a Message or a Task, and about how long a Task is. A sender that waits
// gets it when the call is over, or canceled, or when its outcome cannot be told for now; one that does not, as soon as there
// is something to show. A client that goes away, or the shutdown, ends the waiting; the call goes on.
func (s Sent) Result(client context.Context, ended bool) (result any, bytes int, err error) {
	c := s.c
	switch {
	case !ended:
		c.awaitDecision()
	case c.done != nil:
		select {
		case <-c.done:
		case <-client.Done():
			return nil, 0, context.Cause(client)
		case <-c.r.admission.closing:
			return nil, 0, budget.ErrBusy.With("the agent is shutting down")
		}
	}
	c.handle.mu.Lock()
	if ended && c.task.elsewhere {
		c.handle.mu.Unlock()
		if err := c.r.AwaitCall(client, c.handle.key, c.task.work.N); err != nil {
			return nil, 0, err
		}
		c.handle.mu.Lock()
	}
	defer c.handle.mu.Unlock()
	switch {
	case c.err != nil && (c.handle.version == 0 || c.err == ErrUnwritten):
		return nil, 0, c.err
	case c.reply != nil && c.handle.version == 0:
		return c.reply, 0, nil
	case !ended && c.task.first != nil:
		return c.task.first, c.task.bytes, nil
	case ended && c.task.last != nil:
		return c.task.last, c.task.bytes, nil
	}
	snap, err := c.r.Store.Get(c.r.Soon(), c.handle.key, *c.task.view())
	if err != nil {
		return nil, 0, err
	}
	return snap.Task, snap.Bytes, nil
}

// AwaitCall waits until the store says that a call of a task is over, whoever runs it. It fails when the store says
// nothing for too long.
func (r *Runner) AwaitCall(client context.Context, key store.Key, n int64) error {
	l := r.tasks.use(key)
	defer r.tasks.drop(l)
	reader := feed.NewReader(r.Looks())
	l.Attach(reader)
	defer l.Detach(reader)
	answered := time.Now()
	var ended error // why there is no use in waiting
	for ended == nil {
		asked := time.Now()
		h, err := r.Store.Head(r.Soon(), key)
		switch {
		case err == nil && (h.Done >= n || h.State.Terminal()):
			return nil
		case err == nil:
			answered = asked
		case !unanswered(err) || time.Since(answered) > answerIn:
			return err
		}
		timer := time.NewTimer(feed.Jitter(feed.PollEvery))
		select {
		case <-reader.Wake():
		case <-timer.C:
		case <-client.Done():
			ended = context.Cause(client)
		case <-r.admission.closing:
			ended = budget.ErrBusy.With("the agent is shutting down")
		}
		timer.Stop()
	}
	return ended
}
