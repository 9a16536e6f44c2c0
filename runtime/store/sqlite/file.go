package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// File is the file of a store as people look at it: without an agent, or beside one that runs. It needs no protocol:
// what tasks say is shown as it is kept.
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
		err = fmt.Errorf("it has format %d, and this program knows format %d: start the agent once with this version, "+
			"or use the newer program", format, len(steps))
	}
	if err != nil {
		_ = f.Close()
		return nil, cannotOpen(path, err)
	}
	return f, nil
}

// Close lets go of the file.
func (f *File) Close() error { return f.c.close() }

// Which says which tasks are meant. Zero fields mean all.
type Which struct {
	Principal *string
	Tenant    *string
	ID        string
	Context   string
	States    []runtime.State
	Before    time.Time // since when it rests, by the clock of the store
	Limit     int
}

func (w *Which) filter() (where string, args []any) {
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
	if !w.Before.IsZero() {
		add("t.rest>0 AND t.rested<?", w.Before.UnixNano())
	}
	return where, args
}

const tasksOf = " FROM task t JOIN owner o ON o.n=t.owner JOIN account a ON a.n=t.account WHERE "

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
	Bytes     int64     `json:"bytes"`     // about what it takes in the file

	n int64
}

// Tasks lists tasks, the most recent status first.
func (f *File) Tasks(w Which) (rows []TaskRow, err error) {
	where, args := w.filter()
	if w.Limit <= 0 {
		w.Limit = -1
	}
	err = f.c.query(`SELECT t.n, o.tenant, a.principal, t.id, t.context, t.skill, t.state, t.at, t.calls-t.done, t.charged,
		max(t.version, coalesce((SELECT max(seq) FROM event WHERE task=t.n), 0))`+tasksOf+where+" ORDER BY t.at DESC, t.id LIMIT ?",
		func(v []value) error {
			rows = append(rows, TaskRow{
				n: num(v[0]), Tenant: text(v[1]), Principal: text(v[2]), ID: text(v[3]), Context: text(v[4]), Skill: text(v[5]),
				//nolint:gosec
				State: runtime.State(num(v[6])).String(), At: time.Unix(0, num(v[7])).UTC(), Open: num(v[8]), Bytes: num(v[9]),
				Version: num(v[10]),
			})
			return nil
		}, append(args, w.Limit)...)
	return rows, err
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

var kinds = map[runtime.EventKind]string{
	runtime.EventTask: "task", runtime.EventMessage: "message", runtime.EventStatus: "status", runtime.EventArtifact: "artifact",
}

// Task returns a task with its log.
func (f *File) Task(row TaskRow) (page TaskPage, err error) {
	page.TaskRow = row
	err = f.c.query("SELECT head, oldest, (SELECT doc FROM body WHERE task=n ORDER BY version DESC LIMIT 1) FROM task WHERE n=?",
		func(v []value) error {
			page.Head, page.Oldest, page.Body = blob(v[0]), num(v[1]), blob(v[2])
			return nil
		}, row.n)
	if err != nil {
		return page, err
	}
	err = f.c.query("SELECT "+logColumns+`, messages, name FROM event JOIN wire ON wire.n=event.wire WHERE task=?
		ORDER BY seq`, func(v []value) error {
		list, err := scanLog(v)
		for _, e := range list {
			page.Events = append(page.Events, EventRow{
				Seq: e.seq, Kind: kinds[e.kind], State: e.state.String(), Event: e.doc, Protocol: text(v[6]),
			})
		}
		if err == nil {
			page.Events[len(page.Events)-1].Messages = blob(v[5])
		}
		return err
	}, row.n)
	if err != nil {
		return page, err
	}
	err = f.c.query("SELECT n, attempt, input FROM call WHERE task=? ORDER BY n", func(v []value) error {
		page.Calls = append(page.Calls, CallRow{num(v[0]), num(v[1]), blob(v[2])})
		return nil
	}, row.n)
	if err != nil {
		return page, err
	}
	page.Pushes, err = f.pushes("p.task=?", row.n)
	return page, err
}

// Deliveries lists push notification configurations that have something to send or were given up; only the latter if
// dead.
func (f *File) Deliveries(dead bool) ([]PushRow, error) {
	if dead {
		return f.pushes("p.dead IS NOT NULL")
	}
	return f.pushes("p.dead IS NOT NULL OR p.due IS NOT NULL")
}

func (f *File) pushes(where string, args ...any) (rows []PushRow, err error) {
	err = f.c.query(`SELECT t.id, p.id, p.version, p.config, p.next, p.attempt, p.since, p.due, p.dead,
		max(t.version, coalesce((SELECT max(seq) FROM event WHERE task=t.n), 0)) FROM push p JOIN task t ON t.n=p.task
		WHERE `+where+" ORDER BY t.id, p.id", func(v []value) error {
		p := PushRow{Task: text(v[0]), ID: text(v[1]), Version: text(v[2]), Next: num(v[4]), Failed: num(v[5]),
			Dead: text(v[8])}
		p.Behind = num(v[9]) - p.Next + 1
		p.Since, p.Due = timeAt(num(v[6])), timeAt(num(v[7]))
		var config runtime.PushConfig // without what is secret
		err := json.Unmarshal(blob(v[3]), &config)
		p.URL = config.URL
		rows = append(rows, p)
		return err
	}, args...)
	return rows, err
}

func timeAt(nanos int64) *time.Time {
	if nanos == 0 {
		return nil
	}
	t := time.Unix(0, nanos).UTC()
	return &t
}

// Prune drops tasks that rest, with all that belongs to them; never one that is worked on, or whose notifications are
// on their way. It returns how many there were; with dry it drops none.
func (f *File) Prune(which Which, dry bool) (n int, err error) {
	where, args := which.filter()
	const resting = "t.rest>0 AND NOT EXISTS(SELECT 1 FROM push WHERE push.task=t.n AND push.due IS NOT NULL) AND "
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
func (f *File) Replay(task, id string) (n int, err error) {
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
	s := &Store{options: Options{}.withDefaults(), cache: newCache(0)}
	w := &writer{s: s, conn: f.c, changed: map[int64]struct{}{}}
	j := &job{do: do, done: make(chan struct{})}
	if _, err := w.transaction([]*job{j}); err != nil {
		return err
	}
	return j.err
}
