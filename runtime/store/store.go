// Package store is the interface of a store of tasks, and its values. Packages memory, sqlite and postgres are stores; the
// rules that all of them keep to are those of internal/taskstate.
//
// A store has tasks with their event logs. An [Update] changes a task and appends its events to the log, as one
// transaction. A client's update names the version that it expects: when another was faster, it is refused and changes
// nothing. Every [Key] names its owner, so that nobody reads a task without one.
//
// Several instances of an agent may share a store. A message for a handler is kept as a [Call] until it is done. A task
// with calls is run by one instance, under an epoch that grows whenever another runs it, or nobody any more: an update of a
// handler is refused when its epoch is over. An instance keeps what it runs for as long as its [Lease] is renewed; then
// another may claim it.
package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
)

// Errors of a store. Those that the rules find are declared with them.
var (
	ErrNotFound = errors.New("no such task")
	ErrExists   = errors.New("the task exists already")
	ErrConflict = taskstate.ErrConflict
	ErrEnded    = taskstate.ErrEnded
	ErrFull     = taskstate.ErrFull
	ErrTooLarge = taskstate.ErrTooLarge
	ErrCursor   = errors.New("the page token does not fit the request")
	ErrTrimmed  = errors.New("the events are no longer kept")
	ErrUnfit    = taskstate.ErrUnfit                        // it has no form in the protocol, or does not fit the task
	ErrLost     = taskstate.ErrLost                         // another epoch: the handler is to stop
	ErrNoSpace  = errors.New("the store cannot be written") // full disk, read-only file: nothing happened
	ErrTicket   = taskstate.ErrTicket                       // used, too old, or never given
	// ErrPushes: the configuration would be one more than [Push.Max].
	ErrPushes = taskstate.ErrPushes
	// ErrForgotten: the message may have come before, see [Repeat.Since].
	ErrForgotten = errors.New("it is no longer known whether the message came before")
	// ErrUnavailable: nothing happened, the call can be tried again.
	ErrUnavailable = errors.New("the store cannot be reached")
	// ErrUnknown: it may have happened. The call is to be made again with the same stamp until there is an answer.
	ErrUnknown = errors.New("it is not known whether it was stored")
)

// decided are the errors by which a store refuses a call: it has decided, and nothing changed.
var decided = []error{
	ErrNotFound, ErrExists, ErrConflict, ErrEnded, ErrFull, ErrTooLarge, ErrCursor, ErrTrimmed, ErrUnfit, ErrLost, ErrNoSpace,
	ErrTicket, ErrPushes, ErrForgotten,
}

// Unsure reports whether a call failed without an answer: it can be made again, with the same stamp, since it may have
// happened. That is so for [ErrUnavailable], [ErrUnknown] and every error that is none of this package's.
func Unsure(err error) bool {
	if _, again := errors.AsType[*Repeated](err); err == nil || again {
		return false
	}
	for _, known := range decided {
		if errors.Is(err, known) {
			return false
		}
	}
	return true
}

// Repeated is the error of a message whose [Repeat] was used before, in its window.
type Repeated struct {
	Task string // what the first one made or continued
	Call int64  // the call of the first one; 0: it had none
	Same bool   // the request was the same
}

func (r *Repeated) Error() string { return "the message was sent before, for task " + r.Task }

// Repeat makes a message safe to send again.
type Repeat struct {
	Key    string        // unique by owner
	Digest [32]byte      // of the request
	For    time.Duration // how long it counts, among the last [MaxRepeats] of the principal
	// Since is when the message was first sent, where it may have been sent before; zero: it was not. A store that does not know the key,
	// and may have forgotten one of that time, answers [ErrForgotten].
	Since time.Time
}

// MayForget reports whether a store may have forgotten a key that came at the time since: it has the number of keys of the principal, the oldest
// of which came at the time oldest.
func MayForget(since time.Time, keys int, oldest time.Time) bool {
	return keys >= MaxRepeats-MaxRepeats/10 && since.Before(oldest)
}

// MaxRepeats is how many messages of one principal a store knows at most by their [Repeat], and nine tenths of it at
// least: of more, it forgets the oldest. A client may choose as many keys as it likes.
const MaxRepeats = 10_000

// Owner is whose tasks are meant: a tenant (A2A 1.0 §3.2, R306) and the authenticated principal in it.
type Owner struct{ Tenant, Principal string }

// Caller returns the owner as a caller of whom only the name and the tenant are known; nil for nobody in particular.
func (o Owner) Caller() *runtime.Caller {
	if o.Principal == "" {
		return nil
	}
	c := runtime.CallerOf(o.Principal)
	c.Tenant = o.Tenant
	return &c
}

// Key names a task of an owner.
type Key struct {
	Owner Owner
	Task  string
}

// Private is what the agent keeps with a task and never shows: the skill it belongs to, the input so far as JSON and
// what the handler saved. Nobody changes the slices any more. An ended task needs neither its input nor what was saved:
// the store drops both.
type Private struct {
	Skill string
	Input []byte
	Saved []byte
	// Asked: the runtime, not the handler, asked for input, because the message did not fit the skill's schema.
	Asked bool
	// ClientID: the client chose the task's id, as those of A2A 0.1 do.
	ClientID bool
	// Trace is the trace context in which the task was made; "": none. It stays.
	Trace string
}

// Size is how large a piece of content is.
type Size struct {
	Bytes int // about how long it is as JSON
	Parts int // of which it consists: each needs memory of its own
}

// Call is a message for a handler: work, kept until it is done. The store sets N, Attempt and Made, in the caller's or in a
// copy, and may keep the caller's.
type Call struct {
	N       int64 // number in the task, from 1
	Attempt int   // how often a handler has begun it, this time included: from 1
	Made    int   // artifacts that the task had when its first handler began; those after them are of this call
	Input   []byte
	Request *runtime.SendRequest // what the handler may ask for of its request; not changed any more
	Value   []byte               // what came with a ticket; nil without
}

// Ticket lets somebody add a call to a task who is not its owner: whoever knows what the hash was made of. It is good once,
// for a while, and as long as the task goes on. Of two with one hash the later one counts.
type Ticket struct {
	Hash    [32]byte
	For     time.Duration        // how long it is good
	Request *runtime.SendRequest // of the call
}

// MaxTickets is how many a task has: of more, the one that ends first is dropped, of equal ones the one made first.
const MaxTickets = 4

// Change is an event of a task, with the messages that it brings: they are appended to the history, after it.
type Change struct {
	Event    runtime.Event // a status or artifact update
	Messages []runtime.Message
	Size     Size // of the event and the messages: what they add to the task. Zero: the store finds it out ([SizeOf])
}

// New is a new task. Size is that of its messages. What follows at once may be stored in the same transaction: a task
// that is answered at once is one write, with Then as its end.
type New struct {
	Task    runtime.Task
	Then    []Change // events 2, 3 and so on
	Private Private
	Size    Size
	Stamp   uint64  // the writer's: Create twice with one stamp is Create once, and returns the same; 0: none
	Call    *Call   // work on it, which the caller begins now; nil: there is none
	Done    bool    // the call is over with the last event: nobody begins it
	Unread  bool    // nobody has asked for the events, as [Update.Unread]
	Push    *Push   // a configuration that came with the message
	Repeat  *Repeat // the message may be sent again
}

// LastWords is how many bytes of an update that ends a task have room in any case, in a full task and in a full store.
const LastWords = taskstate.LastWords

// Update is one transaction on a task. Each of its events makes the next version of it; all of them are stored, or none.
//
// It may also add a Call, or end one, and [Snapshot.Run] is the call that the caller must begin now. One call of a task is
// at work; the others wait, and the end of one begins the next. What ends the task ends all its calls.
type Update struct {
	Event    runtime.Event     // status or artifact update: applied to the task and appended to its log
	Messages []runtime.Message // then appended to the history
	Then     []Change          // events that follow. Nothing follows the end of the task
	// Input, Saved and Asked replace what [Private] has of that name unless they are nil. A message and a handler at
	// work write at the same time, so that nobody replaces all of it.
	Input, Saved *[]byte
	Asked        *bool
	// Stamp is the writer's. The same stamp twice is one update, for the last eight updates and the one that began the call
	// at work: the second time nothing changes, and what is returned is the task as it is by then, or as it was after the
	// first, with the Run that the first had.
	Stamp  uint64
	Epoch  int64   // of the handler that says this, and need not know the version; 0: not a handler
	Call   *Call   // a message for a handler; not with Done, nor in an update that ends the task
	Done   int64   // the update ends the call of that number
	Push   *Push   // a configuration that came with the message; this update's event is not sent to it
	Repeat *Repeat // the message may be sent again
	Ticket *Ticket // for the task
	// Redeem is the hash of a ticket that the update uses up, and all others of the task with it. One that is not good is
	// ErrTicket.
	Redeem *[32]byte
	// Unread: nobody has read the task's events so far, so nobody will ask for this one or those before it. The store
	// may leave them out of the log.
	Unread bool
	// Size is that of the event and the messages: what they add to the task. What is private is not in it. Zero: the
	// store finds it out ([SizeOf]).
	Size Size
}

// Len is how many events the update has.
func (u *Update) Len() int { return 1 + len(u.Then) }

// At returns the i-th event of the update and the messages after it.
func (u *Update) At(i int) (runtime.Event, []runtime.Message) {
	if i == 0 {
		return u.Event, u.Messages
	}
	return u.Then[i-1].Event, u.Then[i-1].Messages
}

// SizeAt is the size of the i-th event, with its messages.
func (u *Update) SizeAt(i int) Size {
	switch {
	case i > 0:
		return u.Then[i-1].SizeOf()
	case u.Size == Size{}:
		u.Size = SizeOf(u.Event, u.Messages)
	}
	return u.Size
}

// SizeOf is the size of the change, found out if it does not say.
func (c *Change) SizeOf() Size {
	if c.Size == (Size{}) {
		c.Size = SizeOf(c.Event, c.Messages)
	}
	return c.Size
}

// Apply applies the event, which fits the task, and its messages to the task.
func (c *Change) Apply(t runtime.Task) error {
	if err := t.Apply(c.Event); err != nil {
		return err
	}
	for _, m := range c.Messages {
		t.AddMessage(m)
	}
	return nil
}

// Artifacts is how many artifacts a task has after the update, which fits it.
func (u *Update) Artifacts(t runtime.Task) int {
	n := t.TaskInfo().Artifacts
	var known map[string]bool
	for i := range u.Len() {
		e, _ := u.At(i)
		a, ok := e.(runtime.ArtifactUpdate)
		if !ok {
			continue
		}
		if known == nil {
			known = map[string]bool{}
			for _, one := range t.ArtifactList() {
				known[one.ID] = true
			}
		}
		if id := a.ArtifactUpdate().ID; !known[id] {
			known[id] = true
			n++
		}
	}
	return n
}

// Snapshot is a task at a version. The task does not change any more.
type Snapshot struct {
	Task    runtime.Task
	Version int64 // number of the task's last event; 1 after creation
	Private Private
	Bytes   int   // about how long Task is as JSON, rather more; 0 when nobody asked for a view
	Epoch   int64 // grows whenever another instance runs the task, or none any more: claim, cancel, end
	Run     *Call // to begin now, by the caller, under Epoch; nil: none
	Pushed  bool  // there are push configurations: whoever delivers is to look at Due
}

// Head is what is known of a task without reading it.
type Head struct {
	Context     string
	State       runtime.State
	Version     int64
	Epoch       int64
	Calls, Done int64 // calls in all, calls that are over (all of them, when the task has ended)
	Skill       string
	ClientID    bool
	Trace       string
}

// Run is work that was taken over: a snapshot of its task, without history and artifacts, and the call to begin.
type Run struct {
	Key Key
	Snapshot
	Call *Call // its Attempt counts this time
}

// Lease says how long an instance may go on without renewing.
type Lease struct {
	For  time.Duration // 0: for ever, nobody else is there
	Lost []Key         // tasks that this instance ran and no longer does, as far as the store knows
	// Over reports whether this instance must no longer run a task, whoever runs it now: its part of the store was not
	// reached for too long. nil: there are no such tasks.
	Over    func(Key) bool
	Durable bool // what this instance gives back is there for another, or for a process to come
	// Wakes: after every change made elsewhere, Watch wakes within a second or two, whatever is lost on the way. Without
	// it, whoever waits for a change must look now and then.
	Wakes bool
}

// View says which copy of a task to make: at most *History most recent messages (nil: all), whether with artifacts, and
// of which version (0: as it is). A store that no longer can fails with ErrTrimmed.
type View struct {
	History   *int
	Artifacts bool
	At        int64
}

// Of returns the view of a task that is at a version. An ended task never changes again: the whole of it needs no copy.
func (v *View) Of(task runtime.Task, version int64, ended bool) runtime.Task {
	if !ended || v.History != nil || !v.Artifacts {
		task = task.View(v.History, v.Artifacts)
	}
	return runtime.WithGeneration(task, version)
}

// Full is the view of a whole task.
var Full = View{Artifacts: true}

// Query selects tasks of an owner (A2A 1.0 §3.1.4).
type Query struct {
	Context string        // "" any
	State   runtime.State // StateUnspecified: any
	After   time.Time     // zero: any; inclusive (T30)
	Size    int           // 1..100
	Bytes   int           // the page ends before the task with which it would be larger, as JSON, but has at least one; 0: any size
	Token   string        // from the page before, with the same filters
	View    View
	Without []string // skills whose tasks are left out
}

// Since is After in nanoseconds since 1970, as far as they reach: from 1678 to 2262.
func (q *Query) Since() int64 {
	switch {
	case q.After.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case q.After.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return q.After.UnixNano()
}

// Page is a page of tasks, most recent status first; equal times are ordered by id.
type Page struct {
	Tasks []runtime.Task
	Next  string // token of the next page, "" on the last
	Total int    // tasks that match, on all pages
	Bytes int    // about how long the tasks are as JSON, rather more
}

// Push is a push notification configuration of a task.
type Push struct {
	ID      string             // unique in the task
	Version string             // of the protocol in which it was registered: its payloads are written in it
	Config  runtime.PushConfig // in neutral form
	// Tasks: its notifications show the task as it was at their event. The store keeps what [View.At] needs for those
	// that were not sent.
	Tasks bool
	// Max is how many configurations the task may have, this one included; 0: any number. It is not kept.
	Max int
}

// maxPush is how many bytes of text a configuration may have.
const maxPush = 16 << 10

// Check says why a configuration cannot be kept, wherever: with ErrTooLarge above 16 kB of text, or with ErrUnfit for text
// that is not UTF-8, which its receiver would not get as it is.
func (p *Push) Check() error {
	c, n := &p.Config, 0
	for _, text := range []string{p.ID, p.Version, c.ID, c.URL, c.Token, c.Scheme, c.Credentials} {
		if n += len(text); !utf8.ValidString(text) {
			return fmt.Errorf("%w: a push configuration that is not UTF-8", ErrUnfit)
		}
	}
	if n > maxPush {
		return ErrTooLarge
	}
	return nil
}

// Delivery is what is due to a configuration: the events from Next on.
type Delivery struct {
	Key     Key
	Push    Push
	Next    int64     // first event to send
	Until   int64     // last one of those that travel with it, decided before it is sent; 0: it travels alone
	Attempt int       // failed ones for Next so far
	Since   time.Time // of the first failure; zero: none
	Holder  int64     // the claim
}

// Outcome is what a delivery came to. Then it is tried again after a while, or is dead, or neither: it is due if there
// is an event that was not sent, and else sleeps until there is one.
type Outcome struct {
	Sent  int64         // the last event that arrived; 0: none did
	Until int64         // the next [Delivery.Until], if Sent is set
	Again time.Duration // after a failure; 0: there was none
	Later time.Duration // it was not tried, and is due after so long; 0: at once
	Dead  string        // why it was given up; "": it was not
}

// Store keeps tasks, for one of the instances of an agent. Implementations are safe for concurrent use. What a call
// has done is as durable as the store is when it returns. Any call may fail with ErrUnavailable, ErrUnknown, ErrNoSpace
// or an error that is none of this package's, also because its context has ended; see [Unsure].
type Store interface {
	// Create takes a new task over at version 1, with a view of it for the caller unless view is nil. It fails with
	// ErrExists, a *Repeated, ErrUnfit, ErrTooLarge or ErrFull.
	Create(ctx context.Context, key Key, n New, view *View) (Snapshot, error)
	// Apply applies an update to the task and returns it at the next version, with a view unless view is nil. A client's
	// names the version that it expects, a handler's its epoch and 0. It fails for the first of these reasons, and then has
	// changed nothing: ErrNotFound, a *Repeated, ErrEnded, ErrLost, ErrConflict, ErrUnfit, ErrTicket, those of SetPush,
	// ErrTooLarge, ErrFull. An update that ends the task and brings at most [LastWords] bytes always has room.
	Apply(ctx context.Context, key Key, expect int64, u Update, view *View) (Snapshot, error)
	// Get returns the task, or ErrNotFound.
	Get(ctx context.Context, key Key, view View) (Snapshot, error)
	// Head returns what is known of the task without reading it, or ErrNotFound.
	Head(ctx context.Context, key Key) (Head, error)
	// Events returns at most max records after a version (0: all), oldest first, none when there are no newer ones. The
	// slice must not be changed. It fails with ErrNotFound, or with ErrTrimmed when some of them are gone.
	Events(ctx context.Context, key Key, after int64, max int) ([]*Record, error)
	// Ticket returns the task of a ticket, and what was kept with it, or ErrTicket.
	Ticket(ctx context.Context, hash [32]byte) (Key, Ticket, error)
	// List returns a page, or ErrCursor for a token that is not of this query.
	List(ctx context.Context, owner Owner, q Query) (Page, error)

	// Watch has wake called after changes made elsewhere: soon, maybe more often, maybe not at all. It holds no lock
	// meanwhile.
	Watch(key Key, wake func()) (stop func())
	// Claim takes over at most max tasks of the given skills that have work and nobody who does it. An attempt is
	// counted unless the instance before gave the work back (Close). What a call took over that failed without an answer
	// is returned by a later one of the same instance, as it was taken over last.
	Claim(ctx context.Context, skills []string, max int) ([]Run, error)
	// Renew says that the instance is there. One that comes too late has lost what it ran.
	Renew(ctx context.Context) (Lease, error)

	// SetPush adds a configuration to a task, to which only later events are sent, or puts it in the place of the one
	// with its id, whose events it goes on with. It fails with ErrNotFound, ErrUnfit, ErrTooLarge, ErrPushes or ErrFull.
	SetPush(ctx context.Context, key Key, p Push) error
	// Pushes returns the configurations of a task, ordered by id, or ErrNotFound.
	Pushes(ctx context.Context, key Key) ([]Push, error)
	// DeletePush removes a configuration. One that is not there is no error, a task that is not there is ErrNotFound.
	DeletePush(ctx context.Context, key Key, id string) error
	// Due claims at most max deliveries whose time has come, each for hold, and returns how long until another falls
	// due (-1: none is known).
	Due(ctx context.Context, max int, hold time.Duration) (due []Delivery, next time.Duration, err error)
	// Settle ends the claim of a delivery. It fails with ErrLost when the claim is over.
	Settle(ctx context.Context, d Delivery, o Outcome) error

	// Note returns what is kept for a context of the owner, the zero Note if that is nothing.
	Note(ctx context.Context, owner Owner, context string) (Note, error)
	// SetNote replaces it, if it is of the version that is expected (0: there is none; AnyVersion: whatever it is), and
	// returns the new version. A value that is nil leaves nothing, which is version 0. It fails with ErrConflict,
	// ErrTooLarge or ErrFull, and then has changed nothing.
	SetNote(ctx context.Context, owner Owner, context string, value []byte, expect int64) (version int64, err error)

	// Sweep drops some of what the retention rules no longer keep, by the store's own clock, and reports whether there
	// is more of it.
	Sweep(ctx context.Context) (dropped int, more bool, err error)
	// Close gives back what this instance runs, but for some tasks: whoever takes those over counts an attempt.
	Close(left ...Key) error
}

// About how long the parts of JSON are that have no content of their own: names, ids and punctuation.
const (
	messageFrame  = 256
	artifactFrame = 128
	partFrame     = 32
)

// SizeOfParts is the size of parts on their own, as a chunk brings them.
func SizeOfParts(parts []runtime.Part) Size {
	s := Size{Parts: len(parts)}
	for i := range parts {
		p := &parts[i]
		s.Bytes += partFrame + len(p.Text) + (len(p.Raw)+2)/3*4 + len(p.URL) + len(p.Data) + len(p.Filename) + len(p.MediaType) + len(p.Metadata)
	}
	return s
}

// SizeOfArtifact is the size of an artifact update: of a chunk, only that of its parts.
func SizeOfArtifact(a *runtime.ArtifactData) Size {
	s := SizeOfParts(a.Parts)
	if !a.Append {
		s.Bytes += artifactFrame + len(a.ID) + len(a.Name) + len(a.Description) + len(a.Metadata) + sizeOfList(a.Extensions)
	}
	return s
}

// SizeOfMessage is the size of a message with its parts.
func SizeOfMessage(m runtime.Message, parts []runtime.Part) Size {
	s, info := SizeOfParts(parts), m.MessageInfo()
	s.Bytes += messageFrame + len(info.ID) + len(info.ContextID) + len(info.TaskID) + len(info.Metadata) + sizeOfList(info.Extensions) + sizeOfList(info.References)
	return s
}

// SizeOf is the size of what an update adds to its task. It copies the heads of the parts: who has them at hand is
// faster with the functions above.
func SizeOf(e runtime.Event, messages []runtime.Message) (s Size) {
	switch e := e.(type) {
	case runtime.ArtifactUpdate:
		a := e.ArtifactUpdate()
		s = SizeOfArtifact(&a)
	case runtime.StatusUpdate:
		if m := e.StatusMessage(); m != nil {
			s = SizeOfMessage(m, m.Contents())
		}
	}
	for _, m := range messages {
		s = s.plus(SizeOfMessage(m, m.Contents()))
	}
	return s
}

func sizeOfList(list []string) int {
	n := 16 * len(list)
	for _, s := range list {
		n += len(s)
	}
	return n
}

func (s Size) plus(o Size) Size { return Size{s.Bytes + o.Bytes, s.Parts + o.Parts} }
