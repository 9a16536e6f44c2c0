package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/jsontype"
)

// discriminate makes the discriminating property of an alternative a required constant.
func (l *lowerer) discriminate(f *flat, b *branch) {
	d := f.union.discriminator
	if d == nil || b.f.types != jsontype.Object {
		return
	}
	for _, key := range l.mappingOf(d, b.from, b.from.resolve()) {
		b.keys = append(b.keys, quote(key))
	}
	if own := l.constants(b.f, d.property, false); len(own) > 0 && !mapped(d, b.from) {
		b.keys = own
	}
	if len(b.keys) == 0 {
		f.errorf(b.from, nil, "ambiguous-union", fmt.Sprintf("give property %q a const here", short(d.property)),
			"the discriminator does not say which value chooses this case")
		return
	}
	b.parts = append(slices.Clone(b.parts), keySchema(f.union, d.property, b.keys))
	b.f = l.flatten(b.parts)
}

// mapped reports whether the mapping of a discriminator names the alternative s.
func mapped(d *discriminator, s *schema) bool {
	target := s.resolve()
	return slices.ContainsFunc(d.mapping,
		func(m mappingEntry) bool { return m.target != nil && m.target.resolve() == target })
}

// mappingOf returns the values by which a discriminator chooses the alternative s, a reference to target: those of its
// mapping, else what the target says itself, else the target's name.
func (l *lowerer) mappingOf(d *discriminator, s, target *schema) []string {
	var keys []string
	for _, m := range d.mapping {
		if m.target != nil && m.target.resolve() == target {
			keys = append(keys, m.value)
		}
	}
	if len(keys) > 0 || s.ref == nil || target == nil {
		return keys
	}
	for _, c := range l.constants(l.flatten([]*schema{target}), d.property, false) {
		var text string
		if json.Unmarshal(c, &text) == nil {
			keys = append(keys, text)
		}
	}
	if len(keys) == 0 {
		keys = []string{lastToken(target.ptr)}
	}
	return keys
}

// keySchema requires the property prop to be one of keys.
func keySchema(at *schema, prop string, keys []json.RawMessage) *schema {
	name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: prop, Line: at.node.Line, Column: at.node.Column}
	values := made(at, at.key+"v")
	values.hasEnum, values.isConst = true, len(keys) == 1
	key := at.key + "k"
	for _, k := range keys {
		values.enum = append(values.enum, enumValue{node: at.node, json: string(k), from: values})
		key += "," + string(k)
	}
	values.key = key + "v"
	s := made(at, key)
	s.derived, s.uses, s.types = true, jsontype.Object, jsontype.Object
	s.members = members{required: []*yaml.Node{name}, props: []*property{{name: prop, key: name, schema: values}}}
	return s
}

// constants returns the constants that a property of an object must be one of; with strict only if it is required.
func (l *lowerer) constants(f *flat, name string, strict bool) []json.RawMessage {
	if strict && !slices.ContainsFunc(f.required, func(n *yaml.Node) bool { return n.Value == name }) {
		return nil
	}
	for _, p := range f.props {
		if p.name != name {
			continue
		}
		pf := l.flatten(p.parts)
		if pf.bad || pf.null || pf.union != nil || !pf.hasEnum || pf.rawEnum {
			return nil
		}
		var keys []json.RawMessage
		for _, v := range pf.enum {
			keys = append(keys, json.RawMessage(v.json))
		}
		return keys
	}
	return nil
}

// tellApart decides how a reader knows which case it has: by JSON type, objects among themselves by a property, and
// what is left by trying.
func (l *lowerer) tellApart(n *named, f *flat, branches []*branch) bool {
	var objects []*branch
	for _, b := range branches {
		if b.f.types&jsontype.Object != 0 { // one that takes any type included: it has no key
			objects = append(objects, b)
		}
	}
	switch {
	case len(objects) < 2:
	case f.union != nil && f.union.discriminator != nil:
		n.t.By = f.union.discriminator.property
	default:
		n.t.By = l.keyProperty(objects)
	}
	if n.t.By == "" || !disjoint(objects) {
		n.t.By = ""
		for _, b := range objects {
			b.keys = nil
		}
	}
	n.t.One = slices.ContainsFunc(branches, func(b *branch) bool { return b.one })
	return !n.t.One || l.mayBeAlone(f, branches)
}

// mayBeAlone looks for alternatives of a oneOf of which no value, or not every value it should, fits just one.
func (l *lowerer) mayBeAlone(f *flat, branches []*branch) bool {
	before := map[string][]*branch{} // by text
	for _, b := range branches {
		text := b.text()
		for _, o := range before[text] {
			if b.f.types&o.f.types != 0 {
				l.ambiguous(f, o, b, "these alternatives of oneOf are the same: no value fits only one",
					"remove one, or write anyOf")
				return false
			}
		}
		before[text] = append(before[text], b)
		if b.f.typed {
			continue
		}
		for _, o := range branches {
			if o.f.types&^b.f.types != 0 && b.f.types&jsontype.All != jsontype.All&^jsontype.Null {
				l.ambiguous(f, o, b, "without type this alternative takes every value of the other one too", "add type")
				return false
			}
		}
	}
	return true
}

// keyProperty finds the first property that is a different required constant in each object, and notes the constants.
func (l *lowerer) keyProperty(objects []*branch) string {
	for _, p := range objects[0].f.props {
		if len(l.constants(objects[0].f, p.name, true)) == 0 {
			continue
		}
		for _, b := range objects {
			b.keys = l.constants(b.f, p.name, true)
		}
		if disjoint(objects) {
			return p.name
		}
	}
	return ""
}

// disjoint reports whether every branch has keys, and none is shared.
func disjoint(branches []*branch) bool {
	seen := map[string]bool{}
	for _, b := range branches {
		if len(b.keys) == 0 {
			return false
		}
		for _, k := range b.keys {
			if seen[string(k)] {
				return false
			}
			seen[string(k)] = true
		}
	}
	return true
}

func (l *lowerer) ambiguous(f *flat, o, b *branch, message, hint string) {
	f.bad = true
	l.list.Add(diag.Diagnostic{
		Code: "ambiguous-union", Severity: diag.Error, Pos: b.from.doc.pos(b.from.node),
		Message: message, Hint: hint + "; " + rawHint,
		Related: []diag.Related{{Pos: o.from.doc.pos(o.from.node), Message: "the other alternative"}},
	})
}

// lastToken is the last name in a JSON pointer.
func lastToken(ptr string) string {
	return unescape.Replace(ptr[strings.LastIndexByte(ptr, '/')+1:])
}
