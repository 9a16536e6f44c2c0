package server

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestHeadroomIsWhatTheProcessMayTake(t *testing.T) {
	const v2, v1 = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
	for _, c := range []struct {
		name       string
		env, files map[string]string
		want       int64
	}{
		{name: "no container", want: 64 << 20},
		{name: "a container without a limit", files: map[string]string{v2: "max\n"}, want: 64 << 20},
		{name: "a large container", files: map[string]string{v2: "8589934592\n"}, want: 64 << 20},
		{name: "a small container", files: map[string]string{v2: "134217728\n"}, want: 8 << 20},
		{name: "a small container of former systems", files: map[string]string{v1: "268435456\n"}, want: 16 << 20},
		{name: "no number", files: map[string]string{v2: strings.Repeat("1", 1<<20)}, want: 64 << 20},
		{name: "GOGC is set", env: map[string]string{"GOGC": "100"}, want: 0},
		{name: "GOMEMLIMIT is set", env: map[string]string{"GOMEMLIMIT": "100MiB"}, want: 0},
	} {
		got := headroomOf(func(name string) string { return c.env[name] }, func(name string) (io.ReadCloser, error) {
			if text, ok := c.files[name]; ok {
				return io.NopCloser(strings.NewReader(text)), nil
			}
			return nil, os.ErrNotExist
		})
		if got != c.want {
			t.Errorf("%s: %d bytes, not %d", c.name, got, c.want)
		}
	}
}

// What is promised: the heap is collected before it takes more than the headroom beside twice what is in use.
func TestTheHeapGrowsByItsHeadroomAtMost(t *testing.T) {
	if !alone(t) {
		return
	}
	const size, slack = 16 << 20, 8 << 20
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var r reserve
	r.take(size)
	var garbage []byte
	for range 64 {
		for range 256 {
			garbage = make([]byte, 4<<10) // 64 MiB in all
		}
		if runtime.ReadMemStats(&now); now.HeapAlloc > 2*(before.HeapAlloc+size)+slack {
			t.Fatalf("the heap takes %d MiB, of which %d are the headroom", now.HeapAlloc>>20, size>>20)
		}
	}
	runtime.KeepAlive(garbage)
	runtime.KeepAlive(r.bytes)
	if n := now.NumGC - before.NumGC; n == 0 || n > 8 {
		t.Errorf("64 MiB of garbage were collected %d times", n)
	}
}

func TestHeadroomTakesNoMemoryByItself(t *testing.T) {
	if !alone(t) {
		return
	}
	before, ok := resident(t)
	if !ok {
		t.Skip("the system does not say what is resident")
	}
	var r reserve
	r.take(headroom)
	after, _ := resident(t)
	if runtime.KeepAlive(r.bytes); after-before > headroom/4 {
		t.Errorf("%d MiB more are resident", (after-before)>>20)
	}
}

// alone runs the test once more, in a process that runs no other, and reports whether this is that one: what others
// allocate meanwhile is nobody's headroom.
func alone(t *testing.T) bool {
	const variable = "A2A_TEST_ALONE"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// resident is how many bytes of memory the process has from the system, as Linux says it.
func resident(t *testing.T) (int64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize()), true
}
