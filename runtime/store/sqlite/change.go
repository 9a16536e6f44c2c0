package sqlite

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// change is a new task, or an update of one, on its way into the file. What it embeds is prepared on the caller's goroutine,
// so that the writer has less to do.
type change struct {
	*stored.Change
	key   store.Key
	view  *store.View
	start stored.Meta    // of a new task
	task  runtime.Task   // of a new task: a copy, since a caller that gets no answer sends its own again
	read  *stored.Row    // of an update, when the task was not in the cache
	snap  store.Snapshot // the answer

	// Made by the writer, anew in each transaction that is tried.
	r   *stored.Row
	was *stored.Meta
	run *store.Call
}
