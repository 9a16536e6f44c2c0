package emit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// checkNumbers reports a member of a protobuf wire without a number, or with that of another one.
func checkNumbers(l *ir.Layout) error {
	numbers := map[int32]string{}
	for _, m := range l.Fields {
		other, taken := numbers[m.Number]
		switch {
		case m.Number <= 0:
			return fmt.Errorf("%s.%s: no field number", l.Name, m.Name)
		case taken:
			return fmt.Errorf("%s.%s: has the field number of %s", l.Name, m.Name, other)
		}
		numbers[m.Number] = m.Name
	}
	return nil
}

// byNumber are the members as protobuf writes them: ordinary fields by number, then the cases of each oneof.
func byNumber(l *ir.Layout) []*ir.FieldLayout {
	fields, oneofs := slices.Clone(l.Fields), unions(l)
	slices.SortStableFunc(fields, func(a, b *ir.FieldLayout) int {
		switch {
		case a.Case == nil && b.Case == nil:
			return cmp.Compare(a.Number, b.Number)
		case a.Case == nil:
			return -1
		case b.Case == nil:
			return 1
		}
		return cmp.Compare(slices.Index(oneofs, a.Field), slices.Index(oneofs, b.Field))
	})
	return fields
}

// protoForm says what is not the plain way in which protobuf has a value.
func (c *codec) protoForm(row *literal, m *ir.FieldLayout) {
	forms := map[ir.Form]string{ir.ZigZag: "ZigZag", ir.Fixed: "Fixed", ir.Unchecked: "Unchecked", ir.Group: "Delimited"}
	t := memberType(m)
	var form []string
	if name := forms[m.Form]; name != "" {
		form = append(form, name)
	}
	if m.Wrapped {
		form = append(form, "Wrapped")
	}
	if m.Expanded && t.Kind == ir.KindList && m.Form != ir.Group && !m.Wrapped && packable(t.Elem.Kind) {
		form = append(form, "Expanded")
	}
	row.flags("Form", protoPath, form)
	if t.Kind != ir.KindMap {
		return
	}
	if t.Key != nil {
		row.set("Key", jen.Qual(wirePath, c.typeName(t.Key.Kind)))
	}
	if name := forms[m.KeyForm]; name != "" {
		row.set("KeyForm", jen.Qual(protoPath, name))
	}
}

// packable reports whether elements of a list can stand in one field.
func packable(k ir.Kind) bool {
	switch k {
	case ir.KindBool, ir.KindInt32, ir.KindInt64, ir.KindUint32, ir.KindUint64, ir.KindFloat, ir.KindDouble, ir.KindEnum, ir.KindNullValue:
		return true
	}
	return false
}

// protoFlags says when a member is written and what is refused without it.
func (c *codec) protoFlags(row *literal, m *ir.FieldLayout) {
	var flags []string
	add := func(when bool, flag string) {
		if when {
			flags = append(flags, flag)
		}
	}
	add(m.Derived, "WriteOnly")
	add(m.Fallback, "Fallback")
	if m.Nested == nil && m.Hook == "" && m.Case == nil && memberType(m).Elem == nil {
		kind, pointer := m.Field.Type.Kind, isPointer(m.Field)
		enum := kind == ir.KindEnum && !m.Always
		add(m.Filled, "Filled")
		add(m.Written, "Created")
		add(m.Implicit, "Implicit")
		add(m.Field.Presence == ir.Explicit && m.Field.Type.Nilable(), "Nilable")
		switch {
		case kind == ir.KindMessage:
			add(m.Required && !m.Filled, "MustRead")
			add(m.Required && !m.Filled && !m.Written, "MustSet")
		case m.Required && (pointer || enum || kind == ir.KindTimestamp):
			add(c.strict() && (pointer || c.namedZero(m) == nil), "MustRead")
			add(true, "MustSet")
		case !pointer && (m.Always || m.Required && (m.Wrapped || googles[kind])):
			add(c.strict() && m.Required && kind == ir.KindAny, "MustRead")
			add(true, "MustWrite")
		}
		if zero := c.namedZero(m); zero != nil {
			row.set("Default", jen.String().Call(jen.Id(zero.Go)))
		}
	}
	row.flags("Flags", wirePath, flags)
}

// googles are the kinds that are messages of google's and have no zero value of their own in protobuf.
var googles = map[ir.Kind]bool{
	ir.KindDuration: true, ir.KindStruct: true, ir.KindValue: true, ir.KindListValue: true, ir.KindFieldMask: true, ir.KindAny: true, ir.KindEmpty: true,
}

// namedZero is the value that an enum field has when it is absent, if that is not the unspecified one.
func (c *codec) namedZero(m *ir.FieldLayout) *ir.Value {
	if m.Field.Type.Kind != ir.KindEnum || isPointer(m.Field) {
		return nil
	}
	for _, v := range c.first[m.Field.Type.Type].Values {
		if v.Number == 0 && v.Value.Unspecified {
			return nil
		}
		if v.Number == 0 {
			return v.Value
		}
	}
	return nil
}

func (c *codec) protoMethods(l *ir.Layout) jen.Code {
	x, table, bytes := jen.Id("x"), jen.Id(c.fn("codec", l)), jen.Index().Byte()
	s := jen.Func().Params(x.Clone().Add(ptr(l.Type))).Id("AppendProto").Params(jen.Id("b").Add(bytes)).Params(bytes, jen.Error()).
		Add(oneLine(jen.Return(table.Clone().Dot("Append").Call(jen.Id("b"), x)))).Line()
	return s.Func().Params(x.Clone().Add(ptr(l.Type))).Id("UnmarshalProto").Params(jen.Id("src").Add(bytes)).Error().
		Add(oneLine(jen.Return(table.Clone().Dot("Unmarshal").Call(jen.Id("src"), x)))).Line()
}

// writeHooked prints the function that writes a part by its hook.
func (c *codec) writeHooked(l *ir.Layout) jen.Code {
	content := c.hub.Fields["Part.content"]
	part := jen.Id("partOf").Call(jen.Id("x"))
	unknown := protoHook("PutUnknown"+l.Hook).Call(
		jen.Id("w"), jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value"), jen.Add(part).Dot("Metadata"))
	return jen.Func().Id(c.fn("write", l)).Params(protoWriter(), jen.Id("x").Add(ptr(l.Type))).Error().Block(
		ifCase(content, jen.Op("*").Id(content.Union.Unknown), jen.Return(unknown)),
		jen.Return(protoHook("Put"+l.Hook).Call(jen.Id("w"), part)),
	).Line()
}

// protoWriter and protoReader are parameters of functions for protobuf.
func protoWriter() jen.Code { return jen.Id("w").Op("*").Qual(protoPath, "Writer") }
