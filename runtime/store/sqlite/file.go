package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"

	"github.com/a2agen/a2agen/runtime/store/admin"
)

var _ admin.Store = (*File)(nil)

// File is the file of a store as people look at it: without an agent, or beside one that runs.
type File struct {
	relational.Admin
	c *conn
}

// OpenFile opens the file of a store to look at, and to tidy up.
func OpenFile(path string) (*File, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, cannotOpen(path, err)
	}
	c, err := connect(path, "rw", "busy_timeout(5000)")
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	f := &File{relational.Admin{DB: only{c}}, c}
	format, err := formatOf(c)
	switch {
	case err != nil:
	case format == 0:
		err = errors.New("it is empty")
	case format != len(steps):
		err = wrongFormat(format)
	default:
		var from string
		if from, err = copying(c); err == nil && from != "" {
			err = relational.ErrCopying(from)
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, cannotOpen(path, err)
	}
	return f, nil
}

func wrongFormat(format int) error {
	if format > len(steps) {
		return tooNew(format, steps)
	}
	return fmt.Errorf("it has format %d, and this program knows format %d: start the agent once with this version", format, len(steps))
}

// Close lets go of the file.
func (f *File) Close() error { return f.c.close() }

// only is the [relational.Driver] of one connection.
type only struct{ c *conn }

func (o only) Dialect() *relational.Dialect { return &dialect }

func (o only) Ask(ctx context.Context, questions ...relational.Question) error {
	return o.c.asOne(func() error { return within(o).Ask(ctx, questions...) })
}

// within is the [relational.Driver] of a transaction.
type within struct{ c *conn }

func (within) Dialect() *relational.Dialect { return &dialect }

func (t within) Ask(_ context.Context, questions ...relational.Question) error {
	for i := range questions {
		if err := t.c.ask(&questions[i]); err != nil {
			return err
		}
	}
	return nil
}

// Check reports what is wrong with the file: see [admin.Store].
func (f *File) Check(context.Context) (tasks int, wrong []string, err error) {
	err = f.c.asOne(func() error {
		err := f.c.query("PRAGMA integrity_check(100)", func(v []value) error {
			if text(v[0]) != "ok" {
				wrong = append(wrong, "the database is damaged: "+text(v[0]))
			}
			return nil
		})
		for _, q := range f.Questions(&wrong) {
			if err == nil {
				err = f.c.ask(&q)
			}
		}
		if code(err) == codeCorrupt {
			wrong, err = append(wrong, "the database is damaged, and the rest of it cannot be read: "+err.Error()), nil
		}
		if err == nil && len(wrong) == 0 {
			n, _, failed := f.c.one("SELECT count(*) FROM task")
			tasks, err = int(n), failed
		}
		return err
	})
	return tasks, wrong, err
}

// Prune drops tasks that rest, with all that belongs to them; never one that is worked on, or whose notifications are
// on their way. It returns how many there were; with dry it drops none.
func (f *File) Prune(_ context.Context, which admin.Which, rested time.Duration, dry bool) (n int, err error) {
	var c relational.Condition
	c.And("t.rest>0 AND t.rested<? AND NOT EXISTS(SELECT 1 FROM push WHERE push.task=t.n AND push.due IS NOT NULL)", time.Now().Add(-rested).UnixNano())
	c.Only(&which)
	if dry {
		count, _, err := f.c.one("SELECT count(*)"+relational.TasksOf+c.Where, c.Args...)
		return int(count), err
	}
	for {
		dropped := 0
		err := f.change(func(w *writer) (err error) {
			dropped, err = w.dropAll("SELECT t.n"+relational.TasksOf+c.Where+" LIMIT "+strconv.Itoa(sweepAtOnce), c.Args...)
			return err
		})
		if n += dropped; err != nil || dropped < sweepAtOnce {
			return n, err
		}
	}
}

// Replay has notifications sent again that were given up: those of a task ("": all), to one of its configurations ("":
// to all). It returns how many configurations go on. An agent that runs sees it within some seconds.
func (f *File) Replay(_ context.Context, task, id string) (n int, err error) {
	err = f.change(func(w *writer) error {
		changed, err := w.exec(relational.ReplaySQL(strconv.FormatInt(w.now.UnixNano(), 10)), task, id)
		n = int(changed)
		return err
	})
	return n, err
}

// change makes one transaction, as the store's own writer does. An agent that runs notices.
func (f *File) change(do func(w *writer) error) error {
	s := &Store{options: Options{}.withDefaults(), cache: stored.NewCache[*stored.Row](0)}
	w := newWriter(s, f.c)
	j := &job{relational.NewJob(), do}
	if _, err := w.transaction([]*job{j}); err != nil {
		return err
	}
	return j.Err
}
