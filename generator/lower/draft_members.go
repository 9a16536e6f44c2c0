package lower

import (
	"slices"
	"strconv"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/spec"
)

func (d *draft) file() diag.Pos { return diag.Pos{File: d.doc.Path} }

// values gives the values of an enum that the table does not know a line, and a value of the hub, and drops those that are gone.
func (d *draft) values(t *alignedType, e *spec.Enum) {
	hub, was := enumOf(d.hub, t.hub), enumOf(d.was, e.Name)
	if hub == nil {
		return // the hub has it no more
	}
	for _, v := range e.Values {
		if hasLine(t, v.Name, false) || slices.ContainsFunc(t.lines, func(line *alignedLine) bool { return slices.Contains(line.also, v.Name) }) {
			continue
		}
		name := d.valueName(t, hub, v)
		if enumValue(hub, name) == nil {
			number := int32(0)
			for _, other := range hub.Values {
				number = max(number, other.Number)
			}
			d.extra.members[[2]string{hub.Name, name}] = true
			hub.Values = append(hub.Values, &spec.EnumValue{Name: name, Number: number + 1, Comment: v.Comment, Pos: v.Pos, Deprecated: v.Deprecated})
		}
		t.lines = slices.DeleteFunc(t.lines, func(line *alignedLine) bool { return line.class == "absent" && line.name == name })
		t.lines = append(t.lines, &alignedLine{name: v.Name, class: "enum", target: name})
	}
	t.lines = slices.DeleteFunc(t.lines, func(line *alignedLine) bool {
		if line.class == "absent" || was == nil || enumValue(was, line.name) == nil || enumValue(e, line.name) != nil {
			return false
		}
		if slices.ContainsFunc(values, func(v struct{ enum, meaning, name string }) bool { return v.name == line.target }) {
			d.errorf(e.Pos, "missing-value", "keep it", "%s has no value %s, which the runtime needs", e.Name, line.name)
		}
		return true
	})
}

// valueName is what the hub calls a value that is new in the draft: by its own name, and with a number where another value of the
// draft is called so in the hub already.
func (d *draft) valueName(t *alignedType, hub *spec.Enum, v *spec.EnumValue) string {
	wanted := screaming(hub.Name) + "_" + screaming(v.Name)
	name := wanted
	for i := 2; slices.ContainsFunc(t.lines, func(line *alignedLine) bool { return line.class != "absent" && line.target == name }); i++ {
		name = wanted + "_" + strconv.Itoa(i)
	}
	return name
}

// alternatives gives the alternatives of a choice that the table does not know a line, and a member of the hub's union, and
// drops those that are gone. Those of a part are told by their kind like others, though a hook reads the parts of the model.
func (d *draft) alternatives(c *spec.Choice) {
	for _, t := range d.table.types {
		known := func(name string) bool { return hasLine(t, name, false) }
		tag := t.arg
		switch {
		case t.kind == "choice" && t.old == c.Name:
		case t.kind == "type" && t.hub == c.Name:
			tag = partTag(d.table)
			known = func(name string) bool { return slices.Contains(t.olds, name) }
		default:
			continue
		}
		for _, typ := range c.Types {
			if !known(typ.Name) {
				d.alternative(t, c, typ, tag)
			}
		}
		if was := choiceOf(d.was, c.Name); t.kind == "choice" && was != nil {
			t.lines = slices.DeleteFunc(t.lines, func(line *alignedLine) bool { return offers(was, line.name) && !offers(c, line.name) })
		}
	}
}

// offers reports whether a choice has the alternative.
func offers(c *spec.Choice, name string) bool {
	return slices.ContainsFunc(c.Types, func(t spec.Type) bool { return t.Name == name })
}

// partTag is the member that tells the parts of the table's version apart.
func partTag(a *alignment) string {
	for _, t := range a.types {
		if t.kind == "type" && t.arg == "TypedPart" {
			return "type"
		}
	}
	return "kind"
}

// alternative adds one.
func (d *draft) alternative(t *alignedType, c *spec.Choice, typ spec.Type, tag string) {
	value, m := "", messageOf(d.doc, typ.Name)
	if m != nil && memberCalled(m, tag) != nil {
		value, _ = constantWord(memberCalled(m, tag).Const)
	}
	stands := d.table.message(typ.Name, "")
	if value == "" || stands == nil || stands.kind != "message" {
		pos := c.Pos
		if m != nil {
			pos = m.Pos
		}
		d.errorf(pos, "unsuitable-alternative", "let it be an object in which "+tag+" is a constant of its own", "%s cannot be told from the other alternatives of %s", typ, c.Name)
		return
	}
	hub := messageOf(d.hub, t.hub)
	if hub == nil || len(hub.Unions) == 0 {
		return // the hub has it no more
	}
	name := ""
	for _, f := range hub.Fields {
		if f.Union != "" && f.Type.Name == stands.hub {
			name = f.Name
		}
	}
	if name == "" {
		name = d.memberName(hub, names.FileBase(typ.Name))
		d.extra.members[[2]string{hub.Name, name}] = true
		hub.Fields = append(hub.Fields, &spec.Field{
			Name: name, JSON: name, Comment: m.Comment, Pos: m.Pos, Type: spec.Type{Kind: spec.MessageOf, Name: stands.hub}, Union: hub.Unions[0].Name,
		})
	}
	t.lines = append(t.lines, &alignedLine{name: typ.Name, class: "choice", target: name, value: value, as: typ.Name})
}
