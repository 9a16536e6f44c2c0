// Package relational is a store of tasks in the tables of a database: what is read, decided and written, and in which statements.
// Packages sqlite and postgres are the databases. They say when that happens: SQLite within the transaction of its one writer, PostgreSQL on
// the caller's goroutine, with statements that are undone when another process was faster. See [Store], [DB] and [Tx].
//
// Statements are in the words of PostgreSQL, with the tables in the schema a2a; a driver replaces what its database says otherwise.
package relational

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Row is a row of an answer. *pgx.Rows is one.
type Row interface {
	// Scan reads the columns, in their order, as database/sql does.
	Scan(dest ...any) error
	Values() ([]any, error)
}

// Question is a statement that reads.
type Question struct {
	SQL  string
	Args []any
	Row  func(Row) error // is called for each row of the answer
}

// Driver asks a database.
type Driver interface {
	// Ask asks several questions of one moment, in one round trip.
	Ask(ctx context.Context, questions ...Question) error
	Dialect() *Dialect
}

// Dialect is what the tables of the databases have under different names.
type Dialect struct {
	Version string // of a task t
	// Meta are MetaColumns, or what stands for them. Where the row of a task Lags behind its log, it has the version that the row notes
	// in the place of the revision.
	Meta    string
	Lags    bool
	Attempt string // of the call c of a task t at work
	// By names the index that a query of tasks must use, after "task"; "" where the database finds it.
	By func(index string) string
	// Checks are the questions about what is wrong that differ.
	Checks []Check
	// Columns are those of the row of a task, those that never change before the version, and what other rows have beside the columns that all databases have, with a space before
	// each: of an event its stamp, of a call the stamp that began it, its attempt and how much it has made, of a repeat its account.
	Columns struct{ Task, Event, Call, Repeat string }
	// Row is a row of task, in the order of its columns. wire is the version of its head.
	Row func(n, owner, account int64, id string, m *stored.Meta, wire int64, head []byte) []any
	// Count makes the sums of all accounts anew.
	Count []string
	// Repeats are conditions of rows of repeat: Of an account $1, and its Oldest, with the order in which that is the first.
	Repeats struct{ Of, Oldest string }

	once sync.Once
	made madeOf
}

// madeOf are statements that are made of the columns.
type madeOf struct{ task, call, event, repeat string }

func (d *Dialect) texts() *madeOf {
	d.once.Do(func() {
		d.made.task = insert("task", d.Columns.Task)
		d.made.call = insert("call", callColumns+d.Columns.Call)
		d.made.event = insert("event", d.Event())
		d.made.repeat = repeatSQL(d.Columns.Repeat)
	})
	return &d.made
}

// InsertEvent is the statement of a row of the log, and InsertTask of one of task.
func (d *Dialect) InsertEvent() string { return d.texts().event }
func (d *Dialect) InsertTask() string  { return d.texts().task }

// UpdateTask is the statement that sets the columns of the row of a task from the version to a last one, whose values are the arguments
// from a first one on, and something else before them.
func (d *Dialect) UpdateTask(set, last string, first int, where string) string {
	list := strings.Fields(d.Columns.Task)
	list = list[slices.Index(list, "version") : slices.Index(list, last)+1]
	for i, column := range list {
		list[i] = fmt.Sprint(column, "=$", first+i)
	}
	return "UPDATE a2a.task SET " + set + strings.Join(list, ", ") + " WHERE " + where
}

const callColumns = "task n wire request input value"

// One asks for one row, and reports whether there is one.
func One(ctx context.Context, d Driver, sql string, args []any, dest ...any) (found bool, err error) {
	err = d.Ask(ctx, Question{sql, args, func(r Row) error {
		found = true
		return r.Scan(dest...)
	}})
	return found, err
}

// OrNull makes NULL of a zero.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// stateOf is a state as the tables have it.
func stateOf(n int64) runtime.State { return runtime.State(n) } //nolint:gosec // there are few
