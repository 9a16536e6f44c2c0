//go:build !js

package audit

import (
	"os"
	"os/signal"
	"syscall"
)

// notify sends SIGHUP to hangups, the signal that a file was moved.
func notify(hangups chan os.Signal) { signal.Notify(hangups, syscall.SIGHUP) }
