package schemadiff

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/schema"
)

// values are those that fit several schemas at once.
type values struct {
	atoms []atom // sorted by their nodes
	only  jsontype.Set
	none  bool // nothing fits
}

// atom is a schema without what it pulls in by reference and allOf. Of its unions the first ones were replaced by one
// of their alternatives.
type atom struct {
	*node
	chosen int
}

// newValues returns the values that fit all of some schemas.
func newValues(nodes ...*node) values {
	v := values{only: jsontype.All}
	return v.and(nodes...)
}

// and returns the values that fit further schemas, too.
func (v values) and(nodes ...*node) values {
	v.atoms = slices.Clone(v.atoms)
	seen := map[*node]bool{}
	for _, a := range v.atoms {
		seen[a.node] = true
	}
	for len(nodes) > 0 {
		n := nodes[0]
		nodes = nodes[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		v.none = v.none || n.never
		if n.ref != nil {
			nodes = append(nodes, n.ref)
		}
		nodes = append(nodes, n.allOf...)
		if !n.onlyPulls() {
			v.atoms = append(v.atoms, atom{node: n})
		}
	}
	slices.SortFunc(v.atoms, func(a, b atom) int { return cmp.Compare(a.id, b.id) })
	v.none = v.none || v.empty()
	return v
}

// onlyPulls reports whether a schema says nothing itself.
func (n *node) onlyPulls() bool {
	pulls := len(n.allOf)
	if n.ref != nil {
		pulls++
	}
	return !n.never && len(n.own) == 0 && len(n.kids) == pulls
}

// ofTypes returns the values of some types.
func (v values) ofTypes(t jsontype.Set) values {
	v.only &= t
	v.none = v.none || v.types() == 0
	return v
}

// key identifies the values.
func (v values) key() string {
	var b strings.Builder
	for _, a := range v.atoms {
		fmt.Fprintf(&b, "%d.%d,", a.id, a.chosen)
	}
	fmt.Fprintf(&b, "%d", v.only)
	return b.String()
}

// split returns the values by the alternatives of the first union that is left; nil without one.
func (v values) split() []values {
	i := slices.IndexFunc(v.atoms, func(a atom) bool { return a.chosen < len(a.unions) })
	if i < 0 {
		return nil
	}
	u := v.atoms[i].unions[v.atoms[i].chosen]
	rest := v
	rest.atoms = slices.Clone(v.atoms)
	rest.atoms[i].chosen++
	var list []values
	for _, b := range u.branches {
		list = append(list, rest.and(b))
	}
	return list
}

// types are the types that the values can have.
func (v values) types() jsontype.Set {
	t := v.only
	for _, a := range v.atoms {
		t &= a.types
	}
	if list, ok := v.listed(); ok {
		var have jsontype.Set
		for _, text := range list {
			have |= typeOfText(text)
		}
		t &= have
	}
	return t
}

// typeOfText is the type of a canonical JSON text.
func typeOfText(text string) jsontype.Set {
	switch text[0] {
	case '"':
		return jsontype.String
	case '{':
		return jsontype.Object
	case '[':
		return jsontype.Array
	case 't', 'f':
		return jsontype.Bool
	case 'n':
		return jsontype.Null
	}
	if r, _ := schema.ParseNumber(text); r.IsInt() { // which was checked
		return jsontype.Integer
	}
	return jsontype.Fraction
}

// listed are the values where enum or const lists them.
func (v values) listed() (list []string, ok bool) {
	for _, a := range v.atoms {
		switch {
		case a.values == nil:
		case !ok:
			list, ok = a.values.list, true
		default:
			list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !a.values.set[s] })
		}
	}
	return list, ok
}

// finite are the values where there are few enough to be listed.
func (v values) finite() (list []string, ok bool) {
	t := v.types()
	if list, ok = v.listed(); ok {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return typeOfText(s)&t == 0 }), true
	}
	if t&^(jsontype.Null|jsontype.Bool) != 0 {
		return nil, false
	}
	if t&jsontype.Null != 0 {
		list = append(list, "null")
	}
	if t&jsontype.Bool != 0 {
		list = append(list, "false", "true")
	}
	return list, true
}

// empty reports whether it is known that nothing fits.
func (v values) empty() bool {
	t := v.types()
	if t == 0 {
		return true
	}
	if t&^jsontype.Number != 0 {
		return false
	}
	low, high := v.bound(true), v.bound(false)
	if low == nil || high == nil {
		return false
	}
	c := low.at.Cmp(high.at)
	return c > 0 || c == 0 && (low.open || high.open)
}

// bound is the strictest lower or upper bound; nil without one. Those of integers are whole.
func (v values) bound(lower bool) (b *bound) {
	for _, a := range v.atoms {
		own := a.upper
		if lower {
			own = a.lower
		}
		if own != nil && (b == nil || stricter(own, b, lower)) {
			b = own
		}
	}
	if b == nil || v.types()&jsontype.Fraction != 0 {
		return b
	}
	whole := new(big.Rat).SetInt(new(big.Int).Div(b.at.Num(), b.at.Denom()))
	one := big.NewRat(1, 1)
	switch {
	case lower && (b.open || !b.at.IsInt()):
		whole.Add(whole, one)
	case !lower && b.open && b.at.IsInt():
		whole.Sub(whole, one)
	}
	return &bound{at: whole, keyword: b.keyword, size: b.size}
}

// stricter reports whether a leaves out more values than b.
func stricter(a, b *bound, lower bool) bool {
	c := a.at.Cmp(b.at)
	if lower {
		c = -c
	}
	return c < 0 || c == 0 && a.open && !b.open
}

// least is the largest of the lower limits of a size, most the smallest of the upper ones; known is false without one.
func (v values) least(keyword string) (size int) {
	for _, a := range v.atoms {
		size = max(size, a.sizes[keyword])
	}
	return size
}

func (v values) most(keyword string) (size int, known bool) {
	for _, a := range v.atoms {
		if own, has := a.sizes[keyword]; has && (!known || own < size) {
			size, known = own, true
		}
	}
	return size, known
}

// any reports whether one of the schemas says something.
func (v values) any(says func(*node) bool) bool {
	return slices.ContainsFunc(v.atoms, func(a atom) bool { return says(a.node) })
}

// requires reports whether a property must be there.
func (v values) requires(name string) bool {
	return v.any(func(n *node) bool { return n.required[name] })
}

// member returns the values of a property, and whether a schema names it.
func (v values) member(name string) (m values, declared bool) {
	var nodes []*node
	for _, a := range v.atoms {
		own, named, _ := a.member(name)
		nodes = append(nodes, own...)
		declared = declared || named
	}
	return newValues(nodes...), declared
}

// member returns the schemas for a property, and whether the schema names it. Known is false if an expression for names
// could not be read, so that there may be more.
func (n *node) member(name string) (list []*node, named, known bool) {
	known = true
	if p := n.props[name]; p != nil {
		list, named = append(list, p), true
	}
	for i := range n.patterns {
		yes, ok := n.patterns[i].matches(name)
		if yes {
			list, named = append(list, n.patterns[i].node), true
		}
		known = known && ok
	}
	if !named && known && n.others != nil {
		list = append(list, n.others)
	}
	return list, named, known
}

// rest returns the values of properties that no schema names.
func (v values) rest() values {
	var nodes []*node
	for _, a := range v.atoms {
		if a.others != nil && len(a.patterns) == 0 {
			nodes = append(nodes, a.others)
		}
	}
	return newValues(nodes...)
}

// element returns the values of an element; those behind all that are described for a large index.
func (v values) element(i int) values {
	var nodes []*node
	for _, a := range v.atoms {
		if n := a.element(i); n != nil {
			nodes = append(nodes, n)
		}
	}
	return newValues(nodes...)
}

func (n *node) element(i int) *node {
	if i < len(n.prefix) {
		return n.prefix[i]
	}
	return n.items
}

// described is how many elements have schemas of their own.
func (v values) described() (n int) {
	for _, a := range v.atoms {
		n = max(n, len(a.prefix))
	}
	return n
}

// mostItems is how many elements an array can have.
func (v values) mostItems() (size int, known bool) {
	size, known = v.most("maxItems")
	for i := range v.described() + 1 {
		if (!known || i < size) && v.element(i).none {
			return i, true
		}
	}
	return size, known
}
