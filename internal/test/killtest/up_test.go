//go:build unix

package killtest

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/gotool"
)

// TestOneCommandStartsAndEndsTheThree runs what a newcomer types in examples/planner.
func TestOneCommandStartsAndEndsTheThree(t *testing.T) {
	gotool.Long(t)
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir, port := filepath.Join(root, "examples", "planner"), threePorts(t)
	programs := t.TempDir()
	for _, name := range []string{"up", "plan"} {
		if out, err := gotool.Command(dir, "build", "-o", programs, "./cmd/"+name).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	up := exec.Command(filepath.Join(programs, "up"), "-port", strconv.Itoa(port), "-store", filepath.Join(t.TempDir(), "plans.db"))
	up.Dir, up.Env = dir, append(gotool.Command(dir).Env, "A2A_STORE=memory") // which is for none of them
	var said strings.Builder
	up.Stderr = &said
	stdout, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(3*time.Minute, func() { _ = up.Process.Kill() })
	defer stuck.Stop()
	lines := bufio.NewScanner(stdout)
	process := 0
	for lines.Scan() && !strings.Contains(lines.Text(), "Ctrl-C ends all three") {
		_, _ = fmt.Sscanf(lines.Text(), "planner http://127.0.0.1:"+strconv.Itoa(port)+", process %d", &process)
	}
	if err := syscall.Kill(process, syscall.SIGKILL); err != nil || process == 0 {
		t.Fatal(process, err)
	}
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "planner ") { // it is there again
	}
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "planner ") {
	}
	plan := exec.Command(filepath.Join(programs, "plan"), "-url", "http://127.0.0.1:"+strconv.Itoa(port), "Oslo", "Springfield")
	plan.Stdin = strings.NewReader("Springfield, Oregon\n")
	out, err := plan.CombinedOutput()
	for _, want := range []string{"compared 3 of 3 routes", "Which one: Springfield", "Springfield, Oregon is"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v; want %q in\n%s", err, want, out)
		}
	}
	if err := up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // to its end
	}
	if err := up.Wait(); err != nil {
		t.Errorf("up ends with %v:\n%s", err, said.String())
	}
	for n := range 3 {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port+n)); err == nil {
			_ = conn.Close()
			t.Errorf("somebody listens at port %d still", port+n)
		}
	}
}

// threePorts returns the first of three free ports in a row.
func threePorts(t *testing.T) int {
	t.Helper()
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := first.Addr().(*net.TCPAddr).Port
		_ = first.Close()
		free := true
		for n := 1; n < 3 && free; n++ {
			ln, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+n))
			if free = err == nil; free {
				_ = ln.Close()
			}
		}
		if free {
			return port
		}
	}
	t.Fatal("there are no three free ports in a row")
	return 0
}
