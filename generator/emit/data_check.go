package emit

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

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
	table := members()
	if len(t.Fields) > 0 {
		var names []string
		var required []jen.Code
		for _, f := range t.Fields {
			names = append(names, f.Name)
			required = append(required, jen.Lit(f.Required))
		}
		table.set("Names", stringsOf(names))
		if slices.ContainsFunc(t.Fields, func(f *ir.DataField) bool { return f.Required }) {
			table.set("Required", jen.Index().Bool().Values(required...))
		}
	}
	if t.Closed {
		table.set("Closed", jen.True())
	}
	p.keyChecks(table, t.Checks)
	if writesNulls(t) {
		var nulls []jen.Code
		for _, f := range t.Fields {
			nulls = append(nulls, jen.Lit(mayBeNull(f)))
		}
		table.set("Nulls", jen.Index().Bool().Values(nulls...))
	}
	return jen.Var().Id("keys" + t.Go).Op("=").Add(chk("Keys")).Values(table.code()...).Line()
}

// keyChecks adds what checks say about the keys of an object.
func (p *dataPackage) keyChecks(table *literal, c *ir.Checks) {
	if c == nil {
		return
	}
	for _, limit := range c.Limits {
		n := limit.Arg
		if n == "0" { // in Keys that is no limit
			n = "-1"
		}
		table.set(limit.Check, jen.Op(n))
	}
	if len(c.Required) > 0 {
		table.set("Others", stringsOf(c.Required))
	}
	if len(c.DependentRequired) > 0 {
		var each []jen.Code
		for _, dep := range c.DependentRequired {
			each = append(each, jen.Values(members("If", jen.Lit(dep.If), "Then", stringsOf(dep.Then)).code()...))
		}
		table.set("Dependents", jen.Index().Add(chk("Dependent")).Values(each...))
	}
	if len(c.Groups) > 0 {
		var each []jen.Code
		for _, group := range c.Groups {
			each = append(each, groupLiteral(group))
		}
		table.set("Groups", jen.Index().Add(chk("Group")).Values(each...))
	}
	if c.PropertyNames != nil {
		ref := &ir.DataRef{Kind: ir.DataString, Checks: c.PropertyNames}
		checks := p.checksOf(ref, at(jen.Id("name")), 0)
		table.set("Name", jen.Func().Params(checkerParam(), jen.Id("name").String()).Block(checks...))
	}
}

func checkerParam() *jen.Statement { return jen.Id("c").Op("*").Add(chk("Checker")) }

func groupLiteral(group ir.KeyGroup) jen.Code {
	var sets []jen.Code
	for _, set := range group.Sets {
		sets = append(sets, jen.Values(lits(set)...))
	}
	table := members("Sets", jen.Index().Index().String().Values(sets...))
	if group.One {
		table.set("One", jen.True())
	}
	return jen.Values(table.code()...)
}

// check prints the function checkT of a type that is no union.
func (p *dataPackage) check(t *ir.DataType) jen.Code {
	p.locals = map[string]int{}
	var body []jen.Code
	switch t.Kind {
	case ir.DataStruct:
		body = p.checkStruct(t)
	case ir.DataEnum:
		body = p.checkEnum(t)
	case ir.DataWrapper:
		body = p.checkMember(&ir.DataField{Required: true, Type: *t.Of}, jen.Id("v").Dot("Value"))
	default:
		body = p.checkPlain(t.Of)
	}
	return jen.Func().Id("check"+t.Go).Params(checkerParam(), jen.Id("v").Op("*").Id(t.Go)).Block(body...).Line()
}

// checkPlain checks the value of a defined type as the type below it, if there is anything to check.
func (p *dataPackage) checkPlain(r *ir.DataRef) []jen.Code {
	checks := p.checksOf(r, at(jen.Id("x")), 0)
	if len(checks) == 0 {
		return nil
	}
	return append([]jen.Code{jen.Id("x").Op(":=").Add(dataType(r)).Call(jen.Op("*").Id("v"))}, checks...)
}

func (p *dataPackage) checkEnum(t *ir.DataType) []jen.Code {
	var texts []string
	var values []jen.Code
	for _, v := range t.Values {
		texts = append(texts, string(v.Value))
		values = append(values, jen.Id(v.Go))
	}
	var body []jen.Code
	if !t.Open {
		args := []jen.Code{jen.Id("c"), jen.Op("*").Id("v"), jen.Lit(choice(texts))}
		body = append(body, chk("OneOf").Call(append(args, values...)...))
	}
	if t.Checks != nil || t.Open {
		body = append(body, p.checkPlain(&ir.DataRef{Kind: t.Base, Checks: t.Checks})...)
	}
	return body
}

// onChecker is a call of a method of the checker.
func onChecker(method string, args ...jen.Code) *jen.Statement {
	return jen.Id("c").Dot(method).Call(args...)
}

func (p *dataPackage) checkStruct(t *ir.DataType) []jen.Code {
	var body []jen.Code
	if hasKeyRules(t) {
		others, has := otherKeys(t, jen.Lit(0))
		there := present(t)
		if writesNulls(t) {
			there = jen.Id("written" + t.Go).Call(jen.Id("v"))
		}
		body = append(body, onChecker("Keys", jen.Op("&").Id("keys"+t.Go), there, others, has))
	}
	for _, f := range t.Fields {
		if f.Const != nil {
			continue
		}
		if inner := p.checkMember(f, jen.Id("v").Dot(f.Go)); len(inner) > 0 {
			body = append(body, onChecker("Enter", jen.Lit(f.Name)))
			body = append(body, inner...)
			body = append(body, onChecker("Leave"))
		}
	}
	if t.Extra != nil {
		extra := jen.Id("v").Dot(t.ExtraGo)
		body = append(body, chk("EachName").Call(jen.Id("c"), jen.Op("&").Id("keys"+t.Go), extra))
		body = append(body, p.checkEntries(t.Extra, extra, 0)...)
	}
	return body
}

// hasKeyRules reports whether a struct's schema says more of its keys than which are required.
func hasKeyRules(t *ir.DataType) bool {
	c := t.Checks
	return c != nil && len(c.Limits)+len(c.Required)+len(c.DependentRequired)+len(c.Groups) > 0
}

// mayBeNull reports whether a property may be null or absent where its field is nil, or where it has no field.
func mayBeNull(f *ir.DataField) bool {
	return !f.Required && f.Default == nil && (f.Type.Null || string(f.Const) == "null")
}

// writesNulls reports whether a struct has properties that are written as null where the rules about keys demand it.
func writesNulls(t *ir.DataType) bool {
	return t.Kind == ir.DataStruct && hasKeyRules(t) && slices.ContainsFunc(t.Fields, mayBeNull)
}

// present lists of each known property whether its field has a value.
func present(t *ir.DataType) jen.Code {
	var list []jen.Code
	for _, f := range t.Fields {
		list = append(list, presence(f))
	}
	return jen.Index().Bool().Values(list...)
}

// written prints the function writtenT, which returns which known properties are written.
func written(t *ir.DataType) jen.Code {
	if !writesNulls(t) {
		return jen.Null()
	}
	others, has := otherKeys(t, jen.Lit(0))
	call := jen.Id("keys"+t.Go).Dot("Written").Call(present(t), others, has)
	return jen.Func().Id("written" + t.Go).Params(jen.Id("v").Op("*").Id(t.Go)).Index().Bool().Block(jen.Return(call)).Line()
}

// otherKeys is the number of a struct's keys that are no properties, none unless they are kept, and what tells of each
// whether it is there.
func otherKeys(t *ir.DataType, none jen.Code) (number, has jen.Code) {
	if t.Extra == nil {
		return none, jen.Nil()
	}
	extra := jen.Id("v").Dot(t.ExtraGo)
	return jen.Len(extra), chk("Has").Call(extra)
}

// presence is the condition that a property will be written.
func presence(f *ir.DataField) jen.Code {
	switch {
	case f.Const != nil:
		return jen.Lit(f.Required)
	case f.Required, f.Default != nil && f.Type.Null:
		return jen.True()
	}
	return isSet(f)
}

// isSet is the condition that the field of an optional property has a value other than the one that means absent.
func isSet(f *ir.DataField) *jen.Statement {
	x := jen.Id("v").Dot(f.Go)
	if !f.OmitZero {
		return notNil(x)
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
		return []jen.Code{jen.If(isSet(f).Op("||").Add(onChecker("Decoded"))).Block(inner...)}
	case f.OmitZero:
		return []jen.Code{jen.If(isSet(f)).Block(inner...)}
	default:
		return []jen.Code{jen.If(notNil(x)).Block(inner...)}
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
	return []jen.Code{jen.If(notNil(x)).Block(inner...)}
}

// checksOf checks the value at a place, which is not null. It is empty when there is nothing to check.
func (p *dataPackage) checksOf(r *ir.DataRef, x place, depth int) []jen.Code {
	c := r.Checks
	if c == nil {
		c = &ir.Checks{}
	}
	switch r.Kind {
	case ir.DataAny:
		return append([]jen.Code{onChecker("Any", x.val)}, listedChecks(c, x.val)...)
	case ir.DataBool:
		return valueChecks(c, x.val)
	case ir.DataTime:
		return []jen.Code{onChecker("Time", x.val)}
	case ir.DataDate:
		return []jen.Code{onChecker("Date", x.val)}
	case ir.DataString:
		return append([]jen.Code{onChecker("Text", x.val)}, p.scalarChecks(c, x.val)...)
	case ir.DataNumber:
		return append([]jen.Code{onChecker("Finite", x.val)}, p.scalarChecks(c, x.val)...)
	case ir.DataInt32, ir.DataInt64, ir.DataUint32, ir.DataUint64:
		return p.scalarChecks(c, x.val)
	case ir.DataList:
		return p.listChecks(r, c, x.val, depth)
	case ir.DataMap:
		keys := members()
		p.keyChecks(keys, c)
		checks := chk("MapKeys").Call(jen.Id("c"), jen.Op("&").Add(chk("Keys")).Values(keys.code()...), x.val)
		return append([]jen.Code{checks}, p.checkEntries(r.Elem, x.val, depth)...)
	case ir.DataNamed:
		return p.namedChecks(r, c, x)
	}
	return nil
}

func (p *dataPackage) namedChecks(r *ir.DataRef, c *ir.Checks, x place) []jen.Code {
	if isUnion(r) {
		return []jen.Code{jen.Id("check"+r.Name).Call(jen.Id("c"), x.val)}
	}
	body := []jen.Code{jen.Id("check"+r.Name).Call(jen.Id("c"), x.ptr)}
	if r.Checks == nil {
		return body
	}
	return append(body, p.scalarChecks(c, dataScalars[r.Type.Base].goType().Call(x.val))...)
}

// scalarChecks checks a string or number.
func (p *dataPackage) scalarChecks(c *ir.Checks, x jen.Code) []jen.Code {
	return append(p.limitChecks(c, x), valueChecks(c, x)...)
}

// limitChecks checks the limits on x: a value, or the size of a list.
func (p *dataPackage) limitChecks(c *ir.Checks, x jen.Code) []jen.Code {
	var body []jen.Code
	for _, limit := range c.Limits {
		arg := jen.Code(jen.Op(limit.Arg))
		switch limit.Form {
		case ir.ArgElements:
			continue
		case ir.ArgText:
			arg = jen.Lit(limit.Arg)
		case ir.ArgPattern:
			arg = p.pattern(limit.Arg)
		}
		switch owner, name, _ := strings.Cut(limit.Check, "."); owner {
		case "c":
			body = append(body, onChecker(name, x, arg))
		case "format":
			body = append(body, jen.Qual(formatPath, name).Call(jen.Id("c"), x, arg))
		default:
			body = append(body, chk(limit.Check).Call(jen.Id("c"), x, arg))
		}
	}
	return body
}

// listedChecks checks that raw JSON is one of a few values.
func listedChecks(c *ir.Checks, x jen.Code) []jen.Code {
	if len(c.Values) == 0 {
		return nil
	}
	texts := rawTexts(c.Values)
	return []jen.Code{onChecker("Listed", append([]jen.Code{x, jen.Lit(choice(texts))}, lits(texts)...)...)}
}

// valueChecks checks that a scalar is one of a few.
func valueChecks(c *ir.Checks, x jen.Code) []jen.Code {
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

func (p *dataPackage) listChecks(r *ir.DataRef, c *ir.Checks, x *jen.Statement, depth int) []jen.Code {
	body := p.limitChecks(c, jen.Len(x))
	i := jen.Id("i" + strconv.Itoa(depth))
	if inner := p.checkElem(r.Elem, jen.Add(x).Index(i), depth+1); len(inner) > 0 {
		body = append(body, checkEach(i, x, inner...))
	}
	if len(r.Prefix) > 0 {
		body = append(body, checkEach(i, x, p.placeChecks(r, x, i, depth)))
	}
	for _, limit := range c.Limits {
		if limit.Form == ir.ArgElements {
			body = append(body, chk(limit.Check).Call(jen.Id("c"), x, p.elementWriter(r, depth)))
		}
	}
	return body
}

// checkEach checks the elements of a list by index.
func checkEach(i, x jen.Code, checks ...jen.Code) jen.Code {
	checks = slices.Concat([]jen.Code{onChecker("Index", i)}, checks, []jen.Code{onChecker("Leave")})
	return jen.For(jen.Add(i).Op(":=").Range().Add(x)).Block(checks...)
}

// elementWriter is a function that appends an element of a list as JSON.
func (p *dataPackage) elementWriter(r *ir.DataRef, depth int) *jen.Statement {
	body := append(p.writeOrNull(r.Elem, jen.Id("e"), depth+1), jen.Return(jen.Id("b")))
	elem := jen.Id("e").Add(dataTypeOrNull(r.Elem))
	return jen.Func().Params(jen.Id("b").Index().Byte(), elem).Index().Byte().Block(body...)
}

// placeChecks checks an element by its place.
func (p *dataPackage) placeChecks(r *ir.DataRef, x, i *jen.Statement, depth int) jen.Code {
	check := func(place *ir.DataRef) jen.Code {
		checks := jen.Func().Params(checkerParam(), jen.Id("e").Add(dataTypeOrNull(place))).
			Block(p.checkElem(place, jen.Id("e"), depth+1)...)
		return chk("Place").Call(jen.Id("c"), jen.Add(x).Index(i), p.elementWriter(r, depth), readFunction(place), checks)
	}
	var cases []jen.Code
	for n, place := range r.Prefix {
		cases = append(cases, jen.Case(jen.Lit(n)).Block(check(place)))
	}
	if r.Rest != nil {
		cases = append(cases, jen.Default().Block(check(r.Rest)))
	}
	return jen.Switch(i).Block(cases...)
}

// eachEntry goes over the entries of a map, sorted by name, so that equal values give equal bytes and errors.
func eachEntry(x, k, e jen.Code, body ...jen.Code) jen.Code {
	return jen.For(jen.List(jen.Id("_"), k).Op(":=").Range().Add(chk("Names")).Call(x)).
		Block(append([]jen.Code{jen.Add(e).Op(":=").Add(x).Index(k)}, body...)...)
}

// checkEntries checks the values of a map.
func (p *dataPackage) checkEntries(elem *ir.DataRef, x jen.Code, depth int) []jen.Code {
	k, e := jen.Id("k"+strconv.Itoa(depth)), jen.Id("e"+strconv.Itoa(depth))
	inner := p.checkElem(elem, e, depth+1)
	if len(inner) == 0 {
		return nil
	}
	body := slices.Concat([]jen.Code{onChecker("Enter", k)}, inner, []jen.Code{onChecker("Leave")})
	each := jen.Range().Add(chk("Entries")).Call(jen.Id("c"), x)
	return []jen.Code{jen.For(jen.List(k, e).Op(":=").Add(each)).Block(body...)}
}

// typeSwitch is a switch over the cases of a union called v.
func typeSwitch(cases ...jen.Code) jen.Code {
	return jen.Switch(jen.Id("v").Op(":=").Id("v").Assert(jen.Type())).Block(cases...)
}

// checkUnion prints the function that checks whichever case there is.
func checkUnion(t *ir.DataType) jen.Code {
	var cases []jen.Code
	for _, c := range goCases(t) {
		check := func(arg jen.Code) jen.Code { return jen.Id("check"+c.Go).Call(jen.Id("c"), arg) }
		body := []jen.Code{check(jen.Op("&").Id("v"))}
		if caseIsPtr(c.Type) {
			body = []jen.Code{jen.If(isNil(jen.Id("v"))).Block(onChecker("NotSet"), jen.Return()), check(jen.Id("v"))}
		}
		cases = append(cases, jen.Case(dataCase(c.Type)).Block(body...))
	}
	body := []jen.Code{typeSwitch(append(cases, jen.Default().Block(onChecker("NotSet")))...)}
	if tried(t) {
		body = append(body, chk("Alone").Call(jen.Id("c"), jen.Id("v"), jen.Id("write"+t.Go), jen.Id("read"+t.Go)))
	}
	return jen.Func().Id("check"+t.Go).Params(checkerParam(), jen.Id("v").Id(t.Go)).Block(body...).Line()
}
