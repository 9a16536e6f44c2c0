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

func readerParam() jen.Code { return jen.Id("r").Op("*").Add(chk("Reader")) }

// read prints the function readT of a type that is no union.
func (p *dataPackage) read(t *ir.DataType) jen.Code {
	f := jen.Func().Id("read" + t.Go).Params(readerParam())
	switch t.Kind {
	case ir.DataStruct:
		return f.Params(jen.Id("v").Id(t.Go)).BlockFunc(func(g *jen.Group) { p.readStruct(g, t) }).Line()
	case ir.DataEnum:
		return f.Id(t.Go).Block(jen.Return(jen.Id(t.Go).Call(readCall(&ir.DataRef{Kind: t.Base})))).Line()
	case ir.DataWrapper:
		return f.Id(t.Go).Block(jen.Return(jen.Id(t.Go).Values(jen.Dict{jen.Id("Value"): readCall(t.Of)}))).Line()
	}
	return f.Id(t.Go).Block(jen.Return(jen.Id(t.Go).Call(readCall(t.Of)))).Line()
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
	return jen.Id("r").Dot(readerMethods[r.Kind]).Call()
}

// readerMethods read the scalar kinds.
var readerMethods = map[ir.DataKind]string{
	ir.DataAny: "Any", ir.DataBool: "Bool", ir.DataInt32: "Int32", ir.DataInt64: "Int64", ir.DataUint32: "Uint32", ir.DataUint64: "Uint64",
	ir.DataNumber: "Number", ir.DataString: "String", ir.DataBytes: "Bytes", ir.DataTime: "Time", ir.DataDate: "Date",
}

// readFunction is a function from a reader to the Go type of r.
func readFunction(r *ir.DataRef) *jen.Statement {
	if !r.Null || r.Kind == ir.DataAny {
		if method, ok := readerMethods[r.Kind]; ok {
			return jen.Parens(jen.Op("*").Add(chk("Reader"))).Dot(method)
		}
		if r.Kind == ir.DataNamed {
			return jen.Id("read" + r.Name)
		}
	}
	return jen.Func().Params(readerParam()).Add(dataTypeOrNull(r)).Block(jen.Return(readCall(r)))
}

// fieldCall reads a property into its field.
func fieldCall(f *ir.DataField) *jen.Statement {
	if f.Pointer {
		return chk("Ptr").Call(jen.Id("r"), readFunction(&f.Type))
	}
	return readCall(&f.Type)
}

// defaultCall reads the default of a property.
func defaultCall(f *ir.DataField) jen.Code {
	read := readFunction(&f.Type)
	if f.Pointer {
		read = jen.Func().Params(readerParam()).Op("*").Add(dataType(&f.Type)).Block(jen.Return(fieldCall(f)))
	}
	return chk("Default").Call(jen.Lit(string(f.Default)), read)
}

func (p *dataPackage) readStruct(g *jen.Group, t *ir.DataType) {
	g.If(jen.Op("!").Id("r").Dot("IsObject").Call()).Block(jen.Return(jen.Id("v")))
	g.Var().Id("seen").Index(jen.Lit(len(t.Fields))).Bool()
	if t.Extra == nil {
		g.Id("others").Op(":=").Lit(0)
	}
	step := func(method string) jen.Code {
		return jen.List(jen.Id("key"), jen.Id("ok")).Op(map[string]string{"Object": ":=", "Next": "="}[method]).Id("r").Dot(method).Call()
	}
	g.For(step("Object"), jen.Id("ok"), step("Next")).Block(
		jen.Switch(jen.String().Call(jen.Id("key"))).BlockFunc(func(g *jen.Group) {
			for i, f := range t.Fields {
				g.Case(jen.Lit(f.Name)).Block(jen.If(jen.Id("r").Dot("Field").Call(jen.Op("&").Id("seen").Index(jen.Lit(i)))).Block(readField(f)))
			}
			g.Default().Block(readOther(t)...)
		}),
	)
	others, has := jen.Id("others"), jen.Nil()
	if t.Extra != nil {
		others, has = jen.Len(jen.Id("v").Dot(t.ExtraGo)), chk("Has").Call(jen.Id("v").Dot(t.ExtraGo))
	}
	g.Id("r").Dot("Keys").Call(jen.Op("&").Id("keys"+t.Go), jen.Id("seen").Index(jen.Op(":")), others, has)
	for i, f := range t.Fields {
		if f.Default != nil {
			g.If(jen.Op("!").Id("seen").Index(jen.Lit(i))).Block(jen.Id("v").Dot(f.Go).Op("=").Add(defaultCall(f)))
		}
	}
	g.Return(jen.Id("v"))
}

func readField(f *ir.DataField) jen.Code {
	if f.Const != nil {
		return jen.Id("r").Dot("Const").Call(jen.Lit(string(f.Const)))
	}
	return jen.Id("v").Dot(f.Go).Op("=").Add(fieldCall(f))
}

// readOther reads a property that has no field.
func readOther(t *ir.DataType) []jen.Code {
	if t.Extra != nil {
		return []jen.Code{chk("Extra").Call(jen.Id("r"), jen.Op("&").Id("v").Dot(t.ExtraGo), jen.Id("key"), readFunction(t.Extra))}
	}
	return []jen.Code{jen.Id("others").Op("++"), jen.Id("r").Dot("Unknown").Call(jen.Id("key"), jen.Op("&").Id("keys"+t.Go))}
}

// readUnion prints the function that reads the case which JSON type and discriminating property choose.
func (p *dataPackage) readUnion(t *ir.DataType) jen.Code {
	var objects []*ir.DataCase
	return jen.Func().Id("read" + t.Go).Params(readerParam()).Id(t.Go).BlockFunc(func(g *jen.Group) {
		g.Switch(jen.Id("r").Dot("Type").Call()).BlockFunc(func(g *jen.Group) {
			for _, c := range t.Cases {
				if len(c.Keys) > 0 {
					objects = append(objects, c)
					continue
				}
				g.CaseFunc(func(g *jen.Group) {
					for _, name := range jsonTypes(c) {
						g.Add(chk(name))
					}
				}).Block(jen.Return(readCase(c)))
			}
			if len(objects) > 0 {
				g.Case(chk("TypeObject")).BlockFunc(func(g *jen.Group) { readKeyed(g, t, objects) })
			}
		})
		g.Id("r").Dot("NoCase").Call(jen.Lit(caseList(t)))
		g.Return(jen.Nil())
	}).Line()
}

func readKeyed(g *jen.Group, t *ir.DataType, objects []*ir.DataCase) {
	var want []string
	g.Switch(jen.Id("r").Dot("Key").Call(jen.Lit(t.By))).BlockFunc(func(g *jen.Group) {
		for _, c := range objects {
			g.CaseFunc(func(g *jen.Group) {
				for _, k := range c.Keys {
					want = append(want, string(k))
					g.Lit(string(k))
				}
			}).Block(jen.Return(readCase(c)))
		}
	})
	g.Id("r").Dot("NoKey").Call(jen.Lit(t.By), jen.Lit(choice(want)))
	g.Return(jen.Nil())
}

func readCase(c *ir.DataCase) jen.Code {
	if caseIsPtr(c.Type) {
		return chk("Ptr").Call(jen.Id("r"), jen.Id("read"+c.Go))
	}
	return jen.Id("read" + c.Go).Call(jen.Id("r"))
}

// jsonTypes are the constants of runtime/check for the JSON types of a case: integers are numbers.
func jsonTypes(c *ir.DataCase) []string {
	var names []string
	for _, t := range c.Types {
		name := map[string]string{
			"boolean": "TypeBoolean", "integer": "TypeNumber", "number": "TypeNumber", "string": "TypeString", "object": "TypeObject", "array": "TypeArray",
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
