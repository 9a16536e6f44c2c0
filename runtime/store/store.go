// Package store is the interface of a store of tasks, and its values. Packages memory, sqlite and postgres are stores; the
// rules that all of them keep to are those of internal/taskstate.
//
// A store has tasks with their event logs. An [Update] changes a task and appends its events to the log, as one
// transaction. A client's update names the version that it expects: after another update it fails and changes
// nothing. Every [Key] names its owner, so that no task is read without one.
//
// Several instances of an agent may share a store. A message for a handler is kept as a [Call] until it is done. A task
// with calls is run by one instance, under an epoch that grows whenever another instance takes the task over, or when none runs it any more: an
// update of a handler with an earlier epoch fails. An instance keeps its tasks for as long as its [Lease] is renewed; then
// another may claim them.
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

// Errors of a store. Those of the rules are declared in internal/taskstate.
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
	ErrLost     = taskstate.ErrLost                         // another epoch: the handler must stop
	ErrNoSpace  = errors.New("the store cannot be written") // full disk, read-only file: nothing happened
	ErrTicket   = taskstate.ErrTicket                       // used, expired, or unknown
	// ErrPushes: the configuration would be one more than [Push.Max].
	ErrPushes = taskstate.ErrPushes
	// ErrForgotten: the message may be a repeated one, see [Repeat.Since].
	ErrForgotten = errors.New("it is no longer known whether the message came before")
	// ErrUnavailable: nothing was changed, and the call can be repeated.
	ErrUnavailable = errors.New("the store cannot be reached")
	// ErrUnknown: the outcome is unknown. The call must be repeated with the same stamp until there is an answer.
	ErrUnknown = errors.New("it is not known whether it was stored")
)

// decided are the errors of calls that changed nothing.
var decided = []error{
	ErrNotFound, ErrExists, ErrConflict, ErrEnded, ErrFull, ErrTooLarge, ErrCursor, ErrTrimmed, ErrUnfit, ErrLost, ErrNoSpace,
	ErrTicket, ErrPushes, ErrForgotten,
}

// Unsure reports whether the outcome of a call is unknown, so that it must be repeated with the same stamp: after [ErrUnavailable],
// [ErrUnknown] and every error that is not of this package.
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
	Task string // that the first one made or continued
	Call int64  // of the first one; 0: none
	Same bool   // the request was the same
}

func (r *Repeated) Error() string { return "the message was sent before, for task " + r.Task }

// Repeat makes a message safe to send again.
type Repeat struct {
	Key    string        // unique by owner
	Digest [32]byte      // of the request
	For    time.Duration // how long it is kept, among the last [MaxRepeats] of the principal
	// Since is when the message was first sent, if it may have been sent before; else zero. A store without the key fails with
	// [ErrForgotten] if it may have dropped one of that time.
	Since time.Time
}

// MayForget reports whether a store with a number of keys of the principal, of which the oldest came at the time oldest, may have dropped one
// that came at the time since.
func MayForget(since time.Time, keys int, oldest time.Time) bool {
	return keys >= MaxRepeats-MaxRepeats/10 && since.Before(oldest)
}

// MaxRepeats limits the [Repeat]s of one principal that a store keeps. Beyond it the oldest are dropped; nine tenths of it are kept in any case.
const MaxRepeats = 10_000

// Owner is the owner of tasks: a tenant (A2A 1.0 §3.2, R306) and the authenticated principal in it.
type Owner struct{ Tenant, Principal string }

// Caller returns the owner as a caller with a name and a tenant; nil without a principal.
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

// Private is the part of a task that clients do not see: its skill, the input so far as JSON and
// the data that the handler saved. The slices must not be changed. When the task ends the store drops the input and the saved data.
type Private struct {
	Skill string
	Input []byte
	Saved []byte
	// Asked: the runtime, not the handler, asked for input, because the message did not fit the skill's schema.
	Asked bool
	// ClientID: the client chose the task's id, as those of A2A 0.1 do.
	ClientID bool
	// Trace is the trace context in which the task was made; "": none. It never changes.
	Trace string
}

// Size is the size of content.
type Size struct {
	Bytes int // about its length as JSON
	Parts int // each of which needs memory of its own
}

// Call is a message for a handler: work, kept until it is done. The store sets N, Attempt and Made, in the caller's or in a
// copy, and may keep the caller's.
type Call struct {
	N       int64 // number in the task, from 1
	Attempt int   // number of this attempt, from 1
	Made    int   // artifacts of the task at its first attempt; those after them are of this call
	Input   []byte
	Request *runtime.SendRequest // for the handler; must not be changed
	Value   []byte               // that came with a ticket; nil without
}

// Ticket allows a caller who is not the owner, and has the code with that hash, to add a call to a task: once, for a limited time, and only
// until the task ends. Of two with one hash the later one counts.
type Ticket struct {
	Hash    [32]byte
	For     time.Duration        // how long it is valid
	Request *runtime.SendRequest // of the call
}

// MaxTickets limits the tickets of a task: beyond it the one that ends first is dropped, of equal ones the one made first.
const MaxTickets = 4

// Change is an event of a task, with the messages that are appended to the history after it.
type Change struct {
	Event    runtime.Event // a status or artifact update
	Messages []runtime.Message
	Size     Size // of the event and the messages. Zero: the store computes it ([SizeOf])
}

// New is a new task. Size is that of its messages. The events that follow at once may be stored in the same transaction: a task
// that is answered at once is one write, with Then as its end.
type New struct {
	Task    runtime.Task
	Then    []Change // events 2, 3 and so on
	Private Private
	Size    Size
	Stamp   uint64  // the writer's: Create twice with one stamp is Create once, and returns the same; 0: none
	Call    *Call   // which the caller begins now; nil: none
	Done    bool    // the call is over with the last event, and must not be begun
	Unread  bool    // as [Update.Unread]
	Push    *Push   // a configuration that came with the message
	Repeat  *Repeat // the message may be sent again
}

// LastWords is the size in bytes up to which an update that ends a task is stored also in a full task and in a full store.
const LastWords = taskstate.LastWords

// Update is one transaction on a task. Each of its events makes the next version of it; all of them are stored, or none.
//
// It may also add a Call, or end one, and [Snapshot.Run] is the call that the caller must begin now. One call of a task
// runs; the others wait, and the end of one begins the next. The end of the task ends all its calls.
type Update struct {
	Event    runtime.Event     // status or artifact update: applied to the task and appended to its log
	Messages []runtime.Message // then appended to the history
	Then     []Change          // events that follow. Nothing follows the end of the task
	// Input, Saved and Asked replace the members of [Private] unless they are nil. A message and a running handler
	// write at the same time, so that neither replaces all of it.
	Input, Saved *[]byte
	Asked        *bool
	// Stamp identifies the update, among the last eight and the one that began the running call: a second one with the same stamp
	// changes nothing, and returns the task as it is by then, or as it was after the first, with the Run of the first.
	Stamp  uint64
	Epoch  int64   // of the handler that writes this, without an expected version; 0: not a handler
	Call   *Call   // a message for a handler; not with Done, nor in an update that ends the task
	Done   int64   // the update ends the call of that number
	Push   *Push   // a configuration that came with the message; this update's event is not sent to it
	Repeat *Repeat // the message may be sent again
	Ticket *Ticket // for the task
	// Redeem is the hash of a ticket that the update uses up, and all others of the task with it. An invalid one is
	// ErrTicket.
	Redeem *[32]byte
	// Unread: the task's events so far were not read, and neither this one nor those before it will be. The store
	// may leave them out of the log.
	Unread bool
	// Size is that of the event and the messages, without the private part. Zero: the store computes it ([SizeOf]).
	Size Size
}

// Len is the number of events of the update.
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

// SizeOf is the size of the change, computed if it is not set.
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

// Artifacts is the number of artifacts of a task after the update, which fits it.
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

// Snapshot is a task at a version. The task must not be changed.
type Snapshot struct {
	Task    runtime.Task
	Version int64 // number of the task's last event; 1 after creation
	Private Private
	Bytes   int   // about the length of Task as JSON, rather more; 0 without a view
	Epoch   int64 // grows when another instance takes the task over, or none runs it any more: claim, cancel, end
	Run     *Call // that the caller must begin now, under Epoch; nil: none
	Pushed  bool  // there are push configurations, so that Due may have deliveries
}

// Head is the state of a task without its content.
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

// Run is a call that was taken over, with a snapshot of its task without history and artifacts.
type Run struct {
	Key Key
	Snapshot
	Call *Call // Attempt includes this one
}

// Lease is the time that an instance may go on without renewing.
type Lease struct {
	For  time.Duration // 0: for ever, because there is no other instance
	Lost []Key         // tasks that this instance no longer runs
	// Over reports whether the lease of a task is over, because its part of the store was not
	// reached for too long. nil: there are no such tasks.
	Over    func(Key) bool
	Durable bool // calls that this instance gives back are kept for another instance, or a later process
	// Wakes: after every change made elsewhere, Watch wakes within a second or two, even if a notification is lost. Without
	// it, a reader that waits for a change must also poll.
	Wakes bool
}

// View selects the parts of a copy of a task: the *History most recent messages (nil: all), with or without artifacts, at
// a version (0: the present one). A store that no longer has the version fails with ErrTrimmed.
type View struct {
	History   *int
	Artifacts bool
	At        int64
}

// Of returns the view of a task that is at a version. A full view of an ended task, which never changes again, is no copy.
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
	Bytes   int           // limit of the page as JSON, which has at least one task; 0: none
	Token   string        // from the page before, with the same filters
	View    View
	Without []string // skills whose tasks are left out
}

// Since is After in nanoseconds since 1970, within their range: from 1678 to 2262.
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
	Bytes int    // about the length of the tasks as JSON, rather more
}

// Push is a push notification configuration of a task.
type Push struct {
	ID      string             // unique in the task
	Version string             // of the protocol in which it was registered, and in which its payloads are
	Config  runtime.PushConfig // in neutral form
	// Tasks: its notifications have the task as it was at their event. The store keeps the versions ([View.At]) of those
	// that were not sent.
	Tasks bool
	// Max limits the configurations of the task, this one included; 0: no limit. It is not kept.
	Max int
}

// maxPush limits the text of a configuration, in bytes.
const maxPush = 16 << 10

// Check returns the error of a configuration that no store keeps: ErrTooLarge above 16 kB of text, or ErrUnfit for text
// that is not UTF-8, which would not reach its receiver unchanged.
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

// Delivery is a delivery that is due to a configuration: the events from Next on.
type Delivery struct {
	Key     Key
	Push    Push
	Next    int64     // first event to send
	Until   int64     // last event that is sent together with it, decided before that; 0: it is sent alone
	Attempt int       // failed attempts for Next so far
	Since   time.Time // of the first failure; zero: none
	Holder  int64     // the claim
}

// Outcome is the outcome of a delivery. After it the configuration is retried, or dead, or neither: then it is due if there
// is an event that was not sent, and else when there is one.
type Outcome struct {
	Sent  int64         // the last event that arrived; 0: none
	Until int64         // the next [Delivery.Until], if Sent is set
	Again time.Duration // until the retry after a failure; 0: it did not fail
	Later time.Duration // until it is due again without an attempt; 0: at once
	Dead  string        // the reason why it was given up; "": it was not
}

// Store keeps tasks, for one of the instances of an agent. Implementations are safe for concurrent use. When a call returns its
// changes are as durable as the store. Any call may fail with ErrUnavailable, ErrUnknown, ErrNoSpace
// or an error that is not of this package, also because its context has ended; see [Unsure].
type Store interface {
	// Create stores a new task at version 1, and returns a view of it unless view is nil. It fails with
	// ErrExists, a *Repeated, ErrUnfit, ErrTooLarge or ErrFull.
	Create(ctx context.Context, key Key, n New, view *View) (Snapshot, error)
	// Apply applies an update to the task and returns it at the next version, with a view unless view is nil. A client's
	// names the version that it expects, a handler's its epoch and 0. It fails with the first of these errors that applies, and then
	// changes nothing: ErrNotFound, a *Repeated, ErrEnded, ErrLost, ErrConflict, ErrUnfit, ErrTicket, those of SetPush,
	// ErrTooLarge, ErrFull. An update of at most [LastWords] bytes that ends the task is never too large.
	Apply(ctx context.Context, key Key, expect int64, u Update, view *View) (Snapshot, error)
	// Get returns the task, or ErrNotFound.
	Get(ctx context.Context, key Key, view View) (Snapshot, error)
	// Head returns the state of the task without its content, or ErrNotFound.
	Head(ctx context.Context, key Key) (Head, error)
	// Events returns at most max records after a version (0: all), oldest first, none when there are no newer ones. The
	// slice must not be changed. It fails with ErrNotFound, or with ErrTrimmed if some of them are no longer kept.
	Events(ctx context.Context, key Key, after int64, max int) ([]*Record, error)
	// Ticket returns the task of a ticket, and the ticket, or ErrTicket.
	Ticket(ctx context.Context, hash [32]byte) (Key, Ticket, error)
	// List returns a page, or ErrCursor for a token that is not of this query.
	List(ctx context.Context, owner Owner, q Query) (Page, error)

	// Watch calls wake after changes made elsewhere: soon, maybe more than once, maybe not at all. The call holds no
	// lock.
	Watch(key Key, wake func()) (stop func())
	// Claim takes over at most max tasks of the given skills that have calls and are run by no instance. An attempt is
	// counted unless the last instance gave the task back (Close). The tasks of a claim whose outcome is unknown
	// are returned by a later one of the same instance, as they were taken over last.
	Claim(ctx context.Context, skills []string, max int) ([]Run, error)
	// Renew renews the lease of the instance. Renewed too late, the instance has lost its tasks.
	Renew(ctx context.Context) (Lease, error)

	// SetPush adds a configuration to a task, to which only later events are sent, or replaces the one
	// with its id and goes on with its events. It fails with ErrNotFound, ErrUnfit, ErrTooLarge, ErrPushes or ErrFull.
	SetPush(ctx context.Context, key Key, p Push) error
	// Pushes returns the configurations of a task, ordered by id, or ErrNotFound.
	Pushes(ctx context.Context, key Key) ([]Push, error)
	// DeletePush removes a configuration, if the task has it. It fails with ErrNotFound without the task.
	DeletePush(ctx context.Context, key Key, id string) error
	// Due claims at most max deliveries that are due, each for hold, and returns the time until the next one
	// is (-1: unknown).
	Due(ctx context.Context, max int, hold time.Duration) (due []Delivery, next time.Duration, err error)
	// Settle ends the claim of a delivery. It fails with ErrLost when the claim is over.
	Settle(ctx context.Context, d Delivery, o Outcome) error

	// Note returns the note for a context of the owner, the zero Note if there is none.
	Note(ctx context.Context, owner Owner, context string) (Note, error)
	// SetNote replaces it, if it has the expected version (0: there is none; AnyVersion: any), and
	// returns the new version. A nil value removes it; the version is then 0. It fails with ErrConflict,
	// ErrTooLarge or ErrFull, and then changes nothing.
	SetNote(ctx context.Context, owner Owner, context string, value []byte, expect int64) (version int64, err error)

	// Sweep drops tasks, notes and repeats that the retention rules no longer keep, by the store's clock, and reports whether there
	// are more of them.
	Sweep(ctx context.Context) (dropped int, more bool, err error)
	// Close gives back the tasks of this instance, except those that are left: the next claim of these counts an attempt.
	Close(left ...Key) error
}

// About the length of names, ids and punctuation in JSON.
const (
	messageFrame  = 256
	artifactFrame = 128
	partFrame     = 32
)

// SizeOfParts is the size of parts, as in a chunk.
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

// SizeOf is the size of an event and messages that an update adds to its task. It copies the heads of the parts; the functions above are faster
// for a caller that has them.
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
