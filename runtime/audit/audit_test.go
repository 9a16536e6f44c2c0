//go:build unix

package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
)

// open opens a log that looks after its file all the time.
func open(t *testing.T, path string, opts ...Option) *Log {
	t.Helper()
	l, err := Open(path, append([]Option{WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	l.every = 0
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// did has a log hear of a call.
func did(l *Log, task string) {
	a := &observe.Activity{Kind: observe.Serve, Operation: "SendMessage", Task: task, Begun: time.Now()}
	l.End(l.Begin(context.Background(), a), a)
}

// tasks are those of the lines in a file, each of which is whole.
func tasks(t *testing.T, path string) (list []string) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		var read struct{ Task string }
		if err := json.Unmarshal([]byte(line), &read); err != nil || !strings.HasSuffix(line, "}\n") {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, read.Task)
	}
	return list
}

func same(t *testing.T, path string, want ...string) {
	t.Helper()
	if got := tasks(t, path); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s has %v, want %v", filepath.Base(path), got, want)
	}
}

func TestALineSaysWhoDidWhat(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.FixedZone("x", 3600))
	for _, c := range []struct {
		a    observe.Activity
		want string
	}{
		{observe.Activity{
			Kind: observe.Serve, Operation: "SendMessage", Binding: "GRPC", Version: "1.0", Skill: "s", Task: "t\n\"", Context: "c", Tenant: "acme", Begun: begun,
			Caller: &runtime.Caller{ID: "ann", Issuer: "https://idp", Scheme: "oidc", Client: "cli"}, Reason: "TASK_NOT_FOUND",
		}, `{"time":"2026-01-02T02:04:05.006Z","kind":"serve","caller":"https://idp|ann","scheme":"oidc","client":"cli","tenant":"acme","operation":"SendMessage",` +
			`"skill":"s","binding":"GRPC","version":"1.0","task":"t\n\"","context":"c","outcome":"failed","reason":"TASK_NOT_FOUND","ms":7}`},
		{observe.Activity{Kind: observe.Run, Skill: "s", Attempt: 2, State: runtime.StateCompleted, Begun: begun},
			`{"time":"2026-01-02T02:04:05.006Z","kind":"run","skill":"s","attempt":2,"state":"completed","outcome":"ok","ms":7}`},
		{observe.Activity{Kind: observe.Deliver, Peer: "h:1", Attempt: 1, Reason: "UNAUTHENTICATED", Begun: begun},
			`{"time":"2026-01-02T02:04:05.006Z","kind":"deliver","peer":"h:1","attempt":1,"outcome":"denied","reason":"UNAUTHENTICATED","ms":7}`},
	} {
		if got := string(appendLine(nil, &c.a, 7*time.Millisecond, 0)); got != c.want+"\n" {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestLinesGoOnInAFileAndStayWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	for _, task := range []string{"a", "b"} { // two processes, one after the other
		did(open(t, path), task)
	}
	same(t, path, "a", "b")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	one, two := open(t, path), open(t, path) // two at once
	var done sync.WaitGroup
	for i := range 200 {
		done.Go(func() { did([]*Log{one, two}[i%2], strings.Repeat("x", i)) })
	}
	done.Wait()
	if n := len(tasks(t, path)); n != 202 {
		t.Errorf("%d lines", n)
	}
}

// TestAFileThatWasMovedIsFollowedByANewOne: as logrotate moves one, with a signal or without.
func TestAFileThatWasMovedIsFollowedByANewOne(t *testing.T) {
	for _, signal := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "audit")
		l := open(t, path)
		if signal {
			l.every = time.Hour
		}
		did(l, "a")
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		if signal {
			did(l, "b") // nobody has said so yet
			if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(10 * time.Second); len(l.hangups) == 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}
		did(l, "c")
		same(t, path, "c")
		if want := []string{"a", "b"}; signal {
			same(t, path+".1", want...)
		} else {
			same(t, path+".1", "a")
		}
	}
}

// TestWhatCannotBeWrittenWaits: calls are refused meanwhile, unless the log is told otherwise.
func TestWhatCannotBeWrittenWaits(t *testing.T) {
	for _, lenient := range []bool{false, true} {
		folder := filepath.Join(t.TempDir(), "f")
		path := filepath.Join(folder, "audit")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		opts := []Option{WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}
		if lenient {
			opts = append(opts, KeepServing())
		}
		l := open(t, path, opts...)
		did(l, "a")
		if err := os.Rename(folder, folder+".1"); err != nil {
			t.Fatal(err)
		}
		did(l, "b")
		did(l, "c")
		if l.Ready() != lenient {
			t.Errorf("lenient %v: ready %v", lenient, l.Ready())
		}
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if !lenient && !l.Ready() {
			t.Error("it is not ready again")
		}
		did(l, "d")
		same(t, path, "b", "c", "d")
		if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), fmt.Sprint("calls_are_refused=", !lenient)) {
			t.Errorf("logged: %s", &log)
		}
	}
}

// TestWrongCredentialsDoNotFillTheDisk: what is left out is counted.
func TestWrongCredentialsDoNotFillTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	l := open(t, path)
	for range 1000 {
		l.End(context.Background(), &observe.Activity{Kind: observe.Serve, Reason: "UNAUTHENTICATED"})
	}
	did(l, "a")
	src, err := os.ReadFile(path)
	if n := strings.Count(string(src), "\n"); n != strangers+1 || !strings.Contains(string(src), `"omitted":400}`) || err != nil {
		t.Errorf("%d lines: %v", n, err)
	}
}
