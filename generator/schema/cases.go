package schema

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
)

// branch is one alternative of an anyOf or oneOf, together with what holds beside it.
type branch struct {
	parts []*schema
	from  *schema // as listed
	f     *flat
	keys  []json.RawMessage // by discriminator, else by constant
}

// union lowers anyOf and oneOf.
func (l *lowerer) union(f *flat, parts []*schema, h hint, self *named) ir.DataRef {
	branches, null, ok := l.branches(f, nil)
	if !ok {
		return ir.DataRef{Kind: ir.DataAny}
	}
	switch len(branches) {
	case 0:
		f.errorf(f.union, nil, "only-null", "remove it, or allow another type beside null", "only null is valid here")
		return ir.DataRef{Kind: ir.DataAny}
	case 1:
		if null {
			self = nil
		}
		ref := l.single(branches[0].parts, h, self)
		ref.Null = ref.Null || null && ref.Kind != ir.DataAny
		return ref
	}
	if null {
		self = nil
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

// branches lists the alternatives of f, those of nested unions and of several types in their place, null apart.
func (l *lowerer) branches(f *flat, open []*schema) (out []*branch, null, ok bool) {
	if slices.Contains(open, f.union) {
		f.errorf(f.union, nil, "endless-reference", "a schema can refer to itself only through a property, an item or a case", "the alternatives refer to themselves without end")
		return nil, false, false
	}
	open = append(open, f.union)
	base := baseOf(f)
	for _, s := range slices.Concat(f.union.anyOf, f.union.oneOf) {
		parts := append([]*schema{s}, base...)
		if s.nullable {
			parts[0], null = s.notNull(), true
		}
		parts = l.normal(parts)
		if parts == nil {
			return nil, false, false
		}
		b := &branch{parts: l.dropType(parts, f), from: s, f: l.flatten(parts)}
		if b.f.bad {
			return nil, false, false
		}
		null = null || b.f.null
		if b.f.union != nil {
			more, moreNull, ok := l.branches(b.f, open)
			if !ok {
				return nil, false, false
			}
			out, null = append(out, more...), null || moreNull
			continue
		}
		l.discriminate(f, b)
		out = append(out, l.byFamily(b)...)
	}
	return l.distinct(f, out), null, true
}

// distinct drops alternatives of an anyOf that are written twice.
func (l *lowerer) distinct(f *flat, branches []*branch) []*branch {
	if len(f.union.oneOf) > 0 {
		return branches
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(branches, func(b *branch) bool {
		key := keyOf(b.parts)
		defer func() { seen[key] = true }()
		return seen[key]
	})
}

// baseOf returns what holds beside the alternatives.
func baseOf(f *flat) []*schema {
	var base []*schema
	for _, a := range f.atoms {
		if a == f.union {
			a = a.withoutUnion()
		}
		if a.types != 0 || a.asserts() {
			base = append(base, a)
		}
	}
	return base
}

// dropType leaves the base out of a conjunction when it says nothing but a type that the alternative has anyway, so that
// the alternative keeps its name.
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
	if families(b.f.types) == 1 || b.f.types == tAll&^tNull {
		return []*branch{b}
	}
	var out []*branch
	for _, set := range []typeSet{tObject, tArray, tString, tNumber, tBool} {
		if t := b.f.types & set; t != 0 {
			parts := append(slices.Clone(b.parts), l.typeSchema(b.from, t))
			out = append(out, &branch{parts: parts, from: b.from, f: l.flatten(parts)})
		}
	}
	return out
}

// typeSchema is a schema that says nothing but its type.
func (l *lowerer) typeSchema(at *schema, t typeSet) *schema {
	return &schema{doc: at.doc, node: at.node, key: fmt.Sprintf("t%d", t), types: t}
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
func (l *lowerer) enumUnion(f *flat, branches []*branch, parts []*schema, h hint, self *named) (ir.DataRef, bool) {
	merged := *branches[0].f
	merged.enum = nil
	for _, b := range branches {
		if !b.f.hasEnum || checksOrNil(b.f.checks) != nil || b.f.format != nil || families(b.f.types|merged.types) != 1 || b.f.types&tBool != 0 {
			return ir.DataRef{}, false
		}
		merged.types |= b.f.types
		for _, v := range b.f.enum {
			if len(b.f.enum) == 1 {
				v.doc = docOf([]*schema{b.from})
			}
			if slices.ContainsFunc(merged.enum, func(o enumValue) bool { return o.json == v.json }) {
				if len(f.union.oneOf) > 0 {
					f.errorf(v.from, v.node, "ambiguous-union", "remove one", "value %s is in two alternatives of oneOf", short(v.json))
				}
				continue
			}
			merged.enum = append(merged.enum, v)
		}
	}
	if merged.types&tString != 0 {
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
		suffix := typeName(b.f.types)
		if len(b.keys) > 0 && b.f.types == tObject {
			suffix = valueName(b.keys[0])
		}
		ref := l.lower(b.parts, hint{owner: n, suffix: suffix})
		c := &ir.DataCase{Doc: docOf([]*schema{b.from}), Keys: b.keys, Types: b.f.types.names()}
		if ref.Kind == ir.DataNamed && ref.Checks == nil {
			c.Type = ref.Type
		} else {
			ref.Null = false
			c.Type = l.caseType(ref, hint{owner: n, suffix: suffix}, b.from).t
		}
		n.t.Cases = append(n.t.Cases, c)
	}
}

// caseType declares a type of its own for a case whose Go type has no methods.
func (l *lowerer) caseType(ref ir.DataRef, h hint, from *schema) *named {
	n := &named{t: &ir.DataType{Kind: ir.DataDefined, Doc: docOf([]*schema{from}), Of: &ref}, hint: h, parts: []*schema{from}}
	l.types = append(l.types, n)
	return n
}
