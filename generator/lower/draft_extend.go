package lower

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/spec"
)

// extend adds what is new in the draft to the hub and to its table, removes what is gone from the table, and rejects
// what has changed: how to convert it is not known.
func (d *draft) extend(hub *spec.Document, extra extras) diag.List {
	d.hub, d.extra = hub, extra
	d.rename()
	d.dropTypes()
	fresh := d.declare()
	for _, m := range d.doc.Messages {
		switch {
		case fresh[m.Name]:
			d.newMessage(m)
		case d.spoken(m.Name):
			d.checkSpoken(m)
		default:
			for _, t := range d.table.types {
				if t.kind == "message" && t.old == m.Name {
					d.knownMessage(t, m)
				}
			}
		}
	}
	for _, e := range d.doc.Enums {
		if t := d.table.message(e.Name, ""); t != nil && t.kind == "enum" {
			d.values(t, e)
		}
	}
	for _, c := range d.doc.Choices {
		d.alternatives(c)
	}
	d.checkOperations()
	if d.problems.HasErrors() && d.earlier() {
		d.problems.Errorf(d.file(), "earlier-release", `list "`+d.was.Version+`" instead`,
			"the schema looks like an earlier release of %s than the one that ships, which speaks with peers of all of them", d.was.Version)
	}
	d.problems.Sort()
	return d.problems
}

// earlier reports whether the schema has less than its model, as the releases before it: an operation is not there, or has the name that it had.
func (d *draft) earlier() bool {
	return slices.ContainsFunc(d.was.Operations, func(o *spec.Operation) bool { return operationCalled(d.doc, o.RPC) == nil })
}

// rename lets the table speak of the draft: the interfaces of a card are those of its version.
func (d *draft) rename() {
	for _, t := range d.table.types {
		for _, line := range t.lines {
			if line.hook == interfacesHook {
				line.arg = d.doc.Version
			}
		}
	}
	d.table.version = d.doc.Version
}

// interfacesHook is the hook whose argument is a version.
const interfacesHook = "Interfaces"

// spoken reports whether the table has a line for a name as a whole, without its members.
func (d *draft) spoken(name string) bool {
	g := gapFinder{alignment: d.table}
	return g.whole(name)
}

// dropTypes removes missing types from the table.
func (d *draft) dropTypes() {
	d.table.types = slices.DeleteFunc(d.table.types, func(t *alignedType) bool {
		if t.old == "" || !declares(d.was, t.old) || declares(d.doc, t.old) {
			return false
		}
		if slices.ContainsFunc(parts, func(p part) bool { return hubNameOf(p.meaning) == t.hub }) {
			d.problems.Errorf(d.file(), "missing-type", "keep it", "the schema has no %s, which the runtime needs", t.old)
		}
		return true
	})
}

// declares reports whether a definition has a message, enum or choice of the name.
func declares(doc *spec.Document, name string) bool {
	return messageOf(doc, name) != nil || enumOf(doc, name) != nil || choiceOf(doc, name) != nil
}

func choiceOf(doc *spec.Document, name string) *spec.Choice {
	for _, c := range doc.Choices {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// declare gives every message and enum that the table does not speak of a type in the hub, still empty, so that fields may
// refer to it. It returns their names.
func (d *draft) declare() map[string]bool {
	fresh := map[string]bool{}
	for _, m := range d.doc.Messages {
		if d.spoken(m.Name) || d.table.message(m.Name, "") != nil {
			continue
		}
		fresh[m.Name] = true
		hub := d.typeName(m.Name)
		d.table.types = append(d.table.types, &alignedType{kind: "message", old: m.Name, hub: hub})
		if messageOf(d.hub, hub) == nil {
			d.extra.types[hub] = true
			d.hub.Messages = append(d.hub.Messages, &spec.Message{Name: hub, Comment: m.Comment, Pos: m.Pos, Deprecated: m.Deprecated})
		}
	}
	for _, e := range d.doc.Enums {
		if d.spoken(e.Name) || d.table.message(e.Name, "") != nil {
			continue
		}
		hub := d.typeName(e.Name)
		d.table.types = append(d.table.types, &alignedType{kind: "enum", old: e.Name, hub: hub})
		if enumOf(d.hub, hub) == nil {
			d.extra.types[hub] = true
			d.hub.Enums = append(d.hub.Enums, &spec.Enum{Name: hub, Comment: e.Comment, Pos: e.Pos, Deprecated: e.Deprecated})
		}
	}
	return fresh
}

// typeName is what the hub calls a type that is new in the draft: by its own name, also if the hub has a type of that name
// which the model lacks.
func (d *draft) typeName(name string) string {
	if strings.Contains(name, ".") { // it is declared in place
		name = names.Go(strings.ReplaceAll(name, ".", "_"))
	}
	free := func(name string) bool {
		at := slices.IndexFunc(d.table.types, func(t *alignedType) bool { return t.hub == name })
		if at >= 0 && d.table.types[at].kind == "absent" {
			d.table.types = slices.Delete(d.table.types, at, at+1)
			return true
		}
		return at < 0 && (d.extra.types[name] || !declares(d.hub, name) || !declares(d.base, name))
	}
	for i := 2; !free(name); i++ {
		name = strings.TrimRight(name, "0123456789") + strconv.Itoa(i)
	}
	return name
}

// newMessage fills a message that is new.
func (d *draft) newMessage(m *spec.Message) {
	t := d.table.message(m.Name, "")
	for _, f := range m.Fields {
		d.newField(t, f, false)
	}
}

// checkSpoken rejects new members of what the runtime converts as a whole, because they would be lost.
func (d *draft) checkSpoken(m *spec.Message) {
	was := messageOf(d.was, m.Name)
	if slices.Contains(d.table.envelopes, m.Name) || was == nil {
		return
	}
	for _, f := range m.Fields {
		if memberCalled(was, f.JSON) == nil {
			d.errorf(f.Pos, "unsupported-member", "put it into the metadata, or into a part with a kind of its own",
				"the runtime reads and writes %s as it is in version %s: the member %s would be lost", m.Name, d.was.Version, f.JSON)
		}
	}
}

// knownMessage compares a message with that of the model, for one of its hub messages.
func (d *draft) knownMessage(t *alignedType, m *spec.Message) {
	was := messageOf(d.was, m.Name)
	if was == nil {
		d.errorf(m.Pos, "changed-type", "give it another name", "%s is something else in version %s", m.Name, d.was.Version)
		return
	}
	for _, f := range m.Fields {
		old := memberCalled(was, f.JSON)
		switch {
		case old == nil:
			d.newField(t, f, true)
		case !sameType(old.Type, f.Type) || old.Const != f.Const:
			d.errorf(f.Pos, "changed-type", "give it the type that it has there, or another name",
				"field %s of %s is not of the type that it has in version %s", f.JSON, m.Name, d.was.Version)
		}
	}
	t.lines = slices.DeleteFunc(t.lines, func(line *alignedLine) bool {
		if line.class == "absent" || memberCalled(was, line.name) == nil || memberCalled(m, line.name) != nil {
			return false
		}
		if path := d.hubPath(t, line); line.hook == interfacesHook || d.needs(t.hub, path) {
			d.errorf(m.Pos, "missing-field", "keep it", "%s has no %s, which the runtime needs", m.Name, line.name)
		}
		return true
	})
}

// hubPath returns the field of the hub of a line.
func (d *draft) hubPath(t *alignedType, line *alignedLine) string {
	if line.class != "same" {
		return line.target
	}
	if m := messageOf(d.base, t.hub); m != nil && memberCalled(m, line.name) != nil {
		return memberCalled(m, line.name).Name
	}
	return ""
}

// newField gives a field that the model does not have a line, and a field of the hub: one that the hub has under this name, if
// it is of the same type, else its own. added: it is a field of a message that the model has.
func (d *draft) newField(t *alignedType, f *spec.Field, added bool) {
	line := &alignedLine{name: f.JSON, class: "renamed", must: f.Required}
	if word, ok := constantWord(f.Const); ok {
		line.class, line.value = "const", word
		t.lines = append(t.lines, line)
		return
	}
	typ := d.hubType(f, line)
	if added && f.Required && !hasEmpty(typ.Kind) {
		d.errorf(f.Pos, "required-member", "leave it out of required", "%s cannot be required: the runtime makes %s without it", f.JSON, t.old)
	}
	m := messageOf(d.hub, t.hub)
	if m == nil {
		return // the hub has the message no more
	}
	if has := memberCalled(m, f.JSON); has != nil && has.Union == "" {
		if !sameType(has.Type, typ) {
			d.errorf(f.Pos, "changed-type", "give it another name", "field %s of %s is of another type than field %s of message %s in version %s, whose types these are",
				f.JSON, t.old, has.Name, m.Name, d.hub.Version)
		}
		line.target = has.Name
	} else {
		name := d.memberName(m, f.JSON)
		line.target = name
		d.extra.members[[2]string{m.Name, name}] = true
		m.Fields = append(m.Fields, &spec.Field{
			Name: name, JSON: f.JSON, Comment: f.Comment, Pos: f.Pos, Type: typ, Required: f.Required, Optional: f.Optional && typ.Kind != spec.Value, Deprecated: f.Deprecated,
		})
	}
	t.lines = append(t.lines, line)
}

// memberName returns a name for a new member of m that is unique on every wire.
func (d *draft) memberName(m *spec.Message, name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(m.Fields, func(f *spec.Field) bool { return f.Name == name || f.JSON == name }) ||
			slices.ContainsFunc(m.Unions, func(u *spec.Union) bool { return u.Name == name })
	}
	free := name
	for i := 2; taken(free); i++ {
		free = name + "_" + strconv.Itoa(i)
	}
	return free
}

// constantWord returns a constant as the table writes it. Constants that are not strings are fields like others.
func constantWord(value string) (string, bool) {
	var word string
	if value == "" || json.Unmarshal([]byte(value), &word) != nil || word == "true" || word == "false" {
		return "", false
	}
	return word, true
}

// hasEmpty reports whether a required member of kind k can be written if nothing was set.
func hasEmpty(k spec.Kind) bool {
	switch k {
	case spec.String, spec.Bool, spec.Int32, spec.Int64, spec.Uint32, spec.Float, spec.Double, spec.List, spec.Map:
		return true
	}
	return false
}

// hubType returns the hub's type of a new field. A field without one, such as a new choice, is any JSON.
func (d *draft) hubType(f *spec.Field, line *alignedLine) spec.Type {
	t, ok := d.element(f.Type, line, true)
	if !ok {
		d.problems.Warnf(f.Pos, "raw-member", "give it the type of an object with members to have it typed", "field %s is any JSON in Go: there is no type for %s", f.JSON, f.Type)
		return spec.Type{Kind: spec.Value}
	}
	return t
}

func (d *draft) element(t spec.Type, line *alignedLine, whole bool) (spec.Type, bool) {
	switch t.Kind {
	case spec.List, spec.Map:
		if !whole {
			return t, false
		}
		elem, ok := d.element(*t.Elem, line, false)
		return spec.Type{Kind: t.Kind, Elem: &elem}, ok
	case spec.MessageOf, spec.EnumOf, spec.ChoiceOf:
		return d.named(t, line)
	case spec.Uint64, spec.Duration, spec.Empty: // their JSON is not ProtoJSON's
		return t, false
	}
	return t, true
}

// named returns the hub's type for a named type of the draft.
func (d *draft) named(t spec.Type, line *alignedLine) (spec.Type, bool) {
	if slices.Contains(d.table.open, t.Name) {
		return spec.Type{Kind: spec.String}, true
	}
	for _, known := range d.table.types {
		switch {
		case known.kind == "type" && known.hub == t.Name:
			return spec.Type{Kind: spec.MessageOf, Name: known.hub}, true
		case known.old != t.Name:
		case known.kind == "enum":
			return spec.Type{Kind: spec.EnumOf, Name: known.hub}, true
		case known.kind == "message", known.kind == "choice":
			line.as = t.Name
			return spec.Type{Kind: spec.MessageOf, Name: known.hub}, true
		}
	}
	return t, false
}
