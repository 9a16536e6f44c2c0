package engine

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/wire"
)

// patience is how long a client that does not wait for the end (a stream, or returnImmediately) goes without a task
// when the handler has not decided between a task and a plain Message.
const patience = 200 * time.Millisecond

// sending is how a message is sent.
type sending struct {
	// wait: the sender waits until the handler's call is over. Without, the call goes on in the background and
	// Task.decided says when there is something to show.
	wait bool
	// named: an unknown task id is the client's for a new task (0.1).
	named bool
	// stored: the sender is told nothing but that the message was taken on (a notification), so that there has to be a
	// task first.
	stored bool
	push   *store.Push   // a configuration for the task; nil: none
	repeat *store.Repeat // by what the message is known when it comes again; nil: by nothing
	permit Permit
	sees   *route.Catalog
	caller *runtime.Caller
	parts  []runtime.Part // of the message
	op     *runtime.Operation
}

// send takes a message on (A2A 1.0 §3.1.1, §3.4). A nil Task with a nil error means that answer is the whole answer;
// with how.wait, await the Task before its answer.
func (e *Engine) send(
	ctx context.Context, owner store.Owner, req *runtime.SendRequest, how sending,
) (c *call, answer runtime.Message, err error) {
	info, err := e.checkSend(req, how.op)
	if err != nil {
		return nil, nil, err
	}
	how.parts = req.Message.Contents()
	if err := e.checkContent(req, info.Metadata, how.parts); err != nil {
		return nil, nil, err
	}
	c, answer, err = e.take(ctx, owner, req, info, how)
	if how.named && errors.Is(err, store.ErrExists) { // two clients named one new task: the message follows the other
		c, answer, err = e.take(ctx, owner, req, info, how)
	}
	return c, answer, err
}

func (e *Engine) take(
	ctx context.Context, owner store.Owner, req *runtime.SendRequest, info runtime.MessageInfo, how sending,
) (c *call, answer runtime.Message, err error) {
	from := sender{
		req: req, parts: how.parts, owner: owner, base: values{ctx, req.Source, how.caller},
		push: how.push, repeat: how.repeat, permit: how.permit, sees: how.sees,
	}
	c = e.newCall(from)
	if !how.wait {
		c.decided.arm()
	}
	c.ctx, c.cancel = context.WithCancelCause(&c.base)
	if how.named {
		if info, err = e.nameTask(c, info); err != nil {
			c.cancel(nil)
			return nil, nil, err
		}
	}
	if info.TaskID != "" {
		err = e.follow(c, info, how.wait)
	} else {
		answer, err = e.first(c, info, how)
	}
	if err != nil || answer != nil {
		c.cancel(nil)
		return nil, answer, err
	}
	return c, nil, nil
}

// nameTask takes the task id of a 0.1 message as that of a new task, unless there is such a task. It returns the
// message's info as that of 1.0 would be.
func (e *Engine) nameTask(c *call, info runtime.MessageInfo) (runtime.MessageInfo, error) {
	if info.TaskID != "" {
		_, err := e.store.Head(e.soon(), store.Key{Owner: c.owner, Task: info.TaskID})
		if !errors.Is(err, store.ErrNotFound) {
			return info, err
		}
	}
	c.set(info.TaskID, "")
	c.task.private.ClientID = true
	info.TaskID = ""
	return info, nil
}

// values is a request's context without its end: a disconnect cancels nothing (R69, §3.5.2).
type values struct {
	ctx    context.Context
	source any // the generated request
	caller *runtime.Caller
}

func (v *values) Deadline() (time.Time, bool) { return time.Time{}, false }
func (v *values) Done() <-chan struct{}       { return nil }
func (v *values) Err() error                  { return nil }

func (v *values) Value(key any) any {
	switch key {
	case requestKey{}:
		return v.source
	case callerKey{}:
		return v.caller
	}
	return v.ctx.Value(key)
}

// maxName is the longest id or name that a client may give to something, in bytes: contexts and tasks repeat theirs in
// every event.
const maxName = 512

// checkName refuses an id that is too long.
func checkName(field, id string) error {
	if len(id) > maxName {
		return invalid.Field(field, "must not be longer than "+strconv.Itoa(maxName)+" bytes")
	}
	return nil
}

// checkSend validates what the codec does not (R35, R36).
func (e *Engine) checkSend(req *runtime.SendRequest, op *runtime.Operation) (info runtime.MessageInfo, err error) {
	if req.Message == nil {
		return info, invalid.Field("message", "is required")
	}
	info = req.Message.MessageInfo()
	switch {
	case info.ID == "":
		return info, invalid.Field("message.messageId", "is required")
	case !info.User:
		return info, invalid.Field("message.role",
			"must be "+e.roleOfUser(op)+": agents do not send messages to agents as themselves")
	case req.HistoryLength != nil && *req.HistoryLength < 0:
		return info, invalid.Field("configuration.historyLength", "must not be negative")
	}
	for i, id := range info.References {
		if err := checkName("message.referenceTaskIds["+strconv.Itoa(i)+"]", id); err != nil {
			return info, err
		}
	}
	return info, cmp.Or(
		checkName("message.messageId", info.ID),
		checkName("message.contextId", info.ContextID),
		checkName("message.taskId", info.TaskID),
	)
}

// roleOfUser is the word for the user's role in the JSON of an operation that sends a message.
func (e *Engine) roleOfUser(op *runtime.Operation) string {
	user := runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", User: true}, Parts: []runtime.Part{runtime.Text("")}}
	sample, err := op.AppendRequest(nil, e.protocol.NewSend(runtime.SendRequest{Message: e.protocol.NewMessage(user)}))
	for _, member := range []string{"message", "request"} {
		if message, ok := wire.Object(sample).Get(member); ok && err == nil {
			if role, ok := wire.Object(message).Get("role"); ok {
				return string(role)
			}
		}
	}
	return "the user's"
}

// first admits the first message of a task, routes it and runs its skill. Reading the message is work already.
func (e *Engine) first(c *call, info runtime.MessageInfo, how sending) (answer runtime.Message, err error) {
	c.live = &c.own
	c.set(c.named(), info.ContextID)
	if err := e.admit(c); err != nil {
		return nil, err
	}
	called := false
	defer func() {
		if !called {
			c.refuse()
		}
	}()
	if answer, called, err = e.place(c, info); !called || err != nil {
		return answer, err
	}
	// The engine's word, a client's name and a message that may come again are for a task that is there.
	if how.stored || how.repeat != nil || how.named && c.named() != "" {
		if err := c.found(); err != nil {
			called = false
			return nil, err
		}
	}
	if !how.wait || c.skill.Timeout > 0 { // the engine may make the task while the handler reads the message
		c.task.bind()
	}
	c.launch(how.wait)
	return nil, nil
}

// place finds the skill for the first message of a task, and its input. Without either there is no call: the answer is
// a message or, in the task, a question. A call with an error goes on without its sender.
func (e *Engine) place(c *call, info runtime.MessageInfo) (answer runtime.Message, called bool, err error) {
	target, err := e.route(c, info.Metadata)
	if err != nil {
		return nil, false, err
	}
	if target.Skill == nil {
		help := runtime.MessageData{Parts: []runtime.Part{runtime.Text(c.sees.Help())}}
		return c.task.message(help, c.task.private.ClientID), false, nil
	}
	c.skill = e.byID[target.Skill.ID]
	if err := c.skill.routed.CheckModes(c.parts, c.req.AcceptedOutputModes); err != nil {
		return nil, false, err
	}
	if target.Missing != nil {
		left, err := c.asked(&target)
		return nil, left, err
	}
	c.input = target.Input
	return nil, true, nil
}

// route finds the skill for the first message of a task, and its input.
func (e *Engine) route(c *call, metadata wire.Object) (route.Target, error) {
	m := route.Message{Metadata: metadata, Parts: c.parts, Permit: c.permit}
	if e.router != nil {
		m.Router = func() (string, error) {
			id, err := e.router(c.ctx, c.req.Message)
			return id, byOwnCode(c.ctx, "router", err)
		}
	}
	return c.sees.Route(c.base.ctx, &m)
}

// found makes the task of a new call before its handler runs. Input that the handler could only refuse makes none.
func (c *call) found() error {
	if err := c.decode(); err != nil {
		return err
	}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	c.task.auto = true
	return c.task.create(runtime.StateSubmitted)
}

// await waits until the call is over, or canceled, or its outcome cannot be told for now. A client that goes away, or
// the shutdown, ends the waiting; the call goes on.
func (c *call) await(client context.Context) error {
	if c.done.armed() {
		select {
		case <-c.done.c:
		case <-client.Done():
			return context.Cause(client)
		case <-c.e.closing:
			return ErrBusy.With("the agent is shutting down")
		}
	}
	if c.isElsewhere() {
		return c.awaitElsewhere(client)
	}
	return nil
}

// turn says when the call of a message that continues a task has its turn.
type turn uint8

const (
	noTurn     turn = iota // there is no call
	atOnce                 // nobody is at work on the task
	inLine                 // behind the calls that wait here
	withOthers             // the task is run by another instance
)

// follow continues a task (A2A 1.0 §3.4.2, §3.4.3).
func (e *Engine) follow(c *call, info runtime.MessageInfo, wait bool) error {
	if err := e.admit(c); err != nil {
		return err
	}
	l := e.use(store.Key{Owner: c.owner, Task: info.TaskID})
	c.live, c.resumed = l, true
	c.set(info.TaskID, "")
	when, err := e.join(c, info, wait)
	switch when {
	case atOnce:
		c.launch(wait)
	case noTurn, withOthers:
		c.refuse()
		e.drop(l)
	}
	return err
}

// join adds the message to its task and makes its call the task's next.
func (e *Engine) join(c *call, info runtime.MessageInfo, wait bool) (when turn, err error) {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	err = decide(func() error {
		when, err = e.joinOnce(c, info)
		return err
	})
	if when == inLine {
		c.enqueue(wait)
	}
	return when, err
}

// joinOnce decides on the task as it stands. The caller holds the lock of c.live.
func (e *Engine) joinOnce(c *call, info runtime.MessageInfo) (turn, error) {
	snap, err := c.live.load(e, store.View{History: new(int)})
	if err != nil {
		return noTurn, err // R60: also for a foreign task (R34, R39)
	}
	if err := c.permitted(snap.Private.Skill); err != nil {
		return noTurn, err
	}
	now := snap.Task.TaskInfo()
	switch {
	case info.ContextID != "" && info.ContextID != now.ContextID:
		return noTurn, invalid.Field("message.contextId", "is not the context of the task") // R62
	case now.State.Terminal():
		if err := c.cameAgain(snap.Version); err != nil {
			return noTurn, err
		}
		return noTurn, runtime.ErrUnsupportedOperation.
			With("the task has ended, send a message without a task id").WithMetadata("taskId", now.ID)
	}
	c.set(now.ID, now.ContextID) // R61
	c.task.private = snap.Private
	if c.skill = e.byID[snap.Private.Skill]; c.skill == nil {
		return noTurn, runtime.ErrUnsupportedOperation.With("the skill of the task is no longer offered")
	}
	if err := c.skill.routed.CheckModes(c.parts, c.req.AcceptedOutputModes); err != nil {
		return noTurn, err
	}
	if err := e.roomForPush(e.soon(), c.live.key, c.configuration()); err != nil {
		return noTurn, err
	}
	in, missing, err := c.skill.routed.FollowUp(c.base.ctx, snap.Private.Input, snap.Private.Asked, c.parts)
	if err != nil {
		return noTurn, err
	}
	c.input, c.task.private.Input = in, in.Raw
	if missing != nil {
		return noTurn, c.askedAgain(snap.Version, missing)
	}
	if c.live.run != nil && c.live.waiting()+int64(len(in.Raw)) > e.limits.Body {
		return noTurn, ErrBusy.With("too many messages wait for their turn in the task, try again later").
			WithMetadata("taskId", now.ID)
	}
	return c.takeTurn(snap.Version)
}

// takeTurn adds the message and its call to the task, if that is as it was at the version.
func (c *call) takeTurn(version int64) (turn, error) {
	c.task.private.Asked = false
	c.task.work = store.Call{Input: c.input.Raw, Request: c.req}
	snap, err := c.addMessage(version, runtime.StateWorking, nil, &c.task.work)
	l := c.live
	switch {
	case err != nil:
		return noTurn, err
	case snap.Run != nil:
		l.revoke(ErrLost) // it went on here without the store's consent
		l.run = c
		c.begins(&snap)
		return atOnce, nil
	case l.run != nil && l.run.task.epoch == snap.Epoch && l.run.task.work.N < c.task.work.N:
		return inLine, nil
	}
	c.task.elsewhere = true
	return withOthers, nil
}

// addMessage commits the client's message together with a status. The status goes first: the question that it replaces
// belongs before the answer in the history.
func (c *call) addMessage(
	version int64, state runtime.State, parts []runtime.Part, work *store.Call,
) (snap store.Snapshot, err error) {
	c.req.Message.Bind(c.context(), c.taskID())
	var m runtime.Message
	if len(parts) > 0 {
		m = c.task.message(runtime.MessageData{Parts: parts}, true)
	}
	if c.decided.armed() {
		c.live.ExpectReader() // by the stream that is about to begin
	}
	w := write{expect: version, view: c.task.view(), update: store.Update{
		Event:    c.e.newStatus(c.ctx, c.taskID(), c.context(), state, m, c.e.now()),
		Messages: []runtime.Message{c.req.Message},
		Input:    &c.task.private.Input,
		Asked:    &c.task.private.Asked,
		Push:     c.configuration(),
		Repeat:   c.repeat,
		Stamp:    newStamp(),
		Call:     work,
	}}
	switch c.live.commit(c.e, c.ctx, &w) {
	case unconfirmed:
		if work != nil && w.perhaps {
			c.task.retryUnconfirmed(c.live.key, w.copy())
		}
		return snap, w.err
	case refused, lost:
		return snap, w.err
	}
	snap = w.snap
	c.task.first, c.task.firstVersion, c.task.last, c.task.bytes = snap.Task, snap.Version, nil, snap.Bytes
	c.decided.fire()
	return snap, nil
}

// awaitDecision waits, for a sender that does not wait for the end, until there is something to show. If the handler
// takes its time, the task is created for it.
func (c *call) awaitDecision() {
	select {
	case <-c.decided.c:
		return
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.decided.c:
		return
	case <-timer.C:
	}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if c.decided.fired || c.live.version != 0 {
		return
	}
	c.task.auto = true
	if err := c.task.create(runtime.StateWorking); err != nil {
		c.cancel(err)
	}
}

// takeFirst returns the task that a stream begins with and its version, and forgets it: the stream may be open for
// long.
func (c *call) takeFirst() (runtime.Task, int64) {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	first := c.task.first
	c.task.first = nil
	return first, c.task.firstVersion
}

// answer returns what the sender of the message gets: a Message or a Task, and about how long a Task is. The call is
// over, or its sender does not wait.
func (c *call) answer(ended bool) (result any, bytes int, err error) {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	switch {
	case c.err != nil && (c.live.version == 0 || c.err == errUnwritten):
		return nil, 0, c.err
	case c.reply != nil && c.live.version == 0:
		return c.reply, 0, nil
	case !ended && c.task.first != nil:
		return c.task.first, c.task.bytes, nil
	case ended && c.task.last != nil:
		return c.task.last, c.task.bytes, nil
	}
	snap, err := c.e.store.Get(c.e.soon(), c.live.key, *c.task.view())
	if err != nil {
		return nil, 0, err
	}
	return snap.Task, snap.Bytes, nil
}
