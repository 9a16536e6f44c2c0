package sqlite

import (
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// change is a new task, or an update of one, on its way into the file. What it embeds is prepared on the caller's goroutine,
// so that the writer has less to do.
type change struct {
	relational.Change
	view  *store.View
	start stored.Meta    // of a new task
	task  runtime.Task   // of a new task: a copy, since a caller that gets no answer sends its own again
	read  *stored.Row    // of an update, when the task was not in the cache
	snap  store.Snapshot // the answer

	r *stored.Row // made by the writer, anew in each transaction that is tried
}

// Add implements [relational.Out]: it makes the statement at once, unless one has failed. A failure is that of the transaction.
func (w *writer) Add(sql string, args ...any) {
	if w.failed == nil {
		_, _ = w.exec(sql, args...)
	}
}

// Fenced implements [relational.Out]. The writer decides within the transaction, so that it finds what it decided on.
func (w *writer) Fenced(sql string, args ...any) {
	if w.failed != nil {
		return
	}
	if n, err := w.exec(sql, args...); err == nil && n == 0 {
		_ = w.fail(fmt.Errorf("%w: %s", relational.ErrStale, sql))
	}
}

// Event implements [relational.Out].
func (w *writer) Event(row []any) { w.Add(dialect.InsertEvent(), row...) }
