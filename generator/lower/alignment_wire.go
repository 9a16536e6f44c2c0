package lower

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/spec"
)

// aligner lowers one alignment to a wire of the hub types.
type aligner struct {
	*alignment
	l *protocolLowering
	// base is 1.0, whose names the table uses; the hub may be newer.
	base *spec.Document
	old  *spec.Document
	wire *ir.Wire
	// layouts are those begun, by older name and hub name, so that types may contain each other.
	layouts map[[2]string]*ir.Layout
	errs    diag.List
}

// layOut makes the layouts of all types.
func (a *aligner) layOut() {
	a.wire.Loose = true
	for _, t := range a.types {
		a.begin(t)
	}
	for _, t := range a.types {
		if layout := a.layouts[[2]string{t.old, t.hub}]; layout != nil {
			a.fill(t, layout)
		}
	}
	slices.SortStableFunc(a.wire.Layouts, func(a, b *ir.Layout) int { return cmp.Compare(a.Name, b.Name) })
}

// errorf reports what does not fit at message msg of the hub, or its field if that is given.
func (a *aligner) errorf(msg string, f *spec.Field, format string, args ...any) {
	pos := diag.Pos{File: a.old.Path}
	m := a.l.messages[msg]
	switch {
	case f != nil:
		pos = f.Pos
	case m != nil:
		pos = m.Pos
	}
	a.errs.Errorf(pos, "alignment", "keep what it was, or do not generate version "+a.version+" from this definition", "A2A %s: %s", a.version, fmt.Sprintf(format, args...))
}

// hubType finds the hub's type of a 1.0 name; nil if the hub has none any more.
func (a *aligner) hubType(name string) *ir.Type { return a.l.types[name] }

// begin makes the layout of a type, still empty.
func (a *aligner) begin(t *alignedType) {
	typ := a.hubType(t.hub)
	if typ == nil || t.kind == "absent" || t.kind == "covered" || t.kind == "through" {
		return
	}
	if a.wire.Encoding == ir.Proto && (t.kind == "bare" || strings.HasPrefix(t.old, "~")) {
		return // the proto has no such message
	}
	layout := &ir.Layout{Type: typ, Name: typ.Name}
	if slices.ContainsFunc(a.wire.Layouts, func(l *ir.Layout) bool { return l.Type == typ }) {
		layout.Variant = strings.Replace(names.Go(t.old), typ.Go, "", 1) // the name begins with the type's
	}
	a.wire.Layouts = append(a.wire.Layouts, layout)
	a.layouts[[2]string{t.old, t.hub}] = layout
}

// fill lays out one type.
func (a *aligner) fill(t *alignedType, layout *ir.Layout) {
	switch t.kind {
	case "type":
		layout.Hook = t.arg
		for _, line := range t.lines {
			a.choice(t, line, layout)
		}
	case "bare":
		f, c := a.field(t.hub, t.arg)
		if f == nil || c != nil {
			a.errorf(t.hub, nil, "%s has no field %s", t.hub, t.arg)
			return
		}
		layout.Bare = true
		layout.Fields = []*ir.FieldLayout{{Field: f, Name: f.Name}}
	case "message":
		a.members(t, layout)
	case "choice":
		layout.Tag, layout.TagAliases = t.arg, []string{"kind"}
		if t.arg == "kind" {
			layout.TagAliases = []string{"type"} // peers mix the two
		}
		for _, line := range t.lines {
			a.choice(t, line, layout)
		}
	case "enum":
		for _, line := range t.lines {
			a.value(t, line, layout)
		}
		distinctValues(layout)
	}
}

// field finds the hub's field, or case of a union, that 1.0 calls name in message msg. Where the hub is another definition
// the field is the one of the same number.
func (a *aligner) field(msg, name string) (*ir.Field, *ir.Case) {
	t := a.hubType(msg)
	if t == nil {
		return nil, nil
	}
	name = a.l.hubName(msg, name)
	for _, f := range t.Fields {
		switch {
		case f.Union == nil && f.Name == name:
			return f, nil
		case f.Union != nil:
			if c := caseOf(f.Union, name); c != nil {
				return f, c
			}
		}
	}
	return nil, nil
}

// changed returns what the hub has for a field of 1.0 if that is of another type, else nil.
func (a *aligner) changed(msg, name string) *spec.Field {
	m := messageOf(a.base, msg)
	if m == nil || memberOf(m, name) == nil {
		return nil
	}
	f := memberOf(m, name)
	g := a.l.counterpart(msg, f, m)
	if g == nil || sameType(f.Type, g.Type) && (f.Union == "") == (g.Union == "") {
		return nil
	}
	return g
}

func messageOf(doc *spec.Document, name string) *spec.Message {
	for _, m := range doc.Messages {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// sameName is the 1.0 field whose JSON name is name.
func (a *aligner) sameName(msg, name string) string {
	if m := messageOf(a.base, msg); m != nil {
		for _, f := range m.Fields {
			if f.JSON == name {
				return f.Name
			}
		}
	}
	return ""
}

// members lays out a message.
func (a *aligner) members(t *alignedType, layout *ir.Layout) {
	src := messageOf(a.old, t.old)
	for _, line := range t.lines {
		switch line.class {
		case "absent", "drop":
		case "const":
			layout.Consts = append(layout.Consts, ir.Const{Name: line.name, Value: constant(line.value)})
		case "nested":
			m := &ir.FieldLayout{Name: line.name, Nested: a.layouts[[2]string{line.as, t.hub}], Required: true, Lenient: !line.must}
			if m.Nested == nil {
				a.errorf(t.hub, nil, "%s.%s: no message %s", t.old, line.name, line.as)
				continue
			}
			a.number(m, line, src)
			layout.Fields = append(layout.Fields, m)
		default:
			if m := a.memberLine(t, line, src); m != nil {
				layout.Fields = append(layout.Fields, m)
			}
		}
	}
}

// constant is a word of the table as JSON.
func constant(word string) string {
	if word == "true" || word == "false" {
		return word
	}
	value, _ := json.Marshal(word)
	return string(value)
}

// memberLine lays out a member that is a field of the hub.
func (a *aligner) memberLine(t *alignedType, line *alignedLine, src *spec.Message) *ir.FieldLayout {
	path := line.target
	if line.class == "same" {
		path = a.sameName(t.hub, line.name)
	}
	m := &ir.FieldLayout{Name: line.name, Hook: line.hook, Arg: line.arg, Derived: line.class == "derive", Lenient: !line.must, Filled: line.filled, Written: line.written, Fallback: line.fallback}
	msg := t.hub
	if outer, inner, ok := strings.Cut(path, "."); ok {
		into, c := a.field(t.hub, outer)
		if into == nil || c != nil || into.Type.Kind != ir.KindMessage {
			return nil // the hub has it no more
		}
		m.Into, msg, path = into, into.Type.Name, inner
	}
	if m.Field, m.Case = a.field(msg, path); m.Field == nil {
		return nil
	}
	if f := a.changed(msg, path); f != nil {
		a.errorf(msg, f, "field %s of message %s is not of the type that it has in version %s", path, msg, hubVersion)
		return nil
	}
	if line.class == "pair" {
		if m.With, _ = a.field(t.hub, line.arg); m.With == nil {
			return nil
		}
		m.Arg = ""
		a.samePresence(t.hub, line.arg, m.With)
	}
	if m.Hook != "" {
		a.samePresence(msg, path, m.Field)
	}
	if src == nil {
		m.Required = line.must
	} else if f := memberCalled(src, line.name); f != nil {
		m.Required = f.Required && m.Case == nil
	}
	a.number(m, line, src)
	if m.Required {
		m.MinItems = minItems[msg+"."+path]
	}
	if line.as != "" {
		ref := m.Field.Type
		if m.Case != nil {
			ref = m.Case.Type
		}
		if ref.Elem != nil {
			ref = *ref.Elem
		}
		m.As = a.layouts[[2]string{line.as, ref.Name}]
	}
	if line.initial != "" {
		m.Default = valueOf(m.Field.Type.Type, line.initial)
	}
	return m
}

// samePresence reports a field that a hook reads and writes, and that tells "not set" from zero otherwise than in 1.0.
func (a *aligner) samePresence(msg, name string, f *ir.Field) {
	m := messageOf(a.base, msg)
	if m == nil || memberOf(m, name) == nil || f.Union != nil {
		return
	}
	if was := memberOf(m, name); was.Optional != (f.Presence == ir.Explicit) && hasZero(f.Type.Kind) {
		words := map[bool]string{true: "tells not set from zero", false: "does not tell not set from zero"}
		a.errorf(msg, a.l.fields[f], "field %s of message %s %s, otherwise than in version %s", f.Name, msg, words[f.Presence == ir.Explicit], hubVersion)
	}
}

// choice lays out a case of a union.
func (a *aligner) choice(t *alignedType, line *alignedLine, layout *ir.Layout) {
	name := line.target
	if line.class == "absent" {
		name = line.name
	}
	f, c := a.field(t.hub, name)
	if c == nil {
		return // the hub has it no more
	}
	m := &ir.FieldLayout{Field: f, Case: c, Name: c.Name, TagValue: strings.TrimPrefix(line.value, "-"), Shape: line.shape}
	if line.class == "absent" {
		m.TagValue, m.Absent = "", true
	} else if line.as != "" {
		m.As = a.layouts[[2]string{line.as, c.Type.Name}]
	}
	layout.Fields = append(layout.Fields, m)
}

// value lays out a value of an enum.
func (a *aligner) value(t *alignedType, line *alignedLine, layout *ir.Layout) {
	if line.name == "otherwise" {
		layout.Otherwise = line.target
		return
	}
	name, written, aliases := line.target, line.name, append([]string{}, line.also...)
	only := line.class == "absent"
	if only {
		name, written, aliases = line.name, line.value, nil
	}
	v := a.hubValue(t.hub, name)
	if v == nil {
		return // the hub has it no more
	}
	addValue(layout, &ir.ValueLayout{Value: v, Name: written, Aliases: aliases, Number: v.Number, WriteOnly: only})
}

// hubValue finds the hub's value that 1.0 calls name.
func (a *aligner) hubValue(enum, name string) *ir.Value {
	t := a.hubType(enum)
	for _, e := range a.base.Enums {
		if e.Name != enum || t == nil {
			continue
		}
		for _, from := range e.Values {
			if from.Name != name {
				continue
			}
			return counterpartValue(t, from, e)
		}
	}
	if t == nil {
		return nil
	}
	return valueOf(t, name) // 1.0 does not have it, a draft does
}

// alignedOperations lowers the operations: the hub's, under other names.
func (a *aligner) alignedOperations(hub *ir.Version) []*ir.Operation {
	var ops []*ir.Operation
	for _, o := range a.operations {
		if o.rpc == "" {
			continue
		}
		i := slices.IndexFunc(hub.Operations, func(h *ir.Operation) bool { return h.Go == names.Go(o.hub) })
		if i < 0 {
			continue // the hub has it no more
		}
		op := *hub.Operations[i]
		op.RPC, op.GRPC, op.HTTP, op.Aliases, op.Null = o.rpc, "", nil, o.aliases, o.null
		ops = append(ops, &op)
	}
	return ops
}
