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
// with the variant at the end where a type has several layouts. For the newest wire appendTS is the method AppendJSON,
// and the messages also get MarshalJSON and UnmarshalJSON.
func Codec(p *ir.Protocol, w *ir.Wire, paths Paths) (output.File, error) {
	c := &codec{layouts: layoutsOf(w), hub: &bound{Bindings: &p.Bindings}, exported: w == newestJSON(p)}
	if err := c.check(); err != nil {
		return output.File{}, fmt.Errorf("emit codec %s: %w", w.Name, err)
	}
	f := newFile(paths.Protocol, pkgName(paths.Protocol))
	for _, l := range w.Layouts {
		addAll(f, c.functions(l)...)
	}
	addAll(f, c.groups(c.hub)...)
	return render(f, pkgFile(paths.Protocol, w.File+".gen.go"))
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

// layouts finds what a wire has of types.
type layouts struct {
	wire  *ir.Wire
	first map[*ir.Type]*ir.Layout
}

func layoutsOf(w *ir.Wire) layouts {
	first := map[*ir.Type]*ir.Layout{}
	for _, l := range w.Layouts {
		if first[l.Type] == nil {
			first[l.Type] = l
		}
	}
	return layouts{w, first}
}

// layout is the layout of a type that occurs in member m.
func (w layouts) layout(m *ir.FieldLayout, t ir.TypeRef) *ir.Layout {
	if m.As != nil {
		return m.As
	}
	return w.first[t.Type]
}

// fn names a function of this wire for a layout.
func (w layouts) fn(verb string, l *ir.Layout) string {
	return verb + l.Type.Go + w.wire.Suffix + l.Variant
}

// strict reports whether what lacks something required is refused, and unknown cases of unions are written, as the
// newest version has it (A2A 1.0 §5.5–5.7).
func (w layouts) strict() bool { return !w.wire.Loose }

// groups prints what members of groups need.
func (w layouts) groups(hub *bound) []jen.Code {
	if slices.ContainsFunc(w.wire.Layouts, func(l *ir.Layout) bool { return groupOf(l) != nil }) {
		return []jen.Code{interfaces(hub, w.wire)}
	}
	return nil
}

// codec prints one JSON wire.
type codec struct {
	layouts
	hub      *bound
	exported bool
}

// functions are those of one layout.
func (c *codec) functions(l *ir.Layout) []jen.Code {
	switch {
	case l.Type.Kind == ir.Enum:
		return []jen.Code{c.enum(l)}
	case l.Hook != "":
		return []jen.Code{c.appendHooked(l), c.readHooked(l)}
	case l.Bare:
		return []jen.Code{c.appendBare(l), c.readBare(l)}
	case l.Tag != "":
		return []jen.Code{c.appendTagged(l), c.readTagged(l)}
	case c.exported:
		return []jen.Code{c.appendMessage(l), c.methods(l), c.readMessage(l)}
	}
	return []jen.Code{c.appendMessage(l), c.readMessage(l)}
}

// check reports what no function here can print.
func (c *codec) check() error {
	if c.wire.Encoding != ir.JSON && c.wire.Encoding != ir.ProtoJSON {
		return fmt.Errorf("encoding %q is not JSON", c.wire.Encoding)
	}
	for _, l := range c.wire.Layouts {
		for _, m := range l.Fields {
			if err := c.checkMember(l, m); err != nil {
				return fmt.Errorf("%s.%s: %w", l.Name, m.Name, err)
			}
		}
	}
	return nil
}

func (c *codec) checkMember(l *ir.Layout, m *ir.FieldLayout) error {
	form := hooks[m.Hook].form
	switch {
	case m.Hook != "" && form == 0:
		return fmt.Errorf("no hook %q", m.Hook)
	case m.Fallback && !hooks[m.Hook].absent:
		return fmt.Errorf("hook %q does not say what absence means", m.Hook)
	case form == hookPair && m.With == nil:
		return fmt.Errorf("hook %q needs two fields", m.Hook)
	case m.Nested != nil, form == hookGroup, form == hookValue, form == hookPair:
		return nil
	case l.Tag != "" && !m.Case.Direct:
		return fmt.Errorf("a case of %s is not a message of its own", l.Tag)
	}
	t := memberType(m)
	elem := elemOf(t)
	if elem.Type != nil && !m.Absent && c.layout(m, elem) == nil {
		return fmt.Errorf("%s has no layout on this wire", elem.Name)
	}
	return checkKind(t, m.Case != nil)
}

// checkKind reports types that cannot be a member of a JSON object here.
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

// elemOf is the type of the elements of a list or map, else the type itself.
func elemOf(t ir.TypeRef) ir.TypeRef {
	if t.Elem != nil {
		return *t.Elem
	}
	return t
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

// methods prints what makes a message encode itself as this wire.
func (c *codec) methods(l *ir.Layout) jen.Code {
	t, x := l.Type.Go, jen.Id("x")
	s := jen.Func().Params(x.Clone().Id(t)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).
		Add(oneLine(jen.Return(x.Clone().Dot("AppendJSON").Call(jen.Nil())))).Line().Line()
	s.Func().Params(x.Clone().Op("*").Id(t)).Id("UnmarshalJSON").Params(jen.Id("src").Index().Byte()).Error().
		Add(oneLine(jen.Return(jen.Qual(wirePath, "Unmarshal").Call(jen.Id("src"), x, jen.Id(c.fn("read", l)))))).Line()
	return s
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

// openUnion is the oneof to which an unknown member may belong: the only one of its message.
func openUnion(l *ir.Layout) *ir.Field {
	if us := unions(l); len(us) == 1 {
		return us[0]
	}
	return nil
}
