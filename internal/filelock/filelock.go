// Package filelock locks open files by the locks of the operating system. A lock is held until the file is closed or the process ends, however
// it ends: no lock is ever stale.
//
// Where a system or a file system has no locks, every attempt succeeds: that one process at a time uses the file is up to the user there.
package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrHeld reports that another process holds the lock, or this one by another opening of the file.
var ErrHeld = errors.New("the lock is held")

// lockByte is the byte that is locked where a lock is on a part of a file: far behind its end, so that the lock does not keep others from
// reading the file, and behind the bytes that SQLite locks.
const lockByte = 1 << 62

// retryPause is between two attempts of [Wait].
const retryPause = 20 * time.Millisecond

// Wait locks an open file as [Try] does, once nobody else holds the lock. It fails with the cause of the context when that ends first.
func Wait(ctx context.Context, f *os.File) error {
	for {
		if err := Try(f); err != ErrHeld {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryPause):
		}
	}
}
