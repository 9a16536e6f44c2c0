package emit

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

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

func readerParam() *jen.Statement { return jen.Id("r").Op("*").Add(chk("Reader")) }

// onReader is a call of a method of the reader.
func onReader(method string, args ...jen.Code) *jen.Statement {
	return jen.Id("r").Dot(method).Call(args...)
}

// readData prints the function readT of a type that is no union.
func readData(t *ir.DataType) jen.Code {
	head := jen.Func().Id("read" + t.Go).Params(readerParam())
	var value *jen.Statement
	switch t.Kind {
	case ir.DataStruct:
		return head.Params(jen.Id("v").Id(t.Go)).Block(readStruct(t)...).Line()
	case ir.DataEnum:
		value = jen.Id(t.Go).Call(readCall(&ir.DataRef{Kind: t.Base}))
	case ir.DataWrapper:
		value = jen.Id(t.Go).Values(*members("Value", readCall(t.Of))...)
	default:
		value = jen.Id(t.Go).Call(readCall(t.Of))
	}
	return head.Id(t.Go).Block(jen.Return(value)).Line()
}

// readCall reads the next value of r.
func readCall(r *ir.DataRef) *jen.Statement {
	if r.Null && r.Kind != ir.DataAny {
		helper := "OrNull"
		if isPtr(r) {
			helper = "PtrOrNull"
		}
		plain := *r
		plain.Null = false
		return chk(helper).Call(jen.Id("r"), readFunction(&plain))
	}
	switch r.Kind {
	case ir.DataList:
		return chk("List").Call(jen.Id("r"), readFunction(r.Elem))
	case ir.DataMap:
		return chk("Map").Call(jen.Id("r"), readFunction(r.Elem))
	case ir.DataNamed:
		return jen.Id("read" + r.Name).Call(jen.Id("r"))
	}
	return onReader(dataScalars[r.Kind].read)
}

// readFunction is a function from a reader to the Go type of r.
func readFunction(r *ir.DataRef) *jen.Statement {
	if !r.Null || r.Kind == ir.DataAny {
		if s, ok := dataScalars[r.Kind]; ok {
			return jen.Parens(jen.Op("*").Add(chk("Reader"))).Dot(s.read)
		}
		if r.Kind == ir.DataNamed {
			return jen.Id("read" + r.Name)
		}
	}
	return readerFunc(dataTypeOrNull(r), readCall(r))
}

// readerFunc is a function that returns what it reads.
func readerFunc(result, value jen.Code) *jen.Statement {
	return jen.Func().Params(readerParam()).Add(result).Block(jen.Return(value))
}

// fieldCall reads a property into its field.
func fieldCall(f *ir.DataField) *jen.Statement {
	if f.Pointer {
		return chk("Ptr").Call(jen.Id("r"), readFunction(&f.Type))
	}
	return readCall(&f.Type)
}

func readStruct(t *ir.DataType) []jen.Code {
	seen := func(i int) *jen.Statement { return jen.Id("seen").Index(jen.Lit(i)) }
	body := []jen.Code{
		jen.If(jen.Op("!").Add(onReader("IsObject"))).Block(jen.Return(jen.Id("v"))),
		jen.Var().Id("seen").Index(jen.Lit(len(t.Fields))).Bool(),
	}
	if t.Extra == nil {
		body = append(body, jen.Id("others").Op(":=").Lit(0))
	}
	var cases, defaults []jen.Code
	for i, f := range t.Fields {
		cases = append(cases, jen.Case(jen.Lit(f.Name)).Block(
			jen.If(onReader("Field", jen.Op("&").Add(seen(i)))).Block(readField(f)),
		))
		if f.Default != nil {
			absent := jen.Op("!").Add(seen(i))
			read := readFunction(&f.Type)
			if f.Pointer {
				read = readerFunc(jen.Op("*").Add(dataType(&f.Type)), fieldCall(f))
			}
			defaults = append(defaults, jen.If(absent).Block(jen.Id("v").Dot(f.Go).Op("=").Add(chk("Default").Call(jen.Lit(string(f.Default)), read))))
		}
	}
	others, has := otherKeys(t, jen.Id("others"))
	body = append(body,
		eachMember(append(cases, jen.Default().Block(readOther(t)...))...),
		onReader("Keys", jen.Op("&").Id("keys"+t.Go), jen.Id("seen").Index(jen.Op(":")), others, has),
	)
	return append(append(body, defaults...), jen.Return(jen.Id("v")))
}

// eachMember reads an object, each member in its case.
func eachMember(cases ...jen.Code) jen.Code {
	return jen.For(
		jen.List(jen.Id("key"), jen.Id("ok")).Op(":=").Add(onReader("Object")), jen.Id("ok"),
		jen.List(jen.Id("key"), jen.Id("ok")).Op("=").Add(onReader("Next")),
	).Block(jen.Switch(jen.String().Call(jen.Id("key"))).Block(cases...))
}

func readField(f *ir.DataField) jen.Code {
	if f.Const != nil {
		return onReader("Const", jen.Lit(string(f.Const)))
	}
	return jen.Id("v").Dot(f.Go).Op("=").Add(fieldCall(f))
}

// readOther reads a property that has no field.
func readOther(t *ir.DataType) []jen.Code {
	if t.Extra != nil {
		extra := jen.Op("&").Id("v").Dot(t.ExtraGo)
		return []jen.Code{chk("Extra").Call(jen.Id("r"), extra, jen.Id("key"), readFunction(t.Extra))}
	}
	return []jen.Code{jen.Id("others").Op("++"), onReader("Unknown", jen.Id("key"), jen.Op("&").Id("keys"+t.Go))}
}

// readUnion prints the function that reads the case which JSON type and discriminating property choose, or which fits.
func readUnion(t *ir.DataType) jen.Code {
	var keyed []*ir.DataCase
	var cases []jen.Code
	for _, g := range caseGroups(t) {
		if len(g.cases[0].Keys) > 0 {
			keyed = g.cases
			continue
		}
		var types []jen.Code
		for _, name := range g.types {
			types = append(types, chk(name))
		}
		cases = append(cases, jen.Case(types...).Block(jen.Return(readGroup(t, g.cases))))
	}
	if len(keyed) > 0 {
		cases = append(cases, jen.Case(chk("TypeObject")).Block(readKeyed(t, keyed)...))
	}
	return jen.Func().Id("read"+t.Go).Params(readerParam()).Id(t.Go).Block(
		jen.Switch(onReader("Type")).Block(cases...), onReader("NoCase", jen.Lit(caseList(t))), jen.Return(jen.Nil()),
	).Line()
}

// caseGroup are the cases that values of some JSON types may be.
type caseGroup struct {
	types []string // constants of runtime/gen/check
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
func readGroup(t *ir.DataType, cases []*ir.DataCase) jen.Code {
	if len(cases) == 1 {
		return readCase(cases[0])
	}
	args := []jen.Code{jen.Id("r"), jen.Lit(t.Go), jen.Lit(t.One), jen.Id("check" + t.Go)}
	for _, c := range cases {
		args = append(args, readerFunc(jen.Id(t.Go), readCase(c)))
	}
	return chk("Either").Call(args...)
}

// tried reports whether some value may fit several cases of a union although it must fit only one.
func tried(t *ir.DataType) bool {
	return t.One && slices.ContainsFunc(caseGroups(t), func(g caseGroup) bool {
		return len(g.cases) > 1 && len(g.cases[0].Keys) == 0
	})
}

func readKeyed(t *ir.DataType, objects []*ir.DataCase) []jen.Code {
	var want []string
	var cases []jen.Code
	for _, c := range objects {
		keys := rawTexts(c.Keys)
		want = append(want, keys...)
		cases = append(cases, jen.Case(lits(keys)...).Block(jen.Return(readCase(c))))
	}
	by := jen.Lit(t.By)
	return []jen.Code{
		jen.Switch(onReader("Key", by)).Block(cases...), onReader("NoKey", by, jen.Lit(choice(want))), jen.Return(jen.Nil()),
	}
}

func readCase(c *ir.DataCase) jen.Code {
	if caseIsPtr(c.Type) {
		return chk("Ptr").Call(jen.Id("r"), jen.Id("read"+c.Go))
	}
	return jen.Id("read" + c.Go).Call(jen.Id("r"))
}

// jsonTypes are the constants of runtime/gen/check for the JSON types of a case: integers are numbers.
func jsonTypes(c *ir.DataCase) []string {
	var names []string
	for _, t := range c.Types {
		name := map[string]string{
			"boolean": "TypeBoolean", "integer": "TypeNumber", "number": "TypeNumber", "string": "TypeString",
			"object": "TypeObject", "array": "TypeArray", "null": "TypeNull",
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
