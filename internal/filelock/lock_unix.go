//go:build unix && !solaris && !aix

package filelock

import (
	"io"
	"os"
	"runtime"
	"syscall"
)

// Try locks an open file or folder, or fails with [ErrHeld].
func Try(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrHeld
		case syscall.ENOLCK, syscall.ENOSYS, syscall.ENOTSUP: // a file system without locks
			return nil
		default:
			return err
		}
	}
}

// TryByte locks one byte far behind the end of a file that is open for writing, or fails with [ErrHeld]. Unlike [Try] it does not exclude locks
// of other bytes: on macOS, the BSDs and NFS a lock of the whole file would keep SQLite from its own.
func TryByte(f *os.File) error {
	set := syscall.F_SETLK // of the process
	if runtime.GOOS == "linux" {
		set = 37 // F_OFD_SETLK, of the open file: a lock of the process is lost when the process closes any opening of the file
	}
	switch err := syscall.FcntlFlock(f.Fd(), set, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockByte, Len: 1}); err {
	case syscall.EAGAIN, syscall.EACCES:
		return ErrHeld
	}
	return nil // also where the file system has no such locks
}

// Links returns how many names (hard links) an open file has.
func Links(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 1
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink) //nolint:gosec,unconvert // its type is another on each system
	}
	return 1
}
