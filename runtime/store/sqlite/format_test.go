package sqlite

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	runtimes "runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// ofEveryFormat calls test with the file of each format, made by the program of its time, in SQL.
func ofEveryFormat(t *testing.T, test func(t *testing.T, format int, sql string)) {
	last := len(steps)
	if !exists(formatFile(last)) {
		last-- // it is written before there is another one
	}
	for format := 1; format <= last; format++ {
		t.Run(fmt.Sprint("format ", format), func(t *testing.T) {
			sql, err := os.ReadFile(formatFile(format))
			if err != nil {
				t.Fatalf("%v: testdata/formats/README.md says how it is made", err)
			}
			test(t, format, string(sql))
		})
	}
}

// TestFilesOfEveryFormatSayWhatTheySaid: what the program of a format's time said about its file, today's says after it has
// brought it up to date; and an agent goes on with it.
func TestFilesOfEveryFormatSayWhatTheySaid(t *testing.T) {
	ofEveryFormat(t, func(t *testing.T, format int, sql string) {
		path := restored(t, sql)
		want, err := os.ReadFile(answersFile(format))
		if err != nil {
			t.Fatal(err)
		}
		if is := formatIn(t, path); is != format {
			t.Fatalf("the file has format %d", is)
		}
		got, said := strings.Split(answers(t, path), "\n"), strings.Split(string(want), "\n")
		for i := range max(len(got), len(said)) {
			if i >= len(got) || i >= len(said) || got[i] != said[i] {
				t.Fatalf("from line %d on it says\n%s\nand said\n%s", i+1, strings.Join(got[min(i, len(got)):], "\n"), strings.Join(said[min(i, len(said)):], "\n"))
			}
		}
		s, err := Open(path, speaking("1.0", "0.3"), formatOptions())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		whole(t, s)
		if is := formatIn(t, path); is != len(steps) {
			t.Errorf("the agent's file has format %d", is)
		}
		if list, err := wrong(s); err != nil || len(list) > 0 {
			t.Errorf("the file is damaged: %q, %v", list, err)
		}
		goOn(t, s)
	})
}

func formatIn(t *testing.T, path string) int {
	t.Helper()
	c, err := connect(path, "ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	format, err := formatOf(c)
	if err != nil {
		t.Fatal(err)
	}
	return format
}

// goOn has an agent do what is to be done, and what formats before could not keep.
func goOn(t *testing.T, s *Store) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := speaking("1.0")
	status := func(k store.Key, state runtime.State) store.Update {
		return store.Update{Event: p.NewStatus(k.Task, contextOf(k.Task), state, nil, formatClock)}
	}
	runs, err := s.Claim(ctx, []string{"talk"}, 100)
	must(err)
	for _, r := range runs {
		for call := r.Call; call != nil; {
			u := status(r.Key, runtime.StateWorking)
			if h, err := s.Head(ctx, r.Key); err != nil || h.Calls == call.N {
				must(err)
				u = status(r.Key, runtime.StateCompleted)
			}
			u.Epoch, u.Done = r.Epoch, call.N
			snap, err := s.Apply(ctx, r.Key, 0, u, &store.Full)
			must(err)
			call = snap.Run
		}
		if h, err := s.Head(ctx, r.Key); err != nil || h.State != runtime.StateCompleted {
			t.Errorf("%q is %v: %v", r.Key.Task, h.State, err)
		}
	}
	if left, err := s.Claim(ctx, []string{"talk"}, 100); len(runs) < 3 || len(left) > 0 || err != nil {
		t.Errorf("%d tasks were at work, and %d are left: %v", len(runs), len(left), err)
	}

	// A client answers, a new task has a trace and a ticket, which is redeemed, and a context has a note.
	k := store.Key{Owner: bob, Task: "asking"}
	answer := status(k, runtime.StateWorking)
	answer.Call = &store.Call{Input: []byte(`{}`)}
	if snap, err := s.Apply(ctx, k, 2, answer, nil); err != nil || snap.Run == nil || string(snap.Private.Saved) != `{"step":1}` {
		t.Errorf("an answer: %+v, %v", snap, err)
	}
	k = store.Key{Owner: ada, Task: "new"}
	n := store.New{Task: p.NewTask(k.Task, contextOf(k.Task), formatClock), Private: store.Private{Skill: "talk", Trace: "00-1-2-01"}}
	n.Then = []store.Change{{Event: status(k, runtime.StateWorking).Event}}
	_, err = s.Create(ctx, k, n, nil)
	must(err)
	hash := sha256.Sum256([]byte("new word"))
	u := status(k, runtime.StateAuthRequired)
	u.Ticket = &store.Ticket{Hash: hash, For: time.Hour, Request: &runtime.SendRequest{
		Message: p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m"}, Parts: []runtime.Part{runtime.Text("go on")}})}}
	_, err = s.Apply(ctx, k, 2, u, nil)
	must(err)
	u = status(k, runtime.StateWorking)
	u.Redeem, u.Call = &hash, &store.Call{Value: []byte("1")}
	_, err = s.Apply(ctx, k, 3, u, nil)
	must(err)
	if h, err := s.Head(ctx, k); err != nil || h.Trace != n.Private.Trace || h.Version != 4 {
		t.Errorf("%+v: %v", h, err)
	}
	_, err = s.SetNote(ctx, ada, "context", []byte("{}"), store.AnyVersion)
	must(err)
	if _, _, err := s.Sweep(ctx); err != nil {
		t.Error(err)
	}
}

// statementwise is a connection that runs scripts a statement at a time, and calls before before each.
type statementwise struct {
	driver.Conn
	before func()
}

func (c statementwise) ExecContext(ctx context.Context, script string, args []driver.NamedValue) (r driver.Result, err error) {
	for _, sql := range strings.SplitAfter(script, ";\n") {
		if strings.TrimSpace(sql) == "" {
			continue
		}
		c.before()
		if r, err = c.Conn.(driver.ExecerContext).ExecContext(ctx, sql, args); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// updating opens a file to bring it up to date, on a connection that keeps next to nothing in memory: what a transaction has
// written so far is in the log. It calls before before each statement.
func updating(t *testing.T, path string, before func(sql string)) *conn {
	t.Helper()
	c, err := connect(path, "rw", "busy_timeout(5000)", "cache_size(1)", "synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	c.c = statementwise{c.c, func() { before("") }}
	c.before = func(sql string) error { before(sql); return nil }
	t.Cleanup(func() { _ = c.close() })
	return c
}

// TestAnUpdateThatIsKilledIsAsIfItWereNot: whichever statement of it was the last, and however much of its end is on the disk,
// the file is as it was before or as it is afterwards, and the next start makes what is to be.
func TestAnUpdateThatIsKilledIsAsIfItWereNot(t *testing.T) {
	ofEveryFormat(t, func(t *testing.T, format int, sql string) {
		if format == len(steps) {
			return
		}
		path := restored(t, sql)
		before := dump(t, path)
		var killed []string
		written := int64(0)
		c := updating(t, path, func(string) {
			killed = append(killed, left(t, path))
			if info, err := os.Stat(path + "-wal"); err == nil {
				written = max(written, info.Size())
			}
		})
		if err := migrate(c, steps); err != nil {
			t.Fatal(err)
		}
		if written == 0 {
			t.Error("nothing was in the log before the end")
		}
		statements := len(killed)
		killed = append(killed, cutShort(t, path)...)
		after := dump(t, path)
		t.Logf("killed before each of %d statements, and at %d places of the end", statements, len(killed)-statements)
		for i, path := range killed {
			is := dump(t, path)
			if last := i == len(killed)-1; is != before && (i < statements || is != after) || last && is != after {
				t.Fatalf("killed at %d of %d, statement %d of %d, the file is\n%s", i, len(killed), i, statements, is)
			}
			c := updating(t, path, func(string) {})
			if err := migrate(c, steps); err != nil {
				t.Fatal(err)
			}
			if is := dump(t, path); is != after {
				t.Fatalf("killed at %d of %d, the file becomes\n%s", i, len(killed), is)
			}
		}
		whole(t, open(t, killed[statements/2], formatOptions()))
	})
}

// TestAProcessThatIsKilledWhileItUpdatesAFile is the same with a process, which leaves all of its files: before the first
// statement that changes something, in the middle, and before the end.
func TestAProcessThatIsKilledWhileItUpdatesAFile(t *testing.T) {
	const pathOf, statement = "SQLITE_TEST_UPDATE", "SQLITE_TEST_KILLED"
	if path := os.Getenv(pathOf); path != "" { // this is the process
		n, _ := strconv.Atoi(os.Getenv(statement))
		c := updating(t, path, func(string) {
			if n--; n == 0 {
				me, _ := os.FindProcess(os.Getpid())
				_ = me.Kill()
				select {}
			}
		})
		t.Fatal("it is not killed: ", migrate(c, steps))
	}
	sql, err := os.ReadFile(formatFile(1))
	if err != nil {
		t.Fatal(err)
	}
	path := restored(t, string(sql))
	before := dump(t, path)
	for _, n := range []string{"3", "15", "25"} {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), pathOf+"="+path, statement+"="+n)
		out, err := cmd.CombinedOutput()
		if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.Exited() && runtimes.GOOS != "windows" {
			t.Fatalf("the process that is killed before statement %s: %v\n%s", n, err, out)
		}
		if is := dump(t, left(t, path)); is != before {
			t.Fatalf("killed before statement %s, the file is\n%s", n, is)
		}
	}
	whole(t, open(t, path, formatOptions()))
	if is := formatIn(t, path); is != len(steps) {
		t.Errorf("the file has format %d", is)
	}
}

// cutShort makes copies of a file whose log ends after each of its pages, as those of a process that is killed while it commits.
func cutShort(t *testing.T, path string) (copies []string) {
	t.Helper()
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const header, page = 32, 24 // bytes of the log's head, and of that of a page
	size := page + int(binary.BigEndian.Uint32(log[8:]))
	for end := header; end <= len(log); end += size {
		to := left(t, path)
		if err := os.WriteFile(to+"-wal", log[:end], 0o600); err != nil {
			t.Fatal(err)
		}
		copies = append(copies, to)
	}
	return copies
}

// TestOneOfTwoUpdatesAFile: the other waits, and finds it done.
func TestOneOfTwoUpdatesAFile(t *testing.T) {
	ofEveryFormat(t, func(t *testing.T, format int, sql string) {
		path := restored(t, sql)
		other, second := updating(t, path, func(string) {}), make(chan error, 1)
		first := updating(t, path, func(sql string) {
			if sql == "COMMIT" {
				go func() { second <- migrate(other, steps) }()
				time.Sleep(20 * time.Millisecond)
				if len(second) > 0 {
					t.Error("the second one does not wait")
				}
			}
		})
		if err := errors.Join(migrate(first, steps), <-second); err != nil {
			t.Fatal(err)
		}
		if is := formatIn(t, path); is != len(steps) {
			t.Errorf("the file has format %d", is)
		}
	})
}

// TestOneOfTwoProcessesGetsAnOlderFile: it brings it up to date, and the other is told who has it.
func TestOneOfTwoProcessesGetsAnOlderFile(t *testing.T) {
	sql, err := os.ReadFile(formatFile(1))
	if err != nil {
		t.Fatal(err)
	}
	path := restored(t, string(sql))
	lines := make(chan string, 2)
	for range 2 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SQLITE_TEST_HOLD="+path)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		go func() {
			line, _ := bufio.NewReader(out).ReadString('\n')
			lines <- line
		}()
	}
	one, two := <-lines, <-lines
	if said := one + two; !strings.Contains(said, "holding\n") || !strings.Contains(said, " is in use by ") {
		t.Errorf("they say %q and %q", one, two)
	}
	if is := formatIn(t, path); is != len(steps) {
		t.Errorf("the file has format %d", is)
	}
}

// TestAnOlderProgramLeavesANewerFileAlone: it says why, and what to do.
func TestAnOlderProgramLeavesANewerFileAlone(t *testing.T) {
	path := fresh(t)
	if err := open(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	c := updating(t, path, func(string) {})
	if err := migrate(c, append(steps[:len(steps):len(steps)], "CREATE TABLE later(x)")); err != nil {
		t.Fatal(err)
	}
	before := dump(t, path)
	want := fmt.Sprintf("it has format %d, and this program knows formats up to %d: use the newer program that wrote it", len(steps)+1, len(steps))
	_, agent := Open(path, proto, Options{})
	_, tasks := OpenFile(path)
	_, from := OpenWhole(path, proto, false)
	_, to := OpenWhole(path, proto, true)
	for who, err := range map[string]error{"an agent": agent, "a2agen tasks": tasks, "a copy of it": from, "a copy into it": to} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is told %v, want %q", who, err, want)
		}
	}
	if dump(t, path) != before {
		t.Error("the file is another one")
	}
}
