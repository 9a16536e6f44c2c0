// Package gotool runs the go command for tests that compile what was generated.
package gotool

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Flags are what tests give to the go command when it compiles a project that they made, all the same, so that it finds again what was compiled
// for another test in another temporary folder. What is generated is compiled without inlining: it is no faster than it needs to be, and
// takes the compiler half the time. Programs are linked without what debuggers read. "go test" does not vet: that looks at all that is linked, SQLite
// and the standard library too, and a test about what is vet-clean says "go vet".
const Flags = "-trimpath -vet=off -ldflags=-w -gcflags=example.com/...=-l -gcflags=golden.test/...=-l"

// IsLong reports whether tests run that compile dozens of programs, need a PostgreSQL server or try many times what others try a few
// times: where A2A_LONG is set, as .ci/run has it.
func IsLong() bool { return os.Getenv("A2A_LONG") != "" }

// Long skips such a test.
func Long(t testing.TB) {
	t.Helper()
	if !IsLong() {
		t.Skip("compiles many programs: set A2A_LONG=1")
	}
}

// Tries is how often a test tries something at random: n times, and more times n where [IsLong].
func Tries(n, more int) int {
	if IsLong() {
		return n * more
	}
	return n
}

// Command is a go command in a module of the test's own. It is offline.
func Command(dir string, args ...string) *exec.Cmd {
	Fetch()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod "+Flags, "GOPROXY=off", "GOWORK=off")
	return cmd
}

// Places are the go command's settings of where its caches and its library are, "GOCACHE=/…", and of whether package net is linked with C's, for
// processes that get another home or no environment. Without them such a process compiles the standard library and all else anew.
var Places = sync.OnceValue(func() []string {
	names := []string{"GOCACHE", "GOMODCACHE", "GOROOT", "CGO_ENABLED"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		panic(fmt.Errorf("go env: %w", err))
	}
	places := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, name := range names {
		places[i] = name + "=" + places[i]
	}
	return places
})

// Fetch downloads what go commands that are offline read of modules, where the cache does not have it: every test that runs one calls it,
// because compiling the test itself needs less. That is the go.mod file of every module in the graph of this one, and the source of what projects,
// their tests and the tool link. It is called in a folder of this module, and once in a process. Where it fails, it says so, and a test that needs what is
// missing fails.
var Fetch = sync.OnceFunc(func() {
	for _, args := range [][]string{
		{"list", "-m", "all"},
		{"list", "-deps", "-test", module + "/runtime/...", module + "/testkit/...", module + "/cmd/..."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "gotool: go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
})

const module = "github.com/a2agen/a2agen"
