package sqlite

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// Options say what a [Store] keeps and how. A zero field means the default in brackets. Bytes are those of the
// content, as JSON, and of what a task, a message, an event and a part need beside it, or those of the file where these are
// more. Owners are counted by their principals: a tenant is a name that any client may choose.
//
// When something new has no room, tasks are evicted for it, as in memory: those of its owner if he is over a limit of his
// own, and when the store is full those of the owner who holds most. The task that ended longest ago goes first, then the
// one that has waited longest for its client, never one that is worked on.
type Options struct {
	Tasks      int           // tasks [10,000,000]
	Bytes      int64         // all tasks together [64 GiB]
	TaskBytes  int64         // content of one task, with its private state; its log may take as much again [64 MiB]
	OwnerTasks int           // tasks of one owner [half of all, and all for callers without a principal]
	OwnerBytes int64         // tasks of one owner together [half of all, and all for callers without a principal]
	Events     int           // events that the log of one task keeps at least; older ones are trimmed [10,000]
	Pushes     int           // push notification configurations of all tasks [100,000]
	Ended      time.Duration // how long an ended task is kept [7 days]
	Parked     time.Duration // how long a task waits for its client before it is dropped [90 days]

	// Full has every transaction wait for the disk, so that a power cut loses nothing that was acknowledged. Without, it
	// loses the last moments, and never more than that or the order of things; the end of the process, however it comes,
	// loses nothing either way.
	Full bool
	// Cache is how many bytes of tasks that were just written are kept decoded [64 MiB].
	Cache int64
	// Clock is the time that rules what is due and what is dropped [time.Now].
	Clock func() time.Time
	// Logger gets errors that no caller is told of [slog.Default].
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Tasks = cmp.Or(o.Tasks, 10_000_000)
	o.Bytes = cmp.Or(o.Bytes, 64<<30)
	o.TaskBytes = cmp.Or(o.TaskBytes, min(64<<20, o.Bytes/4))
	o.Events = cmp.Or(o.Events, 10_000)
	o.Pushes = cmp.Or(o.Pushes, 100_000)
	o.Ended = cmp.Or(o.Ended, 7*24*time.Hour)
	o.Parked = cmp.Or(o.Parked, 90*24*time.Hour)
	o.Cache = cmp.Or(o.Cache, 64<<20)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

func (o *Options) limits() relational.Limits {
	return relational.Limits{
		Tasks: o.Tasks, Bytes: o.Bytes, TaskBytes: o.TaskBytes, OwnerTasks: o.OwnerTasks, OwnerBytes: o.OwnerBytes,
		Events: o.Events, Pushes: o.Pushes,
	}
}
