package emit

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
)

// place is where a value stands in emitted code: the expression of its value and that of its address.
type place struct{ val, ptr string }

// at is the place of an addressable expression.
func at(x string) place { return place{val: x, ptr: "&" + x} }

// deref is the place that a pointer expression points to.
func deref(x string) place { return place{val: "*" + x, ptr: x} }

// keys prints the table of a struct's keys.
func (p *dataPackage) keys(t *ir.DataType) string {
	if t.Kind != ir.DataStruct {
		return ""
	}
	entries := p.keyEntries(t.Checks)
	var names, required []string
	any := false
	for _, f := range t.Fields {
		names = append(names, f.Name)
		required = append(required, strconv.FormatBool(f.Required))
		any = any || f.Required
	}
	if len(names) > 0 {
		entries = append(entries, entry{"Names", texts(names)})
	}
	if any {
		entries = append(entries, entry{"Required", list("[]bool", required)})
	}
	if t.Closed {
		entries = append(entries, entry{"Closed", "true"})
	}
	return "var keys" + t.Go + " = " + composite(p.chk("Keys"), entries...)
}

// keyEntries is what checks say about the keys of an object.
func (p *dataPackage) keyEntries(c *ir.Checks) []entry {
	if c == nil {
		return nil
	}
	var entries []entry
	for _, limit := range c.Limits {
		n := limit.Arg
		if n == "0" { // in Keys that is no limit
			n = "-1"
		}
		entries = append(entries, entry{limit.Check, n})
	}
	if len(c.Required) > 0 {
		entries = append(entries, entry{"Others", texts(c.Required)})
	}
	if len(c.DependentRequired) > 0 {
		var each []string
		for _, dep := range c.DependentRequired {
			each = append(each, composite("", entry{"If", strconv.Quote(dep.If)}, entry{"Then", texts(dep.Then)}))
		}
		entries = append(entries, entry{"Dependents", list("[]"+p.chk("Dependent"), each)})
	}
	if len(c.Groups) > 0 {
		var each []string
		for _, group := range c.Groups {
			each = append(each, groupLiteral(group))
		}
		entries = append(entries, entry{"Groups", list("[]"+p.chk("Group"), each)})
	}
	if c.PropertyNames != nil {
		ref := &ir.DataRef{Kind: ir.DataString, Checks: c.PropertyNames}
		entries = append(entries, entry{"Name", block("func(c *"+p.chk("Checker")+", name string)", p.checksOf(ref, at("name"), 0)...)})
	}
	return entries
}

func groupLiteral(group ir.KeyGroup) string {
	var sets []string
	for _, set := range group.Sets {
		sets = append(sets, list("", quotedAll(set)))
	}
	entries := []entry{{"Sets", list("[][]string", sets)}}
	if group.One {
		entries = append(entries, entry{"One", "true"})
	}
	return composite("", entries...)
}

// check prints the function checkT of a type that is no union.
func (p *dataPackage) check(t *ir.DataType) string {
	p.locals = map[string]int{}
	var body []string
	switch t.Kind {
	case ir.DataStruct:
		body = p.checkStruct(t)
	case ir.DataEnum:
		body = p.checkEnum(t)
	case ir.DataWrapper:
		body = p.checkMember(&ir.DataField{Required: true, Type: *t.Of}, "v.Value")
	default:
		if inner := p.checksOf(t.Of, at("x"), 0); len(inner) > 0 {
			body = append([]string{"x := " + call(p.goType(t.Of), "*v")}, inner...)
		}
	}
	return block("func check"+t.Go+"(c *"+p.chk("Checker")+", v *"+t.Go+")", body...)
}

func (p *dataPackage) checkEnum(t *ir.DataType) []string {
	var texts, values []string
	for _, v := range t.Values {
		texts = append(texts, string(v.Value))
		values = append(values, v.Go)
	}
	var body []string
	if !t.Open {
		body = append(body, call(p.chk("OneOf"), append([]string{"c", "*v", strconv.Quote(choice(texts))}, values...)...))
	}
	if t.Checks != nil || t.Open {
		ref := &ir.DataRef{Kind: t.Base, Checks: t.Checks}
		if inner := p.checksOf(ref, at("x"), 0); len(inner) > 0 {
			body = append(append(body, "x := "+call(dataScalars[t.Base], "*v")), inner...)
		}
	}
	return body
}

func (p *dataPackage) checkStruct(t *ir.DataType) []string {
	var body []string
	if c := t.Checks; c != nil && len(c.Limits)+len(c.Required)+len(c.DependentRequired)+len(c.Groups) > 0 {
		var present []string
		for _, f := range t.Fields {
			present = append(present, presence(f))
		}
		others, has := "0", "nil"
		if t.Extra != nil {
			others, has = call("len", "v."+t.ExtraGo), call(p.chk("Has"), "v."+t.ExtraGo)
		}
		body = append(body, call("c.Keys", "&keys"+t.Go, list("[]bool", present), others, has))
	}
	for _, f := range t.Fields {
		if f.Const != nil {
			continue
		}
		if inner := p.checkMember(f, "v."+f.Go); len(inner) > 0 {
			body = append(body, call("c.Enter", strconv.Quote(f.Name)))
			body = append(body, inner...)
			body = append(body, "c.Leave()")
		}
	}
	if t.Extra != nil {
		extra := "v." + t.ExtraGo
		body = append(body, call(p.chk("EachName"), "c", "&keys"+t.Go, extra))
		body = append(body, p.checkEntries(t.Extra, extra, 0)...)
	}
	return body
}

// presence tells whether a property will be written.
func presence(f *ir.DataField) string {
	switch {
	case f.Const != nil:
		return strconv.FormatBool(f.Required)
	case f.Required, f.Default != nil && f.Type.Null:
		return "true"
	}
	return isSet(f)
}

// isSet tells whether the field of an optional property is not at what means absent.
func isSet(f *ir.DataField) string {
	x := "v." + f.Go
	if !f.OmitZero {
		return x + " != nil"
	}
	kind := f.Type.Kind
	if kind == ir.DataNamed {
		kind = f.Type.Type.Base
	}
	switch kind {
	case ir.DataTime, ir.DataDate:
		return "!" + x + ".IsZero()"
	case ir.DataString:
		return x + ` != ""`
	case ir.DataBool:
		return x
	}
	return x + " != 0"
}

// checkMember checks a field, its absence considered.
func (p *dataPackage) checkMember(f *ir.DataField, x string) []string {
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
		return []string{block("if "+isSet(f)+" || c.Decoded()", inner...)}
	case f.OmitZero:
		return []string{block("if "+isSet(f), inner...)}
	default:
		return []string{block("if "+x+" != nil", inner...)}
	}
	return inner
}

func isUnion(r *ir.DataRef) bool { return r.Kind == ir.DataNamed && r.Type.Kind == ir.DataUnion }

// checkElem checks an element of a list or map.
func (p *dataPackage) checkElem(r *ir.DataRef, x string, depth int) []string {
	where := at(x)
	if isPtr(r) {
		where = deref(x)
	}
	inner := p.checksOf(r, where, depth)
	if len(inner) == 0 || !r.Null {
		return inner
	}
	return []string{block("if "+x+" != nil", inner...)}
}

// checksOf checks the value at a place, which is not null. It is empty when there is nothing to check.
func (p *dataPackage) checksOf(r *ir.DataRef, x place, depth int) []string {
	c := r.Checks
	if c == nil {
		c = &ir.Checks{}
	}
	switch r.Kind {
	case ir.DataAny:
		return append([]string{call("c.Any", x.val)}, p.listedChecks(c, x.val)...)
	case ir.DataBool:
		return p.values(c, x.val)
	case ir.DataTime:
		return []string{call("c.Time", x.val)}
	case ir.DataDate:
		return []string{call("c.Date", x.val)}
	case ir.DataString:
		return append([]string{call("c.Text", x.val)}, p.scalarChecks(c, x.val)...)
	case ir.DataNumber:
		return append([]string{call("c.Finite", x.val)}, p.scalarChecks(c, x.val)...)
	case ir.DataInt32, ir.DataInt64, ir.DataUint32, ir.DataUint64:
		return p.scalarChecks(c, x.val)
	case ir.DataList:
		return p.listChecks(r, c, x.val, depth)
	case ir.DataMap:
		keys := composite("&"+p.chk("Keys"), p.keyEntries(c)...)
		return append([]string{call(p.chk("MapKeys"), "c", keys, x.val)}, p.checkEntries(r.Elem, x.val, depth)...)
	case ir.DataNamed:
		return p.namedChecks(r, c, x)
	}
	return nil
}

func (p *dataPackage) namedChecks(r *ir.DataRef, c *ir.Checks, x place) []string {
	if isUnion(r) {
		return []string{call("check"+r.Name, "c", x.val)}
	}
	body := []string{call("check"+r.Name, "c", x.ptr)}
	if r.Checks == nil {
		return body
	}
	return append(body, p.scalarChecks(c, call(dataScalars[r.Type.Base], x.val))...)
}

// scalarChecks checks a string or number.
func (p *dataPackage) scalarChecks(c *ir.Checks, x string) []string {
	return append(p.limitChecks(c, x), p.values(c, x)...)
}

// limitChecks checks the limits on x: a value, or the size of a list.
func (p *dataPackage) limitChecks(c *ir.Checks, x string) []string {
	var body []string
	for _, limit := range c.Limits {
		arg := number(limit.Arg)
		switch limit.Form {
		case ir.ArgElements:
			continue
		case ir.ArgText:
			arg = strconv.Quote(limit.Arg)
		case ir.ArgPattern:
			arg = p.pattern(limit.Arg)
		}
		if strings.HasPrefix(limit.Check, "c.") {
			body = append(body, call(limit.Check, x, arg))
		} else {
			body = append(body, call(p.chk(limit.Check), "c", x, arg))
		}
	}
	return body
}

// listedChecks checks that raw JSON is one of a few values.
func (p *dataPackage) listedChecks(c *ir.Checks, x string) []string {
	if len(c.Values) == 0 {
		return nil
	}
	texts := rawTexts(c.Values)
	return []string{call("c.Listed", append([]string{x, strconv.Quote(choice(texts))}, quotedAll(texts)...)...)}
}

// values checks that a scalar is one of a few.
func (p *dataPackage) values(c *ir.Checks, x string) []string {
	if len(c.Values) == 0 {
		return nil
	}
	args := []string{"c", x, strconv.Quote(choice(rawTexts(c.Values)))}
	for _, v := range c.Values {
		args = append(args, dataLiteral(v))
	}
	return []string{call(p.chk("OneOf"), args...)}
}

func rawTexts(values []json.RawMessage) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}

func (p *dataPackage) listChecks(r *ir.DataRef, c *ir.Checks, x string, depth int) []string {
	body := p.limitChecks(c, call("len", x))
	i := "i" + strconv.Itoa(depth)
	if inner := p.checkElem(r.Elem, x+"["+i+"]", depth+1); len(inner) > 0 {
		each := append([]string{call("c.Index", i)}, inner...)
		body = append(body, block("for "+i+" := range "+x, append(each, "c.Leave()")...))
	}
	body = append(body, p.placeChecks(r, x, i, depth)...)
	for _, limit := range c.Limits {
		if limit.Form == ir.ArgElements {
			body = append(body, call(p.chk(limit.Check), "c", x, p.elementWriter(r, depth)))
		}
	}
	return body
}

// elementWriter is a function that appends an element of a list as JSON.
func (p *dataPackage) elementWriter(r *ir.DataRef, depth int) string {
	return block("func(b []byte, e "+p.goTypeOrNull(r.Elem)+") []byte", append(p.writeOrNull(r.Elem, "e", depth+1), "return b")...)
}

// placeChecks checks the elements of a list by their places.
func (p *dataPackage) placeChecks(r *ir.DataRef, x, i string, depth int) []string {
	if len(r.Prefix) == 0 {
		return nil
	}
	var arms []string
	for n, place := range r.Prefix {
		arms = append(arms, arm("case "+strconv.Itoa(n), p.placeCheck(r, place, x+"["+i+"]", depth)))
	}
	if r.Rest != nil {
		arms = append(arms, arm("default", p.placeCheck(r, r.Rest, x+"["+i+"]", depth)))
	}
	return []string{block("for "+i+" := range "+x, call("c.Index", i), choose(i, arms...), "c.Leave()")}
}

func (p *dataPackage) placeCheck(r, place *ir.DataRef, x string, depth int) string {
	write := p.elementWriter(r, depth)
	check := block("func(c *"+p.chk("Checker")+", e "+p.goTypeOrNull(place)+")", p.checkElem(place, "e", depth+1)...)
	return call(p.chk("Place"), "c", x, write, p.readFunction(place), check)
}

// checkEntries checks the values of a map.
func (p *dataPackage) checkEntries(elem *ir.DataRef, x string, depth int) []string {
	k, e := "k"+strconv.Itoa(depth), "e"+strconv.Itoa(depth)
	inner := p.checkElem(elem, e, depth+1)
	if len(inner) == 0 {
		return nil
	}
	body := append([]string{e + " := " + x + "[" + k + "]", call("c.Enter", k)}, inner...)
	return []string{block("for _, "+k+" := range "+call(p.chk("Names"), x), append(body, "c.Leave()")...)}
}

// checkUnion prints the function that checks whichever case there is.
func (p *dataPackage) checkUnion(t *ir.DataType) string {
	var arms []string
	for _, c := range goCases(t) {
		if caseIsPtr(c.Type) {
			arms = append(arms, arm("case *"+c.Go, block("if v == nil", "c.NotSet()", "return"), call("check"+c.Go, "c", "v")))
			continue
		}
		arms = append(arms, arm("case "+c.Go, call("check"+c.Go, "c", "&v")))
	}
	arms = append(arms, arm("default", "c.NotSet()"))
	body := []string{choose("v := v.(type)", arms...)}
	if tried(t) {
		body = append(body, call(p.chk("Alone"), "c", "v", "write"+t.Go, "read"+t.Go))
	}
	return block("func check"+t.Go+"(c *"+p.chk("Checker")+", v "+t.Go+")", body...)
}
