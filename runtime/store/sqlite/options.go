package sqlite

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// Options configure a [Store] and limit its content. A zero field means the default in brackets. Bytes are those of the
// content, as JSON, and of the overhead of a task, a message, an event and a part, or those of the file where these are
// more. Owners are counted by their principals: any client may choose the name of a tenant.
//
// Tasks are evicted to make room, as in memory: those of an owner over a limit of its own, and when the store is full
// those of the owner with the most. The task that ended longest ago is evicted first, then the
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

	// Full makes every transaction wait for the disk, so that a power cut loses nothing that was acknowledged. Without it a power cut
	// loses the last transactions, in their order; the end of the process, also by a kill, loses nothing either way.
	Full bool
	// Cache limits the tasks that were written last and are kept decoded, in bytes [64 MiB].
	Cache int64
	// Clock is the clock for deliveries that are due and for retention [time.Now].
	Clock func() time.Time
	// Logger gets errors that no call returns [slog.Default].
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
