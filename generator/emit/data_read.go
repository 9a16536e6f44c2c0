package emit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
)

// jsonString returns the string that a JSON text is, if it is one.
func jsonString(text []byte) (string, bool) {
	var s string
	if len(text) == 0 || text[0] != '"' || json.Unmarshal(text, &s) != nil {
		return "", false
	}
	return s, true
}

// readerFunc is the head of a function that reads.
func (p *dataPackage) readerFunc(name, result string) string {
	return "func" + name + "(r *" + p.chk("Reader") + ") " + result
}

// read prints the function readT of a type that is no union.
func (p *dataPackage) read(t *ir.DataType) string {
	head := p.readerFunc(" read"+t.Go, t.Go)
	switch t.Kind {
	case ir.DataStruct:
		return block(p.readerFunc(" read"+t.Go, "(v "+t.Go+")"), p.readStruct(t)...)
	case ir.DataEnum:
		return block(head, "return "+call(t.Go, p.readCall(&ir.DataRef{Kind: t.Base})))
	case ir.DataWrapper:
		return block(head, "return "+composite(t.Go, entry{"Value", p.readCall(t.Of)}))
	}
	return block(head, "return "+call(t.Go, p.readCall(t.Of)))
}

// readCall reads the next value of r.
func (p *dataPackage) readCall(r *ir.DataRef) string {
	if r.Null && r.Kind != ir.DataAny {
		helper := "OrNull"
		if isPtr(r) {
			helper = "PtrOrNull"
		}
		plain := *r
		plain.Null = false
		return call(p.chk(helper), "r", p.readFunction(&plain))
	}
	switch r.Kind {
	case ir.DataList:
		return call(p.chk("List"), "r", p.readFunction(r.Elem))
	case ir.DataMap:
		return call(p.chk("Map"), "r", p.readFunction(r.Elem))
	case ir.DataNamed:
		return call("read"+r.Name, "r")
	}
	return call("r." + readerMethods[r.Kind])
}

// readerMethods read the scalar kinds.
var readerMethods = map[ir.DataKind]string{
	ir.DataAny: "Any", ir.DataBool: "Bool", ir.DataInt32: "Int32", ir.DataInt64: "Int64", ir.DataUint32: "Uint32", ir.DataUint64: "Uint64",
	ir.DataNumber: "Number", ir.DataString: "String", ir.DataBytes: "Bytes", ir.DataTime: "Time", ir.DataDate: "Date",
}

// readFunction is a function from a reader to the Go type of r.
func (p *dataPackage) readFunction(r *ir.DataRef) string {
	if !r.Null || r.Kind == ir.DataAny {
		if method, ok := readerMethods[r.Kind]; ok {
			return "(*" + p.chk("Reader") + ")." + method
		}
		if r.Kind == ir.DataNamed {
			return "read" + r.Name
		}
	}
	return block(p.readerFunc("", p.goTypeOrNull(r)), "return "+p.readCall(r))
}

// fieldCall reads a property into its field.
func (p *dataPackage) fieldCall(f *ir.DataField) string {
	if f.Pointer {
		return call(p.chk("Ptr"), "r", p.readFunction(&f.Type))
	}
	return p.readCall(&f.Type)
}

// defaultCall reads the default of a property.
func (p *dataPackage) defaultCall(f *ir.DataField) string {
	read := p.readFunction(&f.Type)
	if f.Pointer {
		read = block(p.readerFunc("", "*"+p.goType(&f.Type)), "return "+p.fieldCall(f))
	}
	return call(p.chk("Default"), strconv.Quote(string(f.Default)), read)
}

func (p *dataPackage) readStruct(t *ir.DataType) []string {
	body := []string{block("if !r.IsObject()", "return v"), fmt.Sprintf("var seen [%d]bool", len(t.Fields))}
	others, has := "others", "nil"
	if t.Extra == nil {
		body = append(body, "others := 0")
	} else {
		extra := "v." + t.ExtraGo
		others, has = call("len", extra), call(p.chk("Has"), extra)
	}
	var arms []string
	for i, f := range t.Fields {
		arms = append(arms, arm("case "+strconv.Quote(f.Name), block(fmt.Sprintf("if r.Field(&seen[%d])", i), p.readField(f))))
	}
	arms = append(arms, arm("default", p.readOther(t)...))
	body = append(body,
		block("for key, ok := r.Object(); ok; key, ok = r.Next()", choose("string(key)", arms...)),
		call("r.Keys", "&keys"+t.Go, "seen[:]", others, has),
	)
	for i, f := range t.Fields {
		if f.Default != nil {
			body = append(body, block(fmt.Sprintf("if !seen[%d]", i), "v."+f.Go+" = "+p.defaultCall(f)))
		}
	}
	return append(body, "return v")
}

func (p *dataPackage) readField(f *ir.DataField) string {
	if f.Const != nil {
		return call("r.Const", strconv.Quote(string(f.Const)))
	}
	return "v." + f.Go + " = " + p.fieldCall(f)
}

// readOther reads a property that has no field.
func (p *dataPackage) readOther(t *ir.DataType) []string {
	if t.Extra != nil {
		return []string{call(p.chk("Extra"), "r", "&v."+t.ExtraGo, "key", p.readFunction(t.Extra))}
	}
	return []string{"others++", call("r.Unknown", "key", "&keys"+t.Go)}
}

// readUnion prints the function that reads the case which JSON type and discriminating property choose, or which fits.
func (p *dataPackage) readUnion(t *ir.DataType) string {
	var keyed []*ir.DataCase
	var arms []string
	for _, g := range caseGroups(t) {
		if len(g.cases[0].Keys) > 0 {
			keyed = g.cases
			continue
		}
		var types []string
		for _, name := range g.types {
			types = append(types, p.chk(name))
		}
		arms = append(arms, arm("case "+strings.Join(types, ", "), "return "+p.readGroup(t, g.cases)))
	}
	if len(keyed) > 0 {
		arms = append(arms, arm("case "+p.chk("TypeObject"), p.readKeyed(t, keyed)...))
	}
	return block(p.readerFunc(" read"+t.Go, t.Go), choose("r.Type()", arms...), call("r.NoCase", strconv.Quote(caseList(t))), "return nil")
}

// caseGroup are the cases that values of some JSON types may be.
type caseGroup struct {
	types []string // constants of runtime/check
	cases []*ir.DataCase
}

// caseGroups lists the cases by JSON type, types of which the same cases may be together.
func caseGroups(t *ir.DataType) []caseGroup {
	var groups []caseGroup
	for _, c := range t.Cases {
		for _, name := range jsonTypes(c) {
			i := slices.IndexFunc(groups, func(g caseGroup) bool { return g.types[0] == name })
			if i < 0 {
				i, groups = len(groups), append(groups, caseGroup{types: []string{name}})
			}
			groups[i].cases = append(groups[i].cases, c)
		}
	}
	var merged []caseGroup
	for _, g := range groups {
		i := slices.IndexFunc(merged, func(m caseGroup) bool { return slices.Equal(m.cases, g.cases) })
		if i < 0 {
			merged = append(merged, g)
			continue
		}
		merged[i].types = append(merged[i].types, g.types...)
	}
	return merged
}

// readGroup reads the only case that there is, or the one that fits.
func (p *dataPackage) readGroup(t *ir.DataType, cases []*ir.DataCase) string {
	if len(cases) == 1 {
		return p.readCase(cases[0])
	}
	args := []string{"r", strconv.Quote(t.Go), strconv.FormatBool(t.One), "check" + t.Go}
	for _, c := range cases {
		args = append(args, block(p.readerFunc("", t.Go), "return "+p.readCase(c)))
	}
	return call(p.chk("Either"), args...)
}

// tried reports whether some value may fit several cases of a union although it must fit only one.
func tried(t *ir.DataType) bool {
	return t.One && slices.ContainsFunc(caseGroups(t), func(g caseGroup) bool { return len(g.cases) > 1 && len(g.cases[0].Keys) == 0 })
}

func (p *dataPackage) readKeyed(t *ir.DataType, objects []*ir.DataCase) []string {
	var want, arms []string
	for _, c := range objects {
		var keys []string
		for _, k := range c.Keys {
			keys = append(keys, string(k))
		}
		want = append(want, keys...)
		arms = append(arms, arm("case "+strings.Join(quotedAll(keys), ", "), "return "+p.readCase(c)))
	}
	by := strconv.Quote(t.By)
	return []string{choose(call("r.Key", by), arms...), call("r.NoKey", by, strconv.Quote(choice(want))), "return nil"}
}

func (p *dataPackage) readCase(c *ir.DataCase) string {
	if caseIsPtr(c.Type) {
		return call(p.chk("Ptr"), "r", "read"+c.Go)
	}
	return call("read"+c.Go, "r")
}

// jsonTypes are the constants of runtime/check for the JSON types of a case: integers are numbers.
func jsonTypes(c *ir.DataCase) []string {
	var names []string
	for _, t := range c.Types {
		name := map[string]string{
			"boolean": "TypeBoolean", "integer": "TypeNumber", "number": "TypeNumber", "string": "TypeString", "object": "TypeObject", "array": "TypeArray",
			"null": "TypeNull",
		}[t]
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

// caseList says which JSON types a union takes.
func caseList(t *ir.DataType) string {
	var names []string
	for _, c := range t.Cases {
		for _, name := range c.Types {
			article := "a "
			if strings.ContainsAny(name[:1], "aio") {
				article = "an "
			}
			if name = article + name; len(names) == 0 || names[len(names)-1] != name {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " or ")
}

// choice lists valid values for a message, the first ones when there are many.
func choice(values []string) string {
	values = slices.Clone(values)
	for i, v := range values {
		if rs := []rune(v); len(rs) > 60 {
			values[i] = string(rs[:60]) + "…"
		}
	}
	switch n := len(values); {
	case n == 1:
		return values[0]
	case n <= 12:
		return "one of " + strings.Join(values, ", ")
	default:
		return "one of " + strings.Join(values[:10], ", ") + ", …"
	}
}
