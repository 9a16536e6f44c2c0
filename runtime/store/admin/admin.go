// Package admin is what people see of a store of tasks and may do with it, whether its agent runs or not: the command
// "a2agen tasks" prints these rows. Packages sqlite and postgres have it. It needs no protocol: what tasks say is shown as it is kept.
package admin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Store is a store as people look at it, and tidy it up.
type Store interface {
	// Tasks lists tasks, the most recent status first.
	Tasks(ctx context.Context, which Which) ([]TaskRow, error)
	// Task returns a task of that list with its log.
	Task(ctx context.Context, row TaskRow) (TaskPage, error)
	// Deliveries lists push notification configurations that have something to send or were given up; only the latter if dead.
	Deliveries(ctx context.Context, dead bool) ([]PushRow, error)
	// Check reports what is wrong with the store, as it is at one moment, a sentence each, and how many tasks there are in one that is
	// whole. It reads all of it, and changes nothing.
	Check(ctx context.Context) (tasks int, wrong []string, err error)
	// Prune drops tasks that have rested for longer than that, with all that belongs to them; never one that is worked on, or whose
	// notifications are on their way. It returns how many there were; with dry it drops none.
	Prune(ctx context.Context, which Which, rested time.Duration, dry bool) (n int, err error)
	// Replay has notifications sent again that were given up: those of a task ("": all), to one of its configurations ("": to all). It
	// returns how many configurations go on. An agent that runs sees it within some seconds.
	Replay(ctx context.Context, task, id string) (n int, err error)
	Close() error
}

// Which says which tasks are meant. Zero fields mean all.
type Which struct {
	Principal *string
	Tenant    *string
	ID        string
	Context   string
	States    []runtime.State
	Limit     int
}

// TaskRow is a task in short.
type TaskRow struct {
	Tenant    string    `json:"tenant,omitempty"`
	Principal string    `json:"principal,omitempty"`
	ID        string    `json:"id"`
	Context   string    `json:"contextId"`
	Skill     string    `json:"skill"`
	State     string    `json:"state"`
	At        time.Time `json:"at"` // of the status
	Version   int64     `json:"version"`
	Open      int64     `json:"openCalls"` // messages that are not worked off
	Bytes     int64     `json:"bytes"`     // about what it takes in the store

	N int64 `json:"-"` // its number in the store
}

// TaskPage is all that is known of a task.
type TaskPage struct {
	TaskRow
	Head   json.RawMessage `json:"head"`              // the task without history and artifacts
	Body   json.RawMessage `json:"body,omitempty"`    // the whole task at a version, where the log is long
	Oldest int64           `json:"trimmed,omitempty"` // events up to this one are gone
	Events []EventRow      `json:"events"`
	Calls  []CallRow       `json:"calls,omitempty"` // those that are open
	Pushes []PushRow       `json:"pushes,omitempty"`
}

// EventRow is an event as it is kept, with the messages that came with it.
type EventRow struct {
	Seq      int64           `json:"seq"`
	Kind     string          `json:"kind"`
	State    string          `json:"state"` // of the task, then
	Protocol string          `json:"protocol"`
	Event    json.RawMessage `json:"event"`
	Messages json.RawMessage `json:"messages,omitempty"`
}

var kinds = map[runtime.EventKind]string{
	runtime.EventTask: "task", runtime.EventMessage: "message", runtime.EventStatus: "status", runtime.EventArtifact: "artifact",
}

// KindName returns the word of [EventRow.Kind].
func KindName(k runtime.EventKind) string { return kinds[k] }

// CallRow is a message that waits for its handler, or whose handler is at work.
type CallRow struct {
	N       int64           `json:"n"`
	Attempt int64           `json:"attempt"`
	Input   json.RawMessage `json:"input,omitempty"`
}

// PushRow is a push notification configuration and how far it is.
type PushRow struct {
	Task    string     `json:"task"`
	ID      string     `json:"id"`
	URL     string     `json:"url"`
	Version string     `json:"protocol"`
	Next    int64      `json:"next"`   // first event that was not sent
	Behind  int64      `json:"behind"` // events that are to be sent
	Failed  int64      `json:"failedAttempts"`
	Since   *time.Time `json:"failingSince,omitempty"`
	Due     *time.Time `json:"due,omitempty"`
	Dead    string     `json:"dead,omitempty"` // why it was given up
}

// TimeOf returns the time of nanoseconds since 1970, as stores keep it; nil for 0.
func TimeOf(nanos int64) *time.Time {
	if nanos == 0 {
		return nil
	}
	t := time.Unix(0, nanos).UTC()
	return &t
}
