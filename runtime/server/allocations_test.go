//go:build !race

// The race detector empties pools at random, so that there is nothing to count under it.

package server_test

import (
	"math"
	"testing"

	"github.com/a2agen/a2agen/runtime/server"
)

// Three allocations of each are of the test itself.
func TestARequestTakesFewAllocations(t *testing.T) {
	for name, c := range map[string]struct {
		binding string
		skill   server.Skill
		most    float64
	}{
		"message":                {"JSON-RPC", chat(), 22},
		"task":                   {"JSON-RPC", work(), 39},
		"message over HTTP+JSON": {"HTTP+JSON", chat(), 22},
		"task over HTTP+JSON":    {"HTTP+JSON", work(), 39},
	} {
		t.Run(name, func(t *testing.T) {
			path, body := bound[c.binding](message("hello there, how are you?"))
			do := ask(t, path, body, c.skill)
			least := math.Inf(1)
			for range 5 { // now and then a pool is empty
				least = min(least, testing.AllocsPerRun(100, do))
			}
			if least > c.most {
				t.Errorf("a request takes %v allocations, want %v at most", least, c.most)
			}
		})
	}
}
