package auth

import (
	"sync/atomic"
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// CallerOf reads a principal.
var CallerOf = runtime.CallerOf

// CountHashes counts how often a password is hashed, until the test ends.
func CountHashes(t *testing.T) func() int {
	var n atomic.Int64
	WatchHashes(t, func(int) { n.Add(1) })
	return func() int { return int(n.Load()) }
}

// WatchHashes has f called before a password is hashed, with the rounds, until the test ends.
func WatchHashes(t *testing.T, f func(rounds int)) {
	whole := hashPassword
	hashPassword = func(password string, h passwordHash) ([]byte, error) {
		f(h.iterations)
		return whole(password, h)
	}
	t.Cleanup(func() { hashPassword = whole })
}
