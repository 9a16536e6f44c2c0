package spec

import "slices"

func (d *differ) messages() {
	byName := messagesByName(d.new)
	for _, m := range d.old.Messages {
		now := byName[d.match.toNew[m.Name]]
		if now == nil {
			d.change(false, false, m.Pos, "message-removed", m.Name, "message %s was removed", m.Name)
			continue
		}
		if now.Name != m.Name {
			d.change(false, false, now.Pos, "message-renamed", m.Name, "message %s is now called %s", m.Name, now.Name)
		}
		if d.deprecated(m.Deprecated, now.Deprecated) {
			d.change(false, false, now.Pos, "message-deprecated", now.Name, "message %s is deprecated", now.Name)
		}
		d.fields(m, now, d.fromOld[m.Name].or(d.fromNew[now.Name]))
	}
	for _, m := range d.new.Messages {
		if d.match.toOld[m.Name] == "" {
			d.change(false, false, m.Pos, "message-added", m.Name, "message %s was added", m.Name)
		}
	}
}

// fields compares the fields of a message by JSON name. In a proto, one that is gone while its number and type stay has
// another name.
func (d *differ) fields(m, now *Message, dir direction) {
	was, is := fieldsByJSON(m), fieldsByJSON(now)
	numbers := map[int32]*Field{}
	for _, f := range now.Fields {
		if was[f.JSON] == nil && f.Number != 0 {
			numbers[f.Number] = f
		}
	}
	renamed := map[*Field]bool{}
	for _, f := range m.Fields {
		subject := m.Name + "." + f.JSON
		switch n := is[f.JSON]; {
		case n != nil:
			d.field(subject, f, n, dir)
		case numbers[f.Number] != nil && d.same(f.Type, numbers[f.Number].Type):
			n = numbers[f.Number]
			renamed[n] = true
			d.typeChange(dir, anyUse, n.Pos, "field-renamed", subject, "field %s is now called %s", subject, n.JSON)
			d.field(subject, f, n, dir)
		default:
			// What is still written is no longer read; what was always there may be missing.
			d.typeChange(dir, impact{reading: f.Required, writing: true}, f.Pos, "field-removed", subject, "field %s was removed", subject)
			if n = numbers[f.Number]; n != nil {
				d.typeChange(dir, anyUse, n.Pos, "number-reused", now.Name+"."+n.JSON, "field %s has the number %d, which %s had", now.Name+"."+n.JSON, f.Number, subject)
			}
		}
	}
	for _, f := range now.Fields {
		if was[f.JSON] == nil && !renamed[f] {
			d.fieldAdded(now.Name+"."+f.JSON, f, dir)
		}
	}
}

func (d *differ) fieldAdded(subject string, f *Field, dir direction) {
	switch {
	case f.Union != "":
		d.typeChange(dir, reading, f.Pos, "union-member-added", subject, "field %s was added to the union %s", subject, f.Union)
	case f.Required:
		d.typeChange(dir, writing, f.Pos, "field-added", subject, "field %s was added and is required", subject)
	default:
		d.typeChange(dir, harmless, f.Pos, "field-added", subject, "field %s was added", subject)
	}
}

// field compares two declarations of one field.
func (d *differ) field(subject string, f, n *Field, dir direction) {
	if !d.same(f.Type, n.Type) {
		d.typeChange(dir, anyUse, n.Pos, "type-changed", subject, "field %s is %s", subject, insteadOf(n.Type, f.Type))
	}
	if d.both(Proto) && f.Number != n.Number {
		d.typeChange(dir, anyUse, n.Pos, "number-changed", subject, "field %s has number %d instead of %d", subject, n.Number, f.Number)
	}
	if f.JSON == n.JSON && f.Name != n.Name && d.both(Proto) {
		d.typeChange(dir, harmless, n.Pos, "name-changed", subject, "field %s is declared as %s instead of %s", subject, n.Name, f.Name)
	}
	if d.both(Proto, Schema) {
		d.presence(subject, f, n, dir)
		d.union(subject, f, n, dir)
	}
	switch {
	case d.both(Schema):
		d.values(subject, f, n, dir)
	case d.both(Proto):
		d.defaults(subject, f, n, dir)
		d.encoding(subject, f, n, dir)
	}
	if d.deprecated(f.Deprecated, n.Deprecated) {
		d.typeChange(dir, harmless, n.Pos, "field-deprecated", subject, "field %s is deprecated", subject)
	}
}

// encoding compares what protos say about the bytes of a field besides its type. Whoever reads protobuf takes both forms of a list, and
// may fail when something required is missing.
func (d *differ) encoding(subject string, f, n *Field, dir direction) {
	switch {
	case f.Expanded && !n.Expanded && n.Type.Elem != nil:
		d.typeChange(dir, harmless, n.Pos, "packing-changed", subject, "field %s is packed", subject)
	case !f.Expanded && n.Expanded:
		d.typeChange(dir, harmless, n.Pos, "packing-changed", subject, "field %s is no longer packed", subject)
	}
	if f.Required && n.Required && f.Always != n.Always {
		words := map[bool]string{true: "is written even when it is zero", false: "is no longer written when it is zero"}
		i := map[bool]impact{true: writing, false: reading}[n.Always]
		d.typeChange(dir, i, n.Pos, "zero-changed", subject, "field %s %s", subject, words[n.Always])
	}
}

func (d *differ) presence(subject string, f, n *Field, dir direction) {
	switch {
	case !f.Required && n.Required:
		d.typeChange(dir, writing, n.Pos, "field-required", subject, "field %s is required", subject)
	case f.Required && !n.Required:
		d.typeChange(dir, reading, n.Pos, "field-not-required", subject, "field %s is no longer required", subject)
	case d.both(Proto) && !f.Optional && n.Optional:
		d.typeChange(dir, harmless, n.Pos, "presence-added", subject, "field %s tells not set from zero", subject)
	case d.both(Proto) && f.Optional && !n.Optional && n.Union == "":
		d.typeChange(dir, anyUse, n.Pos, "presence-removed", subject, "field %s no longer tells not set from zero", subject)
	}
}

func (d *differ) union(subject string, f, n *Field, dir direction) {
	if d.old.Syntax != d.new.Syntax {
		return // a schema has choices instead
	}
	switch {
	case f.Union == "" && n.Union != "":
		d.typeChange(dir, writing, n.Pos, "union-joined", subject, "field %s is a member of the union %s: it excludes the others", subject, n.Union)
	case f.Union != "" && n.Union == "":
		d.typeChange(dir, reading, n.Pos, "union-left", subject, "field %s is no longer a member of the union %s", subject, f.Union)
	}
}

// values compares what schemas say about the values of a field.
func (d *differ) values(subject string, f, n *Field, dir direction) {
	if f.Const == n.Const {
		d.defaults(subject, f, n, dir)
	}
	switch {
	case f.Const == n.Const:
	case n.Const == "":
		d.typeChange(dir, reading, n.Pos, "constant-removed", subject, "field %s need no longer be %s", subject, f.Const)
	case f.Const == "":
		d.typeChange(dir, writing, n.Pos, "constant-added", subject, "field %s is always %s", subject, n.Const)
	default:
		d.typeChange(dir, anyUse, n.Pos, "constant-changed", subject, "field %s is always %s instead of %s", subject, n.Const, f.Const)
	}
	switch {
	case !f.Nullable && n.Nullable:
		d.typeChange(dir, reading, n.Pos, "null-added", subject, "field %s may be null", subject)
	case f.Nullable && !n.Nullable:
		d.typeChange(dir, writing, n.Pos, "null-removed", subject, "field %s may no longer be null", subject)
	}
}

// zeroValues are the defaults that say no more than that there is none.
var zeroValues = []string{"false", "0", `""`, "[]", "{}", "null"}

func (d *differ) defaults(subject string, f, n *Field, dir direction) {
	i := anyUse // what is left out is taken for something else
	if f.Required && n.Required || f.Const != "" || f.Default == "" || n.Default == "" && slices.Contains(zeroValues, f.Default) {
		i = harmless
	}
	switch {
	case f.Default == n.Default:
	case f.Default == "":
		d.typeChange(dir, i, n.Pos, "default-added", subject, "field %s is %s by default", subject, n.Default)
	case n.Default == "":
		d.typeChange(dir, i, n.Pos, "default-removed", subject, "field %s is no longer %s by default", subject, f.Default)
	default:
		d.typeChange(dir, i, n.Pos, "default-changed", subject, "field %s is %s by default instead of %s", subject, n.Default, f.Default)
	}
}

func (d *differ) choices() {
	byName := map[string]*Choice{}
	for _, c := range d.new.Choices {
		byName[c.Name] = c
	}
	for _, c := range d.old.Choices {
		now := byName[d.match.toNew[c.Name]]
		if now == nil {
			continue // what used it has another type, which says it
		}
		dir := d.fromOld[c.Name].or(d.fromNew[now.Name])
		for _, o := range c.Types {
			if !slices.ContainsFunc(now.Types, func(n Type) bool { return d.same(o, n) }) {
				d.typeChange(dir, writing, now.Pos, "alternative-removed", c.Name, "%s is no longer an alternative of %s", o, c.Name)
			}
		}
		for _, n := range now.Types {
			if !slices.ContainsFunc(c.Types, func(o Type) bool { return d.same(o, n) }) {
				d.typeChange(dir, reading, now.Pos, "alternative-added", now.Name, "%s is a new alternative of %s", n, now.Name)
			}
		}
		if c.Tag != now.Tag {
			d.typeChange(dir, anyUse, now.Pos, "tag-changed", now.Name, "the alternatives of %s are told apart by %s instead of %s", now.Name, tagOf(now), tagOf(c))
		}
	}
}

func tagOf(c *Choice) string {
	if c.Tag == "" {
		return "their fields"
	}
	return c.Tag
}

// insteadOf names two types, with their kinds when the names are the same.
func insteadOf(is, was Type) string {
	if is.String() != was.String() {
		return is.String() + " instead of " + was.String()
	}
	for is.Elem != nil && was.Elem != nil {
		is, was = *is.Elem, *was.Elem
	}
	return string(is.Kind) + " " + is.String() + " instead of " + string(was.Kind) + " " + was.String()
}

// same reports whether two types are the same on the wire. The kinds that one syntax alone can tell apart are not compared
// across syntaxes: bytes and times are strings, and integers have no width, in a schema.
func (d *differ) same(a, b Type) bool {
	switch {
	case a.Elem != nil && b.Elem != nil:
		return a.Kind == b.Kind && d.same(*a.Elem, *b.Elem) && d.sameKeys(a.Key, b.Key)
	case d.both(Proto) && (a.Form != b.Form || a.Wrapped != b.Wrapped):
		return false
	case a.Name != "" || b.Name != "":
		return a.Kind == b.Kind && d.match.toNew[a.Name] == b.Name
	case d.old.Syntax != d.new.Syntax:
		return jsonForm(a.Kind) == jsonForm(b.Kind)
	default:
		return a.Kind == b.Kind
	}
}

// sameKeys reports whether the keys of two maps are the same on the wire. In JSON all are strings.
func (d *differ) sameKeys(a, b *Type) bool {
	if !d.both(Proto) {
		return true
	}
	text := Type{Kind: String}
	for _, key := range []**Type{&a, &b} {
		if *key == nil {
			*key = &text
		}
	}
	return d.same(*a, *b)
}

// jsonForm returns the kind that stands for all that look the same in JSON.
func jsonForm(k Kind) Kind {
	switch k {
	case Bytes, Timestamp, Duration, FieldMask:
		return String
	case Any:
		return Struct
	case Int32, Uint32, Uint64:
		return Int64
	case Float:
		return Double
	}
	return k
}
