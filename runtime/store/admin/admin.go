// Package admin is the administration of a store of tasks, while its agent runs or not: the command "a2agen tasks" prints its rows. Packages sqlite
// and postgres implement it. It needs no protocol: the content of tasks is shown as it is stored.
package admin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Store is the administration of a store.
type Store interface {
	// Tasks lists tasks, the most recent status first.
	Tasks(ctx context.Context, which Which) ([]TaskRow, error)
	// Task returns a task of that list with its log.
	Task(ctx context.Context, row TaskRow) (TaskPage, error)
	// Deliveries lists push notification configurations that have something to send or were given up; only the latter if dead.
	Deliveries(ctx context.Context, dead bool) ([]PushRow, error)
	// Check returns the faults of the store at one moment, a sentence each, and the number of tasks in a store
	// without faults. It reads the whole store, and changes nothing.
	Check(ctx context.Context) (tasks int, wrong []string, err error)
	// Prune drops tasks that have rested for longer than that, with all their rows; never one that is worked on, or whose
	// notifications are being sent. It returns their number; with dry it drops none.
	Prune(ctx context.Context, which Which, rested time.Duration, dry bool) (n int, err error)
	// Replay makes notifications due again that were given up: those of a task ("": all), to one of its configurations ("": to all). It
	// returns the number of configurations. A running agent notices it within some seconds.
	Replay(ctx context.Context, task, id string) (n int, err error)
	Close() error
}

// Which selects tasks. Zero fields select all.
type Which struct {
	Principal *string
	Tenant    *string
	ID        string
	Context   string
	States    []runtime.State
	Limit     int
}

// TaskRow is the summary of a task.
type TaskRow struct {
	Tenant    string    `json:"tenant,omitempty"`
	Principal string    `json:"principal,omitempty"`
	ID        string    `json:"id"`
	Context   string    `json:"contextId"`
	Skill     string    `json:"skill"`
	State     string    `json:"state"`
	At        time.Time `json:"at"` // of the status
	Version   int64     `json:"version"`
	Open      int64     `json:"openCalls"` // messages whose calls are not done
	Bytes     int64     `json:"bytes"`     // about its size in the store

	N int64 `json:"-"` // its number in the store
}

// TaskPage is a task with its log.
type TaskPage struct {
	TaskRow
	Head   json.RawMessage `json:"head"`              // the task without history and artifacts
	Body   json.RawMessage `json:"body,omitempty"`    // the whole task at a version, where the log is long
	Oldest int64           `json:"trimmed,omitempty"` // events up to this one are no longer kept
	Events []EventRow      `json:"events"`
	Calls  []CallRow       `json:"calls,omitempty"` // those that are open
	Pushes []PushRow       `json:"pushes,omitempty"`
}

// EventRow is an event as it is stored, with the messages that came with it.
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

// CallRow is a message that waits for its handler, or whose handler runs.
type CallRow struct {
	N       int64           `json:"n"`
	Attempt int64           `json:"attempt"`
	Input   json.RawMessage `json:"input,omitempty"`
}

// PushRow is a push notification configuration and its progress.
type PushRow struct {
	Task    string     `json:"task"`
	ID      string     `json:"id"`
	URL     string     `json:"url"`
	Version string     `json:"protocol"`
	Next    int64      `json:"next"`   // first event that was not sent
	Behind  int64      `json:"behind"` // events that were not sent
	Failed  int64      `json:"failedAttempts"`
	Since   *time.Time `json:"failingSince,omitempty"`
	Due     *time.Time `json:"due,omitempty"`
	Dead    string     `json:"dead,omitempty"` // the reason why it was given up
}

// TimeOf returns the time of nanoseconds since 1970, as stores keep it; nil for 0.
func TimeOf(nanos int64) *time.Time {
	if nanos == 0 {
		return nil
	}
	t := time.Unix(0, nanos).UTC()
	return &t
}
