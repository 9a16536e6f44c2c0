package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
)

// Call is one call of a handler: the message being handled and the task it belongs to. The task comes into being with
// the first thing that needs one; a handler that only calls [Call.Reply] answers with a plain Message. Methods are safe
// for concurrent use while the handler runs.
type Call struct {
	e     *Engine
	skill *skill
	state state
	sender
	handling
	subject
	output
	conclusion
	received
}

// sender is who sent the message.
type sender struct {
	req   *runtime.SendRequest
	parts []runtime.Part // of the message
	owner store.Owner
	base  values // the request's values
	push  *store.Push
	// repeat is by what the message is known when it comes again; nil: by nothing.
	repeat *store.Repeat
	permit Permit
	sees   *route.Catalog // the skills that there are for the sender
	// decided: it is clear what the call comes to, a task, a message or an error. Armed unless the sender waits for the
	// end.
	decided signal
	// done: the call is over or canceled. Armed when the sender waits for a call on another goroutine.
	done signal
}

// handling is what the handler works with.
type handling struct {
	ctx     context.Context // canceled by cancel
	cancel  context.CancelCauseFunc
	run     runContext   // ctx as the handler sees it
	weight  int64        // bytes of the message that are taken from the budget of all work
	overdue atomic.Int64 // when the ticker is to cancel the call, Unix nanoseconds; 0: a timer does, or nobody
	input   route.Input
	resumed bool     // the message continues the task
	watched *watched // the handler's run; nil: nobody observes, or it was not called
}

// subject is the task that a call works on. The lock of live guards it and what follows.
type subject struct {
	live *live
	own  live // live of a new task
	names
	notes

	private     store.Private // but for what was saved
	auto        bool          // the task was created for the client's sake, not by the handler
	bound       bool          // the message knows its task
	unconfirmed *write        // that the store has not answered: nothing else is written before it does; nil: none
	// work is the call as the store has it, epoch that under which it is run. elsewhere: it is somebody else's, what it
	// comes to is found in the store.
	work      store.Call
	epoch     int64
	elsewhere bool
	held      atomic.Bool // by this instance: it must not go on when that is not heard of for too long
	began     bool        // the handler was called
	seen      bool        // the task shows that it is being worked on
	nth       int64       // work.N and
	attempt   int         // work.Attempt when the call began
	value     []byte      // work.Value
}

// names are the ids of a call's task and conversation, made when they are asked for.
type names struct {
	mu            sync.Mutex
	id, contextID string
	hasID         atomic.Bool // id does not change any more
	hasContext    atomic.Bool // nor does contextID
}

// set gives the names that are known; "" is to be made.
func (n *names) set(id, contextID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.id, n.contextID = id, contextID
	n.hasID.Store(id != "")
	n.hasContext.Store(contextID != "")
}

// named is the task's id if it has one.
func (n *names) named() string {
	if n.hasID.Load() {
		return n.id
	}
	return ""
}

// notes are what the handler saved.
type notes struct {
	mu      sync.Mutex
	saved   []byte
	unsaved atomic.Bool // the store does not have it
	common  *Context    // what is kept with the context; nil: nobody has asked
}

// pending returns what is to be stored; nil for nothing.
func (n *notes) pending() *[]byte {
	if !n.unsaved.Load() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	saved := n.saved
	return &saved
}

// kept takes note of what the store has by now.
func (n *notes) kept(saved *[]byte) {
	if saved == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if &(*saved)[0] == &n.saved[0] {
		n.unsaved.Store(false)
	}
}

// have takes over what the store has.
func (n *notes) have(saved []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.saved = saved
	n.unsaved.Store(false)
}

// output are the artifacts that the handler makes.
type output struct {
	shelf   shelf
	writers []*ArtifactWriter // those that may hold a piece back
	isHeld  bool              // the engine's timer looks after them
	lost    error             // why a piece that was held back will never be there, until the handler knows
}

// conclusion is what the call comes to.
type conclusion struct {
	next    *store.Snapshot      // of the task, with the call that comes up when this one is over
	closing *runtime.MessageData // what the task is to be completed with
	ending  endEvents
	reply   runtime.Message // the answer, when it is a plain message
	err     error           // the answer, when it is an error
}

// received is the task as the sender gets it.
type received struct {
	wanted       store.View
	first        runtime.Task // at creation, or when the message was added
	firstVersion int64        // of first
	last         runtime.Task // when the call was over
	bytes        int          // about how long the later of first and last is as JSON
}

// ID returns the task's id. Before the task exists it is the id that it will have.
func (c *Call) ID() string { return c.taskID() }

func (c *Call) taskID() string {
	if c.hasID.Load() {
		return c.id
	}
	c.names.mu.Lock()
	defer c.names.mu.Unlock()
	if c.id == "" {
		c.id = c.e.ids.next() // R57
	}
	c.hasID.Store(true)
	return c.id
}

// ContextID returns the id of the conversation.
func (c *Call) ContextID() string { return c.context() }

func (c *Call) context() string {
	if c.hasContext.Load() {
		return c.contextID
	}
	c.names.mu.Lock()
	defer c.names.mu.Unlock()
	if c.contextID == "" {
		c.contextID = c.e.ids.next() // R51
	}
	c.hasContext.Store(true)
	return c.contextID
}

// Message returns the message being handled. It belongs to the task: do not change it.
func (c *Call) Message() runtime.Message { return c.req.Message }

// Request returns the request that brought the message.
func (c *Call) Request() *runtime.SendRequest { return c.req }

// Text returns the texts of the message's text parts, one a line.
func (c *Call) Text() string { return route.TextOf(c.parts) }

// Parts returns the message's parts. Their bytes are shared: do not change them.
func (c *Call) Parts() []runtime.Part { return c.parts }

// Resumed reports whether the message continues a task, so that the handler was called before.
func (c *Call) Resumed() bool { return c.resumed }

// Attempt returns how often a handler was called for this message, this time included. It is more than 1 where the
// skill's calls are tried again after a crash: then some of the work may have been done. What an earlier attempt said is
// in the task; the first that this one says of an artifact of its own replaces what was there.
func (c *Call) Attempt() int { return max(c.attempt, 1) }

// IdempotencyKey returns a text that names the work that this message asks for: the same in all attempts, and no other
// message has it. It is for what the handler does outside, such as a payment, which is to be done once.
func (c *Call) IdempotencyKey() string {
	n := strconv.FormatInt(max(c.nth, 1), 10)
	sum := sha256.Sum256([]byte(strings.Join([]string{c.owner.Tenant, c.owner.Principal, c.taskID(), n}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Snapshot returns a copy of the task as it stands, nil before it exists.
func (c *Call) Snapshot() runtime.Task {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if c.live.version == 0 {
		return nil
	}
	if c.open() == nil {
		_ = c.flush() // an error is told by the writer that it concerns
	}
	snap, err := c.e.store.Get(c.e.soon(), c.live.key, store.Full)
	if err != nil {
		return nil
	}
	return snap.Task
}

// Logger returns the engine's logger with the skill's and the task's ids, and who sent the message.
func (c *Call) Logger() *slog.Logger { return c.e.log(c.skill.ID, c.ID(), c.owner.Principal) }

// log is Logger for what the engine says itself, perhaps of a message that comes to no task.
func (c *Call) log() *slog.Logger { return c.e.log(c.skill.ID, c.named(), c.owner.Principal) }

// Begin says that the input is good and the work begins. When the client waits for a task (a stream, or
// returnImmediately) it is created now, so that the client sees it at once; otherwise Begin does nothing. Generated
// code calls it for skills whose result is a task.
func (c *Call) Begin() error {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if !c.decided.armed() || c.live.version != 0 {
		return nil
	}
	c.auto = true
	return c.ensure(runtime.StateWorking)
}

// Progress reports that the task is being worked on, with a text for the client.
func (c *Call) Progress(format string, args ...any) error {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	one := lendPart()
	defer one.giveBack()
	one[0] = runtime.Text(text)
	return c.report(runtime.MessageData{Parts: one[:]})
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
func (c *Call) Report(m runtime.MessageData) error {
	if err := c.e.checkMessage(&m); err != nil {
		return err
	}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	return c.report(m)
}

func (c *Call) report(m runtime.MessageData) error {
	if err := c.ensure(runtime.StateSubmitted); err != nil {
		return err
	}
	return c.status(runtime.StateWorking, m, nil)
}

// Artifact gives the client an artifact, complete in one event.
func (c *Call) Artifact(name string, parts ...runtime.Part) error {
	return c.emit(runtime.ArtifactData{Name: name, Parts: parts, LastChunk: true})
}

// Emit gives the client an artifact, or a piece of one, with all that it can have. Without an id it is a new artifact.
// One with the id of an artifact of the task, also of an earlier call's, replaces it, or with Append goes on with it;
// the first piece of an artifact says its name, description, metadata and extensions. LastChunk says that nothing
// follows.
func (c *Call) Emit(a runtime.ArtifactData) error {
	if err := c.e.checkMetadata(a.Metadata); err != nil {
		return err
	}
	return c.emit(a)
}

// Reply answers with a plain Message and no task. It is an error once the handler made a task; when only the engine
// made one, because the client would not wait, the message ends that task.
func (c *Call) Reply(parts ...runtime.Part) error {
	return c.respond(runtime.MessageData{Parts: parts})
}

// Answer is Reply with a whole message, as [Call.Report] takes it.
func (c *Call) Answer(m runtime.MessageData) error {
	if err := c.e.checkMessage(&m); err != nil {
		return err
	}
	return c.respond(m)
}

func (c *Call) respond(m runtime.MessageData) error {
	if len(m.Parts) == 0 {
		return errEmpty
	}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if err := c.check(m.Parts); err != nil {
		return err
	}
	if c.live.version == 0 && c.private.ClientID || c.mayExist() { // 0.1 has no answers but tasks
		if err := c.create(runtime.StateSubmitted); err != nil {
			return err
		}
		c.auto = true
	}
	if c.live.version != 0 {
		if !c.auto || c.resumed {
			return ErrTaskExists
		}
		said := c.message(m, true)
		e := c.e.newStatus(c.ctx, c.taskID(), c.context(), runtime.StateCompleted, said, c.e.now())
		if err := c.say(stamped(e, store.SizeOfMessage(said, m.Parts)), nil); err != nil {
			return err
		}
		c.reply = said
		return nil
	}
	c.reply = c.message(m, false)
	c.decided.fire()
	return nil
}

// Complete says with which message the task is completed when the handler returns without an error. Its output, if any,
// is an artifact before that.
func (c *Call) Complete(parts ...runtime.Part) error {
	return c.End(runtime.StateCompleted, runtime.MessageData{Parts: parts})
}

// Ask makes the error with which a handler stops to ask its client for input. The task waits; the next message calls
// the handler again, with the input so far. The first arguments fill the verbs that the prompt has, if any, as of
// [fmt.Sprintf]; further ones are parts to send along, of any kind: a value that is no part is sent as a data part.
func (c *Call) Ask(prompt string, args ...any) error {
	text, data := fill(prompt, args)
	return c.park(runtime.StateInputRequired, text, data)
}

// Reject makes the error with which a handler declines the work. The reason, formatted as by [fmt.Sprintf] if there are
// arguments, is for the client.
func (c *Call) Reject(reason string, args ...any) error {
	return c.park(runtime.StateRejected, formatted(reason, args), nil)
}

// Fail makes the error with which a handler reports a failure in its own words to the client, formatted as by
// [fmt.Sprintf] if there are arguments. The text of any other error is only logged.
func (c *Call) Fail(reason string, args ...any) error {
	return c.park(runtime.StateFailed, formatted(reason, args), nil)
}

// End is Complete, Ask, RequireAuth, Reject and Fail with a whole message, as [Call.Report] takes it: it makes the error
// with which the handler's call ends in that state. A completed task is no error: its message is kept until the handler
// returns without one. A message without parts is none.
func (c *Call) End(state runtime.State, m runtime.MessageData) error {
	if !state.Terminal() && !state.Interrupted() || state == runtime.StateCanceled {
		return fmt.Errorf("a handler cannot end its call as %s", state)
	}
	if err := c.e.checkParts(m.Parts); err != nil {
		return err
	}
	if err := c.e.checkMetadata(m.Metadata); err != nil && len(m.Parts) > 0 {
		return err
	}
	if state != runtime.StateCompleted {
		return &verdict{state: state, said: m}
	}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if err := c.check(m.Parts); err != nil {
		return err
	}
	c.closing = &m
	return nil
}

// Save keeps v, as JSON, with the task for the handler's next call. It is not shown to the client.
func (c *Call) Save(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	if len(b) > c.e.limits.Event {
		return ErrTooLarge
	}
	c.notes.mu.Lock()
	defer c.notes.mu.Unlock()
	c.saved = b
	c.unsaved.Store(true)
	return nil
}

// Load reads what an earlier call saved into v. It reports whether there was anything.
func (c *Call) Load(v any) (bool, error) {
	c.notes.mu.Lock()
	b := c.saved
	c.notes.mu.Unlock()
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

func (c *Call) park(state runtime.State, text string, data []any) error {
	parts := appendParts([]runtime.Part{runtime.Text(text)}, data)
	return c.End(state, runtime.MessageData{Parts: parts})
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
