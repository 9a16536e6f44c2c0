package emit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// ProtoCodec prints the functions that read and write the hub types as protobuf. For a message T and the wire's suffix
// S:
//
//	func appendTS(b []byte, x *T) ([]byte, error) // a whole document
//	func decodeTS(src []byte, x *T) error         // x has to be empty
//	func writeTS(w *proto.Writer, x *T) error
//	func readTS(r *proto.Reader, x *T)
//
// and for an enum T:
//
//	func numberTS(x T) (int32, error)
//	func nameTS(number int32) T
//
// For the newest protobuf wire the messages also get AppendProto and UnmarshalProto. What is written equals the
// deterministic output of google.golang.org/protobuf byte for byte. What a message requires is checked as far as
// protobuf can tell: messages, enum values, oneofs and lists that must not be empty; an absent scalar is its zero
// value.
func ProtoCodec(p *ir.Protocol, w *ir.Wire, paths Paths) (output.File, error) {
	c := &protoCodec{
		layouts: layoutsOf(w), hub: &bound{Bindings: &p.Bindings}, exported: w == newestProto(p), requests: requestsOf(p),
	}
	if err := c.check(); err != nil {
		return output.File{}, fmt.Errorf("emit codec %s: %w", w.Name, err)
	}
	f := newFile(paths.Protocol, pkgName(paths.Protocol))
	for _, l := range w.Layouts {
		addAll(f, c.functions(l)...)
	}
	if slices.ContainsFunc(w.Layouts, func(l *ir.Layout) bool { return groupOf(l) != nil }) {
		addAll(f, interfaces(c.hub, w))
	}
	return render(f, pkgFile(paths.Protocol, w.File+".gen.go"))
}

// newestProto is the wire that AppendProto and UnmarshalProto stand for.
func newestProto(p *ir.Protocol) *ir.Wire {
	for _, v := range p.Versions {
		for _, w := range v.Wires {
			if w.Encoding == ir.Proto {
				return w
			}
		}
	}
	return nil
}

// protoCodec prints one wire.
type protoCodec struct {
	layouts
	hub      *bound
	exported bool
	requests map[*ir.Layout]bool // layouts of requests that are not the first ones of their types
}

// requestsOf are the layouts that only requests have.
func requestsOf(p *ir.Protocol) map[*ir.Layout]bool {
	requests := map[*ir.Layout]bool{}
	for _, v := range p.Versions {
		for _, w := range v.Wires {
			for _, op := range slices.Concat(v.Operations, w.Operations) {
				requests[op.RequestAs] = true
			}
		}
	}
	return requests
}

// functions are those of one layout.
func (c *protoCodec) functions(l *ir.Layout) []jen.Code {
	switch {
	case l.Type.Kind == ir.Enum:
		return []jen.Code{c.enum(l)}
	case l.Hook != "":
		return []jen.Code{c.document(l), c.writeHooked(l), c.readHooked(l)}
	}
	var code []jen.Code
	if c.exported {
		code = append(code, c.methods(l))
	}
	if l.Variant == "" || c.requests[l] { // else only members of messages have it
		code = append(code, c.document(l))
	}
	code = append(code, c.writeMessage(l), c.readMessage(l))
	if len(l.Fields) > 0 {
		code = append(code, c.memberNames(l))
	}
	return code
}

// check reports what no function here can print.
func (c *protoCodec) check() error {
	if c.wire.Encoding != ir.Proto {
		return fmt.Errorf("encoding %q is not protobuf", c.wire.Encoding)
	}
	for _, l := range c.wire.Layouts {
		numbers := map[int32]string{}
		for _, m := range l.Fields {
			other, taken := numbers[m.Number]
			switch {
			case m.Hook != "" && !hooks[m.Hook].proto:
				return fmt.Errorf("%s.%s: no hook %q", l.Name, m.Name, m.Hook)
			case m.Number <= 0:
				return fmt.Errorf("%s.%s: no field number", l.Name, m.Name)
			case taken:
				return fmt.Errorf("%s.%s: has the field number of %s", l.Name, m.Name, other)
			}
			numbers[m.Number] = m.Name
			if m.Nested != nil || m.Hook != "" {
				continue
			}
			if err := checkKind(memberType(m), m.Case != nil); err != nil {
				return fmt.Errorf("%s.%s: %w", l.Name, m.Name, err)
			}
		}
	}
	return nil
}

// protoForms are the scalars in the forms that are not the plain one.
var protoForms = map[ir.Form]map[ir.Kind]protoScalar{
	ir.ZigZag: {
		ir.KindInt32: {method: "Sint32", wireType: varintType}, ir.KindInt64: {method: "Sint64", wireType: varintType},
	},
	ir.Fixed: {
		ir.KindInt32: {method: "Sfixed32", wireType: fixed32Type}, ir.KindInt64: {method: "Sfixed64", wireType: fixed64Type},
		ir.KindUint32: {method: "Fixed32", wireType: fixed32Type}, ir.KindUint64: {method: "Fixed64", wireType: fixed64Type},
	},
	ir.Unchecked: {ir.KindString: {method: "RawString", wireType: delimitedType}},
}

// protoValue is a type in the form in which protobuf has it.
type protoValue struct {
	ir.TypeRef
	layout  *ir.Layout // of a message or enum
	form    ir.Form
	wrapped bool
}

// oneOf is the value of a member, of a list or map each of its values.
func (c *protoCodec) oneOf(m *ir.FieldLayout) protoValue {
	t := elemOf(memberType(m))
	return protoValue{t, c.layout(m, t), m.Form, m.Wrapped}
}

// keyOf is a key of the map that a member is.
func keyOf(m *ir.FieldLayout) protoValue {
	if key := memberType(m).Key; key != nil {
		return protoValue{TypeRef: *key, form: m.KeyForm}
	}
	return protoValue{TypeRef: ir.TypeRef{Kind: ir.KindString}, form: m.KeyForm}
}

// scalar is how the value is read and written by the runtime, what wraps it aside.
func (v protoValue) scalar() protoScalar {
	if s, ok := protoForms[v.form][v.Kind]; ok {
		return s
	}
	return scalars[v.Kind].proto
}

// wireType is the wire type of one value.
func (v protoValue) wireType() int {
	switch {
	case v.form == ir.Group:
		return groupType
	case v.Kind == ir.KindEnum:
		return varintType
	case v.wrapped, v.Kind == ir.KindMessage:
		return delimitedType
	}
	return v.scalar().wireType
}

// packable reports whether the elements of a list can stand in one field.
func (v protoValue) packable() bool {
	return v.wireType() != delimitedType && v.wireType() != groupType
}

// methodOf is a method of the reader or writer of protobuf as a function.
func methodOf(of, method string) jen.Code {
	return jen.Parens(jen.Op("*").Qual(protoPath, of)).Dot(method)
}

// tagOf prints the tag of a field.
func tagOf(number int32, wireType int) jen.Code { return jen.Lit(int(number)<<3 | wireType) }

// ordered returns the members as protobuf writes them: ordinary fields by number, then the cases of each oneof.
func ordered(l *ir.Layout) (fields []*ir.FieldLayout, oneofs []*ir.Field) {
	for _, m := range l.Fields {
		if m.Case == nil {
			fields = append(fields, m)
		}
	}
	slices.SortFunc(fields, func(a, b *ir.FieldLayout) int { return cmp.Compare(a.Number, b.Number) })
	return fields, unions(l)
}

// methods prints what makes a message encode itself as this wire.
func (c *protoCodec) methods(l *ir.Layout) jen.Code {
	receiver, bytes := jen.Params(jen.Id("x").Add(ptr(l.Type))), jen.Index().Byte()
	s := jen.Add(doc("AppendProto appends x as " + c.wire.Name +
		" to b. The error, a [*wire.Error], says which member cannot be written."))
	s.Func().Add(receiver).Id("AppendProto").Params(jen.Id("b").Add(bytes)).Params(bytes, jen.Error()).
		Block(jen.Return(jen.Id(c.fn("append", l)).Call(jen.Id("b"), jen.Id("x")))).Line().Line()
	s.Add(doc("UnmarshalProto replaces x by what src holds, read as " + c.wire.Name +
		". The error is a [*wire.Error]; x is then incomplete."))
	s.Func().Add(receiver).Id("UnmarshalProto").Params(jen.Id("src").Add(bytes)).Error().Block(
		jen.Op("*").Id("x").Op("=").Id(l.Type.Go).Values(),
		jen.Return(jen.Id(c.fn("decode", l)).Call(jen.Id("src"), jen.Id("x"))),
	).Line()
	return s
}

// document prints the functions for a message that is not inside another.
func (c *protoCodec) document(l *ir.Layout) jen.Code {
	bytes, x := jen.Index().Byte(), jen.Id("x").Add(ptr(l.Type))
	write, read := jen.Id(c.fn("write", l)), jen.Id(c.fn("read", l))
	encode := jen.Qual(protoPath, "Append").Call(jen.Id("b"), jen.Id("x"), write)
	decode := jen.Qual(protoPath, "Decode").Call(jen.Id("src"), jen.Id("x"), read, write)
	s := jen.Func().Id(c.fn("append", l)).Params(jen.Id("b").Add(bytes), x).Params(bytes, jen.Error()).
		Add(oneLine(jen.Return(encode))).Line().Line()
	return s.Func().Id(c.fn("decode", l)).Params(jen.Id("src").Add(bytes), x).Error().
		Add(oneLine(jen.Return(decode))).Line()
}

// memberNames prints the function that names a field in errors, by its tag.
func (c *protoCodec) memberNames(l *ir.Layout) jen.Code {
	var cases []jen.Code
	for _, m := range l.Fields {
		cases = append(cases, jen.Case(jen.Lit(int(m.Number))).Block(jen.Return(jen.Lit(m.Name))))
	}
	return jen.Func().Id(c.fn("member", l)).Params(jen.Id("tag").Uint32()).String().Block(
		jen.Switch(jen.Id("tag").Op(">>").Lit(3)).Block(cases...),
		jen.Return(jen.Lit("")),
	).Line()
}

// namedZero is the value that an enum field has when it is absent, if that is not the unspecified one.
func (c *protoCodec) namedZero(t ir.TypeRef) *ir.Value {
	if t.Kind != ir.KindEnum {
		return nil
	}
	for _, v := range c.first[t.Type].Values {
		if v.Number == 0 && !v.Value.Unspecified {
			return v.Value
		}
		if v.Number == 0 {
			break
		}
	}
	return nil
}
