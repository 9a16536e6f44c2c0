package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// legacyPath is the package of the hooks.
const legacyPath = runtimePath + "/legacy"

// hookForm is how a hook is called.
type hookForm int

const (
	hookValue   hookForm = iota + 1 // HasX(v), AppendX(b, v) and ReadX(r) of the field's own type
	hookPair                        // HasX(v, w), AppendX(b, v, w) and ReadX(r) of two strings
	hookType                        // a whole type
	hookGroup                       // several members and one field
	hookRewrite                     // X(r) returns the member's value in the shape that the plain codec reads
	hookDerived                     // X of the state of a status
)

// hooks are the hooks that emission can call. absent: AbsentX() is what a missing member reads as. writes: a rewriting hook
// also has WriteX.
var hooks = map[string]struct {
	form           hookForm
	absent, writes bool
}{
	"Blocking":       {form: hookValue, absent: true},
	"Schemes":        {form: hookValue},
	"Timestamp":      {form: hookValue},
	"Index":          {form: hookValue, absent: true},
	"Modes":          {form: hookValue},
	"DefaultModes":   {form: hookValue, absent: true},
	"BlockingFlag":   {form: hookValue, absent: true},
	"TaskName":       {form: hookValue},
	"ConfigParent":   {form: hookValue},
	"ConfigName":     {form: hookPair},
	"WrappedPart":    {form: hookType},
	"Part":           {form: hookType},
	"TypedPart":      {form: hookType},
	"Interfaces":     {form: hookGroup},
	"SplitFlows":     {form: hookRewrite},
	"Authentication": {form: hookRewrite, writes: true},
	"Final":          {form: hookDerived},
}

// shaped prints a wire whose layouts differ from the types in structure: constant and nested members, unions told apart by
// a tag, hooks. Its functions have the same form as those of [codec], with the variant in their name where a type has several.
type shaped struct {
	*codec
	*bound
	first map[*ir.Type]*ir.Layout
}

// shapedCodec adds the functions of wire w to f.
func shapedCodec(c *codec, b *bound, f *jen.File) error {
	s := &shaped{codec: c, bound: b, first: map[*ir.Type]*ir.Layout{}}
	for _, l := range c.wire.Layouts {
		if s.first[l.Type] == nil {
			s.first[l.Type] = l
		}
	}
	for _, l := range c.wire.Layouts {
		for _, m := range l.Fields {
			if err := s.check(l, m); err != nil {
				return fmt.Errorf("%s.%s: %w", l.Name, m.Name, err)
			}
		}
	}
	for _, l := range c.wire.Layouts {
		switch {
		case l.Type.Kind == ir.Enum && c.wire.Encoding == ir.ProtoJSON: // by number too
			f.Add(c.appendEnum(l), c.readEnum(l))
		case l.Type.Kind == ir.Enum:
			f.Add(s.appendEnum(l), s.readEnum(l))
		case l.Hook != "":
			f.Add(s.appendHooked(l), s.readHooked(l))
		case l.Bare:
			f.Add(s.appendBare(l), s.readBare(l))
		case l.Tag != "":
			f.Add(s.appendTagged(l), s.readTagged(l))
		default:
			f.Add(s.appendMessage(l), s.readMessage(l))
		}
	}
	if slices.ContainsFunc(c.wire.Layouts, func(l *ir.Layout) bool { return groupOf(l) != nil }) {
		f.Add(s.interfaces())
	}
	return nil
}

// check refuses what no function here prints.
func (s *shaped) check(l *ir.Layout, m *ir.FieldLayout) error {
	if len(l.Fields) > perSeen {
		return fmt.Errorf("more than %d members", perSeen)
	}
	if m.Hook != "" && hooks[m.Hook].form == 0 {
		return fmt.Errorf("no hook %q", m.Hook)
	}
	if m.Fallback && !hooks[m.Hook].absent {
		return fmt.Errorf("hook %q does not say what absence means", m.Hook)
	}
	if m.Nested != nil || hooks[m.Hook].form == hookGroup {
		return nil
	}
	t := memberType(m)
	switch {
	case l.Tag != "" && !m.Case.Direct:
		return fmt.Errorf("a case of %s is not a message of its own", l.Tag)
	case hooks[m.Hook].form == hookPair && m.With == nil:
		return fmt.Errorf("hook %q needs two fields", m.Hook)
	case hooks[m.Hook].form == hookValue, hooks[m.Hook].form == hookPair:
		return nil
	}
	elem := t
	if t.Elem != nil {
		elem = *t.Elem
	}
	if elem.Type != nil && !m.Absent && s.layout(m, elem) == nil {
		return fmt.Errorf("%s has no layout on this wire", elem.Name)
	}
	return checkKind(t, m.Case != nil)
}

// layout is the layout of a type that occurs in member m.
func (s *shaped) layout(m *ir.FieldLayout, t ir.TypeRef) *ir.Layout {
	if m.As != nil {
		return m.As
	}
	return s.first[t.Type]
}

// fnOf names a function of a layout.
func (s *shaped) fnOf(verb string, l *ir.Layout, plural string) string {
	return verb + l.Type.Go + s.wire.Suffix + l.Variant + plural
}

// hook is a function of the hooks' package.
func hook(name string) *jen.Statement { return jen.Qual(legacyPath, name) }

// groupOf is the first member of a group in l, nil if it has none.
func groupOf(l *ir.Layout) *ir.FieldLayout {
	for _, m := range l.Fields {
		if hooks[m.Hook].form == hookGroup {
			return m
		}
	}
	return nil
}

// appendFuncOf prints the function that writes a layout.
func (s *shaped) appendFuncOf(l *ir.Layout, body ...jen.Code) jen.Code {
	return jen.Func().Id(s.fnOf("append", l, "")).Params(jen.Id("b").Index().Byte(), jen.Id("x").Add(ptr(l.Type))).
		Params(jen.Index().Byte(), jen.Error()).Block(append([]jen.Code{
		jen.If(isNil(jen.Id("x"))).Block(jen.Return(jen.Id("b"), jen.Qual(wirePath, "NotSet").Call())),
	}, body...)...).Line()
}

// readFuncOf prints the function that reads a layout.
func (s *shaped) readFuncOf(l *ir.Layout, body ...jen.Code) jen.Code {
	return jen.Func().Id(s.fnOf("read", l, "")).Params(jen.Id("r").Op("*").Qual(wirePath, "Reader"), jen.Id("x").Add(ptr(l.Type))).Block(body...).Line()
}

// interfaces prints the neutral form of a card's interfaces, both ways.
func (s *shaped) interfaces() jen.Code {
	to, from := members(), members()
	for _, m := range []struct{ member, meaning string }{
		{"URL", "Interface.url"}, {"Binding", "Interface.protocol_binding"}, {"Tenant", "Interface.tenant"}, {"Version", "Interface.protocol_version"},
	} {
		s.from(to, m.member, "i", m.meaning)
		s.into(from, m.meaning, jen.Id("i").Dot(m.member))
	}
	list := func(name string, arg, elem, literal *jen.Statement) *jen.Statement {
		return jen.Func().Id(name+s.wire.Suffix).Params(jen.Id("list").Index().Add(arg)).Index().Add(elem).Block(
			jen.Id("out").Op(":=").Make(jen.Index().Add(elem.Clone()), jen.Len(jen.Id("list"))),
			jen.For(jen.List(jen.Id("at"), jen.Id("i")).Op(":=").Range().Id("list")).Block(jen.Id("out").Index(jen.Id("at")).Op("=").Add(literal)),
			jen.Return(jen.Id("out")),
		).Line()
	}
	return list("interfacesOf", ptr(s.Interface), rt("Interface"), rt("Interface").Values(to.code()...)).Line().
		Add(list("interfacesFrom", rt("Interface"), ptr(s.Interface), newOf(s.Interface, from)))
}
