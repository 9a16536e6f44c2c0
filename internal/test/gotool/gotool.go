// Package gotool runs the go command for tests that compile what was generated.
package gotool

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// Command is a go command in a module of the test's own. It is offline, and finds again what an earlier run compiled in another temporary
// folder: that is what -trimpath is for.
func Command(dir string, args ...string) *exec.Cmd {
	Fetch()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GOWORK=off")
	return cmd
}

// Fetch downloads what go commands that are offline read of modules, where the cache does not have it: every test that runs one calls it,
// because compiling the test itself needs less. That is the go.mod file of every module in the graph of this one, and the source of what projects,
// their tests and the tool link. It is called in a folder of this module, and once in a process. Where it fails, it says so, and a test that needs what is
// missing fails.
var Fetch = sync.OnceFunc(func() {
	for _, args := range [][]string{
		{"list", "-m", "all"},
		{"list", "-deps", "-test", module + "/runtime/...", module + "/cmd/..."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "gotool: go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
})

const module = "github.com/a2agen/a2agen"
