package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// sender is another process that works on a file, and says which of its tasks were acknowledged.
type sender struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	acked []string
}

func sending(t *testing.T, path string) *sender {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SQLITE_TEST_HOLD="+path, "SQLITE_TEST_SEND=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	s := &sender{cmd: cmd, lines: bufio.NewScanner(out)}
	if s.lines.Scan(); s.lines.Text() != "holding" {
		t.Fatalf("the other process says %q", s.lines.Text())
	}
	return s
}

// wait waits for more acknowledged tasks. It returns with what was said instead.
func (s *sender) wait(n int) (refused string) {
	for range n {
		if !s.lines.Scan() || strings.HasPrefix(s.lines.Text(), "refused: ") {
			return s.lines.Text()
		}
		s.acked = append(s.acked, s.lines.Text())
	}
	return ""
}

// kill ends the process, and takes note of all that it has acknowledged.
func (s *sender) kill() {
	_ = s.cmd.Process.Kill()
	s.wait(1 << 30)
	_ = s.cmd.Wait()
}

// duplicate writes a copy of a file.
func duplicate(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOneProcessWorksOnAFileWhateverItsName: whatever is done to the names around a file that a process works on, a second
// one is refused, and all that the first acknowledges is there when it was killed.
func TestOneProcessWorksOnAFileWhateverItsName(t *testing.T) {
	for _, way := range []struct {
		name string
		// do does something to the file, and returns the name by which the second process opens it, and how it is undone.
		do func(t *testing.T, path, other string) (second string, undo func() error)
	}{
		{"its own name", func(_ *testing.T, path, _ string) (string, func() error) { return path, nil }},
		{"a hard link", func(t *testing.T, path, other string) (string, func() error) {
			if err := os.Link(path, other); err != nil {
				t.Fatal(err)
			}
			return other, func() error { return os.Remove(other) }
		}},
		{"a symbolic link", func(t *testing.T, path, other string) (string, func() error) {
			if err := os.Symlink(path, other); err != nil {
				t.Fatal(err)
			}
			return other, nil
		}},
		{"the lock removed", func(t *testing.T, path, _ string) (string, func() error) {
			if err := os.Remove(path + lockSuffix); err != nil {
				t.Fatal(err)
			}
			return path, nil
		}},
		{"renamed", func(t *testing.T, path, other string) (string, func() error) {
			if err := os.Rename(path, other); err != nil {
				t.Fatal(err)
			}
			return other, func() error { return os.Rename(other, path) }
		}},
		{"a copy elsewhere in its place", func(t *testing.T, path, other string) (string, func() error) {
			if err := os.Rename(path, other); err != nil {
				t.Fatal(err)
			}
			duplicate(t, other, path)
			return path, func() error { return os.Rename(other, path) }
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			path := fresh(t)
			first := sending(t, path)
			first.wait(20)
			second, undo := way.do(t, path, filepath.Join(filepath.Dir(path), "other.db"))
			var in *InUse
			if s, err := Open(second, proto, Options{}); !errors.As(err, &in) {
				t.Errorf("a second process gets %v", err)
				_ = s.Close()
			}
			more, replaced := 20, strings.HasPrefix(way.name, "a copy")
			if replaced {
				more = 1 << 30 // until it is told
			}
			if refused := first.wait(more); replaced != (refused != "") {
				t.Errorf("the first process is told %q", refused)
			}
			first.kill()
			if undo != nil {
				if err := undo(); err != nil {
					t.Fatal(err)
				}
			}
			s := open(t, path, Options{})
			for _, id := range first.acked {
				if _, err := s.Head(ctx, key(id)); err != nil {
					t.Fatalf("%s was acknowledged, of %d: %v", id, len(first.acked), err)
				}
			}
			if list, err := wrong(s); err != nil || len(list) > 0 {
				t.Errorf("the file is damaged: %q, %v", list, err)
			}
		})
	}
}

// TestAFileWithTwoNamesIsRefused: after a crash its log would be beside one of them.
func TestAFileWithTwoNamesIsRefused(t *testing.T) {
	path := fresh(t)
	first := sending(t, path)
	first.wait(5)
	first.kill()
	other := filepath.Join(filepath.Dir(path), "other.db")
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, other} {
		if s, err := Open(name, proto, Options{}); err == nil || !strings.Contains(err.Error(), "it has 2 names (hard links)") {
			t.Errorf("it is opened: %v", err)
			_ = s.Close()
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, path, Options{}).Head(ctx, key(first.acked[4])); err != nil {
		t.Error(err)
	}
}

// TestAnInstanceThatIsNotTheLastStops: where locks hold nobody, the row of the last instance does.
func TestAnInstanceThatIsNotTheLastStops(t *testing.T) {
	var out bytes.Buffer
	path := fresh(t)
	old := open(t, path, Options{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	n := newTask("t")
	n.Call = &store.Call{Input: []byte("{}")}
	run, err := old.Create(ctx, key("t"), n, nil)
	if err != nil {
		t.Fatal(err)
	}
	old.lock.release() // as a network file system may do
	now := open(t, path, Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	create(t, now, "u")
	said := chunk("t", "late")
	said.Epoch = run.Epoch
	for range 3 {
		if _, err := old.Create(ctx, key("v"), newTask("v"), nil); !errors.Is(err, store.ErrLost) || store.Unsure(err) {
			t.Errorf("the old instance makes a task: %v", err)
		}
		if _, err := old.Apply(ctx, key("t"), 0, said, nil); !errors.Is(err, store.ErrLost) {
			t.Errorf("the old instance's handler says something: %v", err)
		}
	}
	if runs, err := now.Claim(ctx, []string{"skill", ""}, 9); err != nil || len(runs) != 1 {
		t.Errorf("taken over are %v: %v", runs, err)
	}
	apply(t, now, "u", 1, status("u", runtime.StateCompleted))
	if h, err := old.Head(ctx, key("u")); err != nil || h.State != runtime.StateCompleted {
		t.Errorf("the old instance reads %+v: %v", h, err)
	}
	if h, err := now.Head(ctx, key("t")); err != nil || h.Version != 1 {
		t.Errorf("the task that was taken over: %+v, %v", h, err)
	}
	if err := old.Close(); !errors.Is(err, store.ErrLost) { // which gives back nothing any more
		t.Errorf("the old instance closes: %v", err)
	}
	if n := strings.Count(out.String(), "another process has opened the file"); n != 1 {
		t.Errorf("said %d times: %s", n, &out)
	}
	if list, err := wrong(now); err != nil || len(list) > 0 {
		t.Errorf("the file is damaged: %q, %v", list, err)
	}
}

// TestAReplacedFileIsNotWritten: what is written into a file that is at no path would be acknowledged for nothing.
func TestAReplacedFileIsNotWritten(t *testing.T) {
	var out bytes.Buffer
	path := fresh(t)
	s := open(t, path, Options{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	create(t, s, "t")
	duplicate(t, path, path+".copy")
	if err := os.Rename(path+".copy", path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, key("u"), newTask("u"), nil); !errors.Is(err, store.ErrLost) {
		t.Errorf("a task is made: %v", err)
	}
	if h, err := s.Head(ctx, key("t")); err != nil || h.Version != 1 {
		t.Errorf("what was there is read: %+v, %v", h, err)
	}
	if n := strings.Count(out.String(), "was replaced by another"); n != 1 {
		t.Errorf("said %d times: %s", n, &out)
	}
}

// TestAServerThatIsNotTheLastAnswers: senders are told at once, the handler at work is stopped, and what it ran goes on with
// the other process.
func TestAServerThatIsNotTheLastAnswers(t *testing.T) {
	path, handles := fresh(t), make(chan string, 9)
	begun, stopped := make(chan struct{}), make(chan struct{})
	s, a := bank(t, path, handles, func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		close(stopped)
		return ctx.Err()
	})
	s.options.Logger = slog.New(slog.DiscardHandler)
	send := func() (id, state string) {
		id, state, _ = asked(t, a, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"paid"}]}}`)
		return id, state
	}
	id, _ := send()
	if err := a.Redeem(t.Context(), <-handles, "code"); err != nil {
		t.Fatal(err)
	}
	<-begun
	s.lock.release() // as a network file system may do
	next, b := bank(t, path, handles, func(context.Context) error { return nil })
	defer func() { _, _ = b.Close(), next.Close() }()
	if id, state := send(); id != "" || state != "" {
		t.Errorf("the first server makes task %s, %s", id, state)
	}
	asked(t, b, "SendMessage", `{"message":{"messageId":"n","role":"ROLE_USER","parts":[{"text":"other"}]}}`) // work that comes in
	state := ""
	for end := time.Now().Add(20 * time.Second); state != "TASK_STATE_COMPLETED" && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_, state, _ = asked(t, b, "GetTask", `{"id":"`+id+`"}`)
	}
	if state != "TASK_STATE_COMPLETED" {
		t.Errorf("the task that was taken over is %s", state)
	}
	_ = a.Close()
	<-stopped
	if list, err := wrong(next); err != nil || len(list) > 0 {
		t.Errorf("the file is damaged: %q, %v", list, err)
	}
}
