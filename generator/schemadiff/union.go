package schemadiff

import "github.com/a2agen/a2agen/generator/jsontype"

import "slices"

// manyBranches is how many alternatives are all tried for some values. Of more only those are that look right: all of
// them for all values would be the square of their number.
const manyBranches = 32

// union compares values with the alternatives of anyOf or oneOf. All values of an alternative have to be in one
// alternative of the other side: that several have them together is not found.
func (c *comparer) union(v values, n *node, u *union, depth int) []Reason {
	c.index(u)
	if v.any(func(a *node) bool { return c.equalUnion(a, u) }) {
		return nil
	}
	if v.types()&^u.types != 0 {
		return []Reason{{Keyword: u.keyword, From: v.types().String(), To: u.types.String(), Sure: true}}
	}
	candidates, sure := c.candidates(v, u)
	if len(candidates) == 0 {
		return []Reason{{Keyword: u.keyword, From: describe(v), To: "none of the alternatives", Sure: sure}}
	}
	var tolerable, last []Reason
	for _, i := range candidates {
		rs := c.narrowed(v, u.branches[i], depth)
		if u.keyword == "oneOf" && !u.disjoint && !c.alone(v, u, i) {
			rs = append(rs, Reason{Keyword: u.keyword, From: describe(v),
				To: "perhaps more than one of the alternatives"})
		}
		switch {
		case len(rs) == 0:
			return nil
		case tolerable == nil && !slices.ContainsFunc(rs, func(r Reason) bool { return !r.Undeclared }):
			tolerable = rs
		}
		last = rs
	}
	switch {
	case tolerable != nil:
		return tolerable
	case len(candidates) == 1 && sure:
		return last
	}
	return []Reason{{Keyword: u.keyword, From: describe(v), To: "none of the alternatives as a whole"}}
}

// equalUnion reports whether a schema has the same alternatives, of which a value fits as many.
func (c *comparer) equalUnion(a *node, u *union) bool {
	return slices.ContainsFunc(a.unions, func(o *union) bool {
		if len(o.branches) != len(u.branches) || o.keyword == "anyOf" && u.keyword == "oneOf" {
			return false
		}
		for i := range o.branches {
			if !c.equal(o.branches[i], u.branches[i]) {
				return false
			}
		}
		return true
	})
}

// candidates are the alternatives that may take the values, those first that look like them. Sure: no other one takes
// any.
func (c *comparer) candidates(v values, u *union) (list []int, sure bool) {
	if u.tag != "" {
		if values, ok := v.tagValues(u.tag); ok {
			for _, value := range values {
				if i, has := u.tagged[value]; has && !slices.Contains(list, i) {
					list = append(list, i)
				}
			}
			return list, true
		}
	}
	for _, a := range v.atoms {
		if i, has := u.texts[a.text]; has {
			list = append(list, i)
		}
	}
	if len(list) > 0 && len(u.branches) > manyBranches {
		return list, false
	}
	types := v.types()
	for i, b := range u.branches {
		if c.step(); newValues(b).types()&types != 0 && !slices.Contains(list, i) {
			if list = append(list, i); len(list) >= manyBranches {
				return list, false
			}
		}
	}
	return list, true
}

// tagValues are the values of a property that must be there, where they are listed.
func (v values) tagValues(tag string) ([]string, bool) {
	if v.types() != jsontype.Object || !v.requires(tag) {
		return nil, false
	}
	m, _ := v.member(tag)
	return m.finite()
}

// index finds out what tells the alternatives of a union apart.
func (c *comparer) index(u *union) {
	if u.indexed {
		return
	}
	u.indexed = true
	u.disjoint = true
	for _, b := range u.branches {
		t := newValues(b).types()
		u.disjoint = u.disjoint && u.types&t == 0
		u.types |= t
	}
	if len(u.branches) == 0 {
		return
	}
	required := map[string]bool{}
	for _, a := range newValues(u.branches[0]).atoms {
		for name := range a.required {
			required[name] = true
		}
	}
	for _, name := range sortedKeys(required) {
		if tagged := u.byTag(name); tagged != nil {
			u.tag, u.tagged, u.disjoint = name, tagged, true
			return
		}
	}
}

// byTag returns the alternatives by the values of a property; nil if it does not tell them apart.
func (u *union) byTag(name string) map[string]int {
	tagged := map[string]int{}
	for i, b := range u.branches {
		list, ok := newValues(b).tagValues(name)
		if !ok {
			return nil
		}
		for _, value := range list {
			if _, again := tagged[value]; again {
				return nil
			}
			tagged[value] = i
		}
	}
	return tagged
}

// alone reports whether it is known that the values fit no alternative but the one with an index.
func (c *comparer) alone(v values, u *union, i int) bool {
	for j, b := range u.branches {
		if c.step(); c.full() {
			return false
		}
		if j != i && !apart(v, newValues(b)) {
			return false
		}
	}
	return true
}

// apart reports whether it is known that no value is among both.
func apart(v, w values) bool {
	switch both := v.types() & w.types(); {
	case v.none || w.none || both == 0:
		return true
	case both&^jsontype.Number == 0:
		return v.ofTypes(both).and(nodesOf(w)...).none
	case both != jsontype.Object:
		return apartListed(v, w)
	}
	required := map[string]bool{}
	for _, a := range slices.Concat(v.atoms, w.atoms) {
		for name := range a.required {
			required[name] = true
		}
	}
	for name := range required {
		a, _ := v.member(name)
		b, _ := w.member(name)
		if a.none || b.none || a.types()&b.types() == 0 || apartListed(a, b) {
			return true
		}
	}
	return false
}

// apartListed reports whether two lists of values have none in common.
func apartListed(v, w values) bool {
	list, ok := v.finite()
	other, too := w.finite()
	return ok && too && !slices.ContainsFunc(list, func(s string) bool { return slices.Contains(other, s) })
}

func nodesOf(v values) (list []*node) {
	for _, a := range v.atoms {
		list = append(list, a.node)
	}
	return list
}
