package token

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
)

// How long, and how many, valid tokens are cached.
const (
	knownFor  = time.Minute
	mostKnown = 10_000
)

// entry is a valid token.
type entry struct {
	caller auth.Caller
	until  time.Time
	kid    string // of a JWT
	key    *key   // with which it was checked
	bound  string // to a certificate; "": to nothing
}

// digest returns the key of a token in the cache. A token of a usual length is hashed without an allocation.
func digest(token string) [sha256.Size]byte {
	var short [2 << 10]byte
	if n := copy(short[:], token); n == len(token) {
		return sha256.Sum256(short[:n])
	}
	return sha256.Sum256([]byte(token))
}

// cache holds valid tokens by their hashes, so that nobody can take tokens from memory.
type cache struct {
	mu  sync.RWMutex
	all map[[sha256.Size]byte]*entry
}

func (c *cache) init() { c.all = map[[sha256.Size]byte]*entry{} }

// find returns a cached token that is still valid; nil if there is none.
func (c *cache) find(mark [sha256.Size]byte, now time.Time) *entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if e := c.all[mark]; e != nil && now.Before(e.until) {
		return e
	}
	return nil
}

// keep caches a token until it expires, and for a minute at most.
func (c *cache) keep(mark [sha256.Size]byte, e *entry, now time.Time) {
	e.until = now.Add(knownFor)
	if e.caller.Expires.Before(e.until) {
		e.until = e.caller.Expires
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= mostKnown {
		c.makeRoom(now)
	}
	c.all[mark] = e
}

// makeRoom deletes what has expired and, if that is not enough, some of the rest. Callers must hold mu.
func (c *cache) makeRoom(now time.Time) {
	for mark, e := range c.all {
		if !now.Before(e.until) {
			delete(c.all, mark)
		}
	}
	for mark := range c.all {
		if len(c.all) < mostKnown*9/10 {
			return
		}
		delete(c.all, mark)
	}
}

func (c *cache) drop(mark [sha256.Size]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, mark)
}
