package emit

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// Data prints the types of skill inputs and outputs with their codecs and validation, as the file at filePath of the
// package pkgName at import path pkgPath. What a root type offers is said at [ir.DataRef].
func Data(types []*ir.DataType, pkgPath, pkgName, filePath string) (output.File, error) {
	p := &dataPackage{types: types, markers: map[*ir.DataType][]string{}, patterns: map[string]string{}}
	p.prepare()
	var code []jen.Code
	for _, t := range types {
		if t.Kind == ir.DataUnion {
			code = append(code, p.declaration(t), p.marks(t), p.readUnion(t), p.checkUnion(t), p.writeUnion(t))
			continue
		}
		code = append(code, p.declaration(t), p.marks(t), dataMethods(t), p.keys(t), p.read(t), p.check(t), p.write(t))
	}
	code = append(code, p.patternVars())
	return renderLarge(func() *jen.File { return newFile(pkgPath, pkgName) }, filePath, code)
}

// dataPackage is the state of printing one package's skill types.
type dataPackage struct {
	types   []*ir.DataType
	markers map[*ir.DataType][]string // marker methods of the unions that have the type as a case
	// patterns are the variables of regular expressions by source; sources keeps their order.
	patterns map[string]string
	sources  []string
}

func (p *dataPackage) prepare() {
	for _, t := range p.types {
		for _, c := range t.Cases {
			if !slices.Contains(p.markers[c.Type], t.Marker) {
				p.markers[c.Type] = append(p.markers[c.Type], t.Marker)
			}
		}
	}
}

// chk names a function or type of runtime/check.
func chk(name string) *jen.Statement { return jen.Qual(checkPath, name) }

// dataScalars are the Go types of the scalar kinds.
var dataScalars = map[ir.DataKind]func() *jen.Statement{
	ir.DataAny:    func() *jen.Statement { return jen.Qual(wirePath, "Value") },
	ir.DataBool:   func() *jen.Statement { return jen.Bool() },
	ir.DataInt32:  func() *jen.Statement { return jen.Int32() },
	ir.DataInt64:  func() *jen.Statement { return jen.Int64() },
	ir.DataUint32: func() *jen.Statement { return jen.Uint32() },
	ir.DataUint64: func() *jen.Statement { return jen.Uint64() },
	ir.DataNumber: func() *jen.Statement { return jen.Float64() },
	ir.DataString: func() *jen.Statement { return jen.String() },
	ir.DataBytes:  func() *jen.Statement { return jen.Index().Byte() },
	ir.DataTime:   func() *jen.Statement { return jen.Qual("time", "Time") },
	ir.DataDate:   func() *jen.Statement { return jen.Qual("time", "Time") },
}

// dataType is the Go type of a reference, null apart.
func dataType(r *ir.DataRef) *jen.Statement {
	switch r.Kind {
	case ir.DataList:
		return jen.Index().Add(dataTypeOrNull(r.Elem))
	case ir.DataMap:
		return jen.Map(jen.String()).Add(dataTypeOrNull(r.Elem))
	case ir.DataNamed:
		return jen.Id(r.Name)
	}
	return dataScalars[r.Kind]()
}

// dataTypeOrNull is the Go type of a reference.
func dataTypeOrNull(r *ir.DataRef) *jen.Statement {
	if isPtr(r) {
		return jen.Op("*").Add(dataType(r))
	}
	return dataType(r)
}

// isPtr reports whether null makes the Go type of r a pointer.
func isPtr(r *ir.DataRef) bool { return r.Null && !dataHasNil(r) }

// dataHasNil reports whether the Go type of r, null apart, has a nil of its own.
func dataHasNil(r *ir.DataRef) bool {
	switch r.Kind {
	case ir.DataAny, ir.DataBytes, ir.DataList, ir.DataMap:
		return true
	case ir.DataNamed:
		return r.Type.Kind == ir.DataUnion
	}
	return false
}

// declaration prints the type itself.
func (p *dataPackage) declaration(t *ir.DataType) jen.Code {
	s := jen.Add(doc(t.Go + " " + dataDoc(t)))
	switch t.Kind {
	case ir.DataStruct:
		return s.Type().Id(t.Go).StructFunc(func(g *jen.Group) { p.structFields(g, t) }).Line()
	case ir.DataEnum:
		return s.Type().Id(t.Go).Add(dataScalars[t.Base]()).Line().Add(enumConstants(t)).Line()
	case ir.DataUnion:
		return s.Type().Id(t.Go).Interface(jen.Id(t.Marker).Params()).Line()
	case ir.DataWrapper:
		return s.Type().Id(t.Go).Struct(jen.Id("Value").Add(dataTypeOrNull(t.Of))).Line()
	}
	return s.Type().Id(t.Go).Add(dataType(t.Of)).Line()
}

// dataDoc says what a type is: the schema's description, set off so that it reads whatever it says.
func dataDoc(t *ir.DataType) string {
	text := map[ir.DataTypeKind]string{
		ir.DataStruct: "is an object of a skill's contract.", ir.DataEnum: "is one of a fixed set of values.",
		ir.DataDefined: "is a value of a skill's contract.", ir.DataWrapper: "holds a value of a skill's contract.",
	}[t.Kind]
	if t.Kind == ir.DataUnion {
		text = "is one of:\n"
		for _, c := range t.Cases {
			name := c.Go
			if c.Type.Kind == ir.DataStruct || c.Type.Kind == ir.DataWrapper {
				name = "*" + name
			}
			text += "\n  - [" + name + "]"
		}
	}
	if t.Doc != "" {
		text += "\n\n" + t.Doc
	}
	return text
}

// plainName are property names that a struct tag can hold without escapes.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func (p *dataPackage) structFields(g *jen.Group, t *ir.DataType) {
	for _, f := range t.Fields {
		if f.Go == "" {
			continue
		}
		typ := dataTypeOrNull(&f.Type)
		if f.Pointer {
			typ = jen.Op("*").Add(dataType(&f.Type))
		}
		s := g.Add(doc(fieldDoc(f))).Id(f.Go).Add(typ)
		if plainName.MatchString(f.Name) {
			s.Tag(map[string]string{"json": f.Name})
		}
	}
	if t.Extra != nil {
		g.Add(doc(t.ExtraGo + " are the properties that have no field of their own.")).Id(t.ExtraGo).Map(jen.String()).Add(dataTypeOrNull(t.Extra)).Tag(map[string]string{"json": "-"})
	}
}

func fieldDoc(f *ir.DataField) string {
	text := f.Doc
	if f.Default != nil {
		text = paragraph(text, "Default: "+string(f.Default))
	}
	if !plainName.MatchString(f.Name) {
		text = paragraph(text, "Property "+strconv.Quote(f.Name)+".")
	}
	if f.Deprecated {
		text = paragraph(text, "Deprecated: the schema says so.")
	}
	return text
}

func paragraph(text, more string) string {
	if text == "" {
		return more
	}
	return text + "\n\n" + more
}

func enumConstants(t *ir.DataType) jen.Code {
	return jen.Const().DefsFunc(func(g *jen.Group) {
		for _, v := range t.Values {
			g.Add(doc(v.Doc)).Id(v.Go).Id(t.Go).Op("=").Add(dataLiteral(v.Value))
		}
	}).Line()
}

// dataLiteral is a JSON scalar as a Go literal.
func dataLiteral(text []byte) jen.Code {
	if s, ok := jsonString(text); ok {
		return jen.Lit(s)
	}
	return jen.Op(string(text)) // numbers and booleans are spelled alike
}

// dataMethods prints what emitted code and users call (see [ir.DataRef]). An enum inside a contract is validated by what
// holds it and encodes as what it is, so that Validate is enough.
func dataMethods(t *ir.DataType) jen.Code {
	read, check, write := jen.Id("read"+t.Go), jen.Id("check"+t.Go), jen.Id("write"+t.Go)
	ptr := func() *jen.Statement { return jen.Func().Params(jen.Id("v").Op("*").Id(t.Go)) }
	s := jen.Add(doc("Validate returns nil or a *check.Error that lists how v breaks its schema, with JSON pointers."))
	s.Add(ptr()).Id("Validate").Params().Error().Block(jen.Return(chk("Validate").Call(jen.Id("v"), check))).Line()
	if t.Kind == ir.DataEnum && !t.Root {
		return s
	}
	s.Line()
	s.Add(doc("UnmarshalJSON reads v from JSON, sets defaults and validates. The error is a *check.Error."))
	s.Add(ptr()).Id("UnmarshalJSON").Params(jen.Id("src").Index().Byte()).Error().Block(jen.Return(chk("Decode").Call(jen.Id("src"), jen.Id("v"), read, check))).Line().Line()
	s.Add(doc("AppendJSON validates v and appends it to dst. The error is a *check.Error."))
	s.Add(ptr()).Id("AppendJSON").Params(jen.Id("dst").Index().Byte()).Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Return(chk("Append").Call(jen.Id("dst"), jen.Id("v"), check, write)),
	).Line().Line()
	s.Add(doc("MarshalJSON validates v and returns it as JSON. The error is a *check.Error."))
	return s.Func().Params(jen.Id("v").Id(t.Go)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Return(chk("Append").Call(jen.Nil(), jen.Op("&").Id("v"), check, write)),
	).Line()
}

// marks prints the marker methods that make t a case of unions.
func (p *dataPackage) marks(t *ir.DataType) jen.Code {
	s := jen.Null()
	for _, marker := range p.markers[t] {
		recv := jen.Id(t.Go)
		if caseIsPtr(t) {
			recv = jen.Op("*").Id(t.Go)
		}
		s.Func().Params(recv).Id(marker).Params().Block().Line()
	}
	return s
}

// caseIsPtr reports whether a pointer to t, not t itself, is a union's case.
func caseIsPtr(t *ir.DataType) bool { return t.Kind == ir.DataStruct || t.Kind == ir.DataWrapper }

// pattern returns the variable of a regular expression.
func (p *dataPackage) pattern(source string) jen.Code {
	name, ok := p.patterns[source]
	if !ok {
		name = "schemaPattern" + strconv.Itoa(len(p.sources)+1)
		p.patterns[source] = name
		p.sources = append(p.sources, source)
	}
	return jen.Id(name)
}

func (p *dataPackage) patternVars() jen.Code {
	if len(p.sources) == 0 {
		return jen.Null()
	}
	return jen.Var().DefsFunc(func(g *jen.Group) {
		for _, source := range p.sources {
			g.Id(p.patterns[source]).Op("=").Add(chk("NewPattern")).Call(jen.Lit(source))
		}
	})
}
