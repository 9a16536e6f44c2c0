package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
	"os"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store/admin"
)

var _ admin.Store = (*File)(nil)

// File is the file of a store as people look at it: without an agent, or beside one that runs.
type File struct {
	path string
	c    *conn
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
	f := &File{path, c}
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
			err = errCopying(from)
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, cannotOpen(path, err)
	}
	return f, nil
}

func wrongFormat(format int) error {
	return fmt.Errorf("it has format %d, and this program knows format %d: start the agent once with this version, "+
		"or use the newer program", format, len(steps))
}

// Close lets go of the file.
func (f *File) Close() error { return f.c.close() }

// whichTasks returns the condition of tasks in SQL, and its arguments.
func whichTasks(w *admin.Which) (where string, args []any) {
	where = "1=1"
	add := func(text string, values ...any) { where, args = where+" AND "+text, append(args, values...) }
	if w.Principal != nil {
		add("a.principal=?", *w.Principal)
	}
	if w.Tenant != nil {
		add("o.tenant=?", *w.Tenant)
	}
	if w.ID != "" {
		add("t.id=?", w.ID)
	}
	if w.Context != "" {
		add("t.context=?", w.Context)
	}
	if len(w.States) > 0 {
		numbers := make([]int, len(w.States))
		for i, s := range w.States {
			numbers[i] = int(s)
		}
		list, _ := json.Marshal(numbers) // of numbers
		add("t.state IN (SELECT value FROM json_each(?))", string(list))
	}
	return where, args
}

const tasksOf = " FROM task t JOIN owner o ON o.n=t.owner JOIN account a ON a.n=t.account WHERE "

// Tasks lists tasks, the most recent status first.
func (f *File) Tasks(_ context.Context, w admin.Which) (rows []admin.TaskRow, err error) {
	where, args := whichTasks(&w)
	if w.Limit <= 0 {
		w.Limit = -1
	}
	err = f.c.query(`SELECT t.n, o.tenant, a.principal, t.id, t.context, t.skill, t.state, t.at, t.calls-t.done, t.charged,
		max(t.version, coalesce((SELECT max(seq) FROM event WHERE task=t.n), 0))`+tasksOf+where+" ORDER BY t.at DESC, t.id LIMIT ?",
		func(v []value) error {
			rows = append(rows, admin.TaskRow{
				N: num(v[0]), Tenant: text(v[1]), Principal: text(v[2]), ID: text(v[3]), Context: text(v[4]), Skill: text(v[5]),
				//nolint:gosec
				State: runtime.State(num(v[6])).String(), At: time.Unix(0, num(v[7])).UTC(), Open: num(v[8]), Bytes: num(v[9]),
				Version: num(v[10]),
			})
			return nil
		}, append(args, w.Limit)...)
	return rows, err
}

// Task returns a task with its log.
func (f *File) Task(_ context.Context, row admin.TaskRow) (page admin.TaskPage, err error) {
	page.TaskRow = row
	err = f.c.query("SELECT head, oldest, (SELECT doc FROM body WHERE task=n ORDER BY version DESC LIMIT 1) FROM task WHERE n=?",
		func(v []value) error {
			page.Head, page.Oldest, page.Body = blob(v[0]), num(v[1]), blob(v[2])
			return nil
		}, row.N)
	if err != nil {
		return page, err
	}
	err = f.c.query("SELECT "+logColumns+`, messages, name FROM event JOIN wire ON wire.n=event.wire WHERE task=?
		ORDER BY seq`, func(v []value) error {
		list, err := scanLog(v)
		for _, e := range list {
			page.Events = append(page.Events, admin.EventRow{
				Seq: e.Seq, Kind: admin.KindName(e.Kind), State: e.State.String(), Event: e.Doc, Protocol: text(v[6]),
			})
		}
		if err == nil {
			page.Events[len(page.Events)-1].Messages = blob(v[5])
		}
		return err
	}, row.N)
	if err != nil {
		return page, err
	}
	err = f.c.query("SELECT n, attempt, input FROM call WHERE task=? ORDER BY n", func(v []value) error {
		page.Calls = append(page.Calls, admin.CallRow{N: num(v[0]), Attempt: num(v[1]), Input: blob(v[2])})
		return nil
	}, row.N)
	if err != nil {
		return page, err
	}
	page.Pushes, err = f.pushes("p.task=?", row.N)
	return page, err
}

// Deliveries lists push notification configurations that have something to send or were given up; only the latter if
// dead.
func (f *File) Deliveries(_ context.Context, dead bool) ([]admin.PushRow, error) {
	if dead {
		return f.pushes("p.dead IS NOT NULL")
	}
	return f.pushes("p.dead IS NOT NULL OR p.due IS NOT NULL")
}

func (f *File) pushes(where string, args ...any) (rows []admin.PushRow, err error) {
	err = f.c.query(`SELECT t.id, p.id, p.version, p.config, p.next, p.attempt, p.since, p.due, p.dead,
		max(t.version, coalesce((SELECT max(seq) FROM event WHERE task=t.n), 0)) FROM push p JOIN task t ON t.n=p.task
		WHERE `+where+" ORDER BY t.id, p.id", func(v []value) error {
		p := admin.PushRow{Task: text(v[0]), ID: text(v[1]), Version: text(v[2]), Next: num(v[4]), Failed: num(v[5]),
			Dead: text(v[8])}
		p.Behind = num(v[9]) - p.Next + 1
		p.Since, p.Due = admin.TimeOf(num(v[6])), admin.TimeOf(num(v[7]))
		var config runtime.PushConfig // without what is secret
		err := json.Unmarshal(blob(v[3]), &config)
		p.URL = config.URL
		rows = append(rows, p)
		return err
	}, args...)
	return rows, err
}

// Prune drops tasks that rest, with all that belongs to them; never one that is worked on, or whose notifications are
// on their way. It returns how many there were; with dry it drops none.
func (f *File) Prune(_ context.Context, which admin.Which, rested time.Duration, dry bool) (n int, err error) {
	where, args := whichTasks(&which)
	args = append([]any{time.Now().Add(-rested).UnixNano()}, args...)
	const resting = "t.rest>0 AND t.rested<? AND NOT EXISTS(SELECT 1 FROM push WHERE push.task=t.n AND push.due IS NOT NULL) AND "
	if dry {
		count, _, err := f.c.one("SELECT count(*)"+tasksOf+resting+where, args...)
		return int(count), err
	}
	for {
		dropped := 0
		err := f.change(func(w *writer) (err error) {
			dropped, err = w.dropAll("SELECT t.n"+tasksOf+resting+where+" LIMIT ?", append(args, sweepAtOnce)...)
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
		changed, err := w.exec(`UPDATE push SET dead=NULL, attempt=0, since=0, holder=0, due=?1 WHERE dead IS NOT NULL
			AND (?2='' OR task IN (SELECT n FROM task WHERE id=?2)) AND (?3='' OR id=?3)`, w.now.UnixNano(), task, id)
		n = int(changed)
		return err
	})
	return n, err
}

// change makes one transaction, as the store's own writer does. An agent that runs notices.
func (f *File) change(do func(w *writer) error) error {
	s := &Store{options: Options{}.withDefaults(), cache: stored.NewCache[*stored.Row](0)}
	w := &writer{s: s, conn: f.c, changed: map[int64]struct{}{}}
	j := &job{do: do, done: make(chan struct{})}
	if _, err := w.transaction([]*job{j}); err != nil {
		return err
	}
	return j.err
}
