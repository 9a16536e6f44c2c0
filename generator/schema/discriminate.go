package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
)

// discriminate makes the discriminating property of an alternative a required constant.
func (l *lowerer) discriminate(f *flat, b *branch) {
	d := f.union.discriminator
	if d == nil || b.f.types != tObject {
		return
	}
	for _, key := range l.mappingOf(d, b.from, b.from.resolve()) {
		b.keys = append(b.keys, quote(key))
	}
	if own := l.constants(b.f, d.property, false); len(own) > 0 && !mapped(d, b.from) {
		b.keys = own
	}
	if len(b.keys) == 0 {
		f.errorf(b.from, nil, "ambiguous-union", fmt.Sprintf("give property %q a const here", short(d.property)), "the discriminator does not say which value chooses this case")
		return
	}
	b.parts = append(slices.Clone(b.parts), keySchema(f.union, d.property, b.keys))
	b.f = l.flatten(b.parts)
}

// mapped reports whether the mapping of a discriminator names the alternative s.
func mapped(d *discriminator, s *schema) bool {
	target := s.resolve()
	return slices.ContainsFunc(d.mapping, func(m mappingEntry) bool { return m.target != nil && m.target.resolve() == target })
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
	values := &schema{doc: at.doc, node: at.node, key: at.key + "v", hasEnum: true, isConst: len(keys) == 1}
	key := at.key + "k"
	for _, k := range keys {
		values.enum = append(values.enum, enumValue{node: at.node, json: string(k), from: values})
		key += "," + string(k)
	}
	values.key = key + "v"
	return &schema{
		doc: at.doc, node: at.node, derived: true, key: key, uses: tObject, types: tObject, required: []*yaml.Node{name},
		props: []*property{{name: prop, key: name, schema: values}},
	}
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
		if pf.bad || pf.null || pf.union != nil || !pf.hasEnum {
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

// tellApart decides how a reader knows which case it has: by JSON type, and objects among themselves by a property.
func (l *lowerer) tellApart(n *named, f *flat, branches []*branch) bool {
	var objects []*branch
	var taken typeSet
	for _, b := range branches {
		switch {
		case b.f.types == tObject:
			objects = append(objects, b)
		case families(b.f.types) > 1 || taken&b.f.types != 0:
			l.ambiguous(f, branches, b)
			return false
		}
		if b.f.types&tNumber != 0 {
			taken |= tNumber
		}
		taken |= b.f.types
	}
	if len(objects) < 2 {
		for _, b := range objects {
			b.keys = nil
		}
		return true
	}
	if d := f.union.discriminator; d != nil {
		n.t.By = d.property
	} else {
		n.t.By = l.keyProperty(objects)
	}
	if n.t.By == "" || !disjoint(objects) {
		l.ambiguous(f, branches, objects[1])
		return false
	}
	return true
}

// keyProperty finds the first property that is a different required constant in each object, and notes the constants.
func (l *lowerer) keyProperty(objects []*branch) string {
	for _, p := range objects[0].f.props {
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

func (l *lowerer) ambiguous(f *flat, branches []*branch, b *branch) {
	f.bad = true
	d := diag.Diagnostic{
		Code: "ambiguous-union", Severity: diag.Error, Pos: b.from.doc.pos(b.from.node),
		Message: "this alternative cannot be told apart from the others",
		Hint:    "give each object a required property with a const of its own, or let the alternatives have different types",
	}
	for _, o := range branches {
		if o != b && (o.f.types&b.f.types != 0 || o.f.types&tNumber != 0 && b.f.types&tNumber != 0) {
			d.Related = append(d.Related, diag.Related{Pos: o.from.doc.pos(o.from.node), Message: "the other alternative"})
			break
		}
	}
	l.list.Add(d)
}

// lastToken is the last name in a JSON pointer.
func lastToken(ptr string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(ptr[strings.LastIndexByte(ptr, '/')+1:])
}
