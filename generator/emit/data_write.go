package emit

import (
	"strconv"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/wire"
)

// write prints the function writeT of a type that is no union. What it writes has been checked.
func (p *dataPackage) write(t *ir.DataType) string {
	p.locals = map[string]int{}
	var body []string
	switch t.Kind {
	case ir.DataStruct:
		body = p.writeStruct(t)
	case ir.DataEnum:
		body = p.writeValue(&ir.DataRef{Kind: t.Base}, at(call(dataScalars[t.Base], "*v")), 0)
	case ir.DataWrapper:
		body = p.writeOrNull(t.Of, "v.Value", 0)
	default:
		body = append([]string{"x := " + call(p.goType(t.Of), "*v")}, p.writeOrNull(t.Of, "x", 0)...)
	}
	if t.Kind != ir.DataStruct {
		body = append(body, "return b")
	}
	return block("func write"+t.Go+"(b []byte, v *"+t.Go+") []byte", body...)
}

func (p *dataPackage) writeStruct(t *ir.DataType) []string {
	body := []string{"start := len(b)"}
	for _, f := range t.Fields {
		body = append(body, p.writeField(f)...)
	}
	if t.Extra != nil {
		body = append(body, p.writeEntries(t.Extra, "v."+t.ExtraGo, 0)...)
	}
	return append(body, "return "+call(p.wire("EndObject"), "b", "start"))
}

func (p *dataPackage) writeField(f *ir.DataField) []string {
	key := string(wire.AppendKey(nil, f.Name))
	if f.Const != nil {
		if f.Required {
			return []string{appendText(key + string(f.Const))}
		}
		return nil
	}
	x := "v." + f.Go
	body := []string{appendText(key)}
	switch {
	case f.Required || f.Default != nil && f.Type.Null:
		return append(body, p.writeOrNull(&f.Type, x, 0)...)
	case f.Pointer || isPtr(&f.Type):
		body = append(body, p.writeValue(&f.Type, deref(x), 0)...)
	default:
		body = append(body, p.writeValue(&f.Type, at(x), 0)...)
	}
	return []string{block("if "+isSet(f), body...)}
}

// appendText appends constant text to b.
func appendText(text string) string { return "b = append(b, " + strconv.Quote(text) + "...)" }

// writeOrNull writes the value of x, which is nil for null if the reference has null.
func (p *dataPackage) writeOrNull(r *ir.DataRef, x string, depth int) []string {
	if !r.Null || r.Kind == ir.DataAny {
		return p.writeValue(r, at(x), depth)
	}
	where := at(x)
	if isPtr(r) {
		where = deref(x)
	}
	return []string{block(block("if "+x+" == nil", appendText("null"))+" else", p.writeValue(r, where, depth)...)}
}

// scalarWriters append the scalar kinds.
var scalarWriters = map[ir.DataKind]struct{ path, name string }{
	ir.DataAny: {checkPath, "AppendAny"}, ir.DataBool: {wirePath, "AppendBool"}, ir.DataString: {wirePath, "AppendString"},
	ir.DataBytes: {wirePath, "AppendBytes"}, ir.DataNumber: {wirePath, "AppendFloat64"}, ir.DataInt64: {wirePath, "AppendInteger"},
	ir.DataInt32: {wirePath, "AppendInt32"}, ir.DataUint32: {wirePath, "AppendUint32"}, ir.DataUint64: {checkPath, "AppendUint"},
	ir.DataTime: {checkPath, "AppendTime"}, ir.DataDate: {checkPath, "AppendDate"},
}

// writeValue writes the value at a place, which is not null.
func (p *dataPackage) writeValue(r *ir.DataRef, x place, depth int) []string {
	switch r.Kind {
	case ir.DataList:
		return p.writeList(r, x.val, depth)
	case ir.DataMap:
		start := p.local("start")
		body := append([]string{start + " := len(b)"}, p.writeEntries(r.Elem, x.val, depth)...)
		return append(body, "b = "+call(p.wire("EndObject"), "b", start))
	case ir.DataNamed:
		arg := x.ptr
		if isUnion(r) {
			arg = x.val
		}
		return []string{"b = " + call("write"+r.Name, "b", arg)}
	}
	w := scalarWriters[r.Kind]
	return []string{"b = " + call(p.qualified(w.path, w.name), "b", x.val)}
}

func (p *dataPackage) writeList(r *ir.DataRef, x string, depth int) []string {
	i := "i" + strconv.Itoa(depth)
	body := []string{block("if "+i+" > 0", "b = append(b, ',')")}
	body = append(body, p.writeOrNull(r.Elem, x+"["+i+"]", depth+1)...)
	return []string{"b = append(b, '[')", block("for "+i+" := range "+x, body...), "b = append(b, ']')"}
}

// writeEntries writes the members of a map, sorted by name, so that equal values give equal bytes.
func (p *dataPackage) writeEntries(elem *ir.DataRef, x string, depth int) []string {
	k, e := "k"+strconv.Itoa(depth), "e"+strconv.Itoa(depth)
	body := []string{e + " := " + x + "[" + k + "]", "b = " + call(p.wire("AppendKey"), "b", k)}
	body = append(body, p.writeOrNull(elem, e, depth+1)...)
	return []string{block("for _, "+k+" := range "+call(p.chk("Names"), x), body...)}
}

// writeUnion prints the function that writes whichever case there is.
func (p *dataPackage) writeUnion(t *ir.DataType) string {
	var arms []string
	for _, c := range goCases(t) {
		typ, arg := c.Go, "&v"
		if caseIsPtr(c.Type) {
			typ, arg = "*"+c.Go, "v"
		}
		arms = append(arms, arm("case "+typ, "return "+call("write"+c.Go, "b", arg)))
	}
	return block("func write"+t.Go+"(b []byte, v "+t.Go+") []byte", choose("v := v.(type)", arms...), `return append(b, "null"...)`)
}
