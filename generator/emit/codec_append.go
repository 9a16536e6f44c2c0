package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/wire"
)

// appendMessage prints the function that writes one message, a member a line. Where something can fail, the error goes
// through all of them and is returned at the end.
func (c *codec) appendMessage(l *ir.Layout) jen.Code {
	body, result := []jen.Code{startObject("start")}, jen.Nil()
	if slices.ContainsFunc(l.Fields, c.fails) {
		body, result = append(body, jen.Var().Err().Error()), jen.Err()
	}
	for _, constant := range l.Consts {
		body = append(body, appendText(string(wire.AppendKey(nil, constant.Name))+constant.Value))
	}
	done := map[*ir.Field]bool{} // unions and groups, which have several members
	for _, m := range l.Fields {
		if m.Case == nil && hooks[m.Hook].form != hookGroup {
			body = append(body, c.appendMember(m)...)
			continue
		}
		if done[m.Field] {
			continue
		}
		done[m.Field] = true
		if m.Case != nil {
			body = append(body, c.appendUnion(l, m.Field))
			continue
		}
		list := jen.Id("interfacesOf" + c.wire.Suffix).Call(jen.Id("x").Dot(m.Field.Go))
		body = append(body, setB(hook("Append"+m.Hook).Call(jen.Id("b"), list, jen.Lit(m.Arg))))
	}
	return c.appendFunc(l, append(body, jen.Return(endObject("start"), result))...)
}

// appendFunc prints the function that writes a layout.
func (c *codec) appendFunc(l *ir.Layout, body ...jen.Code) jen.Code {
	b, x := jen.Id("b").Index().Byte(), jen.Id("x").Add(ptr(l.Type))
	var head *jen.Statement
	if c.exported {
		head = jen.Add(doc("AppendJSON appends x as " + c.wire.Name +
			" to b. The error, a [*wire.Error], says which member cannot be written.")).
			Func().Params(x).Id("AppendJSON").Params(b)
	} else {
		head = jen.Func().Id(c.fn("append", l)).Params(b, x)
	}
	none := jen.If(isNil(jen.Id("x"))).Block(jen.Return(jen.Id("b"), jen.Qual(wirePath, "NotSet").Call()))
	return head.Params(jen.Index().Byte(), jen.Error()).Block(append([]jen.Code{none}, body...)...).Line()
}

// appendFn is the function that writes a message: by its method AppendJSON on the newest wire.
func (c *codec) appendFn(l *ir.Layout) jen.Code {
	if c.exported {
		return jen.Qual(wirePath, "AppendMessage")
	}
	return jen.Id(c.fn("append", l))
}

// fails reports whether writing the member goes through the error variable.
func (c *codec) fails(m *ir.FieldLayout) bool {
	form := hooks[m.Hook].form
	switch {
	case m.Nested != nil, m.Case != nil, m.Filled, m.Written, form == hookValue:
		return true
	case form == hookGroup, form == hookDerived, form == hookPair:
		return false
	}
	t := elemOf(m.Field.Type)
	return t.Kind == ir.KindMessage || scalars[t.Kind].fails || c.refuses(m)
}

// refuses reports whether a member is refused when it is not set, or too short.
func (c *codec) refuses(m *ir.FieldLayout) bool {
	if m.Case != nil || !m.Required {
		return false
	}
	t := m.Field.Type.Kind
	return m.MinItems > 0 || c.strict() && (isPointer(m.Field) || t == ir.KindEnum && !m.Always || t == ir.KindTimestamp)
}

// appendMember prints the writing of an ordinary member, with the condition of its presence.
func (c *codec) appendMember(m *ir.FieldLayout) []jen.Code {
	key, pair := prefix(m.Name), hooks[m.Hook].form == hookPair
	switch {
	case m.Nested != nil:
		return []jen.Code{withError("AppendRequired", key, jen.Id("x"), jen.Id(c.fn("append", m.Nested)))}
	case pair:
		v, w := jen.Id("x").Dot(m.Field.Go), jen.Id("x").Dot(m.With.Go)
		return []jen.Code{jen.If(hook("Has"+m.Hook).Call(v, w)).Block(setB(hook("Append"+m.Hook).Call(keyed(key), v, w)))}
	case m.Into == nil:
		return c.appendField(m, jen.Id("x").Dot(m.Field.Go))
	case m.Required:
		o := jen.Qual(wirePath, "OrNew").Call(jen.Id("x").Dot(m.Into.Go))
		return c.appendField(m, o.Dot(m.Field.Go))
	}
	o := jen.Id("o").Op(":=").Id("x").Dot(m.Into.Go)
	return []jen.Code{jen.If(o, notNil(jen.Id("o"))).Block(c.appendField(m, jen.Id("o").Dot(m.Field.Go))...)}
}

// appendField prints the writing of the field x.
func (c *codec) appendField(m *ir.FieldLayout, x *jen.Statement) []jen.Code {
	key := prefix(m.Name)
	switch h := hooks[m.Hook]; {
	case h.form == hookDerived && m.Implicit:
		return []jen.Code{plainly("AppendPlain", key, derived(m, x), jen.Qual(wirePath, "AppendBool"))}
	case h.form == hookDerived:
		return []jen.Code{setB(jen.Qual(wirePath, "AppendBool").Call(keyed(key), derived(m, x)))}
	case h.form == hookValue && m.Required:
		return []jen.Code{withError("AppendRequired", key, x, hook("Append"+m.Hook))}
	case h.form == hookValue:
		return []jen.Code{withError("AppendMember", key, hook("Has"+m.Hook).Call(x), x, hook("Append"+m.Hook))}
	case m.Field.Type.Kind == ir.KindNullValue && !isPointer(m.Field) && !m.Required:
		return nil // it has one value, which is zero
	case m.Required && m.MinItems > 0:
		few := jen.Qual(wirePath, "NeedItems").Call(jen.Err(), jen.Len(x), jen.Lit(m.MinItems), jen.Lit(m.Name))
		return []jen.Code{jen.Err().Op("=").Add(few), c.appendValue(m, x)}
	case c.refuses(m):
		need := jen.Qual(wirePath, "Need").Call(jen.Err(), c.present(m.Field, x), jen.Lit(m.Name))
		return []jen.Code{jen.Err().Op("=").Add(need), c.appendValue(m, x)}
	}
	return []jen.Code{c.appendValue(m, x)}
}

// derived is the value of a member that follows from a status.
func derived(m *ir.FieldLayout, x jen.Code) jen.Code {
	return hook(m.Hook).Call(jen.Id("statusState").Call(x))
}

// appendValue prints the writing of a field, with the condition of its presence: by one call where the runtime has one
// for its kind.
func (c *codec) appendValue(m *ir.FieldLayout, x *jen.Statement) jen.Code {
	t, key, a := m.Field.Type, prefix(m.Name), c.appender(m, m.Field.Type)
	switch {
	case hooks[m.Hook].writes:
		return withError("AppendNonEmpty", key, c.writable(m, x), hook("Write"+m.Hook).Call(a.elem))
	case m.Written:
		return withError("AppendRequired", key, jen.Qual(wirePath, "OrNew").Call(x), a.fn)
	case m.Filled:
		return withError("AppendNonEmpty", key, jen.Qual(wirePath, "OrNew").Call(x), a.fn)
	case m.Implicit:
		set := notNil(x).Op("&&").Add(notZero(t.Kind, jen.Op("*").Add(x)))
		return jen.If(set).Block(setB(a.call(keyed(key), jen.Op("*").Add(x))))
	case isPointer(m.Field) && m.Required && !c.strict():
		x = jen.Qual(wirePath, "OrZero").Call(x)
	case isPointer(m.Field) && a.fails:
		return withError("AppendMemberSet", key, x, a.fn)
	case isPointer(m.Field):
		return plainly("AppendSet", key, x, a.fn)
	}
	set := jen.Code(jen.True())
	if !m.Required {
		set = c.present(m.Field, x)
	}
	switch {
	case a.fails && a.elem != nil:
		return withError("AppendMember"+a.kind, key, set, c.writable(m, x), a.elem)
	case a.fails && m.Required:
		return withError("AppendRequired", key, x, a.fn)
	case a.fails:
		return withError("AppendMember", key, set, x, a.fn)
	case m.Required:
		return setB(a.call(keyed(key), x))
	case t.Kind == ir.KindString:
		return plainly("AppendText", key, x)
	case c.comparable(m.Field):
		return plainly("AppendPlain", key, x, a.fn)
	}
	return jen.If(set).Block(setB(a.call(keyed(key), x)))
}

// writable leaves those values of a map out that the wire does not have.
func (c *codec) writable(m *ir.FieldLayout, x jen.Code) jen.Code {
	if t := memberType(m); t.Kind == ir.KindMap && t.Elem.Kind == ir.KindMessage {
		if l := c.layout(m, *t.Elem); l.Tag != "" {
			return hook("Only").Call(x, jen.Id(c.fn("writable", l)))
		}
	}
	return x
}

// comparable reports whether the zero value of a field's Go type is what is left out.
func (c *codec) comparable(f *ir.Field) bool {
	switch {
	case f.Type.Kind == ir.KindEnum:
		return true
	case f.Type.Kind == ir.KindMessage, f.Type.Elem != nil:
		return false
	}
	return scalars[f.Type.Kind].zero <= zeroBool
}

// keyed is b with a member's key, or other constant text.
func keyed(key jen.Code) jen.Code { return jen.Append(jen.Id("b"), jen.Add(key).Op("...")) }

// plainly is b = wire.fn(b, args).
func plainly(fn string, args ...jen.Code) jen.Code {
	return setB(jen.Qual(wirePath, fn).Call(append([]jen.Code{jen.Id("b")}, args...)...))
}

// withError is b, err = wire.fn(b, err, args).
func withError(fn string, args ...jen.Code) jen.Code {
	args = append([]jen.Code{jen.Id("b"), jen.Err()}, args...)
	return jen.List(jen.Id("b"), jen.Err()).Op("=").Qual(wirePath, fn).Call(args...)
}

// present is the condition under which a member that is not required is written.
func (c *codec) present(f *ir.Field, x jen.Code) jen.Code {
	switch {
	case isPointer(f), f.Type.Kind == ir.KindMessage, f.Presence == ir.Explicit && f.Type.Nilable():
		return notNil(x)
	case f.Type.Elem != nil:
		return jen.Len(x).Op(">").Lit(0)
	case f.Type.Kind == ir.KindEnum:
		return jen.Add(x).Op("!=").Lit("")
	}
	return notZero(f.Type.Kind, x)
}

// appender is the function that appends a value.
type appender struct {
	fn    jen.Code
	fails bool     // it returns an error
	kind  string   // of a list or map: how the runtime calls it
	elem  jen.Code // of a list or map: what appends an element, which fn also takes
}

// call appends x to b.
func (a appender) call(b, x jen.Code) *jen.Statement {
	if a.elem != nil {
		return jen.Add(a.fn).Call(b, x, a.elem)
	}
	return jen.Add(a.fn).Call(b, x)
}

// appender is the one of type t in member m.
func (c *codec) appender(m *ir.FieldLayout, t ir.TypeRef) appender {
	switch t.Kind {
	case ir.KindMessage:
		return appender{fn: c.appendFn(c.layout(m, t)), fails: true}
	case ir.KindEnum:
		return appender{fn: jen.Id(c.fn("append", c.layout(m, t)))}
	case ir.KindList:
		return c.container("List", m, t)
	case ir.KindMap:
		if t.Key != nil {
			return c.container("KeyedMap", m, t)
		}
		return c.container("Map", m, t)
	case ir.KindAny:
		return appender{fn: jen.Id("appendAny"), fails: true}
	}
	if t.Kind == ir.KindInt64 && !c.strict() && c.wire.Encoding == ir.JSON { // a number, not ProtoJSON's string
		return appender{fn: jen.Qual(wirePath, "AppendInteger")}
	}
	s := scalars[t.Kind]
	return appender{fn: jen.Qual(wirePath, "Append"+s.json), fails: s.fails}
}

// container is the runtime function that appends a list or map, given the one that appends an element.
func (c *codec) container(kind string, m *ir.FieldLayout, t ir.TypeRef) appender {
	each := c.appender(m, *t.Elem)
	if each.fails {
		return appender{jen.Qual(wirePath, "Append"+kind), true, kind, each.fn}
	}
	return appender{jen.Qual(wirePath, "AppendPlain"+kind), false, kind, each.fn}
}

// appendUnion prints the writing of a oneof: the member of the case that is set, whatever its value (T53). A case that
// an older wire does not have is left out.
func (c *codec) appendUnion(l *ir.Layout, f *ir.Field) jen.Code {
	var cases []jen.Code
	for _, m := range l.Fields {
		if m.Case != nil && m.Field == f {
			goType, value := caseValue(m.Case)
			cases = append(cases, jen.Case(goType).Block(c.appendCase(m, value)))
		}
	}
	if c.strict() {
		cases = append(cases, jen.Case(jen.Op("*").Id(f.Union.Unknown)).Block(
			withError("AppendUnknown", jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value")),
		))
	}
	if c.strict() && f.Presence != ir.Explicit {
		none := jen.Qual(wirePath, "NeedCase").Call(append([]jen.Code{jen.Err()}, caseNames(l, f)...)...)
		cases = append(cases, jen.Default().Block(jen.Err().Op("=").Add(none)))
	}
	return jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(cases...)
}

// caseValue is the Go type of a oneof's case, and the value of one that is called c.
func caseValue(c *ir.Case) (goType, value jen.Code) {
	switch x := jen.Id("c"); {
	case c.Direct:
		return jen.Op("*").Id(c.Go), x
	case c.Type.Kind == ir.KindEnum:
		return jen.Id(c.Go), jen.Id(c.Type.Type.Go).Call(x)
	case boxed(c): // a struct around the pointer
		return jen.Id(c.Go), x.Dot("Value")
	default:
		return jen.Id(c.Go), convert(c.Type, x)
	}
}

// appendCase prints the writing of the value of a case.
func (c *codec) appendCase(m *ir.FieldLayout, value jen.Code) jen.Code {
	a := c.appender(m, m.Case.Type)
	if a.fails {
		return withError("AppendRequired", prefix(m.Name), value, a.fn)
	}
	return setB(a.call(keyed(prefix(m.Name)), value))
}

// caseNames are the member names of a oneof.
func caseNames(l *ir.Layout, f *ir.Field) []jen.Code {
	var names []jen.Code
	for _, m := range l.Fields {
		if m.Case != nil && m.Field == f {
			names = append(names, jen.Lit(m.Name))
		}
	}
	return names
}

// convert prints the value of a case's defined type as its plain type.
func convert(t ir.TypeRef, x jen.Code) jen.Code {
	plain := scalars[t.Kind].goType()
	if t.Kind == ir.KindBytes {
		return jen.Parens(plain).Call(x)
	}
	return plain.Call(x)
}
