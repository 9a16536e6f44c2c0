// Package child is the contestant's end of the talk between a contestant and the program that started it.
//
// A contestant listens on a free loopback port and prints one [Hello] line. Then it reads commands, one a line, from
// standard input and answers each with one JSON line. It ends when standard input closes or on SIGTERM, so that no
// contestant outlives its parent.
package child

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"syscall"

	"github.com/a2agen/a2agen/bench/internal/work"
)

// Hello is the first line a contestant prints.
type Hello struct {
	Addr  string `json:"addr"`           // host:port
	GRPC  string `json:"grpc,omitempty"` // host:port of gRPC, if it has a port of its own
	PID   int    `json:"pid"`
	Procs int    `json:"procs"` // GOMAXPROCS
}

// Usage is the answer to a command; to "settle" it has the resident memory in bytes after two garbage collections that
// gave free memory back.
type Usage struct {
	RSS int64  `json:"rss,omitempty"`
	Err string `json:"err,omitempty"`
}

// Served is what a contestant serves.
type Served struct {
	HTTP http.Handler
	GRPC interface{ Serve(net.Listener) error } // on a port of its own; nil: none
	All  interface{ Serve(net.Listener) error } // in place of both, on one port
}

// httpServer serves a handler with net/http's defaults.
type httpServer struct{ http.Handler }

func (s httpServer) Serve(ln net.Listener) error { return http.Serve(ln, s.Handler) }

// Main runs a contestant. build makes it from the address it is reached at and the token that its answers have to carry.
func Main(build func(addr, token string) (Served, error)) {
	log.SetFlags(0)
	token := os.Getenv(work.TokenEnv)
	if token == "" {
		log.Fatalf("%s is not set: start contestants with cmd/compare", work.TokenEnv)
	}
	hello := Hello{PID: os.Getpid(), Procs: runtime.GOMAXPROCS(0)}
	ln := listen(&hello.Addr)
	served, err := build(hello.Addr, token)
	if err != nil {
		log.Fatal(err)
	}
	all := served.All
	if all == nil {
		all = httpServer{served.HTTP}
	}
	go func() { log.Fatal(all.Serve(ln)) }()
	if served.GRPC != nil {
		ln := listen(&hello.GRPC)
		go func() { log.Fatal(served.GRPC.Serve(ln)) }()
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	done := make(chan struct{})
	go func() {
		defer close(done)
		obey(hello)
	}()
	select {
	case <-stop:
	case <-done:
	}
}

// listen opens a free loopback port.
func listen(addr *string) net.Listener {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	*addr = ln.Addr().String()
	return ln
}

// obey talks on standard input and output until input ends.
func obey(hello Hello) {
	out := json.NewEncoder(os.Stdout)
	if out.Encode(hello) != nil {
		return
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if out.Encode(command(in.Text())) != nil {
			return
		}
	}
}

func command(line string) Usage {
	verb, arg, _ := strings.Cut(line, " ")
	var u Usage
	var err error
	switch verb {
	case "settle":
		debug.FreeOSMemory()
		debug.FreeOSMemory()
		u.RSS, err = resident()
	case "profile":
		err = startProfile(arg)
	case "profiled":
		err = endProfile(arg)
	default:
		err = fmt.Errorf("unknown command %q", line)
	}
	if err != nil {
		u.Err = err.Error()
	}
	return u
}

// resident returns the resident memory of this process in bytes.
func resident() (int64, error) {
	src, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, fmt.Errorf("reading resident memory: %w", err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(src), &size, &pages); err != nil {
		return 0, fmt.Errorf("reading resident memory: %w", err)
	}
	return pages * int64(os.Getpagesize()), nil
}

// startProfile begins a CPU profile in the file base.cpu.
func startProfile(base string) error {
	f, err := os.Create(base + ".cpu")
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

// endProfile ends the CPU profile and writes the allocations so far to the file base.allocs.
func endProfile(base string) error {
	pprof.StopCPUProfile()
	f, err := os.Create(base + ".allocs")
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.Lookup("allocs").WriteTo(f, 0)
}
