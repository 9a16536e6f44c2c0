package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
)

// Task is what a handler has of the message being handled and of the task it belongs to. The task comes into being with
// the first thing that needs one; a handler that only calls [Task.Reply] answers with a plain Message. Methods are safe
// for concurrent use while the handler runs.
type Task struct{ c *call }

// ID returns the task's id. Before the task exists it is the id that it will have.
func (t *Task) ID() string { return t.c.taskID() }

func (c *call) taskID() string {
	if c.hasID.Load() {
		return c.id
	}
	c.names.mu.Lock()
	defer c.names.mu.Unlock()
	if c.id == "" {
		c.id = c.r.NewID() // R57
	}
	c.hasID.Store(true)
	return c.id
}

// ContextID returns the id of the conversation.
func (t *Task) ContextID() string { return t.c.context() }

func (c *call) context() string {
	if c.hasContext.Load() {
		return c.contextID
	}
	c.names.mu.Lock()
	defer c.names.mu.Unlock()
	if c.contextID == "" {
		c.contextID = c.r.NewID() // R51
	}
	c.hasContext.Store(true)
	return c.contextID
}

// Message returns the message being handled. It belongs to the task: do not change it.
func (t *Task) Message() runtime.Message { return t.c.req.Message }

// Request returns the request that brought the message.
func (t *Task) Request() *runtime.SendRequest { return t.c.req }

// Text returns the texts of the message's text parts, one a line.
func (t *Task) Text() string { return route.TextOf(t.c.parts) }

// Parts returns the message's parts. Their bytes are shared: do not change them.
func (t *Task) Parts() []runtime.Part { return t.c.parts }

// Resumed reports whether the message continues a task, so that the handler was called before.
func (t *Task) Resumed() bool { return t.c.resumed }

// Attempt returns how often a handler was called for this message, this time included. It is more than 1 where the
// skill's calls are tried again after a crash: then some of the work may have been done. What an earlier attempt said is
// in the task; the first that this one says of an artifact of its own replaces what was there.
func (t *Task) Attempt() int { return max(t.c.attempt, 1) }

// IdempotencyKey returns a text that names the work that this message asks for: the same in all attempts, and no other
// message has it. It is for what the handler does outside, such as a payment, which is to be done once.
func (t *Task) IdempotencyKey() string {
	c := t.c
	n := strconv.FormatInt(max(c.nth, 1), 10)
	sum := sha256.Sum256([]byte(strings.Join([]string{c.owner.Tenant, c.owner.Principal, c.taskID(), n}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Snapshot returns a copy of the task as it stands, nil before it exists.
func (t *Task) Snapshot() runtime.Task {
	c := t.c
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if c.handle.version == 0 {
		return nil
	}
	if c.task.open() == nil {
		_ = c.task.flush() // an error is told by the writer that it concerns
	}
	snap, err := c.r.Store.Get(c.r.Soon(), c.handle.key, store.Full)
	if err != nil {
		return nil
	}
	return snap.Task
}

// Logger returns the engine's logger with the skill's and the task's ids, and who sent the message.
func (t *Task) Logger() *slog.Logger {
	return t.c.r.Log(t.c.skill.ID, t.c.taskID(), t.c.owner.Principal)
}

// log is Logger for what the engine says itself, perhaps of a message that comes to no task.
func (c *call) log() *slog.Logger { return c.r.Log(c.skill.ID, c.named(), c.owner.Principal) }

// Begin says that the input is good and the work begins. When the client waits for a task (a stream, or
// returnImmediately) it is created now, so that the client sees it at once; otherwise Begin does nothing. Generated
// code calls it for skills whose result is a task.
func (t *Task) Begin() error {
	c := t.c
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if !c.decided.armed() || c.handle.version != 0 {
		return nil
	}
	c.task.auto = true
	return c.task.ensure(runtime.StateWorking)
}

// Progress reports that the task is being worked on, with a text for the client.
func (t *Task) Progress(format string, args ...any) error {
	c := t.c
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	one := lendPart()
	defer one.giveBack()
	one[0] = runtime.Text(text)
	return c.task.report(runtime.MessageData{Parts: one[:]})
}

// onePart is the part being sent, when it is one of the engine's: nobody keeps it.
type onePart [1]runtime.Part

var partsLent = sync.Pool{New: func() any { return new(onePart) }}

func lendPart() *onePart { return partsLent.Get().(*onePart) }

func (p *onePart) giveBack() {
	*p = onePart{}
	partsLent.Put(p)
}

// Report is Progress with a whole message: parts of any kind, metadata, extensions, references to other tasks. Its id
// is made when it is empty; the context, the task and the role are the server's to say.
func (t *Task) Report(m runtime.MessageData) error {
	c := t.c
	if err := c.r.content.checkMessage(&m); err != nil {
		return err
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	return c.task.report(m)
}

func (t *taskWriter) report(m runtime.MessageData) error {
	if err := t.ensure(runtime.StateSubmitted); err != nil {
		return err
	}
	return t.status(runtime.StateWorking, m, nil)
}

// Artifact gives the client an artifact, complete in one event.
func (t *Task) Artifact(name string, parts ...runtime.Part) error {
	c := t.c
	return c.task.emit(runtime.ArtifactData{Name: name, Parts: parts, LastChunk: true})
}

// Emit gives the client an artifact, or a piece of one, with all that it can have. Without an id it is a new artifact.
// One with the id of an artifact of the task, also of an earlier call's, replaces it, or with Append goes on with it;
// the first piece of an artifact says its name, description, metadata and extensions. LastChunk says that nothing
// follows.
func (t *Task) Emit(a runtime.ArtifactData) error {
	c := t.c
	if err := c.r.content.checkMetadata(a.Metadata); err != nil {
		return err
	}
	return c.task.emit(a)
}

// Reply answers with a plain Message and no task. It is an error once the handler made a task; when only the engine
// made one, because the client would not wait, the message ends that task.
func (t *Task) Reply(parts ...runtime.Part) error {
	c := t.c
	return c.task.respond(runtime.MessageData{Parts: parts})
}

// Answer is Reply with a whole message, as [Task.Report] takes it.
func (t *Task) Answer(m runtime.MessageData) error {
	c := t.c
	if err := c.r.content.checkMessage(&m); err != nil {
		return err
	}
	return c.task.respond(m)
}

func (t *taskWriter) respond(m runtime.MessageData) error {
	if len(m.Parts) == 0 {
		return errEmpty
	}
	t.c.handle.mu.Lock()
	defer t.c.handle.mu.Unlock()
	if err := t.open(); err != nil {
		return err
	}
	if err := t.check(m.Parts); err != nil {
		return err
	}
	if t.c.handle.version == 0 && t.private.ClientID || t.mayExist() { // 0.1 has no answers but tasks
		if err := t.create(runtime.StateSubmitted); err != nil {
			return err
		}
		t.auto = true
	}
	if t.c.handle.version != 0 {
		if !t.auto || t.c.resumed {
			return ErrTaskExists
		}
		said := t.message(m, true)
		e := t.c.r.make.newStatus(t.c.ctx, t.c.taskID(), t.c.context(), runtime.StateCompleted, said, t.c.r.Now())
		if err := t.say(stamped(e, store.SizeOfMessage(said, m.Parts)), nil); err != nil {
			return err
		}
		t.c.reply = said
		return nil
	}
	t.c.reply = t.message(m, false)
	t.c.decided.fire()
	return nil
}

// Complete says with which message the task is completed when the handler returns without an error. Its output, if any,
// is an artifact before that.
func (t *Task) Complete(parts ...runtime.Part) error {
	return t.End(runtime.StateCompleted, runtime.MessageData{Parts: parts})
}

// Ask makes the error with which a handler stops to ask its client for input. The task waits; the next message calls
// the handler again, with the input so far. The first arguments fill the verbs that the prompt has, if any, as of
// [fmt.Sprintf]; further ones are parts to send along, of any kind: a value that is no part is sent as a data part.
func (t *Task) Ask(prompt string, args ...any) error {
	text, data := fill(prompt, args)
	return t.park(runtime.StateInputRequired, text, data)
}

// Reject makes the error with which a handler declines the work. The reason, formatted as by [fmt.Sprintf] if there are
// arguments, is for the client.
func (t *Task) Reject(reason string, args ...any) error {
	return t.park(runtime.StateRejected, formatted(reason, args), nil)
}

// Fail makes the error with which a handler reports a failure in its own words to the client, formatted as by
// [fmt.Sprintf] if there are arguments. The text of any other error is only logged.
func (t *Task) Fail(reason string, args ...any) error {
	return t.park(runtime.StateFailed, formatted(reason, args), nil)
}

// End is Complete, Ask, RequireAuth, Reject and Fail with a whole message, as [Task.Report] takes it: it makes the error
// with which the handler's call ends in that state. A completed task is no error: its message is kept until the handler
// returns without one. A message without parts is none.
func (t *Task) End(state runtime.State, m runtime.MessageData) error {
	c := t.c
	if !state.Terminal() && !state.Interrupted() || state == runtime.StateCanceled {
		return fmt.Errorf("a handler cannot end its call as %s", state)
	}
	if err := c.r.content.checkParts(m.Parts); err != nil {
		return err
	}
	if err := c.r.content.checkMetadata(m.Metadata); err != nil && len(m.Parts) > 0 {
		return err
	}
	if state != runtime.StateCompleted {
		return &verdict{state: state, said: m}
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if err := c.task.open(); err != nil {
		return err
	}
	if err := c.task.check(m.Parts); err != nil {
		return err
	}
	c.conclusion.closing = &m
	return nil
}

// Save keeps v, as JSON, with the task for the handler's next call. It is not shown to the client.
func (t *Task) Save(v any) error {
	c := t.c
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	if len(b) > c.r.Limits.Event {
		return ErrTooLarge
	}
	c.task.notes.mu.Lock()
	defer c.task.notes.mu.Unlock()
	c.task.saved = b
	c.task.unsaved.Store(true)
	return nil
}

// Load reads what an earlier call saved into v. It reports whether there was anything.
func (t *Task) Load(v any) (bool, error) {
	c := t.c
	c.task.notes.mu.Lock()
	b := c.task.saved
	c.task.notes.mu.Unlock()
	if b == nil {
		return false, nil
	}
	if err := json.Unmarshal(b, v); err != nil {
		return true, fmt.Errorf("load: %w", err)
	}
	return true, nil
}

// verdict is a handler's decision, returned as an error: to wait for the client, to decline, to fail.
type verdict struct {
	state  runtime.State
	said   runtime.MessageData
	ticket *store.Ticket // that goes on with the task; nil: none
}

func (o *verdict) Error() string {
	if o.ticket != nil { // the text has its handle
		return o.state.String()
	}
	return o.state.String() + ": " + route.TextOf(o.said.Parts)
}

func (t *Task) park(state runtime.State, text string, data []any) error {
	parts := appendParts([]runtime.Part{runtime.Text(text)}, data)
	return t.End(state, runtime.MessageData{Parts: parts})
}

// appendParts appends values of which those that are no parts are data.
func appendParts(parts []runtime.Part, data []any) []runtime.Part {
	for _, v := range data {
		p, ok := v.(runtime.Part)
		if !ok {
			p = runtime.Data(v)
		}
		parts = append(parts, p)
	}
	return parts
}

// runContext is a handler's context: canceled with a cause, never by the client's disconnect, and with the deadline of
// the skill's timeout, which a timer or the ticker enforces.
type runContext struct {
	context.Context
	deadline time.Time
}

// exactTimeout is up to which timeout a call gets a timer of its own; longer ones are left to the ticker.
const exactTimeout = time.Minute

func (c *runContext) Deadline() (time.Time, bool) { return c.deadline, true }
