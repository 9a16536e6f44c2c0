//go:build unix

package disk

import (
	"os"
	"syscall"
)

// Guard waits until no other run of the tool writes to the folder, and returns what lets the next one in. The lock is
// on the folder itself, so it leaves no file behind and a killed process holds nothing. Where a file system has no
// such locks there is none: a run is still safe alone.
func Guard(dir string) (release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	return func() { f.Close() } // closing unlocks
}
