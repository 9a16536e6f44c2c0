package program

import (
	"os/exec"
	"syscall"
)

// endWithParent has a command told to end when the thread that starts it has ended, however that was.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM }
