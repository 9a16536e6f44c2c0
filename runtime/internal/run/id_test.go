package run

import (
	"strings"
	"testing"
)

func TestIDsDifferAndLookLikeUUIDs(t *testing.T) {
	var g ids
	seen := map[string]bool{}
	for range 1000 {
		id := g.NewID()
		if len(id) != 36 || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}

func TestIDsShareMemory(t *testing.T) {
	var g ids
	if n := testing.AllocsPerRun(100, func() {
		for range idsMade {
			g.NewID()
		}
	}); n > 1 {
		t.Errorf("%d ids take %v allocations", idsMade, n)
	}
}
