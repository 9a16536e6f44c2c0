package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
)

// signal sends a signal to all processes of a server.
func signal(t *testing.T, c *postgrestest.Cluster, sig syscall.Signal) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		text, _ := os.ReadFile(stat)
		pid, rest, _ := strings.Cut(string(text), " (")
		var state string
		var n, parent int
		_, _ = fmt.Sscan(pid, &n)
		if i := strings.LastIndex(rest, ") "); i >= 0 {
			_, _ = fmt.Sscan(rest[i+2:], &state, &parent)
		}
		if n == c.Pid() || parent == c.Pid() {
			if err := syscall.Kill(n, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Fatal(err)
			}
		}
	}
}

// A database that takes connections and statements, and answers none: whoever asks for something is told so within
// bounds, work ends with its lease, and all of it goes on when the database does.
func TestADatabaseThatHangsHoldsNobody(t *testing.T) {
	withoutLibpq(t)
	cluster := postgrestest.New(t, postgrestest.Options{})
	stopped := make(chan error, 9)
	a := newAgent(t, cluster.Address(), Options{Lease: 3 * time.Second}, func(ctx context.Context, c *server.Task) error {
		if c.Call().Attempt() > 1 {
			return nil
		}
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return ctx.Err()
	})
	id := a.begin()
	signal(t, cluster, syscall.SIGSTOP)
	t.Cleanup(func() { signal(t, cluster, syscall.SIGCONT) })
	for what, line := range map[string][3]string{
		"get":    {"GET", "/rest/tasks/" + id},
		"a task": {"POST", "/rest/message:send", goMessage}, // which may be there later: nobody knows what the server has taken
	} {
		status, again, answer := a.do(line[0], line[1], line[2])
		if status != 503 || !again {
			t.Errorf("%s: %d, again %v: %s", what, status, again, answer)
		}
	}
	if err := <-stopped; !errors.Is(err, store.ErrLost) {
		t.Errorf("the handler is told %v", err)
	}
	signal(t, cluster, syscall.SIGCONT)
	eventually(t, "the task is done", func() bool { return a.isCompleted(id) })
}
