package filelock

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

// Try locks an open file, or fails with [ErrHeld].
func Try(f *os.File) error {
	at := syscall.Overlapped{OffsetHigh: lockByte >> 32}
	ok, _, err := lockFileEx.Call(f.Fd(), failImmediately|exclusive, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, lockViolation), errors.Is(err, syscall.ERROR_IO_PENDING):
		return ErrHeld
	}
	return err
}

// TryByte is [Try], which locks one byte far behind the end of the file, except that it succeeds where the file system has no such locks.
func TryByte(f *os.File) error {
	if Try(f) == ErrHeld {
		return ErrHeld
	}
	return nil
}

// Links returns how many names (hard links) an open file has.
func Links(f *os.File) int {
	var info syscall.ByHandleFileInformation
	if syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info) != nil {
		return 1
	}
	return int(info.NumberOfLinks)
}
