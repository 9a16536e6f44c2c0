package check

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEntriesAreCheckedInAnyOrderAndSaidInOne holds that violations of a map are those of its first names, whatever the
// order in which it is gone over, and however many there are.
func TestEntriesAreCheckedInAnyOrderAndSaidInOne(t *testing.T) {
	for _, before := range []int{0, 1, MaxViolations - 3, MaxViolations - 1, MaxViolations} {
		for _, n := range []int{1, 3, MaxViolations, 5 * MaxViolations} {
			for _, each := range []int{0, 1, 3} {
				m := map[string]int{}
				for i := range n {
					m[fmt.Sprintf("k%04d", i)] = i % (each + 1) // some have none
				}
				check := func(c *Checker, k string, e int) {
					c.Enter(k)
					for i := range e {
						c.Failf("no. %d", i)
					}
					c.Leave()
				}
				begin := func() *Checker {
					c := &Checker{}
					for range before {
						c.Failf("before")
					}
					return c
				}
				want := begin()
				for _, k := range Names(m) {
					check(want, k, m[k])
				}
				for range 5 {
					got := begin()
					for k, e := range Entries(got, m) {
						check(got, k, e)
					}
					if d := cmp.Diff(want.list, got.list); d != "" {
						t.Fatalf("%d before, %d entries, up to %d each: %s", before, n, each, d)
					}
				}
			}
		}
	}
}

// TestEntriesOfMapsInMapsAreCheckedOnce: what is wrong deep inside costs no level above a second look.
func TestEntriesOfMapsInMapsAreCheckedOnce(t *testing.T) {
	type node map[string]any
	leaf, visits := node{"a": nil, "b": nil}, 0
	tree := leaf
	for range 60 {
		tree = node{"a": tree, "b": nil}
	}
	var walk func(c *Checker, n map[string]any)
	walk = func(c *Checker, n map[string]any) {
		for k, e := range Entries(c, n) {
			visits++
			c.Enter(k)
			if inner, ok := e.(node); ok {
				walk(c, inner)
			} else {
				c.Failf("wrong")
			}
			c.Leave()
		}
	}
	c := &Checker{}
	if walk(c, tree); len(c.list) != 62 || visits != 122 {
		t.Errorf("%d violations after %d visits", len(c.list), visits)
	}
}
