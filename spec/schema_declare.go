package spec

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/suggest"
)

// message adds the message that an object's schema describes.
func (r *schemaReader) message(name string, pos diag.Pos, n *node) {
	m := &Message{Name: name, Comment: describe(n), Pos: pos, Deprecated: n.get("deprecated").isTrue()}
	r.doc.Messages = append(r.doc.Messages, m)
	r.messages[name] = m
	r.fields(m, n)
	if extra := n.get("additionalProperties"); extra != nil && extra.kind != 'f' {
		t, _ := r.typeOf(extra, name+".extra", pos)
		m.Extra = &t
	}
}

// fields adds the fields of a schema and of the schemas it is all of. Of two with one name the first stays.
func (r *schemaReader) fields(m *Message, n *node) {
	byName, seen := map[string]*Field{}, map[*node]bool{}
	var required []*node
	var add func(n *node)
	add = func(n *node) {
		if seen[n] { // also when it is a part of itself
			return
		}
		seen[n] = true
		aliases := protoNames(n)
		for _, p := range n.get("properties").props() {
			if byName[p.name] == nil {
				byName[p.name] = r.schemaField(m, aliases, p)
				m.Fields = append(m.Fields, byName[p.name])
			}
		}
		for _, part := range n.get("allOf").list() {
			if part = r.part(part); part != nil {
				add(part)
			}
		}
		required = append(required, n.get("required").list()...)
	}
	add(n)
	for _, name := range required {
		if f := byName[name.str()]; f != nil {
			f.Required, f.Optional = true, false
		} else {
			r.problems.Errorf(name.pos, "invalid-schema", suggest.Key(name.str(), slices.Collect(maps.Keys(byName))), "%s requires %s, which it does not have", m.Name, quoted(name.str()))
		}
	}
}

// part returns the object's schema behind one of the schemas that a message is all of.
func (r *schemaReader) part(n *node) *node {
	ref := n.get("$ref")
	if ref == nil {
		return n
	}
	d, inside, place := r.resolve(ref)
	switch {
	case d != nil && d.role == roleMessage:
		return d.node
	case d != nil:
		place = d.name
	case inside == nil:
		return nil
	case isMessage(inside):
		return inside
	}
	r.problems.Errorf(ref.pos, "unsupported-schema", "list the fields", "%s is no object, so nothing can be all of it and something else", place)
	return nil
}

func (r *schemaReader) schemaField(m *Message, protoNames map[string]string, p member) *Field {
	f := &Field{Name: p.name, JSON: p.name, Comment: describe(p.value), Pos: p.pos, Deprecated: p.value.get("deprecated").isTrue()}
	f.Type, f.Nullable = r.typeOf(p.value, m.Name+"."+p.name, p.pos)
	if r.bundle {
		f.Name = cmp.Or(protoNames[p.name], p.name)
		f.Optional = isScalar(f.Type) && !p.value.has("default")
		return f
	}
	f.Optional = isScalar(f.Type)
	if c := constant(p.value); c != nil {
		f.Const, f.Optional = c.compact(), false
	}
	f.Default = p.value.get("default").compact()
	return f
}

// isScalar reports whether a value of the type has a zero value that could be taken for "not set".
func isScalar(t Type) bool {
	switch t.Kind {
	case String, Bool, Int32, Int64, Uint32, Uint64, Float, Double, Bytes, EnumOf:
		return true
	}
	return false
}

// enum adds the enum that a list of strings describes.
func (r *schemaReader) enum(name string, pos diag.Pos, n *node) {
	e := &Enum{Name: name, Comment: describe(n), Pos: pos, Deprecated: n.get("deprecated").isTrue()}
	seen := map[string]bool{}
	for _, v := range n.get("enum").list() {
		if v.kind != '"' {
			continue
		}
		if seen[v.text] {
			r.problems.Errorf(v.pos, "invalid-schema", "", "enum %s lists %s twice", name, quoted(v.text))
			continue
		}
		seen[v.text] = true
		e.Values = append(e.Values, &EnumValue{Name: v.text, Number: int32(len(e.Values) + 1), Pos: v.pos})
	}
	r.doc.Enums = append(r.doc.Enums, e)
}

// choice adds the choice between several types that a schema describes.
func (r *schemaReader) choice(name string, pos diag.Pos, n *node) {
	c := &Choice{Name: name, Comment: describe(n), Pos: pos}
	r.doc.Choices = append(r.doc.Choices, c)
	options, null := alternatives(n)
	c.Nullable = null
	for i, o := range options {
		t, null := r.typeOf(o, name+"."+strconv.Itoa(i+1), o.pos)
		c.Types = append(c.Types, t)
		c.Nullable = c.Nullable || null
	}
}

// tag returns the field that has another constant in every alternative of c, or nothing.
func (r *schemaReader) tag(c *Choice) string {
	counts := map[string]map[string]bool{}
	var names []string
	for _, t := range c.Types {
		m := r.messages[t.Name]
		if t.Kind != MessageOf || m == nil {
			return ""
		}
		for _, f := range m.Fields {
			if f.Const == "" {
				continue
			}
			if counts[f.JSON] == nil {
				counts[f.JSON] = map[string]bool{}
				names = append(names, f.JSON)
			}
			counts[f.JSON][f.Const] = true
		}
	}
	for _, name := range names {
		if len(counts[name]) == len(c.Types) {
			return name
		}
	}
	return ""
}

// describe returns the description of a schema as plain text.
func describe(n *node) string {
	return strings.TrimSpace(n.get("description").str())
}
