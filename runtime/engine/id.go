package engine

import (
	"crypto/rand"
	"sync"
)

// ids makes identifiers that nobody can guess: task and context ids are all it takes to name a task. Random bytes are
// drawn in bulk.
type ids struct {
	mu   sync.Mutex
	left int // unused bytes at the end of pool
	pool [64 * idBytes]byte
}

// idBytes is the randomness of an id.
const idBytes = 16

// next makes an id in the form of a random UUID (version 4).
func (g *ids) next() string {
	var b [idBytes]byte
	g.mu.Lock()
	if g.left == 0 {
		_, _ = rand.Read(g.pool[:]) // never fails
		g.left = len(g.pool)
	}
	unused := g.pool[len(g.pool)-g.left:][:idBytes]
	copy(b[:], unused)
	clear(unused)
	g.left -= idBytes
	g.mu.Unlock()

	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	const digits = "0123456789abcdef"
	var s [36]byte
	at := 0
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			s[at] = '-'
			at++
		}
		s[at], s[at+1] = digits[c>>4], digits[c&15]
		at += 2
	}
	return string(s[:])
}
