package check

import (
	"iter"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime/check"
)

// Entries goes over the entries of m to check them, in any order: sorting a large map takes longer than checking it. What
// is wrong with them is kept as if they had been sorted by name, so that equal values give equal violations.
func Entries[T any](c *Checker, m map[string]T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		found := sorted{c: c, from: len(c.list)}
		defer found.giveBack()
		for name, v := range m {
			if found.full(name) {
				continue // nothing of it would be kept
			}
			if !yield(name, v) {
				return
			}
			found.take(name)
		}
	}
}

// sorted are the violations of entries, by name: as many of the first ones as the checker has room for.
type sorted struct {
	c    *Checker
	from int // where they begin in the checker's list
	n    int
	all  []named
}

// named are the violations of one entry.
type named struct {
	name string
	list []check.Violation
}

// full reports whether violations of an entry would all come behind what there is room for.
func (s *sorted) full(name string) bool {
	room := MaxViolations - s.from
	return s.n >= room && (s.n == 0 || name > s.all[len(s.all)-1].name)
}

// take takes what the checker has found in an entry.
func (s *sorted) take(name string) {
	found := s.c.list[s.from:]
	if len(found) == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(s.all, name, func(n named, name string) int { return strings.Compare(n.name, name) })
	s.all = slices.Insert(s.all, i, named{name, slices.Clone(found)})
	s.n += len(found)
	s.c.list = s.c.list[:s.from]
	for last := len(s.all) - 1; s.n-len(s.all[last].list) >= MaxViolations-s.from; last-- {
		s.n -= len(s.all[last].list)
		s.all = s.all[:last]
	}
}

// giveBack gives the checker the violations in order.
func (s *sorted) giveBack() {
	for _, n := range s.all {
		s.c.list = append(s.c.list, n.list[:min(len(n.list), MaxViolations-len(s.c.list))]...)
	}
}
