package run

import (
	"crypto/rand"
	"sync"
)

// ids makes identifiers that nobody can guess: task and context ids are all it takes to name a task. Random bytes are
// drawn in bulk, and some ids are made at a time: they share one piece of memory, as a task and its context often do.
type ids struct {
	mu   sync.Mutex
	made string // ids that are not given out yet
	left int    // unused bytes at the end of pool
	pool [64 * idBytes]byte
}

const (
	idBytes  = 16 // the randomness of an id
	idLength = 36
	idsMade  = 4 // at a time: one that is kept keeps the others' memory, too
)

// next makes an id in the form of a random UUID (version 4).
func (g *ids) next() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.made == "" {
		g.made = g.make()
	}
	id := g.made[:idLength]
	g.made = g.made[idLength:]
	return id
}

// make makes some ids in a row.
func (g *ids) make() string {
	if g.left == 0 {
		_, _ = rand.Read(g.pool[:]) // never fails
		g.left = len(g.pool)
	}
	unused := g.pool[len(g.pool)-g.left:][:idsMade*idBytes]
	var row [idsMade * idLength]byte
	for i := range idsMade {
		writeID(row[i*idLength:], unused[i*idBytes:][:idBytes])
	}
	clear(unused)
	g.left -= len(unused)
	return string(row[:])
}

// writeID writes random bytes as an id.
func writeID(dst, random []byte) {
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	const digits = "0123456789abcdef"
	at := 0
	for i, c := range random {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst[at] = '-'
			at++
		}
		dst[at], dst[at+1] = digits[c>>4], digits[c&15]
		at += 2
	}
}
