package schemadiff

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/jsontype"
)

// comparer finds reasons, with what it has found so far.
type comparer struct {
	to    *document
	pairs map[string]*pair
	same  map[[2]*node]bool // pairs of equal schemas
	stack int               // pairs in progress
	low   int               // the lowest pair in progress whose result was assumed
	steps int
	most  int // steps that may be made
}

// pair is a comparison of values with a schema, done or in progress.
type pair struct {
	done    bool
	reasons []Reason
	depth   int // how deep in the value as a whole
	index   int // in the stack
}

func (c *comparer) step()      { c.steps++ }
func (c *comparer) full() bool { return c.steps > c.most }

// atomsOfStep is how many schemas whose values are compared make one step more.
const atomsOfStep = 16

// look is a step that looks at all schemas of some values.
func (c *comparer) look(v values) { c.steps += 1 + len(v.atoms)/atomsOfStep }

// compareReasons orders reasons for readers.
func compareReasons(a, b Reason) int {
	sure := func(r Reason) int {
		if r.Sure {
			return 0
		}
		return 1
	}
	undeclared := func(r Reason) int {
		if r.Undeclared {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.From, b.From),
		cmp.Compare(a.To, b.To), cmp.Compare(sure(a), sure(b)), cmp.Compare(undeclared(a), undeclared(b)))
}

// below puts the way to a part of a value before the paths of reasons. The result is not empty unless rs is.
func below(way string, rs []Reason) []Reason {
	rs = slices.Clone(rs)
	for i := range rs {
		rs[i].Path = joined(way, rs[i].Path)
	}
	return rs
}

// joined is a path in a part of a value that is at way.
func joined(way, path string) string {
	if path == "" || path[0] == '[' || way == "" {
		return way + path
	}
	return way + "." + path
}

// narrowed returns reasons why some of the values may not fit n; depth is how deep they are in the value as a whole.
//
// Schemas refer to themselves, so that the same question comes again. Asked of a deeper part of the value its answer
// may be assumed to be the one that is looked for: values are finite. What was found with such an assumption is kept
// only once that pair is done.
func (c *comparer) narrowed(v values, n *node, depth int) []Reason {
	if c.look(v); c.full() {
		return []Reason{{}}
	}
	key := v.key() + "|" + n.ptr
	if p := c.pairs[key]; p != nil {
		switch {
		case p.done:
			return p.reasons
		case p.depth < depth:
			c.low = min(c.low, p.index)
			return nil
		}
		return []Reason{{Keyword: "$ref", From: describe(v), To: "a schema that refers to itself"}}
	}
	p := &pair{depth: depth, index: c.stack}
	c.pairs[key] = p
	c.stack++
	before := c.low
	c.low = math.MaxInt
	p.reasons = c.find(v, n, depth)
	if p.reasons = tidy(p.reasons); len(p.reasons) > maxReasons {
		p.reasons = p.reasons[:maxReasons]
	}
	c.stack--
	if p.done = c.low >= p.index; !p.done {
		delete(c.pairs, key)
		before = min(before, c.low)
	}
	c.low = before
	return p.reasons
}

// find compares values with a schema: as they are, and where that gives reasons by their alternatives and types.
func (c *comparer) find(v values, n *node, depth int) []Reason {
	if v.none || n.onlyPulls() && n.ref == nil && len(n.allOf) == 0 {
		return nil
	}
	if n.never {
		return []Reason{{Keyword: "false", From: describe(v), To: "nothing", Sure: true}}
	}
	if v.any(func(a *node) bool { return c.equal(a, n) }) {
		return nil
	}
	rs := c.apart(v, n, depth)
	if len(rs) == 0 || c.full() {
		return rs
	}
	parts := v.split()
	if types := v.types().Each(); parts == nil && len(types) > 1 && slices.ContainsFunc(rs, ofUnion) {
		for _, t := range types {
			parts = append(parts, v.ofTypes(t))
		}
	}
	if parts == nil {
		return rs
	}
	var list []Reason
	for _, part := range parts {
		list = append(list, c.narrowed(part, n, depth)...)
	}
	return list
}

// ofUnion reports whether a reason is that no alternative of a union takes some values.
func ofUnion(r Reason) bool { return r.Path == "" && (r.Keyword == "anyOf" || r.Keyword == "oneOf") }

// apart compares values with each thing that a schema says.
func (c *comparer) apart(v values, n *node, depth int) (rs []Reason) {
	if list, ok := v.finite(); ok {
		_, listed := v.listed()
		if _, chosen := newValues(n).listed(); listed || chosen {
			return c.finite(list, n)
		}
	}
	if n.ref != nil {
		rs = append(rs, c.narrowed(v, n.ref, depth)...)
	}
	for _, part := range n.allOf {
		rs = append(rs, c.narrowed(v, part, depth)...)
	}
	if n.values != nil {
		rs = append(rs, Reason{Keyword: "enum", From: describe(v), To: listText(n.values.list), Sure: true})
	}
	types := v.types()
	refused := types &^ n.types
	if refused != 0 {
		rs = append(rs, Reason{Keyword: "type", From: types.String(), To: n.types.String(), Sure: true})
	}
	v = v.ofTypes(n.types)
	if types &= n.types; types&jsontype.Number != 0 {
		for _, r := range numberReasons(v.ofTypes(jsontype.Number), n) {
			if r.Keyword != "format" || refused&jsontype.Fraction == 0 { // what integers can hold goes without saying
				rs = append(rs, r)
			}
		}
	}
	if types&jsontype.String != 0 {
		rs = append(rs, stringReasons(v, n)...)
	}
	if types&jsontype.Array != 0 {
		rs = append(rs, c.arrays(v, n, depth)...)
	}
	if types&jsontype.Object != 0 {
		rs = append(rs, c.objects(v, n, depth)...)
	}
	for _, u := range n.unions {
		rs = append(rs, c.union(v, n, u, depth)...)
	}
	return append(rs, c.opaque(v, n)...)
}

// finite judges each of some values.
func (c *comparer) finite(list []string, n *node) []Reason {
	all := newValues(n)
	choice, isList := all.listed()
	only := isList && !all.any(func(a *node) bool { return len(a.kids) > 0 || len(a.own) > 1 || a.types != jsontype.All })
	allowed := newChoice(choice).set
	var refused []string
	unknown := false
	for _, value := range list {
		switch c.steps += 1 + len(choice)/1000; {
		case c.full():
			unknown = true
		case isList && !allowed[value]:
			refused = append(refused, value)
		case only:
		default:
			problem, err := c.to.problem(n, value)
			if err != nil {
				unknown = true
			} else if problem != "" {
				refused = append(refused, value)
			}
		}
	}
	var rs []Reason
	if len(refused) > 0 {
		rs = append(rs, Reason{Keyword: "enum", From: listText(refused), To: describe(all), Sure: true})
	}
	if unknown {
		rs = append(rs, Reason{Keyword: "enum", From: listText(list), To: describe(all)})
	}
	return rs
}

// opaque compares the keywords that are compared as a whole.
func (c *comparer) opaque(v values, n *node) (rs []Reason) {
	for _, k := range n.opaque {
		if v.any(func(a *node) bool { return c.equalGroup(a, n, k) }) {
			continue
		}
		from := ""
		if v.any(func(a *node) bool { return slices.Contains(a.opaque, k) }) {
			from = "another " + k
		}
		rs = append(rs, Reason{Keyword: k, From: from, To: k})
	}
	return rs
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// listText lists values for readers.
func listText(list []string) string {
	const most = 8
	if len(list) > most {
		return strings.Join(list[:most], ", ") + ", …"
	}
	return strings.Join(list, ", ")
}
