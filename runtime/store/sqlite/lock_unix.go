//go:build unix

package sqlite

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockOpen locks the byte of an open file. Where the file system has no such locks, the other two guards have to do.
func lockOpen(f *os.File) error {
	err := syscall.FcntlFlock(f.Fd(), setLock, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockByte, Len: 1})
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return errLocked
	}
	return nil
}

// names is how many names an open file has.
func names(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 1
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink) //nolint:gosec,unconvert // its type is another on each system
	}
	return 1
}
