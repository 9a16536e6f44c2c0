//go:build !unix

package program

import (
	"context"
	"os/exec"
	"strconv"
)

// shellCommand is a command line of the user's own.
func shellCommand(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/c", line)
}

func ownGroup(*exec.Cmd) {}

// terminate kills: there is no signal that a program could finish by.
func terminate(cmd *exec.Cmd) error { kill(cmd); return nil }

// kill ends a program with what it started.
func kill(cmd *exec.Cmd) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() != nil {
		_ = cmd.Process.Kill() // it may have ended
	}
}
