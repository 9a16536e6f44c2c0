package emit

import (
	"encoding/json"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// place is where a value stands in emitted code: the expression of its value and that of its address.
type place struct{ val, ptr *jen.Statement }

// at is the place of an addressable expression.
func at(x *jen.Statement) place { return place{val: x, ptr: jen.Op("&").Add(x)} }

// deref is the place that a pointer expression points to.
func deref(x *jen.Statement) place { return place{val: jen.Op("*").Add(x), ptr: x} }

// keys prints the table of a struct's keys.
func (p *dataPackage) keys(t *ir.DataType) jen.Code {
	if t.Kind != ir.DataStruct {
		return jen.Null()
	}
	d := p.keysDict(t.Checks)
	var names, required []jen.Code
	any := false
	for _, f := range t.Fields {
		names = append(names, jen.Lit(f.Name))
		required = append(required, jen.Lit(f.Required))
		any = any || f.Required
	}
	if len(names) > 0 {
		d[jen.Id("Names")] = jen.Index().String().Values(names...)
	}
	if any {
		d[jen.Id("Required")] = jen.Index().Bool().Values(required...)
	}
	if t.Closed {
		d[jen.Id("Closed")] = jen.True()
	}
	return jen.Var().Id("keys" + t.Go).Op("=").Add(chk("Keys")).Values(d).Line()
}

// keysDict is what checks say about the keys of an object.
func (p *dataPackage) keysDict(c *ir.Checks) jen.Dict {
	d := jen.Dict{}
	if c == nil {
		return d
	}
	if c.MinProperties != nil {
		d[jen.Id("Min")] = jen.Lit(*c.MinProperties)
	}
	if c.MaxProperties != nil {
		n := *c.MaxProperties
		if n == 0 {
			n = -1
		}
		d[jen.Id("Max")] = jen.Lit(n)
	}
	if len(c.Required) > 0 {
		d[jen.Id("Others")] = stringList(c.Required)
	}
	if len(c.DependentRequired) > 0 {
		d[jen.Id("Dependents")] = jen.Index().Add(chk("Dependent")).ValuesFunc(func(g *jen.Group) {
			for _, dep := range c.DependentRequired {
				g.Values(jen.Dict{jen.Id("If"): jen.Lit(dep.If), jen.Id("Then"): stringList(dep.Then)})
			}
		})
	}
	if len(c.Groups) > 0 {
		d[jen.Id("Groups")] = jen.Index().Add(chk("Group")).ValuesFunc(func(g *jen.Group) {
			for _, group := range c.Groups {
				g.Values(groupDict(group))
			}
		})
	}
	if c.PropertyNames != nil {
		ref := &ir.DataRef{Kind: ir.DataString, Checks: c.PropertyNames}
		d[jen.Id("Name")] = jen.Func().Params(jen.Id("c").Op("*").Add(chk("Checker")), jen.Id("name").String()).Block(p.checksOf(ref, at(jen.Id("name")), 0)...)
	}
	return d
}

func groupDict(group ir.KeyGroup) jen.Dict {
	d := jen.Dict{jen.Id("Sets"): jen.Index().Index().String().ValuesFunc(func(g *jen.Group) {
		for _, set := range group.Sets {
			g.ValuesFunc(func(g *jen.Group) {
				for _, name := range set {
					g.Lit(name)
				}
			})
		}
	})}
	if group.One {
		d[jen.Id("One")] = jen.True()
	}
	return d
}

// check prints the function checkT of a type that is no union.
func (p *dataPackage) check(t *ir.DataType) jen.Code {
	var body []jen.Code
	switch t.Kind {
	case ir.DataStruct:
		body = p.checkStruct(t)
	case ir.DataEnum:
		body = p.checkEnum(t)
	case ir.DataWrapper:
		body = p.checkMember(&ir.DataField{Required: true, Type: *t.Of}, jen.Id("v").Dot("Value"))
	default:
		if inner := p.checksOf(t.Of, at(jen.Id("x")), 0); len(inner) > 0 {
			body = append([]jen.Code{jen.Id("x").Op(":=").Add(conversion(t.Of, jen.Op("*").Id("v")))}, inner...)
		}
	}
	return jen.Func().Id("check"+t.Go).Params(jen.Id("c").Op("*").Add(chk("Checker")), jen.Id("v").Op("*").Id(t.Go)).Block(body...).Line()
}

// conversion turns a defined type back into the type under it.
func conversion(r *ir.DataRef, x jen.Code) *jen.Statement {
	return dataType(r).Call(x)
}

func (p *dataPackage) checkEnum(t *ir.DataType) []jen.Code {
	args := []jen.Code{jen.Id("c"), jen.Op("*").Id("v")}
	var texts []string
	var values []jen.Code
	for _, v := range t.Values {
		texts = append(texts, string(v.Value))
		values = append(values, jen.Id(v.Go))
	}
	body := []jen.Code{chk("OneOf").Call(append(append(args, jen.Lit(choice(texts))), values...)...)}
	if t.Checks != nil {
		ref := &ir.DataRef{Kind: t.Base, Checks: t.Checks}
		body = append(body, jen.Id("x").Op(":=").Add(dataScalars[t.Base]()).Call(jen.Op("*").Id("v")))
		body = append(body, p.checksOf(ref, at(jen.Id("x")), 0)...)
	}
	return body
}

func (p *dataPackage) checkStruct(t *ir.DataType) []jen.Code {
	var body []jen.Code
	if c := t.Checks; c != nil && (c.MinProperties != nil || c.MaxProperties != nil || len(c.Required)+len(c.DependentRequired)+len(c.Groups) > 0) {
		var present []jen.Code
		for _, f := range t.Fields {
			present = append(present, presence(f))
		}
		others, has := jen.Lit(0), jen.Nil()
		if t.Extra != nil {
			others, has = jen.Len(jen.Id("v").Dot(t.ExtraGo)), chk("Has").Call(jen.Id("v").Dot(t.ExtraGo))
		}
		body = append(body, jen.Id("c").Dot("Keys").Call(jen.Op("&").Id("keys"+t.Go), jen.Index().Bool().Values(present...), others, has))
	}
	for _, f := range t.Fields {
		if f.Const != nil {
			continue
		}
		if inner := p.checkMember(f, jen.Id("v").Dot(f.Go)); len(inner) > 0 {
			body = append(body, jen.Id("c").Dot("Enter").Call(jen.Lit(f.Name)))
			body = append(body, inner...)
			body = append(body, jen.Id("c").Dot("Leave").Call())
		}
	}
	if t.Extra != nil {
		extra := jen.Id("v").Dot(t.ExtraGo)
		body = append(body, chk("EachName").Call(jen.Id("c"), jen.Op("&").Id("keys"+t.Go), extra))
		body = append(body, p.checkEntries(t.Extra, extra, 0)...)
	}
	return body
}

// presence tells whether a property will be written.
func presence(f *ir.DataField) jen.Code {
	switch {
	case f.Const != nil:
		return jen.Lit(f.Required)
	case f.Required, f.Default != nil && f.Type.Null:
		return jen.True()
	}
	return isSet(f)
}

// isSet tells whether the field of an optional property is not at what means absent.
func isSet(f *ir.DataField) *jen.Statement {
	x := jen.Id("v").Dot(f.Go)
	if !f.OmitZero {
		return x.Op("!=").Nil()
	}
	kind := f.Type.Kind
	if kind == ir.DataNamed {
		kind = f.Type.Type.Base
	}
	switch kind {
	case ir.DataTime, ir.DataDate:
		return jen.Op("!").Add(x).Dot("IsZero").Call()
	case ir.DataString:
		return x.Op("!=").Lit("")
	case ir.DataBool:
		return x
	}
	return x.Op("!=").Lit(0)
}

// checkMember checks a field, its absence considered.
func (p *dataPackage) checkMember(f *ir.DataField, x *jen.Statement) []jen.Code {
	where := at(x)
	if f.Pointer || isPtr(&f.Type) {
		where = deref(x)
	}
	inner := p.checksOf(&f.Type, where, 0)
	optional := !f.Required || f.Type.Null
	switch {
	case f.Required && !f.Type.Null && isUnion(&f.Type): // checkT says that it is not set
	case len(inner) == 0 || !optional:
	case f.OmitZero && f.Default != nil: // what was read has its default: a zero was sent
		return []jen.Code{jen.If(isSet(f).Op("||").Id("c").Dot("Decoded").Call()).Block(inner...)}
	case f.OmitZero:
		return []jen.Code{jen.If(isSet(f)).Block(inner...)}
	default:
		return []jen.Code{jen.If(jen.Add(x).Op("!=").Nil()).Block(inner...)}
	}
	return inner
}

func isUnion(r *ir.DataRef) bool { return r.Kind == ir.DataNamed && r.Type.Kind == ir.DataUnion }

// checkElem checks an element of a list or map.
func (p *dataPackage) checkElem(r *ir.DataRef, x *jen.Statement, depth int) []jen.Code {
	where := at(x)
	if isPtr(r) {
		where = deref(x)
	}
	inner := p.checksOf(r, where, depth)
	if len(inner) == 0 || !r.Null {
		return inner
	}
	return []jen.Code{jen.If(jen.Add(x).Op("!=").Nil()).Block(inner...)}
}

// checksOf checks the value at a place, which is not null. It is empty when there is nothing to check.
func (p *dataPackage) checksOf(r *ir.DataRef, x place, depth int) []jen.Code {
	c := r.Checks
	if c == nil {
		c = &ir.Checks{}
	}
	on := func(method string, args ...jen.Code) jen.Code { return jen.Id("c").Dot(method).Call(args...) }
	switch r.Kind {
	case ir.DataAny:
		return []jen.Code{on("Any", x.val)}
	case ir.DataBool:
		return p.values(c, x.val)
	case ir.DataTime:
		return []jen.Code{on("Time", x.val)}
	case ir.DataDate:
		return []jen.Code{on("Date", x.val)}
	case ir.DataString:
		return append([]jen.Code{on("Text", x.val)}, p.textChecks(c, x.val)...)
	case ir.DataNumber:
		return append([]jen.Code{on("Finite", x.val)}, numberChecks(c, x.val)...)
	case ir.DataInt32, ir.DataInt64, ir.DataUint32, ir.DataUint64:
		return numberChecks(c, x.val)
	case ir.DataList:
		return p.listChecks(r, c, x.val, depth)
	case ir.DataMap:
		keys := jen.Op("&").Add(chk("Keys")).Values(p.keysDict(c))
		return append([]jen.Code{chk("MapKeys").Call(jen.Id("c"), keys, x.val)}, p.checkEntries(r.Elem, x.val, depth)...)
	case ir.DataNamed:
		return p.namedChecks(r, c, x)
	}
	return nil
}

func (p *dataPackage) namedChecks(r *ir.DataRef, c *ir.Checks, x place) []jen.Code {
	if r.Type.Kind == ir.DataUnion {
		return []jen.Code{jen.Id("check"+r.Name).Call(jen.Id("c"), x.val)}
	}
	code := []jen.Code{jen.Id("check"+r.Name).Call(jen.Id("c"), x.ptr)}
	if r.Checks != nil {
		base := dataScalars[r.Type.Base]().Call(x.val)
		if r.Type.Base == ir.DataString {
			return append(code, p.textChecks(c, base)...)
		}
		return append(code, numberChecks(c, base)...)
	}
	return code
}

func (p *dataPackage) textChecks(c *ir.Checks, x *jen.Statement) []jen.Code {
	var code []jen.Code
	if c.MinLength != nil {
		code = append(code, jen.Id("c").Dot("MinLength").Call(x, jen.Lit(*c.MinLength)))
	}
	if c.MaxLength != nil {
		code = append(code, jen.Id("c").Dot("MaxLength").Call(x, jen.Lit(*c.MaxLength)))
	}
	for _, pattern := range c.Patterns {
		code = append(code, jen.Id("c").Dot("Pattern").Call(x, p.pattern(pattern)))
	}
	for _, format := range c.Formats {
		code = append(code, jen.Id("c").Dot("Format").Call(x, jen.Lit(format)))
	}
	return append(code, p.values(c, x)...)
}

// values checks that a scalar is one of a few.
func (p *dataPackage) values(c *ir.Checks, x jen.Code) []jen.Code {
	if len(c.Values) == 0 {
		return nil
	}
	args := []jen.Code{jen.Id("c"), x, jen.Lit(choice(rawTexts(c.Values)))}
	for _, v := range c.Values {
		args = append(args, dataLiteral(v))
	}
	return []jen.Code{chk("OneOf").Call(args...)}
}

func rawTexts(values []json.RawMessage) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}

func numberChecks(c *ir.Checks, x jen.Code) []jen.Code {
	var code []jen.Code
	for _, bound := range []struct{ name, text string }{
		{"Minimum", c.Minimum}, {"ExclusiveMinimum", c.ExclusiveMinimum}, {"Maximum", c.Maximum}, {"ExclusiveMaximum", c.ExclusiveMaximum},
	} {
		if bound.text != "" {
			code = append(code, chk(bound.name).Call(jen.Id("c"), x, jen.Op(bound.text)))
		}
	}
	for _, m := range c.MultipleOf {
		code = append(code, chk("MultipleOf").Call(jen.Id("c"), x, jen.Lit(m)))
	}
	return code
}

func (p *dataPackage) listChecks(r *ir.DataRef, c *ir.Checks, x *jen.Statement, depth int) []jen.Code {
	var code []jen.Code
	if c.MinItems != nil {
		code = append(code, jen.Id("c").Dot("MinItems").Call(jen.Len(x), jen.Lit(*c.MinItems)))
	}
	if c.MaxItems != nil {
		code = append(code, jen.Id("c").Dot("MaxItems").Call(jen.Len(x), jen.Lit(*c.MaxItems)))
	}
	i := "i" + strconv.Itoa(depth)
	if inner := p.checkElem(r.Elem, jen.Add(x).Index(jen.Id(i)), depth+1); len(inner) > 0 {
		block := append([]jen.Code{jen.Id("c").Dot("Index").Call(jen.Id(i))}, inner...)
		code = append(code, jen.For(jen.Id(i).Op(":=").Range().Add(x)).Block(append(block, jen.Id("c").Dot("Leave").Call())...))
	}
	if c.UniqueItems {
		e := jen.Id("e")
		write := jen.Func().Params(jen.Id("b").Index().Byte(), e.Clone().Add(dataTypeOrNull(r.Elem))).Index().Byte().
			Block(append(writeOrNull(r.Elem, e, depth+1), jen.Return(jen.Id("b")))...)
		code = append(code, chk("Unique").Call(jen.Id("c"), x, write))
	}
	return code
}

// checkEntries checks the values of a map.
func (p *dataPackage) checkEntries(elem *ir.DataRef, x *jen.Statement, depth int) []jen.Code {
	k, e := "k"+strconv.Itoa(depth), "e"+strconv.Itoa(depth)
	inner := p.checkElem(elem, jen.Id(e), depth+1)
	if len(inner) == 0 {
		return nil
	}
	block := []jen.Code{jen.Id(e).Op(":=").Add(x).Index(jen.Id(k)), jen.Id("c").Dot("Enter").Call(jen.Id(k))}
	block = append(append(block, inner...), jen.Id("c").Dot("Leave").Call())
	return []jen.Code{jen.For(jen.List(jen.Id("_"), jen.Id(k)).Op(":=").Range().Add(chk("Names")).Call(x)).Block(block...)}
}

// checkUnion prints the function that checks whichever case there is.
func (p *dataPackage) checkUnion(t *ir.DataType) jen.Code {
	return jen.Func().Id("check"+t.Go).Params(jen.Id("c").Op("*").Add(chk("Checker")), jen.Id("v").Id(t.Go)).Block(
		jen.Switch(jen.Id("v").Op(":=").Id("v").Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
			for _, c := range t.Cases {
				if caseIsPtr(c.Type) {
					g.Case(jen.Op("*").Id(c.Go)).Block(
						jen.If(jen.Id("v").Op("==").Nil()).Block(jen.Id("c").Dot("NotSet").Call(), jen.Return()),
						jen.Id("check"+c.Go).Call(jen.Id("c"), jen.Id("v")),
					)
					continue
				}
				g.Case(jen.Id(c.Go)).Block(jen.Id("check"+c.Go).Call(jen.Id("c"), jen.Op("&").Id("v")))
			}
			g.Default().Block(jen.Id("c").Dot("NotSet").Call())
		}),
	).Line()
}
