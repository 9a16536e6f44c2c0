//go:build unix && !linux

package sqlite

import "syscall"

// setLock is F_SETLK: the lock is the process's.
const setLock = syscall.F_SETLK
