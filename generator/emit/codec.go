package emit

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Codec prints the functions that read and write the hub types on one JSON wire. For a type T and the wire's suffix S:
//
//	func appendTS(b []byte, x *T) ([]byte, error) // a message
//	func readTS(r *wire.Reader, x *T)
//	func appendTS(b []byte, x T) []byte               // an enum
//	func readTS(r *wire.Reader) T
//
// For the newest wire appendTS is the method AppendJSON, and the messages also get MarshalJSON and UnmarshalJSON. What is written is strict
// ProtoJSON (A2A 1.0 §5.5–5.7): members in layout order, zero values of implicit presence left out, required ones always there.
func Codec(p *ir.Protocol, w *ir.Wire, paths Paths) (output.File, error) {
	c := &codec{wire: w, exported: w == newestJSON(p)}
	if err := c.prepare(); err != nil {
		return output.File{}, fmt.Errorf("emit codec %s: %w", w.Name, err)
	}
	f, file := newFile(paths.Protocol, pkgName(paths.Protocol)), pkgFile(paths.Protocol, w.File+".gen.go")
	if w.Shaped {
		if err := shapedCodec(c, &bound{Bindings: &p.Bindings}, f); err != nil {
			return output.File{}, fmt.Errorf("emit codec %s: %w", w.Name, err)
		}
		return render(f, file)
	}
	for _, l := range w.Layouts {
		if l.Type.Kind == ir.Enum {
			addAll(f, c.appendEnum(l), c.readEnum(l))
			continue
		}
		f.Add(c.appendMessage(l))
		if c.exported {
			f.Add(c.methods(l))
		}
		f.Add(c.readMessage(l))
	}
	return render(f, file)
}

// newestJSON is the wire that encoding/json stands for.
func newestJSON(p *ir.Protocol) *ir.Wire {
	for _, v := range p.Versions {
		for _, w := range v.Wires {
			if w.Encoding == ir.JSON {
				return w
			}
		}
	}
	return nil
}

// codec prints one wire.
type codec struct {
	wire     *ir.Wire
	exported bool
}

// prepare refuses what no function here prints.
func (c *codec) prepare() error {
	if c.wire.Encoding != ir.JSON && c.wire.Encoding != ir.ProtoJSON {
		return fmt.Errorf("encoding %q is not JSON", c.wire.Encoding)
	}
	if c.wire.Shaped {
		return nil // checked by what prints it
	}
	for _, l := range c.wire.Layouts {
		for _, m := range l.Fields {
			if m.Hook != "" {
				return fmt.Errorf("%s.%s: no hook %q", l.Name, m.Name, m.Hook)
			}
			t := memberType(m)
			if err := checkKind(t, m.Case != nil); err != nil {
				return fmt.Errorf("%s.%s: %w", l.Name, m.Name, err)
			}
		}
	}
	return nil
}

// checkKind refuses types that cannot be a member of a JSON object here.
func checkKind(t ir.TypeRef, inUnion bool) error {
	switch t.Kind {
	case ir.KindList, ir.KindMap:
		if inUnion || t.Elem.Kind == ir.KindList || t.Elem.Kind == ir.KindMap {
			return fmt.Errorf("a %s cannot be here", t.Kind)
		}
		return checkKind(*t.Elem, true)
	case ir.KindMessage, ir.KindEnum:
		return nil
	}
	if _, ok := scalars[t.Kind]; !ok {
		return fmt.Errorf("no codec for kind %q", t.Kind)
	}
	return nil
}

// memberType is the type of a member's value: of the case where it is one.
func memberType(m *ir.FieldLayout) ir.TypeRef {
	if m.Case != nil {
		return m.Case.Type
	}
	return m.Field.Type
}

// scalar is how a kind is read and written by the runtime.
type scalar struct {
	read, append string
	fails        bool   // append also returns an error
	zero         string // Go source of the zero value that implicit presence leaves out; "" means a length of 0
	convert      func() *jen.Statement
}

var scalars = map[ir.Kind]scalar{
	ir.KindString:    {"String", "AppendString", false, `""`, jen.String},
	ir.KindBool:      {"Bool", "AppendBool", false, "false", jen.Bool},
	ir.KindInt32:     {"Int32", "AppendInt32", false, "0", jen.Int32},
	ir.KindInt64:     {"Int64", "AppendInt64", false, "0", jen.Int64},
	ir.KindUint32:    {"Uint32", "AppendUint32", false, "0", jen.Uint32},
	ir.KindUint64:    {"Uint64", "AppendUint64", false, "0", jen.Uint64},
	ir.KindFloat:     {"Float32", "AppendFloat32", false, "0", jen.Float32},
	ir.KindDouble:    {"Float64", "AppendFloat64", false, "0", jen.Float64},
	ir.KindBytes:     {"Bytes", "AppendBytes", false, "", func() *jen.Statement { return jen.Index().Byte() }},
	ir.KindTimestamp: {"Timestamp", "AppendTimestamp", true, "IsZero", func() *jen.Statement { return jen.Qual("time", "Time") }},
	ir.KindDuration:  {"Duration", "AppendDuration", true, "Duration", func() *jen.Statement { return jen.Qual(wirePath, "Duration") }},
	ir.KindListValue: {"ListValue", "AppendListValue", true, "", func() *jen.Statement { return jen.Qual(wirePath, "Value") }},
	ir.KindNullValue: {"NullValue", "AppendNullValue", false, "none", func() *jen.Statement { return jen.Qual(wirePath, "Null") }},
	ir.KindFieldMask: {"FieldMask", "AppendFieldMask", true, "", func() *jen.Statement { return jen.Qual(wirePath, "FieldMask") }},
	ir.KindAny:       {"Any", "AppendAny", true, "nil", func() *jen.Statement { return jen.Op("*").Qual(wirePath, "Any") }},
	ir.KindStruct:    {"Struct", "AppendStruct", true, "", func() *jen.Statement { return jen.Qual(wirePath, "Object") }},
	ir.KindEmpty:     {"Struct", "AppendStruct", true, "", func() *jen.Statement { return jen.Qual(wirePath, "Object") }},
	ir.KindValue:     {"Value", "AppendValue", true, "", func() *jen.Statement { return jen.Qual(wirePath, "Value") }},
}

// isPointer reports whether the Go field is a pointer to say whether it is set.
func isPointer(f *ir.Field) bool {
	return f.Presence == ir.Explicit && f.Union == nil && !f.Type.Nilable()
}

// usesAny reports whether a field of the protocol is a google.protobuf.Any.
func usesAny(p *ir.Protocol) bool {
	is := func(t ir.TypeRef) bool { return t.Kind == ir.KindAny || t.Elem != nil && t.Elem.Kind == ir.KindAny }
	for _, t := range p.Types {
		for _, f := range t.Fields {
			if is(f.Type) || f.Union != nil && slices.ContainsFunc(f.Union.Cases, func(c *ir.Case) bool { return is(c.Type) }) {
				return true
			}
		}
	}
	return false
}

// fn names a function of this wire for a type, or for a list of it: with List at the end, where no type name reaches.
func (c *codec) fn(verb string, t *ir.Type, plural string) string {
	return verb + t.Go + c.wire.Suffix + plural
}

// methods prints what makes a message encode itself as this wire.
func (c *codec) methods(l *ir.Layout) jen.Code {
	t, x := l.Type.Go, jen.Id("x")
	s := jen.Func().Params(x.Clone().Id(t)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).
		Add(oneLine(jen.Return(x.Clone().Dot("AppendJSON").Call(jen.Nil())))).Line().Line()
	s.Func().Params(x.Clone().Op("*").Id(t)).Id("UnmarshalJSON").Params(jen.Id("src").Index().Byte()).Error().
		Add(oneLine(jen.Return(jen.Qual(wirePath, "Unmarshal").Call(jen.Id("src"), x, jen.Id(c.fn("read", l.Type, "")))))).Line()
	return s
}

// appendFn is the function that writes a message: by its method AppendJSON on the newest wire.
func (c *codec) appendFn(t *ir.Type) *jen.Statement {
	if c.exported {
		return jen.Qual(wirePath, "AppendMessage")
	}
	return jen.Id(c.fn("append", t, ""))
}

// appendHead begins that function.
func (c *codec) appendHead(t *ir.Type) *jen.Statement {
	b, x := jen.Id("b").Index().Byte(), jen.Id("x").Add(ptr(t))
	if c.exported {
		return jen.Add(doc("AppendJSON appends x as " + c.wire.Name + " to b. The error, a [*wire.Error], says which member cannot be written.")).
			Func().Params(x).Id("AppendJSON").Params(b)
	}
	return jen.Func().Id(c.fn("append", t, "")).Params(b, x)
}

// raw is a string constant, in backquotes where that reads better.
func raw(s string) jen.Code {
	if strconv.CanBackquote(s) {
		return jen.Op("`" + s + "`")
	}
	return jen.Lit(s)
}

// prefix is `,"name":` as a constant.
func prefix(name string) jen.Code { return raw(string(wire.AppendKey(nil, name))) }

// unions returns the oneofs of a layout, in order of their first member.
func unions(l *ir.Layout) []*ir.Field {
	var out []*ir.Field
	for _, m := range l.Fields {
		if m.Case != nil && !slices.Contains(out, m.Field) {
			out = append(out, m.Field)
		}
	}
	return out
}
