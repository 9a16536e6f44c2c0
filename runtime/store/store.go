// Package store keeps tasks with their event logs.
//
// A store owns the tasks it holds. One update changes a task and appends the event to the task's log as one
// transaction, and names the version it expects; a lost race is an error, never a silent overwrite. Every key names its
// owner, so that there is no read without one.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Errors of a store.
var (
	ErrNotFound = errors.New("no such task")
	ErrExists   = errors.New("the task exists already")
	ErrConflict = errors.New("the task has changed meanwhile")
	ErrEnded    = errors.New("the task has ended")
	ErrFull     = errors.New("the store is full of unfinished tasks")
	ErrTooLarge = errors.New("the task would be larger than the store keeps")
	ErrCursor   = errors.New("the page token does not fit the request")
	ErrTrimmed  = errors.New("the events are no longer kept")
)

// Unsure reports whether nothing is known of what a failed call did: the error is none of this package's. The call can
// be tried again, but it may have happened.
func Unsure(err error) bool {
	if err == nil {
		return false
	}
	for _, known := range []error{ErrNotFound, ErrExists, ErrConflict, ErrEnded, ErrFull, ErrTooLarge, ErrCursor, ErrTrimmed} {
		if errors.Is(err, known) {
			return false
		}
	}
	return true
}

// Owner is whose tasks are meant: a tenant (A2A 1.0 §3.2, R306) and the authenticated principal in it.
type Owner struct{ Tenant, Principal string }

// Key names a task of an owner.
type Key struct {
	Owner Owner
	Task  string
}

// Private is what the agent keeps with a task and never shows: the skill it belongs to, the input so far as JSON and
// what the handler saved. The slices are not changed after they were handed over. An ended task needs neither input nor
// what was saved: the store may drop both.
type Private struct {
	Skill string
	Input []byte
	Saved []byte
	// Asked: the runtime, not the handler, asked for input, because the message did not fit the skill's schema.
	Asked bool
	// ClientID: the client chose the task's id, as those of A2A 0.1 do.
	ClientID bool
}

// Size is how large a piece of content is.
type Size struct {
	Bytes int // about how long it is as JSON
	Parts int // of which it consists: each needs memory of its own
}

// New is a new task. Size is that of its messages.
type New struct {
	Task    runtime.Task
	Private Private
	Size    Size
}

// LastWords is how many bytes of an update that ends a task have room in any case, in a full task and in a full store.
const LastWords = 4 << 10

// Update is one transaction on a task. It makes the next version of it.
type Update struct {
	Event    runtime.Event     // status or artifact update: applied to the task and appended to its log
	Messages []runtime.Message // then appended to the history
	// Input, Saved and Asked replace what [Private] has of that name unless they are nil. A message and a handler at
	// work write at the same time, so that nobody replaces all of it.
	Input, Saved *[]byte
	Asked        *bool
	// Unread: nobody has read the task's events so far, so nobody will ask for this one or those before it. The store
	// may leave them out of the log.
	Unread bool
	// Size is that of the event and the messages: what they add to the task. What is private is not in it. Zero: the
	// store finds it out ([SizeOf]).
	Size Size
}

// keep puts what the update says into the private state.
func (u *Update) keep(p *Private) {
	if u.Input != nil {
		p.Input = *u.Input
	}
	if u.Saved != nil {
		p.Saved = *u.Saved
	}
	if u.Asked != nil {
		p.Asked = *u.Asked
	}
}

// Snapshot is a task at a version. The task does not change any more.
type Snapshot struct {
	Task    runtime.Task
	Version int64 // number of the task's last event; 1 after creation
	Private Private
	Bytes   int // about how long Task is as JSON, rather more; 0 when nobody asked for a view
}

// View says which copy of a task to make: at most *History most recent messages (nil: all), and whether with artifacts.
type View struct {
	History   *int
	Artifacts bool
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
}

// Page is a page of tasks, most recent status first; equal times are ordered by id.
type Page struct {
	Tasks []runtime.Task
	Next  string // token of the next page, "" on the last
	Total int    // tasks that match, on all pages
	Bytes int    // about how long the tasks are as JSON, rather more
}

// Store keeps tasks. Implementations are safe for concurrent use.
type Store interface {
	// Create takes a new task over at version 1, with a view of it for the caller unless view is nil. It fails with
	// ErrExists, ErrFull or ErrTooLarge.
	Create(ctx context.Context, key Key, n New, view *View) (Snapshot, error)
	// Apply applies an update to the task at the expected version and returns it at the next, with a view unless view
	// is nil. It fails with ErrNotFound, ErrConflict, ErrEnded, ErrFull or ErrTooLarge, and then has changed nothing.
	// An update that ends the task and brings at most [LastWords] bytes always has room.
	Apply(ctx context.Context, key Key, expect int64, u Update, view *View) (Snapshot, error)
	// Get returns the task, or ErrNotFound.
	Get(ctx context.Context, key Key, view View) (Snapshot, error)
	// Events returns the records after a version, oldest first, none when there are no newer ones. The slice must not
	// be changed. It fails with ErrNotFound, or with ErrTrimmed when some of them are gone.
	Events(ctx context.Context, key Key, after int64) ([]*Record, error)
	// List returns a page, or ErrCursor for a token that is not of this query.
	List(ctx context.Context, owner Owner, q Query) (Page, error)
	// Sweep drops what the retention rules no longer keep at a time. It returns the number of tasks dropped.
	Sweep(ctx context.Context, now time.Time) (int, error)
}
