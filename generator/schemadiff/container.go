package schemadiff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/jsontype"
)

// arrays compares lists with what a schema says of them.
func (c *comparer) arrays(v values, n *node, depth int) []Reason {
	most, known := v.mostItems()
	rs := sizeReasons(n, "minItems", "maxItems", v.least("minItems"), most, known)
	if n.unique && (!known || most > 1) && !v.any(func(a *node) bool { return a.unique }) {
		rs = append(rs, Reason{Keyword: "uniqueItems", To: "true", Sure: true})
	}
	own := max(v.described(), len(n.prefix))
	for i := range own + 1 {
		way := "[" + strconv.Itoa(i) + "]"
		if i == own {
			way = "[]"
		}
		if to := n.element(i); to != nil && (!known || i < most) {
			rs = append(rs, below(way, c.narrowed(v.element(i), to, depth+1))...)
		}
	}
	return rs
}

// objects compares objects with what a schema says of them.
func (c *comparer) objects(v values, n *node, depth int) []Reason {
	least, most, known := v.memberCounts()
	rs := sizeReasons(n, "minProperties", "maxProperties", least, most, known)
	for _, name := range sortedKeys(n.required) {
		if !v.requires(name) {
			rs = append(rs, Reason{Path: member(name), Keyword: "required", From: v.presence(name), To: "required",
				Sure: true})
		}
	}
	rs = append(rs, v.dependencies(n)...)
	names := map[string]bool{}
	for name := range n.props {
		names[name] = true
	}
	for _, a := range v.atoms {
		for name := range a.props {
			names[name] = true
		}
	}
	for _, name := range sortedKeys(names) {
		rs = append(rs, c.member(v, n, name, depth)...)
	}
	rs = append(rs, c.otherMembers(v, n, depth)...)
	if n.names != nil {
		rs = append(rs, c.names(v, n.names, sortedKeys(names), depth)...)
	}
	return rs
}

// memberCounts are the least and the largest number of properties.
func (v values) memberCounts() (least, most int, known bool) {
	required := map[string]bool{}
	for _, a := range v.atoms {
		for name := range a.required {
			required[name] = true
		}
	}
	least = max(v.least("minProperties"), len(required))
	most, known = v.most("maxProperties")
	for _, a := range v.atoms {
		if a.others != nil && a.others.never && len(a.patterns) == 0 && (!known || len(a.props) < most) {
			most, known = len(a.props), true
		}
	}
	return least, most, known
}

// presence says what the values have of a property that they need not have.
func (v values) presence(name string) string {
	if _, declared := v.member(name); declared {
		return "optional"
	}
	return ""
}

// dependencies compares which properties require others.
func (v values) dependencies(n *node) (rs []Reason) {
	for _, name := range sortedKeys(n.depends) {
		if m, _ := v.member(name); m.none {
			continue
		}
		for _, needed := range n.depends[name] {
			if v.requires(needed) || v.any(func(a *node) bool { return slices.Contains(a.depends[name], needed) }) {
				continue
			}
			rs = append(rs, Reason{Path: member(needed), Keyword: "dependentRequired",
				To: "required beside " + member(name), Sure: true})
		}
	}
	return rs
}

// member compares the values of one property.
func (c *comparer) member(v values, n *node, name string, depth int) (rs []Reason) {
	if c.look(v); c.full() {
		return []Reason{{}}
	}
	m, declared := v.member(name)
	list, named, known := n.member(name)
	switch {
	case m.none:
		return nil
	case !declared && named && len(m.atoms) == 0 && !v.requires(name): // the schema does not forbid it, but no sender uses it
		if n.required[name] {
			return nil // which is said
		}
		return []Reason{{Path: member(name), Keyword: "properties", To: describe(newValues(list...)), Sure: true,
			Undeclared: true}}
	case !known:
		rs = append(rs, Reason{Path: member(name), Keyword: "patternProperties", From: describe(m)})
	}
	for _, to := range list {
		if to.never && !named {
			rs = append(rs, Reason{Path: member(name), Keyword: "additionalProperties", From: describe(m),
				To: "false", Sure: true})
			continue
		}
		rs = append(rs, below(member(name), c.narrowed(m, to, depth+1))...)
	}
	return rs
}

// otherMembers compares the properties that are not named.
func (c *comparer) otherMembers(v values, n *node, depth int) (rs []Reason) {
	rest := v.rest()
	if n.others != nil && !rest.none {
		if n.others.never {
			rs = append(rs, Reason{Keyword: "additionalProperties", From: describe(rest), To: "false", Sure: true})
		} else {
			rs = append(rs, below("*", c.narrowed(rest, n.others, depth+1))...)
		}
	}
	for _, p := range n.patterns {
		var own []*node
		for _, a := range v.atoms {
			i := slices.IndexFunc(a.patterns, func(q patternProperty) bool { return q.text == p.text })
			switch {
			case i >= 0:
				own = append(own, a.patterns[i].node)
			case len(a.patterns) == 0 && a.others != nil:
				own = append(own, a.others)
			}
		}
		rs = append(rs, below(member("/"+p.text+"/"), c.narrowed(newValues(own...), p.node, depth+1))...)
	}
	return rs
}

// names compares the names of properties, declared ones and others, with a schema.
func (c *comparer) names(v values, n *node, declared []string, depth int) []Reason {
	var own []*node
	for _, a := range v.atoms {
		if a.names != nil {
			own = append(own, a.names)
		}
	}
	names := newValues(own...)
	names.only = jsontype.String
	var rs []Reason
	if v.rest().none {
		list := slices.DeleteFunc(slices.Clone(declared), func(name string) bool {
			m, _ := v.member(name)
			return m.none
		})
		var quoted []string
		for _, name := range list {
			quoted = append(quoted, canonical(name))
		}
		rs = c.finite(quoted, n)
		if slices.ContainsFunc(v.atoms, func(a atom) bool { return len(a.patterns) > 0 }) {
			rs = append(rs, c.narrowed(names, n, depth+1)...)
		}
	} else {
		rs = c.narrowed(names, n, depth+1)
	}
	for i := range rs {
		rs[i].Path, rs[i].Keyword = "", "propertyNames"
	}
	return rs
}

// member is the step of a path to a property.
func member(name string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if name != "" && len(name) <= maxName && strings.Trim(name, plain) == "" {
		return name
	}
	return "[" + strconv.QuoteToASCII(short(name, maxName)) + "]"
}

const maxName = 60 // characters of a name or value that are shown

// short cuts a text to what fits into a line.
func short(s string, most int) string {
	if rs := []rune(s); len(rs) > most {
		return string(rs[:most-1]) + "…"
	}
	return s
}
