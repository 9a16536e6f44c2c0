// Package gotool runs the go command for tests that compile what was generated.
package gotool

import (
	"os"
	"os/exec"
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

// Fetch has the go.mod of every module that this one's modules name in the cache: building this module needs fewer of them than a go
// command that is offline and reads the whole graph. It is called in a folder of this module. Where it fails, what needs them says so.
var Fetch = sync.OnceFunc(func() { _ = exec.Command("go", "list", "-m", "all").Run() })
