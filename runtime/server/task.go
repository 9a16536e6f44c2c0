package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Task is one call of a handler: the message being handled and the task it belongs to. The task comes into being with the first thing
// that needs one; a handler that only calls [Task.Reply] answers with a plain Message. Methods are safe for concurrent use
// while the handler runs.
type Task struct {
	s       *Server
	skill   *skill
	req     *runtime.SendRequest
	parts   []runtime.Part // of the message
	owner   store.Owner
	base    values          // the request's values
	ctx     context.Context // canceled by cancel
	cancel  context.CancelCauseFunc
	run     runContext   // ctx as the handler sees it
	overdue atomic.Int64 // when the ticker is to cancel the call, Unix nanoseconds; 0: a timer does, or nobody
	input   []byte
	resumed bool
	// decided is closed as soon as it is clear what the call comes to: a task, a message or an error. It is nil when the
	// caller waits for the end.
	decided chan struct{}
	// ended is closed when the call is over or canceled. It is nil unless the sender waits for a call on another goroutine.
	ended chan struct{}

	l   *live // its lock guards what follows
	own live  // l of a new task

	id, contextID string
	private       store.Private
	unsaved       bool // private.Saved differs from the store's
	working       bool // the handler has begun
	auto          bool // the task was created for the client's sake, not by the handler
	over          bool // the handler has returned
	isDecided     bool
	isReleased    bool // ended is closed
	bound         bool // the message knows its task
	unsure        bool // the store failed to create the task, or to say that it did
	shelf         shelf
	writers       []*ArtifactWriter    // those that may hold a piece back
	lost          error                // why a piece that was held back will never be there, until the handler knows
	isHeld        bool                 // the server's timer looks after them
	closing       *runtime.MessageData // what the task is to be completed with
	ending        ending
	reply         runtime.Message // the answer, when it is a plain message
	err           error           // the answer, when it is an error
	first         runtime.Task    // as the caller's view has it: at creation, or when the message was added
	firstVersion  int64           // of first
	last          runtime.Task    // as first, when the call was over
	bytes         int             // about how long the later of first and last is as JSON
	wanted        store.View      // the sender's view
	one           [1]runtime.Part // the part being sent, when it is one of the engine's; nobody keeps it
}

// ID returns the task's id. Before the task exists it is the id that it will have.
func (t *Task) ID() string {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	return t.taskID()
}

func (t *Task) taskID() string {
	if t.id == "" {
		t.id = t.s.ids.next() // R57
	}
	return t.id
}

// ContextID returns the id of the conversation.
func (t *Task) ContextID() string {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	return t.context()
}

func (t *Task) context() string {
	if t.contextID == "" {
		t.contextID = t.s.ids.next() // R51
	}
	return t.contextID
}

// Message returns the message being handled. It belongs to the task: do not change it.
func (t *Task) Message() runtime.Message { return t.req.Message }

// Request returns the request that brought the message.
func (t *Task) Request() *runtime.SendRequest { return t.req }

// Text returns the texts of the message's text parts, one a line.
func (t *Task) Text() string { return textOf(t.parts) }

// Parts returns the message's parts. Their bytes are shared: do not change them.
func (t *Task) Parts() []runtime.Part { return t.parts }

// Resumed reports whether the message continues a task, so that the handler was called before.
func (t *Task) Resumed() bool { return t.resumed }

// Snapshot returns a copy of the task as it stands, nil before it exists.
func (t *Task) Snapshot() runtime.Task {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if t.l.version == 0 {
		return nil
	}
	if t.open() == nil {
		_ = t.flush() // an error is told by the writer that it concerns
	}
	snap, err := t.s.store.Get(context.Background(), t.l.key, store.Full)
	if err != nil {
		return nil
	}
	return snap.Task
}

// Logger returns the server's logger with the skill's and the task's ids.
func (t *Task) Logger() *slog.Logger { return t.s.log(t.skill.ID, t.ID()) }

// Begin says that the input is good and the work begins. When the client waits for a task (a stream, or returnImmediately) it
// is created now, so that the client sees it at once; otherwise Begin does nothing. Generated code calls it for skills whose result is a task.
func (t *Task) Begin() error {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if t.decided == nil || t.l.version != 0 {
		return nil
	}
	t.auto = true
	return t.ensure(runtime.StateWorking)
}

// Progress reports that the task is being worked on, with a text for the client.
func (t *Task) Progress(format string, args ...any) error {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	t.one[0] = runtime.Text(text)
	return t.report(runtime.MessageData{Parts: t.one[:]})
}

// Report is Progress with a whole message: parts of any kind, metadata, extensions, references to other tasks. Its id is made when it is
// empty; the context, the task and the role are the server's to say.
func (t *Task) Report(m runtime.MessageData) error {
	if err := checkMessage(&m); err != nil {
		return err
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	return t.report(m)
}

func (t *Task) report(m runtime.MessageData) error {
	if err := t.ensure(runtime.StateSubmitted); err != nil {
		return err
	}
	return t.status(runtime.StateWorking, m, nil)
}

// Artifact gives the client an artifact, complete in one event.
func (t *Task) Artifact(name string, parts ...runtime.Part) error {
	return t.emit(runtime.ArtifactData{Name: name, Parts: parts, LastChunk: true})
}

// Emit gives the client an artifact, or a piece of one, with all that it can have. Without an id it is a new artifact. One with the id of an
// artifact of the task, also of an earlier call's, replaces it, or with Append goes on with it; the first piece of an artifact says its name,
// description, metadata and extensions. LastChunk says that nothing follows.
func (t *Task) Emit(a runtime.ArtifactData) error {
	if err := checkMetadata(a.Metadata, a.Parts); err != nil {
		return err
	}
	return t.emit(a)
}

// Reply answers with a plain Message and no task. It is an error once the handler made a task; when only the server made one, because
// the client would not wait, the message ends that task.
func (t *Task) Reply(parts ...runtime.Part) error {
	return t.respond(runtime.MessageData{Parts: parts})
}

// Answer is Reply with a whole message, as [Task.Report] takes it.
func (t *Task) Answer(m runtime.MessageData) error {
	if err := checkMessage(&m); err != nil {
		return err
	}
	return t.respond(m)
}

func (t *Task) respond(m runtime.MessageData) error {
	if len(m.Parts) == 0 {
		return errEmpty
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if err := t.open(); err != nil {
		return err
	}
	if err := t.check(m.Parts); err != nil {
		return err
	}
	if t.l.version == 0 && t.private.ClientID { // 0.1 has no answers but tasks
		if err := t.create(runtime.StateSubmitted); err != nil {
			return err
		}
		t.auto = true
	}
	if t.l.version != 0 {
		if !t.auto || t.resumed {
			return ErrTaskExists
		}
		said := t.message(m, true)
		e := t.s.newStatus(t.ctx, t.id, t.context(), runtime.StateCompleted, said, t.s.now())
		if err := t.commit(sized{e, store.SizeOfMessage(said, m.Parts)}, nil); err != nil {
			return err
		}
		t.reply = said
		return nil
	}
	t.reply = t.message(m, false)
	t.decide()
	return nil
}

// Complete says with which message the task is completed when the handler returns without an error. Its output, if any, is an artifact before
// that.
func (t *Task) Complete(parts ...runtime.Part) error {
	return t.End(runtime.StateCompleted, runtime.MessageData{Parts: parts})
}

// Ask makes the error with which a handler stops to ask its client for input. The task waits; the next message calls the
// handler again, with the input so far. data are parts to send along, of any kind; a value that is no part is sent as a data part.
func (t *Task) Ask(prompt string, data ...any) error {
	return t.park(runtime.StateInputRequired, prompt, data)
}

// AskAuth is Ask for an authorization that the client has to arrange (R110–R112).
func (t *Task) AskAuth(prompt string, data ...any) error {
	return t.park(runtime.StateAuthRequired, prompt, data)
}

// Reject makes the error with which a handler declines the work. The reason is for the client.
func (t *Task) Reject(reason string) error {
	return t.park(runtime.StateRejected, reason, nil)
}

// Fail makes the error with which a handler reports a failure in its own words to the client. The text of any other error is only logged.
func (t *Task) Fail(reason string) error {
	return t.park(runtime.StateFailed, reason, nil)
}

// End is Complete, Ask, AskAuth, Reject and Fail with a whole message, as [Task.Report] takes it: it makes the error with which the handler's call
// ends in that state. A completed task is no error: its message is kept until the handler returns without one. A message without parts is none.
func (t *Task) End(state runtime.State, m runtime.MessageData) error {
	if !state.Terminal() && !state.Interrupted() || state == runtime.StateCanceled {
		return fmt.Errorf("a handler cannot end its call as %s", state)
	}
	if len(m.Parts) > 0 {
		if err := checkMessage(&m); err != nil {
			return err
		}
	}
	if state != runtime.StateCompleted {
		return &outcome{state, m}
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if err := t.open(); err != nil {
		return err
	}
	if err := t.check(m.Parts); err != nil {
		return err
	}
	t.closing = &m
	return nil
}

// Save keeps v, as JSON, with the task for the handler's next call. It is not shown to the client.
func (t *Task) Save(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	if len(b) > t.s.limits.Event {
		return ErrTooLarge
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	t.private.Saved, t.unsaved = b, true
	return nil
}

// Load reads what an earlier call saved into v. It reports whether there was anything.
func (t *Task) Load(v any) (bool, error) {
	t.l.mu.Lock()
	b := t.private.Saved
	t.l.mu.Unlock()
	if b == nil {
		return false, nil
	}
	if err := json.Unmarshal(b, v); err != nil {
		return true, fmt.Errorf("load: %w", err)
	}
	return true, nil
}

// errEmpty: what A2A sends has content (R35, R305).
var errEmpty = errors.New("a message or an artifact has at least one part")

// outcome is a handler's decision, returned as an error: to wait for the client, to decline, to fail.
type outcome struct {
	state runtime.State
	said  runtime.MessageData
}

func (o *outcome) Error() string { return o.state.String() + ": " + textOf(o.said.Parts) }

func (t *Task) park(state runtime.State, text string, data []any) error {
	parts := []runtime.Part{runtime.Text(text)}
	for _, v := range data {
		p, ok := v.(runtime.Part)
		if !ok {
			p = runtime.Data(v)
		}
		parts = append(parts, p)
	}
	return t.End(state, runtime.MessageData{Parts: parts})
}

// checkMessage refuses a message that cannot be sent, as far as that does not depend on the task.
func checkMessage(m *runtime.MessageData) error {
	if len(m.Parts) == 0 {
		return errEmpty
	}
	return checkMetadata(m.Metadata, m.Parts)
}

// checkMetadata refuses parts that are none, and metadata that are no JSON object: they could be stored, but never sent.
func checkMetadata(metadata wire.Object, parts []runtime.Part) error {
	if err := objectOrNone(metadata); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	for i := range parts {
		if parts[i].Kind == runtime.PartUnknown {
			return fmt.Errorf("part %d cannot be sent: %s", i, parts[i].Text)
		}
		if err := objectOrNone(parts[i].Metadata); err != nil {
			return fmt.Errorf("metadata of part %d: %w", i, err)
		}
	}
	return nil
}

func objectOrNone(o wire.Object) error {
	if len(o) == 0 {
		return nil
	}
	_, err := wire.AppendStruct(nil, o)
	return err
}

// textOf joins the text parts with line breaks.
func textOf(parts []runtime.Part) string {
	var first string
	n := 0
	for i := range parts {
		if parts[i].Kind == runtime.PartText {
			if n == 0 {
				first = parts[i].Text
			}
			n++
		}
	}
	if n <= 1 {
		return first
	}
	texts := make([]string, 0, n)
	for i := range parts {
		if parts[i].Kind == runtime.PartText {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, "\n")
}
