package engine

import (
	"strings"
	"testing"
)

func TestFieldPathsComeFromPointers(t *testing.T) {
	for _, c := range []struct{ root, pointer, want string }{
		{"", "", ""}, {"", "/message/parts/0/raw", "message.parts[0].raw"}, {"input", "", "input"}, {"input", "/a~1b/c~0d", "input.a/b.c~d"}, {"input", "/3/x", "input[3].x"},
	} {
		if got := fieldPath(c.root, c.pointer); got != c.want {
			t.Errorf("fieldPath(%q, %q) is %q, want %q", c.root, c.pointer, got, c.want)
		}
	}
}

func TestWordsOfATextAreComparable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Planning routes for the cities", "plan route city"},
		{"route_planner routePlanner", "route planner route planner"},
		{"天気予報", "天気 気予 予報"},
		{"What is it?", ""},
		{"", ""},
	} {
		if got := strings.Join(words(c.text), " "); got != c.want {
			t.Errorf("words(%q) are %q, want %q", c.text, got, c.want)
		}
	}
}

// T48: a mode of 0.1 is a word such as text.
func TestMediaTypesAreMatchedWithWildcardsAndOldNames(t *testing.T) {
	for _, c := range []struct {
		modes []string
		media string
		want  bool
	}{
		{nil, "x/y", true}, {[]string{"text/plain"}, "text/plain; charset=utf-8", true}, {[]string{"TEXT/Plain"}, "text/plain", true}, {[]string{"image/*"}, "image/png", true},
		{[]string{"image/*"}, "imagex/png", false}, {[]string{"*/*"}, "a/b", true}, {[]string{"text"}, "text/plain", true}, {[]string{"data"}, "application/json", true},
		{[]string{"text/plain"}, "text/html", false}, {[]string{"text/plain"}, "", true},
	} {
		if got := accepts(c.modes, c.media); got != c.want {
			t.Errorf("accepts(%q, %q) is %v", c.modes, c.media, got)
		}
	}
}

func TestIDsDifferAndLookLikeUUIDs(t *testing.T) {
	var g ids
	seen := map[string]bool{}
	for range 1000 {
		id := g.next()
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
			g.next()
		}
	}); n > 1 {
		t.Errorf("%d ids take %v allocations", idsMade, n)
	}
}
