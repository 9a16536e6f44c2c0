package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/wire"
)

// write prints the function writeT of a type that is no union. What it writes has been checked.
func (p *dataPackage) write(t *ir.DataType) jen.Code {
	f := jen.Func().Id("write"+t.Go).Params(jen.Id("b").Index().Byte(), jen.Id("v").Op("*").Id(t.Go)).Index().Byte()
	switch t.Kind {
	case ir.DataStruct:
		return f.BlockFunc(func(g *jen.Group) { writeStruct(g, t) }).Line()
	case ir.DataEnum:
		value := dataScalars[t.Base]().Call(jen.Op("*").Id("v"))
		return f.Block(append(writeValue(&ir.DataRef{Kind: t.Base}, at(value), 0), jen.Return(jen.Id("b")))...).Line()
	case ir.DataWrapper:
		return f.Block(append(writeOrNull(t.Of, jen.Id("v").Dot("Value"), 0), jen.Return(jen.Id("b")))...).Line()
	}
	body := []jen.Code{jen.Id("x").Op(":=").Add(conversion(t.Of, jen.Op("*").Id("v")))}
	body = append(body, writeOrNull(t.Of, jen.Id("x"), 0)...)
	return f.Block(append(body, jen.Return(jen.Id("b")))...).Line()
}

func writeStruct(g *jen.Group, t *ir.DataType) {
	g.Id("start").Op(":=").Len(jen.Id("b"))
	for _, f := range t.Fields {
		writeField(g, f)
	}
	if t.Extra != nil {
		for _, code := range writeEntries(t.Extra, jen.Id("v").Dot(t.ExtraGo), 0) {
			g.Add(code)
		}
	}
	g.Return(jen.Qual(wirePath, "EndObject").Call(jen.Id("b"), jen.Id("start")))
}

func writeField(g *jen.Group, f *ir.DataField) {
	key := string(wire.AppendKey(nil, f.Name))
	if f.Const != nil {
		if f.Required {
			g.Add(appendText(key + string(f.Const)))
		}
		return
	}
	x := jen.Id("v").Dot(f.Go)
	code := []jen.Code{appendText(key)}
	switch {
	case f.Required || f.Default != nil && f.Type.Null:
		for _, c := range append(code, writeOrNull(&f.Type, x, 0)...) {
			g.Add(c)
		}
		return
	case f.Pointer || isPtr(&f.Type):
		code = append(code, writeValue(&f.Type, deref(x), 0)...)
	default:
		code = append(code, writeValue(&f.Type, at(x), 0)...)
	}
	g.If(isSet(f)).Block(code...)
}

// appendText appends constant text to b.
func appendText(text string) jen.Code {
	return jen.Id("b").Op("=").Append(jen.Id("b"), jen.Lit(text).Op("..."))
}

// writeOrNull writes the value of x, which is nil for null if the reference has null.
func writeOrNull(r *ir.DataRef, x *jen.Statement, depth int) []jen.Code {
	if !r.Null || r.Kind == ir.DataAny {
		return writeValue(r, at(x), depth)
	}
	where := at(x)
	if isPtr(r) {
		where = deref(x)
	}
	return []jen.Code{jen.If(jen.Add(x).Op("==").Nil()).Block(appendText("null")).Else().Block(writeValue(r, where, depth)...)}
}

// writeValue writes the value at a place, which is not null.
func writeValue(r *ir.DataRef, x place, depth int) []jen.Code {
	set := func(call *jen.Statement) []jen.Code { return []jen.Code{jen.Id("b").Op("=").Add(call)} }
	appendTo := func(name string) []jen.Code { return set(jen.Qual(wirePath, name).Call(jen.Id("b"), x.val)) }
	switch r.Kind {
	case ir.DataAny:
		return set(chk("AppendAny").Call(jen.Id("b"), x.val))
	case ir.DataBool:
		return appendTo("AppendBool")
	case ir.DataString:
		return appendTo("AppendString")
	case ir.DataBytes:
		return appendTo("AppendBytes")
	case ir.DataNumber:
		return appendTo("AppendFloat64")
	case ir.DataInt64:
		return appendTo("AppendInteger")
	case ir.DataInt32:
		return appendTo("AppendInt32")
	case ir.DataUint32:
		return appendTo("AppendUint32")
	case ir.DataUint64:
		return set(chk("AppendUint").Call(jen.Id("b"), x.val))
	case ir.DataTime:
		return set(chk("AppendTime").Call(jen.Id("b"), x.val))
	case ir.DataDate:
		return set(chk("AppendDate").Call(jen.Id("b"), x.val))
	case ir.DataList:
		return writeList(r, x.val, depth)
	case ir.DataMap:
		start := jen.Id("start" + strconv.Itoa(depth))
		code := append([]jen.Code{start.Clone().Op(":=").Len(jen.Id("b"))}, writeEntries(r.Elem, x.val, depth)...)
		return append(code, jen.Id("b").Op("=").Qual(wirePath, "EndObject").Call(jen.Id("b"), start))
	}
	if isUnion(r) {
		return set(jen.Id("write"+r.Name).Call(jen.Id("b"), x.val))
	}
	return set(jen.Id("write"+r.Name).Call(jen.Id("b"), x.ptr))
}

func writeList(r *ir.DataRef, x *jen.Statement, depth int) []jen.Code {
	i := "i" + strconv.Itoa(depth)
	block := []jen.Code{jen.If(jen.Id(i).Op(">").Lit(0)).Block(jen.Id("b").Op("=").Append(jen.Id("b"), jen.LitRune(',')))}
	block = append(block, writeOrNull(r.Elem, jen.Add(x).Index(jen.Id(i)), depth+1)...)
	return []jen.Code{
		jen.Id("b").Op("=").Append(jen.Id("b"), jen.LitRune('[')),
		jen.For(jen.Id(i).Op(":=").Range().Add(x)).Block(block...),
		jen.Id("b").Op("=").Append(jen.Id("b"), jen.LitRune(']')),
	}
}

// writeEntries writes the members of a map, sorted by name, so that equal values give equal bytes.
func writeEntries(elem *ir.DataRef, x *jen.Statement, depth int) []jen.Code {
	k, e := "k"+strconv.Itoa(depth), "e"+strconv.Itoa(depth)
	block := []jen.Code{
		jen.Id(e).Op(":=").Add(x).Index(jen.Id(k)),
		jen.Id("b").Op("=").Qual(wirePath, "AppendKey").Call(jen.Id("b"), jen.Id(k)),
	}
	block = append(block, writeOrNull(elem, jen.Id(e), depth+1)...)
	return []jen.Code{jen.For(jen.List(jen.Id("_"), jen.Id(k)).Op(":=").Range().Add(chk("Names")).Call(x)).Block(block...)}
}

// writeUnion prints the function that writes whichever case there is.
func (p *dataPackage) writeUnion(t *ir.DataType) jen.Code {
	return jen.Func().Id("write"+t.Go).Params(jen.Id("b").Index().Byte(), jen.Id("v").Id(t.Go)).Index().Byte().Block(
		jen.Switch(jen.Id("v").Op(":=").Id("v").Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
			for _, c := range t.Cases {
				name, arg := jen.Id(c.Go), jen.Op("&").Id("v")
				if caseIsPtr(c.Type) {
					name, arg = jen.Op("*").Id(c.Go), jen.Id("v")
				}
				g.Case(name).Block(jen.Return(jen.Id("write"+c.Go).Call(jen.Id("b"), arg)))
			}
		}),
		jen.Return(jen.Append(jen.Id("b"), jen.Lit("null").Op("..."))),
	).Line()
}
