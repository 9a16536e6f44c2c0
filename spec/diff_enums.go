package spec

import (
	"slices"
	"strings"
)

func (d *differ) enums() {
	byName := map[string]*Enum{}
	for _, e := range d.new.Enums {
		byName[e.Name] = e
	}
	for _, e := range d.old.Enums {
		now := byName[d.match.toNew[e.Name]]
		if now == nil {
			d.change(false, false, e.Pos, "enum-removed", e.Name, "enum %s was removed", e.Name)
			continue
		}
		if now.Name != e.Name {
			d.change(false, false, now.Pos, "enum-renamed", e.Name, "enum %s is now called %s", e.Name, now.Name)
		}
		if d.both(Proto) && e.Closed != now.Closed {
			words := map[bool]string{true: "closed: values that are not listed are dropped", false: "open: values that are not listed are kept"}
			d.change(false, false, now.Pos, "enum-openness-changed", e.Name, "enum %s is %s", e.Name, words[now.Closed])
		}
		d.enumValues(e, now, d.fromOld[e.Name].or(d.fromNew[now.Name]))
	}
	for _, e := range d.new.Enums {
		if d.match.toOld[e.Name] == "" {
			d.change(false, false, e.Pos, "enum-added", e.Name, "enum %s was added", e.Name)
		}
	}
}

// enumValues compares the values of an enum: by name, and those that are left by number, between a proto and a schema by
// what is the same in their two styles of names.
func (d *differ) enumValues(e, now *Enum, dir direction) {
	kept := map[*EnumValue]bool{}
	for _, v := range e.Values {
		n := d.counterpart(e, now, v)
		kept[n] = true
		subject := e.Name + "." + v.Name
		switch {
		case n == nil && d.isUnspecified(d.old, v):
		case n == nil:
			d.typeChange(dir, writing, v.Pos, "value-removed", subject, "value %s of %s was removed", v.Name, e.Name)
		case n.Name != v.Name:
			d.typeChange(dir, anyUse, n.Pos, "value-renamed", subject, "value %s of %s is now called %s", v.Name, e.Name, n.Name)
		case d.both(Proto) && n.Number != v.Number:
			d.typeChange(dir, anyUse, n.Pos, "value-renumbered", subject, "value %s of %s has number %d instead of %d", v.Name, e.Name, n.Number, v.Number)
		case d.deprecated(v.Deprecated, n.Deprecated):
			d.typeChange(dir, harmless, n.Pos, "value-deprecated", subject, "value %s of %s is deprecated", v.Name, e.Name)
		}
	}
	for _, v := range now.Values {
		if !kept[v] && !d.isUnspecified(d.new, v) {
			d.typeChange(dir, reading, v.Pos, "value-added", now.Name+"."+v.Name, "value %s was added to %s", v.Name, now.Name)
		}
	}
}

// isUnspecified reports whether a value stands for "not set", which is never written and which a schema has no value for.
func (d *differ) isUnspecified(doc *Document, v *EnumValue) bool {
	return d.old.Syntax != d.new.Syntax && doc.Syntax != Schema && v.Number == 0
}

// counterpart returns the value of the new enum that v of the old one has become, or nil.
func (d *differ) counterpart(e, now *Enum, v *EnumValue) *EnumValue {
	find := func(values []*EnumValue, is func(*EnumValue) bool) *EnumValue {
		if i := slices.IndexFunc(values, is); i >= 0 {
			return values[i]
		}
		return nil
	}
	if n := find(now.Values, func(n *EnumValue) bool { return n.Name == v.Name }); n != nil {
		return n
	}
	switch {
	case d.both(Proto):
		n := find(now.Values, func(n *EnumValue) bool { return n.Number == v.Number })
		if n == nil || find(e.Values, func(o *EnumValue) bool { return o.Name == n.Name }) != nil {
			return nil // that was there before
		}
		return n
	case d.old.Syntax == Schema:
		return find(now.Values, func(n *EnumValue) bool { return inBothStyles(v.Name, n.Name) })
	case d.new.Syntax == Schema:
		return find(now.Values, func(n *EnumValue) bool { return inBothStyles(n.Name, v.Name) })
	}
	return nil
}

// inBothStyles reports whether "input-required" and "TASK_STATE_INPUT_REQUIRED" are one value.
func inBothStyles(plain, proto string) bool {
	return strings.HasSuffix("_"+proto, "_"+strings.ToUpper(strings.ReplaceAll(plain, "-", "_")))
}
