//go:build !js

package audit

import (
	"os"
	"os/signal"
	"syscall"
)

// notify has hangups told of the signal that a file was moved.
func notify(hangups chan os.Signal) { signal.Notify(hangups, syscall.SIGHUP) }
