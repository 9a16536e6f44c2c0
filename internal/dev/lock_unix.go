//go:build unix && !solaris && !aix

package dev

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockFolder takes the folder of a loop for this process, until the file is closed or the process ends, however it
// ends. The file is nil where the file system has no locks: two loops in one folder are the user's to avoid there.
func lockFolder(dir string) (*os.File, error) {
	name := filepath.Join(dir, "lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	switch err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		pid, _ := os.ReadFile(name) // "" if it is not written yet
		_ = f.Close()               // nothing was written
		return nil, fmt.Errorf("another a2agen dev runs in this folder (process %s): use that one, or end it",
			strings.TrimSpace(string(pid)))
	case err != nil:
		return nil, f.Close()
	}
	_ = f.Truncate(0)                                          // the number is for people
	_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0) // likewise
	return f, nil
}
