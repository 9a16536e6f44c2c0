package sqlite

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// Of LockFileEx.
const (
	failImmediately = 1
	exclusive       = 2
	lockViolation   = syscall.Errno(33)
)

// lockOpen locks the byte of an open file. Where the file system has no such locks, the other two guards have to do.
func lockOpen(f *os.File) error {
	at := syscall.Overlapped{OffsetHigh: lockByte >> 32}
	ok, _, err := lockFileEx.Call(f.Fd(), failImmediately|exclusive, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	if ok == 0 && (errors.Is(err, lockViolation) || errors.Is(err, syscall.ERROR_IO_PENDING)) {
		return errLocked
	}
	return nil
}

// names is how many names an open file has.
func names(f *os.File) int {
	var info syscall.ByHandleFileInformation
	if syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info) != nil {
		return 1
	}
	return int(info.NumberOfLinks)
}
