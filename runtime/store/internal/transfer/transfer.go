// Package transfer carries stored tasks from one durable store to another.
//
// A [Task] has all that a store keeps of a task, as it keeps it: documents stay in the version of the protocol in which they
// were written. What a store wrote is read by a [Source] and written by a [Target]; [Account] copies what one principal
// has, goes on where an earlier copy ended, and compares both sides in the end. The unit is the account, the
// principal in all tenants: that is what quotas are for.
package transfer

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"

	"github.com/a2agen/a2agen/runtime/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// Task is a task with all that belongs to it.
type Task struct {
	N       int64 `json:"-"` // its number in the store that it was read from, 0 for another store
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
	Stamp            uint64
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
	N           int64 `json:"-"`
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

// Source is a store whose tasks are read. Nobody else changes them meanwhile. Tasks and notes are read in the order of
// their numbers, those after a number.
type Source interface {
	// Accounts returns at most max accounts after a number.
	Accounts(ctx context.Context, after int64, max int) ([]Owner, error)
	// Tasks returns tasks of about so many bytes, at least one if there are any.
	Tasks(ctx context.Context, principal string, after int64, bytes int64) ([]Task, error)
	Notes(ctx context.Context, principal string, after int64, max int) ([]Note, error)
	// Repeats returns all of them: they are at most [store.MaxRepeats].
	Repeats(ctx context.Context, principal string) ([]Repeat, error)
}

// Target is a store into which tasks are written. Each call is one transaction.
type Target interface {
	Source
	// Put appends tasks of one account. Numbers of tasks grow.
	Put(ctx context.Context, principal string, tasks []Task) error
	PutNotes(ctx context.Context, principal string, notes []Note) error
	PutRepeats(ctx context.Context, principal string, repeats []Repeat) error
	// Drop deletes the tasks of an account after a number. It deletes some of them, and returns how many.
	Drop(ctx context.Context, principal string, after int64) (int, error)
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
	t.normal()
	s = Sum{
		Tasks: 1, Calls: int64(len(t.Calls)), Pushes: int64(len(t.Pushes)), Tickets: int64(len(t.Tickets)), Bytes: t.Charged,
	}
	for i := range t.Events {
		s.Events += max(1, int64(len(t.Events[i].Run)/2))
	}
	s.Digest, err = digest("task", t.Owner.Principal, t)
	return s, err
}

// normal has one form for what stores may return in several: nothing is nil.
func (t *Task) normal() {
	fields := []*[]byte{&t.Input, &t.Saved, &t.Head.JSON}
	for i := range t.Events {
		fields = append(fields, &t.Events[i].Run, &t.Events[i].Messages)
	}
	for i := range t.Calls {
		fields = append(fields, &t.Calls[i].Request.JSON, &t.Calls[i].Input, &t.Calls[i].Value)
	}
	for i := range t.Tickets {
		fields = append(fields, &t.Tickets[i].Request.JSON)
	}
	for _, f := range fields {
		if len(*f) == 0 {
			*f = nil
		}
	}
	if len(t.Events) == 0 {
		t.Events = nil
	}
}
