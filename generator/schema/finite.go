package schema

import (
	"github.com/a2agen/a2agen/generator/ir"
)

// checkFinite reports types of which no finite value exists, because each value would have to hold another one.
func (l *lowerer) checkFinite() {
	finite := map[*ir.DataType]bool{}
	for changed := true; changed; {
		changed = false
		for _, n := range l.types {
			if !finite[n.t] && typeFinite(n.t, finite) {
				finite[n.t], changed = true, true
			}
		}
	}
	for _, n := range l.types {
		if finite[n.t] || !circular(n.t, finite) {
			continue
		}
		s := n.parts[0]
		l.errorf(s.doc, s.node, "endless-value", "take the property out of required, or allow null or an empty list",
			"a value of this schema would have to hold another one without end")
		return // the rest of the circle is the same mistake
	}
}

// circular reports whether t can be reached from itself through what makes it endless, so that it is part of the
// mistake and does not only use it.
func circular(t *ir.DataType, finite map[*ir.DataType]bool) bool {
	seen := map[*ir.DataType]bool{}
	var reach func(u *ir.DataType) bool
	reach = func(u *ir.DataType) bool {
		for _, v := range u.Uses() {
			if v == t {
				return true
			}
			if !finite[v] && !seen[v] {
				seen[v] = true
				if reach(v) {
					return true
				}
			}
		}
		return false
	}
	return reach(t)
}

// typeFinite reports whether t has a finite value, given what is known of other types.
func typeFinite(t *ir.DataType, finite map[*ir.DataType]bool) bool {
	switch t.Kind {
	case ir.DataStruct:
		for _, f := range t.Fields {
			if f.Required && f.Const == nil && !refFinite(&f.Type, finite) {
				return false
			}
		}
		return true
	case ir.DataUnion:
		for _, c := range t.Cases {
			if finite[c.Type] {
				return true
			}
		}
		return len(t.Cases) == 0
	case ir.DataEnum:
		return true
	default:
		return t.Of == nil || refFinite(t.Of, finite)
	}
}

func refFinite(r *ir.DataRef, finite map[*ir.DataType]bool) bool {
	switch {
	case r.Null:
		return true
	case r.Kind == ir.DataNamed:
		return finite[r.Type]
	case r.Kind == ir.DataList:
		return !demands(r.Checks, "minItems") || refFinite(r.Elem, finite)
	case r.Kind == ir.DataMap:
		return r.Checks == nil || !demands(r.Checks, "minProperties") && len(r.Checks.Required) == 0 ||
			refFinite(r.Elem, finite)
	}
	return true
}

// demands reports whether a keyword sets a least size.
func demands(c *ir.Checks, keyword string) bool {
	_, ok := c.Size(keyword)
	return ok
}
