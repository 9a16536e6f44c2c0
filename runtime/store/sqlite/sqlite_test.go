package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	runtimes "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

var (
	ctx   = context.Background()
	start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	proto = a2a.Protocol()
)

func key(id string) store.Key { return store.Key{Task: id} }

func newTask(id string) store.New {
	return store.New{Task: proto.NewTask(id, "c", start), Private: store.Private{Skill: "skill"}}
}

func chunk(id, said string) store.Update {
	data := runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text(said)}, Append: true}
	return store.Update{Event: proto.NewArtifact(id, "c", data)}
}

func status(id string, state runtime.State) store.Update {
	return store.Update{Event: proto.NewStatus(id, "c", state, nil, start)}
}

func create(t testing.TB, s *Store, id string) {
	t.Helper()
	if _, err := s.Create(ctx, key(id), newTask(id), nil); err != nil {
		t.Fatal(err)
	}
}

func apply(t testing.TB, s *Store, id string, expect int64, u store.Update) {
	t.Helper()
	if _, err := s.Apply(ctx, key(id), expect, u, nil); err != nil {
		t.Fatal(err)
	}
}

func parts(t testing.TB, s *Store, id string) int {
	t.Helper()
	snap, err := s.Get(ctx, key(id), store.Full)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, a := range snap.Task.ArtifactList() {
		n += len(a.Parts)
	}
	return n
}

// TestMain is also the process that holds a file for another test.
func TestMain(m *testing.M) {
	if path := os.Getenv("SQLITE_TEST_HOLD"); path != "" {
		s, err := Open(path, proto, Options{})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if _, err := s.Create(ctx, key("t"), newTask("t"), nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("holding")
		for i := 0; os.Getenv("SQLITE_TEST_SEND") != ""; i++ {
			id := fmt.Sprint("sent-", os.Getpid(), "-", i)
			if _, err := s.Create(ctx, key(id), newTask(id), nil); err != nil {
				fmt.Println("refused:", err)
				break
			}
			fmt.Println(id)
		}
		time.Sleep(time.Hour) // it is killed: with nothing but waiting goroutines Go would end it as a deadlock
	}
	os.Exit(m.Run())
}

// hold has another process hold a file.
func hold(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SQLITE_TEST_HOLD="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "holding\n" {
		t.Fatalf("the other process says %q", line)
	}
	return cmd
}

func TestASecondProcessIsRefused(t *testing.T) {
	path := fresh(t)
	cmd := hold(t, path)
	_, err := Open(path, proto, Options{})
	var in *InUse
	host, _ := os.Hostname()
	if !errors.As(err, &in) || in.PID != int64(cmd.Process.Pid) || in.Host != host || time.Since(in.Since) > time.Minute {
		t.Fatalf("a second process gets %v (%+v)", err, in)
	}
	if want := fmt.Sprintf("is in use by process %d on %s, since ", in.PID, host); !strings.Contains(err.Error(), want) {
		t.Errorf("it is told %q, want %q", err, want)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	s := open(t, path, Options{}) // a lock of the dead is none
	if h, err := s.Head(ctx, key("t")); err != nil || h.Version != 1 {
		t.Errorf("what the killed process stored: %+v, %v", h, err)
	}
	if _, err := Open(path, proto, Options{}); !errors.As(err, &in) {
		t.Errorf("a second store in this process: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	open(t, path, Options{})
}

// TestTheLockIsOfTheFile checks that the lock of a file stays one and the same, whoever opens it, by what name ever: if
// it went away with its holder, one who had opened it just before and one who makes it anew would both hold it.
func TestTheLockIsOfTheFile(t *testing.T) {
	path := fresh(t)
	s := open(t, path, Options{})
	if exists(path + lockSuffix + "-journal") {
		t.Error("the lock has a journal")
	}
	before, err := os.Stat(path + lockSuffix)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	var in *InUse
	if _, err := Open(link, proto, Options{}); !errors.As(err, &in) {
		t.Errorf("a second store by another name: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path + lockSuffix); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file of the lock is another one: %v", err)
	}
	if exists(path+"-wal") || exists(path+"-shm") {
		t.Error("files of what is written are left")
	}
}

// TestWhatCannotBeWritten checks that a file is refused in words which say what has to change.
func TestWhatCannotBeWritten(t *testing.T) {
	path := fresh(t)
	_ = open(t, path, Options{}).Close()
	c, err := connect(path, "ro")
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	err = cannotOpen(path, c.script("CREATE TABLE x(y)"))
	if want := "the file and its folder " + filepath.Dir(path) + " have to be writable: "; !strings.Contains(err.Error(), want) {
		t.Errorf("a file that cannot be written: %v, want %q", err, want)
	}
	if !errors.Is(err, store.ErrNoSpace) || strings.Contains(err.Error(), "space") {
		t.Errorf("a file that cannot be written is no full disk: %v", err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestAFileThatIsNotOursIsRefused(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := fresh(t)
	script(t, foreign, "CREATE TABLE mine(x)")
	newer := fresh(t)
	_ = open(t, newer, Options{}).Close()
	script(t, newer, fmt.Sprintf("PRAGMA user_version=%d", len(steps)+1))
	for path, want := range map[string]string{
		text:                                   "it is no file of tasks, nor any other database",
		foreign:                                "a database of another program",
		newer:                                  fmt.Sprintf("it has format %d, and this program knows formats up to %d: use the newer program", len(steps)+1, len(steps)),
		filepath.Join(t.TempDir(), "no", "db"): "/no: make it first",
		folder:                                 "it is a folder: name a file in it",
		"x.db?synchronous=off":                 "synchronous=off is no parameter of a store",
		"":                                     "no path of a store",
	} {
		if _, err := Open(path, proto, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	const secret = "hunter2"
	for _, server := range []string{"postgres://ada:" + secret + "@db/x", "PostgreSQL://ada:" + secret + "@db", "postgres:/ada:" + secret + "@db", "mysql:ada:" + secret + "@db", "host=db password=" + secret} {
		_, err := Open(server, proto, Options{})
		if err == nil || !strings.Contains(err.Error(), "the address of a database server is no file") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", server, err)
		}
		if exists(server) {
			t.Errorf("there is a file %s", server)
		}
	}
	if c := script(t, newer, "SELECT 1"); c != nil {
		t.Error(c)
	}
	if exists(folder + lockSuffix) {
		t.Error("a folder has got a lock beside it")
	}
}

// script runs SQL on a file that nobody has open.
func script(t testing.TB, path, sql string) error {
	t.Helper()
	c, err := connect(path, "rwc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	if err := c.script(sql); err != nil {
		t.Fatal(err)
	}
	return nil
}

// TestAFileOfAnOlderFormatIsBroughtUpToDate: a step that fails leaves the file as it was.
func TestAFileOfAnOlderFormatIsBroughtUpToDate(t *testing.T) {
	path := fresh(t)
	_ = open(t, path, Options{}).Close()
	c, err := connect(path, "rw")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	next := append(append([]string{}, steps...), "CREATE TABLE later(x); INSERT INTO later VALUES(7)",
		"CREATE TABLE last(y)")
	broken := append(append([]string{}, next[:len(steps)+1]...), "CREATE TABLE half(x); no such statement")
	if err := migrate(c, broken); err == nil || !strings.Contains(err.Error(),
		fmt.Sprintf("from format %d to %d", len(steps)+1, len(steps)+2)) {
		t.Errorf("a step that fails: %v", err)
	}
	if _, found, _ := c.one("SELECT 1 FROM sqlite_master WHERE name='half'"); found {
		t.Error("half a step was done")
	}
	if err := migrate(c, next); err != nil {
		t.Fatal(err)
	}
	if n, _, err := c.one("SELECT x FROM later"); n != 7 || err != nil {
		t.Errorf("the new table has %d: %v", n, err)
	}
	if format, err := formatOf(c); format != len(next) || err != nil {
		t.Errorf("the format is %d: %v", format, err)
	}
	if _, err := Open(path, proto, Options{}); err == nil {
		t.Error("the older program opened it")
	}
}

func TestTheDiskIsAskedAsWished(t *testing.T) {
	for path, want := range map[string]int64{"a.db": 1, "b.db?synchronous=full": 2, "c.db?synchronous=normal": 1} {
		s := open(t, filepath.Join(t.TempDir(), path), Options{})
		if got, _, err := s.writer.one("PRAGMA synchronous"); got != want || err != nil {
			t.Errorf("%s: %d, %v", path, got, err)
		}
	}
}

// fails has statements fail that match.
func (s *Store) fails(match func(sql string) error) {
	_ = s.write(ctx, func(w *writer) error {
		w.then(func() { w.before = match })
		return nil
	})
}

// TestAFullDiskIsSaidAndLeavesNothingHalf: a batch is refused as a whole, reads go on, and so does the store when there
// is
// space again.
func TestAFullDiskIsSaidAndLeavesNothingHalf(t *testing.T) {
	s := open(t, fresh(t), Options{})
	create(t, s, "t")
	pages, _, err := s.writer.one("PRAGMA page_count")
	if err != nil {
		t.Fatal(err)
	}
	limit := func(n int64) {
		t.Helper()
		if err := s.write(ctx, func(w *writer) error {
			_, _, err := w.one(fmt.Sprintf("PRAGMA max_page_count=%d", n))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages + 20)
	var mu sync.Mutex
	var wg sync.WaitGroup
	made := map[string]int{}
	said := strings.Repeat("x", 3000)
	for i := range 8 {
		id := fmt.Sprint("t", i)
		wg.Go(func() {
			n := 0
			_, err := s.Create(ctx, key(id), newTask(id), nil)
			for ; err == nil; n++ {
				_, err = s.Apply(ctx, key(id), int64(n)+1, chunk(id, said), nil)
			}
			if !errors.Is(err, store.ErrNoSpace) || store.Unsure(err) {
				t.Errorf("%s: %v", id, err)
			}
			mu.Lock()
			defer mu.Unlock()
			made[id] = n // the last one failed, or the creation did
		})
	}
	wg.Wait()
	page, err := s.List(ctx, store.Owner{}, store.Query{Size: 100, View: store.Full})
	if err != nil || page.Total != len(page.Tasks) {
		t.Fatalf("listed are %d of %d: %v", len(page.Tasks), page.Total, err)
	}
	check := func() {
		t.Helper()
		for id, n := range made {
			if n > 0 && parts(t, s, id) != n-1 {
				t.Errorf("%s has %d parts, acknowledged were %d", id, parts(t, s, id), n-1)
			}
		}
	}
	check()
	s.cache.Clear()
	check() // as it is in the file
	limit(1 << 30)
	for id, n := range made {
		if n > 0 {
			apply(t, s, id, int64(n), status(id, runtime.StateCompleted))
		}
	}
	integrity(t, s)
}

// heldByAll checks what the writer knows of everybody against the tasks that there are.
func heldByAll(t testing.TB, s *Store) {
	t.Helper()
	err := s.write(ctx, func(w *writer) error {
		if err := w.ledger.ready(w); err != nil {
			return err
		}
		const all = `SELECT count(*), coalesce(sum(charged),0), coalesce(sum(rest>0),0), coalesce(sum(CASE WHEN rest>0 THEN charged END),0),
			(SELECT count(*) FROM push), 0 FROM task`
		return w.query(all, func(v []value) error {
			var is relational.Sums
			err := row(v).Scan(is.Fields()...)
			if w.ledger.all.held != is {
				t.Errorf("the total is %+v, want %+v", w.ledger.all.held, is)
			}
			return err
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// integrity has SQLite check the file, and holds the counts to what is there.
func integrity(t testing.TB, s *Store) {
	t.Helper()
	heldByAll(t, s)
	err := s.reading(ctx, func(c *conn) error {
		var said string
		if err := c.query("PRAGMA integrity_check", func(v []value) error { said += text(v[0]); return nil }); err != nil ||
			said != "ok" {
			t.Errorf("the file: %s, %v", said, err)
		}
		for what, sql := range map[string]string{
			"accounts": `SELECT count(*) FROM account a WHERE (tasks<>(SELECT count(*) FROM task WHERE account=a.n) OR
				bytes<>(SELECT coalesce(sum(charged),0) FROM task WHERE account=a.n) OR
				restedtasks<>(SELECT count(*) FROM task WHERE account=a.n AND rest>0) OR
				restedbytes<>(SELECT coalesce(sum(charged),0) FROM task WHERE account=a.n AND rest>0))`,
			"states":  "SELECT count(*) FROM usage u WHERE tasks<>(SELECT count(*) FROM task t WHERE t.owner=u.owner AND t.state=u.state)",
			"orphans": "SELECT count(*) FROM event WHERE task NOT IN (SELECT n FROM task)",
			"calls":   "SELECT count(*) FROM task t WHERE calls-done<>(SELECT count(*) FROM call WHERE task=t.n)",
		} {
			if n, _, err := c.one(sql); n != 0 || err != nil {
				t.Errorf("%s: %d are wrong: %v", what, n, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAReadOnlyFileIsSaid(t *testing.T) {
	s := open(t, fresh(t), Options{})
	create(t, s, "t")
	if err := s.write(ctx, func(w *writer) error { return w.script("PRAGMA query_only=1") }); err != nil {
		t.Fatal(err)
	}
	_, err := s.Apply(ctx, key("t"), 1, chunk("t", "x"), nil)
	if !errors.Is(err, store.ErrNoSpace) {
		t.Errorf("an update: %v", err)
	}
	if n := parts(t, s, "t"); n != 0 {
		t.Errorf("the task has %d parts", n)
	}
}

// TestAFaultyJobIsNotEverybodys: one whose statement SQLite refuses fails alone; a fault of the file is everybody's,
// once.
func TestAFaultyJobIsNotEverybodys(t *testing.T) {
	s := open(t, fresh(t), Options{})
	const n = 20
	for i := range n {
		create(t, s, fmt.Sprint("t", i))
	}
	hold, held := make(chan struct{}), make(chan struct{})
	go func() { _ = s.write(ctx, func(*writer) error { close(held); <-hold; return nil }) }()
	<-held // the others are one batch now
	var wg sync.WaitGroup
	var faulty error
	wg.Go(func() {
		faulty = s.write(ctx, func(w *writer) error { _, err := w.exec("INSERT INTO task(n) VALUES(NULL)"); return err })
	})
	for i := range n {
		id := fmt.Sprint("t", i)
		wg.Go(func() {
			if _, err := s.Apply(ctx, key(id), 1, chunk(id, "x"), nil); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	close(hold)
	wg.Wait()
	if !errors.Is(faulty, store.ErrUnavailable) {
		t.Errorf("the faulty one: %v", faulty)
	}
	for i := range n {
		if got := parts(t, s, fmt.Sprint("t", i)); got != 1 {
			t.Errorf("t%d has %d parts", i, got)
		}
	}
	integrity(t, s)
}

// TestRoomIsMadeWithTheBatchesOwnTasks: a task that rests and is changed in the same batch as one comes that needs its room
// goes in the next one. None goes for nothing.
func TestRoomIsMadeWithTheBatchesOwnTasks(t *testing.T) {
	s := open(t, fresh(t), Options{Tasks: 3})
	for _, id := range []string{"a", "b", "c"} {
		create(t, s, id)
		apply(t, s, id, 1, status(id, runtime.StateInputRequired))
	}
	hold, held := make(chan struct{}), make(chan struct{})
	go func() { _ = s.write(ctx, func(*writer) error { close(held); <-hold; return nil }) }()
	<-held // the others are one batch now
	waits := func(n int) {
		for {
			there := s.queue.Len()
			if there == n {
				return
			}
			runtimes.Gosched()
		}
	}
	var wg sync.WaitGroup
	for i, id := range []string{"a", "b", "c"} {
		wg.Go(func() {
			if _, err := s.Apply(ctx, key(id), 2, chunk(id, "x"), nil); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
		waits(i + 1)
	}
	for i, id := range []string{"d", "e"} {
		wg.Go(func() {
			if _, err := s.Create(ctx, key(id), newTask(id), nil); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
		waits(i + 4)
	}
	close(hold)
	wg.Wait()
	for id, want := range map[string]bool{"a": false, "b": false, "c": true, "d": true, "e": true} {
		if _, err := s.Head(ctx, key(id)); (err == nil) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
	integrity(t, s)
}

// TestWhatFailsBetweenIsUndone: whichever statement of a batch fails, nothing of it is seen, and the same again is
// made.
func TestWhatFailsBetweenIsUndone(t *testing.T) {
	s := open(t, fresh(t), Options{})
	create(t, s, "t")
	version := int64(1)
	for fault := 1; ; fault++ {
		count := 0
		s.fails(func(string) error {
			if count++; count == fault {
				return errors.New("the disk says no")
			}
			return nil
		})
		u := status("t", runtime.StateWorking)
		u.Stamp, u.Call = uint64(fault), &store.Call{}
		if version > 1 {
			u.Call = nil
		}
		_, err := s.Apply(ctx, key("t"), version, u, nil)
		s.fails(nil)
		h, herr := s.Head(ctx, key("t"))
		if err == nil {
			if h.Version != version+1 {
				t.Errorf("version %d after %d", h.Version, version)
			}
			if fault == 1 {
				t.Error("no fault was felt")
			}
			break
		}
		if !store.Unsure(err) || herr != nil || h.Version != version {
			t.Fatalf("fault %d: %v; then the head is %+v, %v", fault, err, h, herr)
		}
	}
	integrity(t, s)
}

// TestPlans: what has to be fast on a large file goes by an index.
func TestPlans(t *testing.T) {
	s := open(t, fresh(t), Options{})
	page := func(q store.Query, later bool) string {
		var from store.Cursor
		if later {
			from = store.Cursor{At: start, ID: "t"}
		}
		return dialect.PageOf(1, &q, from, nil).SQL
	}
	for sql, want := range map[string]string{
		page(store.Query{}, false):                       "USING COVERING INDEX task_at (owner=?)",
		page(store.Query{}, true):                        "USING COVERING INDEX task_at (owner=? AND at<?)",
		page(store.Query{State: 3}, true):                "USING COVERING INDEX task_state (owner=? AND state=? AND at<?)",
		page(store.Query{Context: "c"}, true):            "USING COVERING INDEX task_context (owner=? AND context=? AND at<?)",
		page(store.Query{Context: "c", State: 3}, true):  "USING INDEX task_context (owner=? AND context=? AND at<?)",
		page(store.Query{After: start}, false):           "USING COVERING INDEX task_at (owner=? AND at>?)",
		orphansSQL:                                       "SCAN c",
		"SELECT n FROM task WHERE owner=? AND id=?":      "sqlite_autoindex_task_1",
		relational.NextDueSQL:                            "push_due",
		dueSQL:                                           "push_due (due>? AND due<?)",
		dueForSweep:                                      "task_rest (rest=? AND rested<?)",
		"SELECT " + metaSQL + " FROM task t WHERE t.n=?": "SEARCH event USING PRIMARY KEY (task=?)",
		"SELECT n FROM task INDEXED BY task_share WHERE account=? AND rest=? AND rest>0": "task_share (account=? AND rest=?)",
		"UPDATE push SET due=? WHERE task=? AND due IS NULL AND dead IS NULL":            "USING PRIMARY KEY (task=?)",
	} {
		var plan strings.Builder
		err := s.reading(ctx, func(c *conn) error {
			return c.query("EXPLAIN QUERY PLAN "+sql, func(v []value) error {
				plan.WriteString(text(v[3]) + "\n")
				return nil
			}, make([]any, strings.Count(sql, "?")+strings.Count(sql, "$"))...)
		})
		got := plan.String()
		if err != nil || !strings.Contains(got, want) || strings.Contains(got, "TEMP B-TREE") || strings.Contains(got,
			"SCAN t") {
			t.Errorf("%s\n%v, want %s:\n%s", sql, err, want, got)
		}
	}
}

// TestTheTotalIsAddedUpOnce: not again when callers come and go, which would take as long as there are callers.
func TestTheTotalIsAddedUpOnce(t *testing.T) {
	var later atomic.Int64
	s := open(t, fresh(t), Options{Clock: func() time.Time { return start.Add(time.Duration(later.Load())) }})
	for i := range 20 {
		k := store.Key{Owner: store.Owner{Principal: fmt.Sprint("caller ", i)}, Task: "t"}
		if _, err := s.Create(ctx, k, store.New{Task: proto.NewTask("t", "c", start)}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Apply(ctx, k, 1, status("t", runtime.StateCompleted), nil); err != nil {
			t.Fatal(err)
		}
	}
	sums := 0
	s.writer.before = func(sql string) error {
		if strings.Contains(sql, "sum(tasks)") {
			sums++
		}
		return nil
	}
	later.Store(int64(8 * 24 * time.Hour))
	for more := true; more; {
		var err error
		if _, more, err = s.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
	}
	create(t, s, "u")
	heldByAll(t, s)
	if sums > 0 || len(s.writer.ledger.accounts) != 1 {
		t.Errorf("added up %d times, %d accounts are known", sums, len(s.writer.ledger.accounts))
	}
}

// TestAnotherProcessMayPrune: what is deleted in the file meanwhile is gone from what the agent remembers.
func TestAnotherProcessMayPrune(t *testing.T) {
	s := open(t, fresh(t), Options{})
	create(t, s, "t")
	apply(t, s, "t", 1, status("t", runtime.StateCompleted))
	create(t, s, "u")
	c, err := connect(s.path, "rw", "busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	if err := c.script("DELETE FROM event WHERE task=1; DELETE FROM task WHERE n=1"); err != nil {
		t.Fatal(err)
	}
	apply(t, s, "u", 1, chunk("u", "x"))
	if _, err := s.Get(ctx, key("t"), store.Full); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was deleted: %v", err)
	}
}

// TestAWriterThatGivesUpIsTold: before its job was begun nothing happened, after that nobody knows.
func TestAWriterThatGivesUpIsTold(t *testing.T) {
	s := open(t, fresh(t), Options{})
	hold, held := make(chan struct{}), make(chan struct{})
	first, giveUp := context.WithCancel(ctx)
	gave := make(chan error)
	go func() {
		gave <- s.write(first, func(*writer) error { close(held); <-hold; return nil })
	}()
	<-held
	giveUp()
	if err := <-gave; !errors.Is(err, store.ErrUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("while it is at work: %v", err)
	}
	if _, err := s.Create(first, key("t"), newTask("t"), nil); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("while it waits: %v", err)
	}
	close(hold)
	create(t, s, "u")
	if _, err := s.Head(ctx, key("t")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was given up: %v", err)
	}
}

// TestWhoGivesUpLeavesWhatIsBeingMade: what a job makes is its own while it is at work. Under the race detector this fails
// when somebody looks at it.
func TestWhoGivesUpLeavesWhatIsBeingMade(t *testing.T) {
	s := open(t, fresh(t), Options{Ended: time.Nanosecond})
	create(t, s, "t")
	if err := s.SetPush(ctx, key("t"), store.Push{ID: "p", Config: runtime.PushConfig{URL: "https://hook.example"}}); err != nil {
		t.Fatal(err)
	}
	apply(t, s, "t", 1, chunk("t", "x"))
	create(t, s, "ended")
	apply(t, s, "ended", 1, status("ended", runtime.StateCompleted))
	for name, do := range map[string]func(context.Context) error{
		"create": func(patient context.Context) error {
			n := newTask("u")
			n.Stamp, n.Then = 1, []store.Change{{Event: chunk("u", "x").Event}}
			_, err := s.Create(patient, key("u"), n, nil)
			if err != nil {
				_, again := s.Create(ctx, key("u"), n, nil)
				err = errors.Join(err, again)
			}
			return err
		},
		"apply": func(ctx context.Context) error { _, err := s.Apply(ctx, key("t"), 2, chunk("t", "y"), nil); return err },
		"due":   func(ctx context.Context) error { _, _, err := s.Due(ctx, 1, time.Minute); return err },
		"sweep": func(ctx context.Context) error { _, _, err := s.Sweep(ctx); return err },
	} {
		held := make(chan struct{})
		wait := sync.OnceFunc(func() { close(held); time.Sleep(20 * time.Millisecond) }) // nobody tells it to go on: that would be an order of events
		s.fails(func(string) error { wait(); return nil })
		patient, giveUp := context.WithCancel(ctx)
		gave := make(chan error)
		go func() { gave <- do(patient) }()
		<-held
		giveUp()
		if err := <-gave; err != nil && !errors.Is(err, store.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
		s.fails(nil)
	}
}

// TestALongTaskCostsWhatItsEventsDo: neither an update nor the bodies in between cost more because the task is long.
func TestALongTaskCostsWhatItsEventsDo(t *testing.T) {
	said := strings.Repeat("x", 300)
	allocated := func(events int) uint64 {
		s := open(t, fresh(t), Options{})
		create(t, s, "t")
		var before, after runtimes.MemStats
		runtimes.ReadMemStats(&before)
		for v := range events {
			apply(t, s, "t", int64(v)+1, chunk("t", said))
		}
		runtimes.ReadMemStats(&after)
		s.cache.Clear()
		if n := parts(t, s, "t"); n != events {
			t.Errorf("the task has %d parts", n)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(500), allocated(4000); many > 24*few {
		t.Errorf("500 events take %d bytes, 4000 take %d", few, many)
	}
}

// The next of many chunks is one row and its transaction: nothing that the task or its account holds is noted anew.
func TestAChunkIsOneRow(t *testing.T) {
	s := open(t, fresh(t), Options{})
	create(t, s, "t")
	apply(t, s, "t", 1, chunk("t", "first"))
	var ran []string
	s.writer.before = func(sql string) error {
		ran = append(ran, strings.Fields(sql)[0])
		return nil
	}
	apply(t, s, "t", 2, chunk("t", "next"))
	if want := []string{"BEGIN", "PRAGMA", "INSERT", "COMMIT"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
}

// TestADeletedFileIsNoticed checks that somebody who deletes the file under an agent is told, once.
func TestADeletedFileIsNoticed(t *testing.T) {
	var out bytes.Buffer
	path := fresh(t)
	s := open(t, path, Options{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	sweep := func(want int) {
		t.Helper()
		if _, _, err := s.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "was deleted or replaced"); n != want {
			t.Errorf("said %d times, want %d: %s", n, want, &out)
		}
	}
	sweep(0)
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	sweep(1)
	sweep(1)
}

// A disk that says no is told to whoever takes tasks over: it looks as if there were none, otherwise.
func TestWhatCannotBeTakenOverIsAnError(t *testing.T) {
	s := open(t, fresh(t), Options{})
	n := newTask("t")
	n.Call, n.Stamp = &store.Call{}, 1
	n.Private.Skill = "skill"
	if _, err := s.Create(ctx, key("t"), n, nil); err != nil {
		t.Fatal(err)
	}
	heir := open(t, left(t, s.path), Options{})
	heir.fails(func(sql string) error {
		if strings.HasPrefix(sql, "UPDATE") {
			return errors.New("the disk says no")
		}
		return nil
	})
	if runs, err := heir.Claim(ctx, []string{"skill"}, 9); len(runs) > 0 || !store.Unsure(err) {
		t.Errorf("%d tasks, %v", len(runs), err)
	}
	heir.fails(nil)
	if runs, err := heir.Claim(ctx, []string{"skill"}, 9); len(runs) != 1 || err != nil || runs[0].Call.Attempt != 2 {
		t.Errorf("then %+v, %v", runs, err)
	}
}
