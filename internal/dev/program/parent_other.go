//go:build !linux

package program

import "os/exec"

// endWithParent does nothing: only Linux tells a process that its parent has ended.
func endWithParent(*exec.Cmd) {}
