package schema

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// branch is one alternative of an anyOf or oneOf, together with what holds beside it.
type branch struct {
	parts []*schema
	from  *schema // as listed
	f     *flat
	keys  []json.RawMessage // by discriminator, else by constant
	one   bool              // of a oneOf: no other may fit
}

// text is what the alternative says, the same for two that are written alike.
func (b *branch) text() string {
	text := ""
	for _, p := range b.parts {
		if p.doc.schemas[p.ptr] != p { // made by us
			text += "+" + p.key
			continue
		}
		text += "+" + string(yamlx.JSON(p.node))
	}
	return text
}

// plain reports whether an alternative takes every scalar of its types.
func (b *branch) plain() bool {
	f := b.f
	return f.types != 0 && f.types&(jsontype.Object|jsontype.Array) == 0 && !f.hasEnum && f.format == nil && !f.base64 &&
		checksOrNil(f.checks) == nil
}

// all reports whether an alternative takes anything.
func (b *branch) all() bool {
	return b.f.types == jsontype.All&^jsontype.Null && b.f.uses == 0 && !b.f.hasEnum
}

// union lowers anyOf and oneOf.
func (l *lowerer) union(f *flat, parts []*schema, h hint, self *named) ir.DataRef {
	list, ok := l.branches(f, nil)
	if !ok {
		return ir.DataRef{Kind: ir.DataAny}
	}
	branches, null := list.branches, list.takesNull()
	if null {
		self = nil
	}
	if !list.one() {
		branches = absorb(distinct(branches))
	}
	switch {
	case len(branches) == 0 && null:
		return listed(nil, true)
	case len(branches) == 0:
		f.errorf(f.union, nil, "never-valid", "remove it, or correct the alternatives", "no value is valid here")
		return ir.DataRef{Kind: ir.DataAny}
	case len(branches) == 1:
		ref := l.single(branches[0].parts, h, self)
		ref.Null = null && ref.Kind != ir.DataAny
		return ref
	}
	if ref, ok := l.enumUnion(f, branches, parts, h, self); ok {
		ref.Null = null
		return ref
	}
	n := l.named(parts)
	if n == nil {
		n = l.declare(parts, ir.DataUnion, h)
		l.cases(n, f, branches)
	}
	ref := l.use(n)
	ref.Null = null
	return ref
}

// single lowers what is left when null, or all other alternatives, are taken away.
func (l *lowerer) single(parts []*schema, h hint, self *named) ir.DataRef {
	if self == nil && keyOf(parts) != l.rootKey || parts[0].pure() {
		return l.lower(parts, h)
	}
	if parts = l.normal(parts); parts == nil {
		return ir.DataRef{Kind: ir.DataAny}
	}
	return l.value(parts, h, self)
}

// branchList are the alternatives of a union, null apart.
type branchList struct {
	branches []*branch
	nulls    int  // alternatives that take null
	exact    bool // null must be in only one of them
}

func (b *branchList) one() bool {
	return slices.ContainsFunc(b.branches, func(b *branch) bool { return b.one })
}

func (b *branchList) takesNull() bool { return b.nulls == 1 || b.nulls > 1 && !b.exact }

// branches lists the alternatives of f, those of nested unions and of several types in their place. An alternative that
// nothing fits is none.
func (l *lowerer) branches(f *flat, open []*schema) (list *branchList, ok bool) {
	if slices.Contains(open, f.union) {
		f.errorf(f.union, nil, "endless-reference",
			"a schema can refer to itself only through a property, an item or a case",
			"the alternatives refer to themselves without end")
		return nil, false
	}
	open = append(open, f.union)
	var base []*schema
	for _, a := range f.atoms {
		if a == f.union {
			if a.forms.withoutUnion == nil {
				a.forms.withoutUnion = a.derive("r")
				a.forms.withoutUnion.choices = choices{allOf: a.allOf}
			}
			a = a.forms.withoutUnion
		}
		if a.types != 0 || a.asserts() {
			base = append(base, a)
		}
	}
	list = &branchList{exact: len(f.union.oneOf) > 0 && !open[0].places}
	for _, s := range slices.Concat(f.union.anyOf, f.union.oneOf) {
		if s.isFalse() {
			continue
		}
		if !l.branch(list, f, s, base, open) {
			return nil, false
		}
	}
	return list, true
}

// branch adds the alternative s of f to the list, together with what holds beside it.
func (l *lowerer) branch(list *branchList, f *flat, s *schema, base, open []*schema) bool {
	parts, null := append([]*schema{s}, base...), false
	if s.nullable {
		parts[0], null = s.notNull(), !slices.ContainsFunc(base, (*schema).forbidsNull)
	}
	if parts = l.normal(parts); parts == nil {
		return false
	}
	b := &branch{parts: l.dropType(parts, f), from: s, f: l.flatten(parts), one: list.exact}
	if b.f.bad {
		return false
	}
	if b.f.union != nil { // what it takes of null, its alternatives say
		inner, ok := l.branches(b.f, open)
		if !ok {
			return false
		}
		for _, o := range inner.branches {
			o.one = o.one || b.one
		}
		list.branches = append(list.branches, inner.branches...)
		null = null || inner.takesNull()
	} else {
		null = null || b.f.null
		l.discriminate(f, b)
		list.branches = append(list.branches, l.byFamily(b)...)
	}
	if null {
		list.nulls++
	}
	return true
}

// distinct drops alternatives that are written twice.
func distinct(branches []*branch) []*branch {
	seen := map[string]bool{}
	return slices.DeleteFunc(branches, func(b *branch) bool {
		text := b.text()
		defer func() { seen[text] = true }()
		return seen[text]
	})
}

// absorb drops alternatives whose every value another one takes as it is: a string with a format beside any string, an
// integer beside any number, everything beside everything. Enumerations stay, for their constants.
func absorb(branches []*branch) []*branch {
	for _, b := range branches {
		if b.all() {
			return []*branch{b}
		}
	}
	plain := map[jsontype.Set]int{} // those left that take every value of their types
	for _, b := range branches {
		if b.plain() {
			plain[b.f.types]++
		}
	}
	return slices.DeleteFunc(slices.Clone(branches), func(b *branch) bool {
		if b.f.hasEnum && b.f.types&jsontype.Bool == 0 {
			return false
		}
		own := 0
		if b.plain() {
			own = 1
		}
		for types, n := range plain {
			if b.f.types&^types == 0 && (n > own || n > 0 && types != b.f.types) {
				plain[b.f.types] -= own
				return true
			}
		}
		return false
	})
}

// dropType leaves the base out of a conjunction when it says nothing but a type that the alternative has anyway, so
// that the alternative keeps its name.
func (l *lowerer) dropType(parts []*schema, f *flat) []*schema {
	if len(parts) != 2 || parts[1].asserts() {
		return parts
	}
	alone := l.flatten(parts[:1])
	if alone.bad || alone.union != nil || alone.types&^parts[1].types != 0 || !alone.typed && alone.uses == 0 {
		return parts
	}
	return parts[:1]
}

// byFamily splits an alternative that has several JSON types.
func (l *lowerer) byFamily(b *branch) []*branch {
	if families(b.f.types) == 0 {
		return nil // null
	}
	if families(b.f.types) == 1 || b.f.types == jsontype.All&^jsontype.Null {
		return []*branch{b}
	}
	var out []*branch
	for _, set := range []jsontype.Set{jsontype.Object, jsontype.Array, jsontype.String, jsontype.Number, jsontype.Bool} {
		if t := b.f.types & set; t != 0 {
			parts := append(slices.Clone(b.parts), l.typeSchema(b.from, t))
			out = append(out, &branch{parts: parts, from: b.from, f: l.flatten(parts)})
		}
	}
	return out
}

// typeSchema is a schema that says nothing but its type.
func (l *lowerer) typeSchema(at *schema, t jsontype.Set) *schema {
	s := made(at, fmt.Sprintf("t%d", t))
	s.types = t
	return s
}

// typeUnion lowers a value of several types.
func (l *lowerer) typeUnion(f *flat, parts []*schema, h hint) ir.DataRef {
	if n := l.named(parts); n != nil {
		return l.use(n)
	}
	n := l.declare(parts, ir.DataUnion, h)
	l.cases(n, f, l.byFamily(&branch{parts: parts, from: f.at, f: f}))
	return l.use(n)
}

// enumUnion lowers alternatives that are all constants of one type, as written to give each constant a description.
// Beside one that takes any value of the type, the constants are suggestions.
func (l *lowerer) enumUnion(f *flat, branches []*branch, parts []*schema, h hint, self *named) (ir.DataRef, bool) {
	merged := *branches[0].f
	merged.enum, merged.types, merged.checks = nil, 0, ir.Checks{}
	seen := map[string]bool{}
	for _, b := range branches {
		merged.types |= b.f.types
		if families(merged.types) != 1 || merged.types&jsontype.Bool != 0 || b.one && !b.f.hasEnum || !b.plain() &&
			(!b.f.hasEnum || checksOrNil(b.f.checks) != nil || b.f.format != nil) {
			return ir.DataRef{}, false
		}
		merged.suggested = merged.suggested || b.plain()
		for _, v := range b.f.enum {
			if len(b.f.enum) == 1 {
				v.doc = docOf([]*schema{b.from})
			}
			if seen[v.json] {
				if b.one {
					f.errorf(v.from, v.node, "ambiguous-union", "remove one",
						"value %s is in two alternatives of oneOf", short(v.json))
				}
				continue
			}
			seen[v.json] = true
			merged.enum = append(merged.enum, v)
		}
	}
	merged.hasEnum = true
	if merged.types&jsontype.String != 0 {
		return l.text(&merged, parts, h, self), true
	}
	return l.number(&merged, parts, h, self), true
}

// cases lowers the alternatives to the cases of n.
func (l *lowerer) cases(n *named, f *flat, branches []*branch) {
	if !l.tellApart(n, f, branches) {
		return
	}
	for _, b := range branches {
		suffix := caseName(b, branches)
		ref := l.lower(b.parts, hint{owner: n, suffix: suffix})
		c := &ir.DataCase{Doc: docOf([]*schema{b.from}), Keys: b.keys, Types: b.f.types.Names()}
		if ref.Kind == ir.DataNamed && ref.Checks == nil {
			c.Type = ref.Type
		} else {
			ref.Null = false
			c.Type = l.caseType(ref, hint{owner: n, suffix: suffix}, b.from).t
		}
		n.t.Cases = append(n.t.Cases, c)
	}
}

// caseName is how a case is called behind its union: by its constant, by the property that it alone requires, by its
// format, else by its type.
func caseName(b *branch, branches []*branch) string {
	if len(b.keys) > 0 && b.f.types == jsontype.Object {
		return names.Value(b.keys[0])
	}
	for _, r := range b.f.required {
		if !slices.ContainsFunc(branches, func(o *branch) bool {
			return o != b && slices.ContainsFunc(o.f.required, func(n *yaml.Node) bool { return n.Value == r.Value })
		}) && slices.ContainsFunc(branches, func(o *branch) bool { return o != b && o.f.types == jsontype.Object }) {
			return names.Go(r.Value)
		}
	}
	if b.f.format != nil && slices.ContainsFunc(branches,
		func(o *branch) bool { return o != b && o.f.types&b.f.types != 0 }) {
		return names.Go(b.f.format.Value)
	}
	return typeName(b.f.types)
}

// caseType declares a type of its own for a case whose Go type has no methods.
func (l *lowerer) caseType(ref ir.DataRef, h hint, from *schema) *named {
	n := &named{t: &ir.DataType{Kind: ir.DataDefined, Doc: docOf([]*schema{from}), Of: &ref}, hint: h,
		parts: []*schema{from}}
	l.types = append(l.types, n)
	return n
}
