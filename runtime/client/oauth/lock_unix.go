//go:build unix && !solaris && !aix

package oauth

import (
	"os"
	"syscall"
)

// tryLock locks an open file unless somebody has it: another process, or this one by another opening.
func tryLock(f *os.File) (bool, error) {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
	case nil:
		return true, nil
	case syscall.EWOULDBLOCK, syscall.EINTR:
		return false, nil
	case syscall.ENOLCK, syscall.ENOSYS, syscall.ENOTSUP: // a file system without locks: one process at a time is the user's to see to
		return true, nil
	default:
		return false, err
	}
}
