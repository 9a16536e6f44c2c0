// Package gotool runs the go command for tests that compile what was generated.
package gotool

import (
	"os"
	"os/exec"
)

// Command is a go command in a module of the test's own. It is offline, and finds again what an earlier run compiled in another temporary
// folder: that is what -trimpath is for.
func Command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GOWORK=off")
	return cmd
}
