package memory

import (
	"cmp"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
)

// Limits limit the content of a [Store]. A zero field means the default in brackets. Bytes are those of the content,
// as JSON, and of the overhead of a task, a message, an event and a part. Owners are counted by their principals: any
// client may choose the name of a tenant.
//
// Tasks are evicted to make room: those of an owner over a limit of its own, and when the
// store is full those of the owner with the most. The task that ended longest ago is evicted first, then the one that has
// waited longest for its client, never one that is being worked on.
type Limits struct {
	Tasks      int           // tasks [20,000]
	Bytes      int           // all tasks together [256 MiB]
	TaskBytes  int           // one task with its history, artifacts and private state [a quarter of Bytes]
	OwnerTasks int           // tasks of one owner [half of all, and all for callers without a principal]
	OwnerBytes int           // tasks of one owner together [half of all, and all for callers without a principal]
	Events     int           // events that the log of one task keeps at least; older ones are trimmed [10,000]
	Pushes     int           // push notification configurations of all tasks, and half as many of one owner with a principal [10,000]
	Logs       int           // ended tasks that keep their logs for readers that come back: the last ones [1,000]
	Ended      time.Duration // how long an ended task is kept [1 h]
	Parked     time.Duration // how long a task waits for its client before it is dropped [24 h]
}

func (l Limits) withDefaults() Limits {
	l.Tasks = cmp.Or(l.Tasks, 20_000)
	l.Bytes = cmp.Or(l.Bytes, 256<<20)
	l.TaskBytes = cmp.Or(l.TaskBytes, l.Bytes/4)
	l.Events = cmp.Or(l.Events, 10_000)
	l.Pushes = cmp.Or(l.Pushes, 10_000)
	l.Logs = cmp.Or(l.Logs, 1000)
	l.Ended = cmp.Or(l.Ended, time.Hour)
	l.Parked = cmp.Or(l.Parked, 24*time.Hour)
	return l
}

// all is what all may hold together.
func (l *Limits) all() taskstate.Holding {
	return taskstate.Holding{Tasks: int64(l.Tasks), Bytes: int64(l.Bytes)}
}
