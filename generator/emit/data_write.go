package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/wire"
)

// write prints the function writeT of a type that is no union. What it writes has been checked.
func (p *dataPackage) write(t *ir.DataType) jen.Code {
	p.locals = map[string]int{}
	var body []jen.Code
	switch t.Kind {
	case ir.DataStruct:
		body = p.writeStruct(t)
	case ir.DataEnum:
		body = p.writeValue(&ir.DataRef{Kind: t.Base}, at(dataScalars[t.Base].goType().Call(jen.Op("*").Id("v"))), 0)
	case ir.DataWrapper:
		body = p.writeOrNull(t.Of, jen.Id("v").Dot("Value"), 0)
	default:
		plain := jen.Id("x").Op(":=").Add(dataType(t.Of)).Call(jen.Op("*").Id("v"))
		body = append([]jen.Code{plain}, p.writeOrNull(t.Of, jen.Id("x"), 0)...)
	}
	if t.Kind != ir.DataStruct {
		body = append(body, jen.Return(jen.Id("b")))
	}
	return writer(t, jen.Op("*").Id(t.Go), body...)
}

// writer is the function writeT.
func writer(t *ir.DataType, value jen.Code, body ...jen.Code) jen.Code {
	return jen.Func().Id("write"+t.Go).Params(jen.Id("b").Index().Byte(), jen.Id("v").Add(value)).
		Index().Byte().Block(body...).Line()
}

func (p *dataPackage) writeStruct(t *ir.DataType) []jen.Code {
	body := []jen.Code{startObject("start")}
	if writesNulls(t) {
		body = append(body, jen.Id("written").Op(":=").Id("written"+t.Go).Call(jen.Id("v")))
	}
	for i, f := range t.Fields {
		if writesNulls(t) && mayBeNull(f) {
			write := []jen.Code{appendText(memberKey(f) + string(f.Const))}
			if f.Const == nil {
				write = append(write, p.writeOrNull(&f.Type, jen.Id("v").Dot(f.Go), 0)...)
			}
			body = append(body, jen.If(jen.Id("written").Index(jen.Lit(i))).Block(write...))
			continue
		}
		body = append(body, p.writeField(f)...)
	}
	if t.Extra != nil {
		body = append(body, p.writeEntries(t.Extra, jen.Id("v").Dot(t.ExtraGo), 0))
	}
	return append(body, jen.Return(endObject("start")))
}

// startObject and endObject are around the members of an object.
func startObject(start string) jen.Code { return jen.Id(start).Op(":=").Len(jen.Id("b")) }

func endObject(start string) jen.Code {
	return jen.Qual(wirePath, "EndObject").Call(jen.Id("b"), jen.Id(start))
}

// memberKey is what comes before the value of a property.
func memberKey(f *ir.DataField) string { return string(wire.AppendKey(nil, f.Name)) }

func (p *dataPackage) writeField(f *ir.DataField) []jen.Code {
	key := memberKey(f)
	if f.Const != nil {
		if f.Required {
			return []jen.Code{appendText(key + string(f.Const))}
		}
		return nil
	}
	x := jen.Id("v").Dot(f.Go)
	body := []jen.Code{appendText(key)}
	switch {
	case f.Required || f.Default != nil && f.Type.Null:
		return append(body, p.writeOrNull(&f.Type, x, 0)...)
	case f.Pointer || isPtr(&f.Type):
		body = append(body, p.writeValue(&f.Type, deref(x), 0)...)
	default:
		body = append(body, p.writeValue(&f.Type, at(x), 0)...)
	}
	return []jen.Code{jen.If(isSet(f)).Block(body...)}
}

// setB assigns to b.
func setB(value jen.Code) jen.Code { return jen.Id("b").Op("=").Add(value) }

// appendText appends constant text to b.
func appendText(text string) jen.Code {
	return setB(jen.Append(jen.Id("b"), jen.Add(raw(text)).Op("...")))
}

// writeOrNull writes the value of x, which is nil for null if the reference has null.
func (p *dataPackage) writeOrNull(r *ir.DataRef, x *jen.Statement, depth int) []jen.Code {
	if !r.Null || r.Kind == ir.DataAny {
		return p.writeValue(r, at(x), depth)
	}
	where := at(x)
	if isPtr(r) {
		where = deref(x)
	}
	return []jen.Code{jen.If(isNil(x)).Block(appendText("null")).Else().Block(p.writeValue(r, where, depth)...)}
}

// writeValue writes the value at a place, which is not null.
func (p *dataPackage) writeValue(r *ir.DataRef, x place, depth int) []jen.Code {
	switch r.Kind {
	case ir.DataList:
		i := jen.Id("i" + strconv.Itoa(depth))
		char := func(c rune) jen.Code { return setB(jen.Append(jen.Id("b"), jen.LitRune(c))) }
		body := []jen.Code{jen.If(jen.Add(i).Op(">").Lit(0)).Block(char(','))}
		body = append(body, p.writeOrNull(r.Elem, jen.Add(x.val).Index(i), depth+1)...)
		return []jen.Code{char('['), jen.For(jen.Add(i).Op(":=").Range().Add(x.val)).Block(body...), char(']')}
	case ir.DataMap:
		start := p.local("start")
		return []jen.Code{startObject(start), p.writeEntries(r.Elem, x.val, depth), setB(endObject(start))}
	case ir.DataNamed:
		arg := x.ptr
		if isUnion(r) {
			arg = x.val
		}
		return []jen.Code{setB(jen.Id("write"+r.Name).Call(jen.Id("b"), arg))}
	}
	s := dataScalars[r.Kind]
	return []jen.Code{setB(jen.Qual(s.path, s.append).Call(jen.Id("b"), x.val))}
}

// writeEntries writes the members of a map.
func (p *dataPackage) writeEntries(elem *ir.DataRef, x jen.Code, depth int) jen.Code {
	k, e := jen.Id("k"+strconv.Itoa(depth)), jen.Id("e"+strconv.Itoa(depth))
	key := setB(jen.Qual(wirePath, "AppendKey").Call(jen.Id("b"), k))
	return eachEntry(x, k, e, append([]jen.Code{key}, p.writeOrNull(elem, e, depth+1)...)...)
}

// writeUnion prints the function that writes whichever case there is.
func writeUnion(t *ir.DataType) jen.Code {
	var cases []jen.Code
	for _, c := range goCases(t) {
		arg := jen.Op("&").Id("v")
		if caseIsPtr(c.Type) {
			arg = jen.Id("v")
		}
		cases = append(cases, jen.Case(dataCase(c.Type)).Block(jen.Return(jen.Id("write"+c.Go).Call(jen.Id("b"), arg))))
	}
	return writer(t, jen.Id(t.Go), typeSwitch(cases...), jen.Return(jen.Append(jen.Id("b"), jen.Lit("null").Op("..."))))
}
