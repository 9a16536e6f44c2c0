// Package transfer carries stored tasks from one durable store to another.
//
// A [Task] has all that a store keeps of a task, as it keeps it: documents stay in the version of the protocol in which they
// were written. What a store wrote is read by a [Source] and written by a [Target]; [Copy] copies one account after the
// other, goes on where an earlier copy ended, and compares both sides in the end. An account is a principal in all
// tenants: that is what quotas are for.
package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// Task is a task with all that belongs to it.
type Task struct {
	N       int64 `json:"-"` // its number in the store that it was read from
	Owner   store.Owner
	ID      string
	Context string
	Skill   string
	Trace   string

	ClientID, Asked bool
	// State has no runner: what ran it does not run it in another store.
	State   taskstate.State
	At      int64 // time of the status, nanoseconds since 1970
	Oldest  int64 // events up to this one are gone
	Log     int64 // bytes of the events
	Charged int64 // bytes that the account holds
	Input   []byte
	Saved   []byte
	Head    Doc // the task without history and artifacts

	Events  []Event
	Bodies  []Body
	Calls   []Call // the open ones
	Pushes  []Push
	Tickets []Ticket
}

// Doc is JSON in a version of the protocol.
type Doc struct {
	Wire string // name of the version
	JSON []byte
}

// Event is a row of the log, as package stored writes it: one event, or several with Run.
type Event struct {
	Seq, Kind, State int64
	Run              []byte
	Doc              Doc
	Messages         []byte
}

// Body is the whole task at a version.
type Body struct {
	Version int64
	Doc     Doc
}

// Call is a message that is not worked off.
type Call struct {
	N            int64
	Request      Doc // no JSON: there is none
	Input, Value []byte
}

// Push is a push notification configuration with its cursor. A cursor has no holder.
type Push struct {
	ID, Version string
	Config      []byte
	Tasks       bool
	Cursor      taskstate.Cursor
}

// Ticket is known by its hash alone.
type Ticket struct {
	Hash        []byte
	Until, Made int64
	Request     Doc
}

// Note is a note of a context.
type Note struct {
	Tenant      string
	Context     string
	Version, At int64
	Value       []byte
}

// Repeat is a message that may be sent again.
type Repeat struct {
	Tenant string
	Key    string
	Task   string
	Call   int64
	Digest []byte
	Until  int64
}

// Owner is an account.
type Owner struct {
	N         int64
	Principal string
}

// Key is the place of a task, or of a note, in the order in which they are read: that of the bytes of the tenant, then of the id
// of the task or the context.
type Key struct{ Tenant, ID string }

// Compare is negative when k comes before o.
func (k Key) Compare(o Key) int {
	return cmp.Or(strings.Compare(k.Tenant, o.Tenant), strings.Compare(k.ID, o.ID))
}

func (t *Task) key() Key { return Key{t.Owner.Tenant, t.ID} }
func (n *Note) key() Key { return Key{n.Tenant, n.Context} }

// Source is a store whose tasks are read. Nobody else changes them meanwhile.
type Source interface {
	// Accounts returns at most max accounts after a number.
	Accounts(ctx context.Context, after int64, max int) ([]Owner, error)
	// Tasks returns tasks after a key, nil for the first, of about so many bytes, at least one if there are any.
	Tasks(ctx context.Context, principal string, after *Key, bytes int64) ([]Task, error)
	Notes(ctx context.Context, principal string, after *Key, max int) ([]Note, error)
	// Repeats returns all of them: they are at most [store.MaxRepeats].
	Repeats(ctx context.Context, principal string) ([]Repeat, error)
}

// Target is a store into which tasks are written. Each call is one transaction.
type Target interface {
	Source
	// Put drops tasks by their numbers, and adds others.
	Put(ctx context.Context, principal string, drop []int64, tasks []Task) error
	PutNotes(ctx context.Context, principal string, notes []Note) error
	PutRepeats(ctx context.Context, principal string, repeats []Repeat) error
	// DropRest deletes notes and repeats.
	DropRest(ctx context.Context, principal string) error
}

// Sum counts what was copied. Two stores have the same if their sums are equal, whatever the order.
type Sum struct {
	Tasks, Events, Calls, Pushes, Tickets, Notes, Repeats int64
	Bytes                                                 int64 // that accounts hold for tasks
	Digest                                                [sha256.Size]byte
}

// Add adds another sum.
func (s *Sum) Add(o *Sum) {
	s.Tasks, s.Events, s.Calls, s.Pushes = s.Tasks+o.Tasks, s.Events+o.Events, s.Calls+o.Calls, s.Pushes+o.Pushes
	s.Tickets, s.Notes, s.Repeats, s.Bytes = s.Tickets+o.Tickets, s.Notes+o.Notes, s.Repeats+o.Repeats, s.Bytes+o.Bytes
	subtle.XORBytes(s.Digest[:], s.Digest[:], o.Digest[:])
}

// digest is the hash of a value with the principal that it belongs to.
func digest(kind, principal string, v any) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode([]any{kind, principal, v}); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// sumOf is the sum of a task.
func (t *Task) sumOf() (s Sum, err error) {
	s = Sum{
		Tasks: 1, Calls: int64(len(t.Calls)), Pushes: int64(len(t.Pushes)), Tickets: int64(len(t.Tickets)), Bytes: t.Charged,
	}
	for i := range t.Events {
		s.Events += max(1, int64(len(t.Events[i].Run)/2))
	}
	s.Digest, err = digest("task", t.Owner.Principal, t.said())
	return s, err
}

// said is what the task says, in one form: some stores return nil where others return nothing, count the content anew, or
// keep stamps of events that they have trimmed.
func (t *Task) said() *Task {
	c := *t
	c.State.Content, c.State.Ticketed, c.State.Pushes = taskstate.Content{}, false, 0
	for i := range c.State.Stamps {
		if i >= len(c.Events) {
			c.State.Stamps[i] = 0
		}
	}
	c.Events, c.Bodies, c.Calls = slices.Clone(c.Events), slices.Clone(c.Bodies), slices.Clone(c.Calls)
	c.Pushes, c.Tickets = slices.Clone(c.Pushes), slices.Clone(c.Tickets)
	fields := []*[]byte{&c.Input, &c.Saved, &c.Head.JSON}
	for i := range c.Events {
		fields = append(fields, &c.Events[i].Run, &c.Events[i].Messages)
	}
	for i := range c.Calls {
		fields = append(fields, &c.Calls[i].Request.JSON, &c.Calls[i].Input, &c.Calls[i].Value)
	}
	for i := range c.Tickets {
		fields = append(fields, &c.Tickets[i].Request.JSON)
	}
	for _, f := range fields {
		if len(*f) == 0 {
			*f = nil
		}
	}
	return &c
}
