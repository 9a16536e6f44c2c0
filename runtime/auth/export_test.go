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
	whole := hashPassword
	hashPassword = func(password string, h passwordHash) ([]byte, error) {
		n.Add(1)
		return whole(password, h)
	}
	t.Cleanup(func() { hashPassword = whole })
	return func() int { return int(n.Load()) }
}
