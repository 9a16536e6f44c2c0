package server

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"sync"
)

// headroom is by how many bytes the memory of a process may grow, beside what the garbage collector leaves it, before
// its garbage is collected; in a container it is a part of what that may take.
const (
	headroom          = 64 << 20
	headroomContainer = 16 // a sixteenth
)

// reserve is memory that nobody touches, so that the system never provides it: the collector, which begins when the heap
// has doubled, counts it.
type reserve struct {
	mu    sync.Mutex
	bytes []byte
}

// take takes so many bytes, unless that was done.
func (r *reserve) take(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes == nil {
		r.bytes = make([]byte, n)
	}
}

// reserved is that of the process.
var reserved reserve

// Headroom has the process collect its garbage less often while its heap is small, as [Main] does: a process of a few
// megabytes spends a fifth of its time on that otherwise. In return it takes up to 64 MiB more memory when it is busy,
// at most a sixteenth of what its container has. It does nothing where GOGC or GOMEMLIMIT is set, and when it is called
// again. Libraries must leave it to the process.
func Headroom() { reserved.take(headroomOf(os.Getenv, openFile)) }

// headroomOf is how many bytes a process gets in its environment.
func headroomOf(env func(string) string, open func(name string) (io.ReadCloser, error)) int64 {
	if env("GOGC") != "" || env("GOMEMLIMIT") != "" {
		return 0
	}
	n := int64(headroom)
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} { // of cgroup v2 and v1
		if limit, ok := readLimit(file, open); ok {
			n = min(n, limit/headroomContainer)
		}
	}
	return n
}

// readLimit reads a number of bytes from a file that the system has, if it does.
func readLimit(name string, open func(string) (io.ReadCloser, error)) (int64, bool) {
	f, err := open(name)
	if err != nil {
		return 0, false
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64) // "max" is no limit
	return n, err == nil && n >= 0
}

func openFile(name string) (io.ReadCloser, error) { return os.Open(name) }
