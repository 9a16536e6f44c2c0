package sqlite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/admin"
)

// What makes the files of testdata/formats, and asks a store what it has: see the README there. The tests are in
// format_test.go.

var writeFormat = flag.Bool("write-format", false, "write the test file of today's format, which must not be there yet")

// formatFile names the file of a format in SQL; its answers are beside it.
func formatFile(format int) string {
	return filepath.Join("testdata", "formats", strconv.Itoa(format)+".sql")
}

func answersFile(format int) string { return strings.TrimSuffix(formatFile(format), "sql") + "txt" }

// formatClock is when the files were made, to the second: the stores that read them go on then.
var formatClock = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func formatOptions() Options {
	return Options{Clock: func() time.Time { return formatClock }, Events: 4}
}

var (
	nobody = store.Owner{}
	ada    = store.Owner{Tenant: "acme", Principal: "ada"}
	adaToo = store.Owner{Tenant: "beta", Principal: "ada"}
	bob    = store.Owner{Principal: "bob"}
)

// TestWriteFormat writes the test file of today's format if it is asked to.
func TestWriteFormat(t *testing.T) {
	if !*writeFormat {
		return
	}
	if exists(formatFile(len(steps))) {
		t.Fatalf("%s is there", formatFile(len(steps)))
	}
	path := killedAgent(t)
	script(t, path, "PRAGMA wal_checkpoint(TRUNCATE)")
	text := dump(t, path)
	said := answers(t, path)
	again := restored(t, text)
	if got := dump(t, again); got != text {
		t.Fatalf("what is restored is\n%s\nand was\n%s", got, text)
	}
	if got := answers(t, again); got != said {
		t.Fatalf("of what is restored it says\n%s\nand said\n%s", got, said)
	}
	for name, content := range map[string]string{formatFile(len(steps)): text, answersFile(len(steps)): said} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// agent is one that works on a file.
type formatAgent struct {
	*testing.T
	*Store
	p     *runtime.Protocol
	stamp uint64
	at    time.Time
}

func (a *formatAgent) speaks(path string, versions ...string) {
	s, err := Open(path, speaking(versions...), formatOptions())
	if err != nil {
		a.Fatal(err)
	}
	a.Store = s
}

func (a *formatAgent) must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

func (a *formatAgent) next() (uint64, time.Time) {
	a.stamp++
	a.at = a.at.Add(time.Second)
	return a.stamp, a.at
}

func contextOf(id string) string { return "context of " + id }

func (a *formatAgent) message(k store.Key, user bool, said string) runtime.Message {
	info := runtime.MessageInfo{ID: fmt.Sprint("message ", a.stamp), User: user, Metadata: []byte(`{"n":1}`)}
	m := a.p.NewMessage(runtime.MessageData{MessageInfo: info, Parts: []runtime.Part{runtime.Text(said), {Kind: runtime.PartData, Data: []byte(`{"city":"Zürich"}`)}}})
	m.Bind(contextOf(k.Task), k.Task)
	return m
}

func (a *formatAgent) call(k store.Key, said string) *store.Call {
	return &store.Call{Input: []byte(`{"said":"` + said + `"}`), Request: &runtime.SendRequest{
		Tenant: k.Owner.Tenant, Message: a.message(k, true, said), AcceptedOutputModes: []string{"text/plain"}}}
}

func (a *formatAgent) newTask(k store.Key, c *store.Call) store.New {
	stamp, at := a.next()
	task, m := a.p.NewTask(k.Task, contextOf(k.Task), at), a.message(k, true, "hello")
	task.AddMessage(m)
	return store.New{Task: task, Private: store.Private{Skill: "talk", Input: []byte(`{"said":"hello"}`)},
		Size: store.SizeOfMessage(m, m.Contents()), Stamp: stamp, Call: c}
}

func (a *formatAgent) create(k store.Key, n store.New) store.Snapshot {
	a.Helper()
	snap, err := a.Create(ctx, k, n, nil)
	a.must(err)
	return snap
}

// status makes an update to a state. An agent says nothing if said is "".
func (a *formatAgent) status(k store.Key, state runtime.State, said string) store.Update {
	stamp, at := a.next()
	var m runtime.Message
	if said != "" {
		m = a.message(k, false, said)
	}
	return store.Update{Event: a.p.NewStatus(k.Task, contextOf(k.Task), state, m, at), Stamp: stamp}
}

func (a *formatAgent) chunk(k store.Key, said string, more, last bool) store.Update {
	stamp, _ := a.next()
	data := runtime.ArtifactData{ID: "report", Name: "Report", Parts: []runtime.Part{runtime.Text(said)}, Append: more, LastChunk: last}
	return store.Update{Event: a.p.NewArtifact(k.Task, contextOf(k.Task), data), Stamp: stamp}
}

// says makes updates of a handler, of the task's epoch.
func (a *formatAgent) says(k store.Key, epoch int64, list ...store.Update) (snap store.Snapshot) {
	a.Helper()
	for _, u := range list {
		u.Epoch = epoch
		var err error
		snap, err = a.Apply(ctx, k, 0, u, nil)
		a.must(err)
	}
	return snap
}

// push adds a configuration.
func (a *formatAgent) push(k store.Key, id string, tasks bool) {
	a.Helper()
	config := runtime.PushConfig{ID: id, URL: "https://hook.example/" + id, Token: "token", Scheme: "Bearer", Credentials: "credentials"}
	a.must(a.SetPush(ctx, k, store.Push{ID: id, Version: "1.0", Config: config, Tasks: tasks}))
}

// deliver ends the deliveries that are due, each as it is said.
func (a *formatAgent) deliver(outcomes map[string]store.Outcome) {
	a.Helper()
	due, _, err := a.Due(ctx, 100, time.Minute)
	a.must(err)
	for _, d := range due {
		if o, ok := outcomes[d.Push.ID]; ok {
			a.must(a.Settle(ctx, d, o))
		}
	}
}

// killedAgent makes the file of an agent that did all kinds of things, and was killed.
func killedAgent(t *testing.T) string {
	path := fresh(t)
	a := &formatAgent{T: t, p: speaking("1.0", "0.3"), at: formatClock.Add(-time.Hour)}

	// At first it spoke A2A 0.3 alone.
	a.speaks(path, "0.3")
	k := store.Key{Owner: ada, Task: "old"}
	snap := a.create(k, a.newTask(k, a.call(k, "hello")))
	done := a.status(k, runtime.StateCompleted, "done")
	done.Done = snap.Run.N
	a.says(k, snap.Epoch, a.chunk(k, "one, ", false, false), a.chunk(k, "two", true, true), done)
	k = store.Key{Owner: nobody, Task: "given back"}
	snap = a.create(k, a.newTask(k, a.call(k, "hello")))
	a.says(k, snap.Epoch, a.status(k, runtime.StateWorking, ""), a.chunk(k, "one, ", false, false))
	a.must(a.Close())
	a.speaks(path, "1.0", "0.3")

	// At work, with a second message that waits, and an artifact that has not ended.
	k = store.Key{Owner: ada, Task: "at work"}
	n := a.newTask(k, a.call(k, "hello"))
	n.Repeat = &store.Repeat{Key: "message of ada", Digest: sha256.Sum256([]byte("hello")), For: 24 * time.Hour}
	snap = a.create(k, n)
	a.push(k, "events", false)
	a.push(k, "tasks", true)
	a.says(k, snap.Epoch, a.status(k, runtime.StateWorking, "on it"), a.chunk(k, "one, ", false, false), a.chunk(k, "two, ", true, false))
	second := a.status(k, runtime.StateWorking, "")
	second.Messages, second.Call = []runtime.Message{a.message(k, true, "and Bern?")}, a.call(k, "and Bern?")
	_, err := a.Apply(ctx, k, 4, second, nil)
	a.must(err)
	a.says(k, snap.Epoch, a.chunk(k, "three", true, false))

	// Ended, and what was to be sent: given up, to be tried again, on its way, arrived.
	k = store.Key{Owner: adaToo, Task: "ended"}
	snap = a.create(k, a.newTask(k, a.call(k, "hello")))
	for _, id := range []string{"dead", "failing", "sent"} {
		a.push(k, id, false)
	}
	done = a.status(k, runtime.StateCompleted, "done")
	done.Done = snap.Run.N
	a.says(k, snap.Epoch, a.chunk(k, "all", false, true), done)
	a.deliver(map[string]store.Outcome{"dead": {Dead: "410 Gone"}, "failing": {Again: time.Hour}, "sent": {Sent: 3}})
	k = store.Key{Owner: bob, Task: "canceled"}
	a.create(k, a.newTask(k, nil))
	_, err = a.Apply(ctx, k, 1, a.status(k, runtime.StateCanceled, ""), nil)
	a.must(err)

	// Asking: the handler has saved something, or the runtime asks.
	k = store.Key{Owner: bob, Task: "asking"}
	snap = a.create(k, a.newTask(k, a.call(k, "hello")))
	asks := a.status(k, runtime.StateInputRequired, "which city?")
	saved := []byte(`{"step":1}`)
	asks.Done, asks.Saved = snap.Run.N, &saved
	a.says(k, snap.Epoch, asks)
	k = store.Key{Owner: bob, Task: "asked by the runtime"}
	n = a.newTask(k, nil)
	n.Private.Asked, n.Private.ClientID = true, true
	a.create(k, n)
	_, err = a.Apply(ctx, k, 1, a.status(k, runtime.StateInputRequired, "a city, please"), nil)
	a.must(err)

	// Long: its first events are gone.
	k = store.Key{Owner: nobody, Task: "long"}
	snap = a.create(k, a.newTask(k, a.call(k, "hello")))
	for i := range 8 {
		said := strings.Repeat("x", 22_000)
		if i > 3 {
			said = fmt.Sprint("chunk ", i)
		}
		a.says(k, snap.Epoch, a.chunk(k, said, i > 0, false))
	}

	tickets(a)
	notes(a)
	rows(a)
	path = left(t, path)
	a.must(a.Close())
	return path
}

// tickets are there from format 2 on, and trace contexts.
func tickets(a *formatAgent) {
	k := store.Key{Owner: ada, Task: "authorizing"}
	n := a.newTask(k, a.call(k, "hello"))
	n.Private.Trace = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
	snap := a.create(k, n)
	asks := a.status(k, runtime.StateAuthRequired, "please log in")
	asks.Done, asks.Ticket = snap.Run.N, &store.Ticket{Hash: sha256.Sum256([]byte("word")), For: 24 * time.Hour, Request: a.call(k, "logged in").Request}
	snap = a.says(k, snap.Epoch, asks)
	again := a.status(k, runtime.StateAuthRequired, "or so")
	again.Ticket = &store.Ticket{Hash: sha256.Sum256([]byte("other word")), For: 24 * time.Hour, Request: a.call(k, "logged in").Request}
	_, err := a.Apply(ctx, k, snap.Version, again, nil)
	a.must(err)

	k = store.Key{Owner: bob, Task: "authorized"}
	snap = a.create(k, a.newTask(k, a.call(k, "hello")))
	asks = a.status(k, runtime.StateAuthRequired, "please log in")
	hash := sha256.Sum256([]byte("used word"))
	asks.Done, asks.Ticket = snap.Run.N, &store.Ticket{Hash: hash, For: 24 * time.Hour, Request: a.call(k, "logged in").Request}
	snap = a.says(k, snap.Epoch, asks)
	goes := a.status(k, runtime.StateWorking, "")
	goes.Redeem, goes.Call = &hash, a.call(k, "logged in")
	goes.Call.Value = []byte(`"the code"`)
	_, err = a.Apply(ctx, k, snap.Version, goes, nil)
	a.must(err)
}

// notes are there from format 3 on.
func notes(a *formatAgent) {
	set := func(of store.Owner, value string, expect int64) (version int64) {
		a.Helper()
		version, err := a.SetNote(ctx, of, "context", []byte(value), expect)
		a.must(err)
		return version
	}
	set(ada, `{"likes":"trains and ships"}`, set(ada, `{"likes":"trains"}`, 0))
	set(bob, `{"is in":"Bern"}`, 0)
}

// rows with several events are there from format 4 on.
func rows(a *formatAgent) {
	k := store.Key{Owner: ada, Task: "together"}
	n := a.newTask(k, a.call(k, "hello"))
	n.Then = []store.Change{{Event: a.status(k, runtime.StateWorking, "on it").Event}, {Event: a.chunk(k, "one, ", false, false).Event}}
	snap := a.create(k, n)
	u := a.chunk(k, "two, ", true, false)
	u.Then = []store.Change{{Event: a.chunk(k, "three, ", true, false).Event}, {Event: a.chunk(k, "four", true, true).Event}}
	a.says(k, snap.Epoch, u)
	k = store.Key{Owner: bob, Task: "answered at once"}
	n = a.newTask(k, a.call(k, "hello"))
	n.Then, n.Done = []store.Change{{Event: a.status(k, runtime.StateCompleted, "hello").Event}}, true
	a.create(k, n)
}

// manyX is a long text of one letter, which is written in short.
var manyX = regexp.MustCompile(`x{256,}`)

// dump writes a file as SQL that makes it: the tables with their rows, then the indexes. Bytes that are text are written as such.
func dump(t *testing.T, path string) string {
	t.Helper()
	c, err := connect(path, "rw", "synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	var b strings.Builder
	ask := func(sql string, each func(v []value)) {
		t.Helper()
		if err := c.query(sql, func(v []value) error { each(v); return nil }); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, pragma := range []string{"application_id", "user_version"} {
		ask("PRAGMA "+pragma, func(v []value) { fmt.Fprintf(&b, "PRAGMA %s=%d;\n", pragma, num(v[0])) })
	}
	b.WriteString("BEGIN;\n")
	var tables []string
	ask("SELECT name, sql FROM sqlite_schema WHERE type='table' ORDER BY rowid", func(v []value) {
		tables = append(tables, text(v[0]))
		if text(v[0]) != "sqlite_sequence" {
			fmt.Fprintf(&b, "%s;\n", text(v[1]))
		}
	})
	// Making rows writes it.
	tables = append(slices.DeleteFunc(tables, func(name string) bool { return name == "sqlite_sequence" }), "sqlite_sequence")
	b.WriteString("\n")
	for _, table := range tables {
		if table == "sqlite_sequence" {
			b.WriteString("DELETE FROM sqlite_sequence;\n")
		}
		ask("SELECT * FROM "+table, func(v []value) {
			list := make([]string, len(v))
			for i, v := range v {
				list[i] = literal(v)
			}
			fmt.Fprintf(&b, "INSERT INTO %s VALUES(%s);\n", table, strings.Join(list, ","))
		})
	}
	b.WriteString("\n")
	ask("SELECT sql FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL ORDER BY rowid", func(v []value) {
		fmt.Fprintf(&b, "%s;\n", text(v[0]))
	})
	b.WriteString("COMMIT;\n")
	return b.String()
}

// literal is a value in SQL.
func literal(v value) string {
	quoted := func(s string) string {
		return manyX.ReplaceAllStringFunc("'"+strings.ReplaceAll(s, "'", "''")+"'", func(many string) string {
			return fmt.Sprintf("'||replace(hex(zeroblob(%d)),'00','x')||'", len(many))
		})
	}
	switch v := v.(type) {
	case nil:
		return "NULL"
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return quoted(v)
	case []byte:
		if len(v) > 0 && utf8.Valid(v) && !bytes.ContainsFunc(v, func(r rune) bool { return r < ' ' }) {
			return "CAST(" + quoted(string(v)) + " AS BLOB)"
		}
		return fmt.Sprintf("X'%X'", v)
	}
	panic(fmt.Sprintf("a value is a %T", v))
}

// restored makes a file of SQL.
func restored(t *testing.T, sql string) string {
	t.Helper()
	path := fresh(t)
	script(t, path, "PRAGMA journal_mode=WAL;PRAGMA synchronous=OFF;"+sql)
	return path
}

// said is what a store answers about what is in it.
type said struct {
	Tasks   []any // each a saidTask
	Pages   []any // of "a2agen tasks show"
	Repeats []any
	Tickets []any
	Notes   []any
	Lists   []any
	// What the next process takes over, and what it has to send: the last questions, as they change what they ask about.
	Runs []any
	Due  []any
}

// text is JSON with a line for each answer.
func (s *said) text() (string, error) {
	var b strings.Builder
	var err error
	for _, of := range []struct {
		name string
		list []any
	}{{"Tasks", s.Tasks}, {"Pages", s.Pages}, {"Repeats", s.Repeats}, {"Tickets", s.Tickets}, {"Notes", s.Notes}, {"Lists", s.Lists},
		{"Runs", s.Runs}, {"Due", s.Due}} {
		for _, one := range of.list {
			line, failed := json.Marshal(one)
			err = errors.Join(err, failed)
			fmt.Fprintf(&b, "%s: %s\n", of.name, line)
		}
	}
	return manyX.ReplaceAllStringFunc(b.String(), func(many string) string { return fmt.Sprintf("x times %d", len(many)) }), err
}

type saidTask struct {
	Owner                store.Owner
	ID                   string
	Task                 json.RawMessage
	Version, Epoch       int64
	Skill, Input, Saved  string
	Asked, ClientID      bool   `json:",omitempty"`
	Trace                string `json:",omitempty"`
	Context, State       string
	Calls, Done, Trimmed int64
	Events               []json.RawMessage // the rest, after Trimmed
	At                   []string          // the state and the parts of artifacts at each version that can still be shown
	Pushes               []any             `json:",omitempty"`
}

// answers opens a copy of a file and returns all that its store says, as JSON.
func answers(t *testing.T, path string) string {
	t.Helper()
	path = left(t, path)
	s, err := Open(path, speaking("1.0", "0.3"), formatOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	return saidBy(t, s, path)
}

func saidBy(t *testing.T, s *Store, path string) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	v := speaking("1.0").Versions[0]
	encode := func(e runtime.Event) json.RawMessage {
		b, err := v.AppendEvent(nil, e)
		must(err)
		return b
	}
	var all said
	keys, pages := shown(t, path)
	all.Pages = pages
	for _, k := range keys {
		snap, err := s.Get(ctx, k, store.Full)
		must(err)
		h, err := s.Head(ctx, k)
		must(err)
		p := &snap.Private
		task := saidTask{Owner: k.Owner, ID: k.Task, Task: encode(snap.Task), Version: snap.Version, Epoch: snap.Epoch, Skill: p.Skill,
			Input: string(p.Input), Saved: string(p.Saved), Asked: p.Asked, ClientID: p.ClientID, Trace: traceOf(p),
			Context: h.Context, State: h.State.String(), Calls: h.Calls, Done: h.Done}
		records, err := s.Events(ctx, k, 0, 0)
		for ; errors.Is(err, store.ErrTrimmed); records, err = s.Events(ctx, k, task.Trimmed, 0) {
			task.Trimmed++
		}
		must(err)
		for _, r := range records {
			e, err := r.Event()
			must(err)
			task.Events = append(task.Events, encode(e))
		}
		for at := range snap.Version {
			then, err := s.Get(ctx, k, store.View{Artifacts: true, At: at + 1})
			if errors.Is(err, store.ErrTrimmed) {
				continue
			}
			must(err)
			parts := 0
			for _, a := range then.Task.ArtifactList() {
				parts += len(a.Parts)
			}
			task.At = append(task.At, fmt.Sprintf("%d: %v, %d parts", then.Version, then.Task.TaskInfo().State, parts))
		}
		pushes, err := s.Pushes(ctx, k)
		must(err)
		for _, p := range pushes {
			task.Pushes = append(task.Pushes, []any{p.ID, p.Version, p.Config, p.Tasks})
		}
		all.Tasks = append(all.Tasks, task)
	}
	for _, of := range []store.Owner{nobody, ada, adaToo, bob} {
		for _, q := range []store.Query{{}, {State: runtime.StateCompleted}, {Context: contextOf("at work")}} {
			q.Size = 50
			page, err := s.List(ctx, of, q)
			must(err)
			ids := []string{}
			for _, task := range page.Tasks {
				ids = append(ids, task.TaskInfo().ID)
			}
			all.Lists = append(all.Lists, []any{of, q.State.String(), q.Context, ids, page.Total})
		}
	}
	for _, word := range []string{"hello", "something else"} {
		n := store.New{Task: speaking("1.0").NewTask("again", "again", formatClock)}
		n.Repeat = &store.Repeat{Key: "message of ada", Digest: sha256.Sum256([]byte(word)), For: time.Hour}
		_, err := s.Create(ctx, store.Key{Owner: ada, Task: "again"}, n, nil)
		r, ok := errors.AsType[*store.Repeated](err)
		if !ok {
			t.Fatalf("the message comes again: %v", err)
		}
		all.Repeats = append(all.Repeats, *r)
	}
	all.Tickets, all.Notes = saidOfTickets(t, s), saidOfNotes(t, s)

	runs, err := s.Claim(ctx, []string{"talk"}, 100)
	must(err)
	slices.SortFunc(runs, func(a, b store.Run) int { return cmp.Compare(a.Key.Task, b.Key.Task) })
	for _, r := range runs {
		all.Runs = append(all.Runs, []any{r.Key, r.Version, r.Epoch, r.Call.N, r.Call.Attempt, r.Call.Made, string(r.Call.Input),
			encode(r.Call.Request.Message), valueOf(r.Call)})
	}
	due, _, err := s.Due(ctx, 100, time.Minute)
	must(err)
	slices.SortFunc(due, func(a, b store.Delivery) int { return cmp.Compare(a.Push.ID, b.Push.ID) })
	for _, d := range due {
		all.Due = append(all.Due, []any{d.Key, d.Push.ID, d.Next, d.Until, d.Attempt, d.Since})
	}
	text, err := all.text()
	must(err)
	return text
}

// shown is what "a2agen tasks" shows of a file: all its tasks.
func shown(t *testing.T, path string) (keys []store.Key, pages []any) {
	t.Helper()
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := f.Tasks(ctx, admin.Which{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		page, err := f.Task(ctx, row)
		if err != nil {
			t.Fatal(err)
		}
		keys, pages = append(keys, store.Key{Owner: store.Owner{Tenant: row.Tenant, Principal: row.Principal}, Task: row.ID}), append(pages, page)
	}
	return keys, pages
}

func traceOf(p *store.Private) string { return p.Trace }

func valueOf(c *store.Call) string { return string(c.Value) }

// saidOfTickets are those that are good.
func saidOfTickets(t *testing.T, s *Store) (list []any) {
	t.Helper()
	for _, word := range []string{"word", "other word", "used word"} {
		switch k, ticket, err := s.Ticket(ctx, sha256.Sum256([]byte(word))); {
		case err == nil:
			list = append(list, []any{word, k, ticket.Request.Message.Contents()[0].Text})
		case !errors.Is(err, store.ErrTicket):
			t.Fatal(err)
		}
	}
	return list
}

// saidOfNotes are those that are there.
func saidOfNotes(t *testing.T, s *Store) (list []any) {
	t.Helper()
	for _, of := range []store.Owner{ada, adaToo, bob} {
		switch note, err := s.Note(ctx, of, "context"); {
		case err != nil:
			t.Fatal(err)
		case note.Version > 0:
			list = append(list, []any{of, string(note.Value), note.Version})
		}
	}
	return list
}
