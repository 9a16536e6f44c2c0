package run

import (
	"context"
	"errors"

	"github.com/a2agen/a2agen/runtime"
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
	sent, answer, err = r.take(ctx, m)
	if m.Named && errors.Is(err, store.ErrExists) { // two clients named one new task: the message follows the other
		sent, answer, err = r.take(ctx, m)
	}
	return sent, answer, err
}

func (r *Runner) take(ctx context.Context, m *Message) (sent Sent, answer runtime.Message, err error) {
	c := r.newCall()
	c.req, c.parts, c.owner, c.push, c.repeat = m.Request, m.Parts, m.Owner, m.Push, m.Repeat
	c.ctx.values = values{ctx, m.Request, m.Caller}
	c.extensions = m.Extensions
	if len(m.Extensions) > 0 {
		c.task.activate(m.Extensions)
	}
	if !m.Wait {
		c.decided.arm()
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
	if err != nil || answer != nil {
		c.ctx.cancel(nil)
		return Sent{}, answer, err
	}
	return Sent{c}, nil, nil
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

// begin admits the first message of a task, routes it and runs its skill. Reading the message is work already.
func (a *arrival) begin(m *Message) (answer runtime.Message, err error) {
	c := a.c
	c.handle = &c.ownHandle
	c.set(c.named(), a.info.ContextID)
	if err := a.r.admission.admit(c); err != nil {
		return nil, err
	}
	called := false
	defer func() {
		if !called {
			c.refuse()
		}
	}()
	if answer, called, err = a.place(m); !called || err != nil {
		return answer, err
	}
	// There must be a task at once when the sender gets no answer, has named it, or may send the message again.
	if m.Stored || m.Repeat != nil || m.Named && c.named() != "" {
		if err := a.found(); err != nil {
			called = false
			return nil, err
		}
	}
	if !m.Wait || c.skill.Timeout > 0 { // the runner may make the task while the handler reads the message
		c.task.bind()
	}
	c.launch(m.Wait)
	return nil, nil
}

// place finds the skill for the first message of a task, and its input. Without either there is no call: the answer is
// a message or, in the task, a question. A call with an error goes on without its sender.
func (a *arrival) place(m *Message) (answer runtime.Message, called bool, err error) {
	c := a.c
	message := route.Message{Metadata: a.info.Metadata, Parts: m.Parts, Permit: m.Permit}
	if router := a.r.Router; router != nil {
		said := m.Request.Message // m itself would have to be kept
		message.Router = func() (string, error) { return router(&c.ctx, said) }
	}
	if a.r.Chosen != nil {
		message.Choice = &route.Choice{Message: a.info.ID}
	}
	target, err := m.Sees.Route(c.ctx.request, &message)
	if message.Choice != nil {
		a.chosen(message.Choice, err)
	}
	if err != nil {
		return nil, false, err
	}
	if target.Skill == nil {
		help := runtime.MessageData{Parts: []runtime.Part{runtime.Text(m.Sees.Help())}}
		return c.task.message(help, c.task.private.ClientID), false, nil
	}
	c.skill = a.r.Skills.byID[target.Skill.ID]
	if err := c.skill.routed.CheckModes(m.Parts, m.Request.AcceptedOutputModes); err != nil {
		return nil, false, err
	}
	if target.Missing != nil {
		left, err := c.asked(&target)
		return nil, left, err
	}
	c.input = target.Input
	return nil, true, nil
}

// chosen tells why the message goes where it does.
func (a *arrival) chosen(c *route.Choice, err error) {
	if err != nil {
		c.Error = err.Error()
	}
	c.Task = a.c.named()
	a.r.Chosen(c)
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
