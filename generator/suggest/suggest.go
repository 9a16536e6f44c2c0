// Package suggest finds what a misspelt word was meant to be.
package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// maxWord is the longest word that is compared, in bytes: a longer one was not mistyped, and comparing costs its square.
const maxWord = 64

// Nearest returns the known word that word most likely stands for, or "" when none is close. Words that differ only in
// case or in hyphens and underscores ("default_input_modes") are the same; otherwise about one letter in three may be
// wrong, missing, doubled or swapped with its neighbour. Of equally close words the first in known wins. When none is that
// close it is the only one that begins or ends with word, as "onCrash" does with "crash".
func Nearest(word string, known []string) string {
	if word == "" || len(word) > maxWord {
		return ""
	}
	folded := fold(word)
	best, bestDistance := "", len(folded)/3+1
	if len(folded) <= 3 {
		bestDistance = 2
	}
	for _, k := range known {
		f := fold(k)
		if f == folded {
			return k
		}
		if d := distance(folded, f); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best == "" && len(folded) >= leastPart {
		best = onlyWith(folded, known)
	}
	return best
}

// leastPart is how long a part of a word must be to stand for the whole, in bytes.
const leastPart = 4

// onlyWith returns the only known word that begins or ends with a folded one; "" for none or several.
func onlyWith(part string, known []string) (only string) {
	for _, k := range known {
		f := fold(k)
		if !strings.HasPrefix(f, part) && !strings.HasSuffix(f, part) {
			continue
		}
		if only != "" {
			return ""
		}
		only = k
	}
	return only
}

// Key returns the hint for an unknown key: the nearest known one, else all of them when they are few enough to read.
func Key(word string, known []string) string {
	if k := Nearest(word, known); k != "" {
		return fmt.Sprintf("did you mean %q?", k)
	}
	return OneOf(known)
}

// OneOf lists what may be written, sorted, or returns "" when the list is too long for a message.
func OneOf(known []string) string {
	if len(known) == 0 || len(known) > 16 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(known))
	if len(sorted) == 1 {
		return "write " + sorted[0]
	}
	return "one of " + strings.Join(sorted, ", ")
}

func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b
// (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
