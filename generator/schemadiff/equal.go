package schemadiff

import (
	"maps"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/schema"
)

// equal reports whether two schemas say the same in the same words, wherever their definitions are.
func (c *comparer) equal(a, b *node) bool {
	if a == b || c.same[[2]*node{a, b}] {
		return true
	}
	assumed := map[[2]*node]bool{}
	if !c.alike(a, b, assumed) {
		return false
	}
	maps.Copy(c.same, assumed) // nothing contradicted any of them
	return true
}

// alike compares two schemas with all that is in them. Those that are being compared already are assumed to be equal.
func (c *comparer) alike(a, b *node, assumed map[[2]*node]bool) bool {
	key := [2]*node{a, b}
	if a == b || assumed[key] || c.same[key] {
		return true
	}
	if c.step(); c.full() || a.types != b.types || !maps.Equal(a.own, b.own) || len(a.kids) != len(b.kids) {
		return false
	}
	if slices.ContainsFunc(a.opaque, func(k string) bool { return schema.Lookup(k).Compared == schema.LeadsAway }) {
		return false
	}
	assumed[key] = true
	for label, kid := range a.kids {
		other := b.kids[label]
		if other == nil || !c.alike(kid, other, assumed) {
			return false
		}
	}
	return true
}

// equalGroup reports whether a says the same as b by the opaque keyword k and those that go with it.
func (c *comparer) equalGroup(a, b *node, k string) bool {
	row := schema.Lookup(k)
	if row.Compared == schema.WithAll || row.Compared == schema.LeadsAway {
		return false // what is equal as a whole is not asked for
	}
	group := row.With
	if group == nil {
		group = []string{k}
	}
	for _, k := range group {
		if a.own[k] != b.own[k] || !c.equalKids(a, b, k) || !c.equalKids(b, a, k) {
			return false
		}
	}
	return true
}

// equalKids reports whether each schema below the keyword k of a is equal to that of b.
func (c *comparer) equalKids(a, b *node, k string) bool {
	for label, kid := range a.kids {
		if label != k && !strings.HasPrefix(label, k+"/") {
			continue
		}
		if other := b.kids[label]; other == nil || !c.equal(kid, other) {
			return false
		}
	}
	return true
}
