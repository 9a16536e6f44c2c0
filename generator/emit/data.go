package emit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// Data prints the types of skill inputs and outputs with their codecs and validation, as the file at filePath of the
// package at path. What a root type offers is said at [ir.DataRef].
func Data(types []*ir.DataType, path, filePath string) (output.File, error) {
	return data(types, path, filePath, "")
}

// data is [Data] with the comment of the package, "" where another file has it.
func data(types []*ir.DataType, path, filePath, comment string) (output.File, error) {
	return dataOf(types, path, filePath, comment, "a skill's contract")
}

// dataOf is [data] for the types of what owner says.
func dataOf(types []*ir.DataType, path, filePath, comment, owner string) (output.File, error) {
	p := &dataPackage{types: types, owner: owner, markers: map[*ir.DataType][]string{}, patterns: map[string]string{}}
	for _, t := range p.types {
		for _, c := range t.Cases {
			if !slices.Contains(p.markers[c.Type], t.Marker) {
				p.markers[c.Type] = append(p.markers[c.Type], t.Marker)
			}
		}
	}
	f := newFile(path, pkgName(path))
	if comment != "" {
		f.PackageComment(comment)
	}
	for _, t := range types {
		s := jen.Null()
		for _, marker := range p.markers[t] {
			s.Func().Params(dataCase(t)).Id(marker).Params().Block().Line()
		}
		addAll(f, p.declaration(t), s)
		if t.Kind == ir.DataUnion {
			addAll(f, readUnion(t), checkUnion(t), writeUnion(t))
			continue
		}
		addAll(f, dataMethods(t), p.keys(t), written(t), readData(t), p.check(t), p.write(t))
	}
	f.Add(p.patternVars())
	return render(f, filePath)
}

// dataPackage is the state of printing one package's skill types.
type dataPackage struct {
	types   []*ir.DataType
	owner   string                    // whose types they are, in their comments
	markers map[*ir.DataType][]string // marker methods of the unions that have the type as a case
	locals  map[string]int            // names that the function being printed has taken, by stem
	// patterns are the variables of regular expressions by source; sources keeps their order.
	patterns map[string]string
	sources  []string
}

// local is a new name of a variable in the function being printed: "start0", then "start1".
func (p *dataPackage) local(stem string) string {
	n := p.locals[stem]
	p.locals[stem]++
	return stem + strconv.Itoa(n)
}

// chk names a function or type of runtime/gen/check.
func chk(name string) *jen.Statement { return jen.Qual(checkPath, name) }

// dataScalar is how values of a scalar kind are declared, read and written.
type dataScalar struct {
	goType func() *jen.Statement
	read   string // method of check.Reader
	path   string // of the package that has the function append
	append string
}

var dataScalars = map[ir.DataKind]dataScalar{
	ir.DataAny:    {inWire("Value"), "Any", checkPath, "AppendAny"},
	ir.DataBool:   {jen.Bool, "Bool", wirePath, "AppendBool"},
	ir.DataInt32:  {jen.Int32, "Int32", wirePath, "AppendInt32"},
	ir.DataInt64:  {jen.Int64, "Int64", wirePath, "AppendInteger"},
	ir.DataUint32: {jen.Uint32, "Uint32", wirePath, "AppendUint32"},
	ir.DataUint64: {jen.Uint64, "Uint64", checkPath, "AppendUint"},
	ir.DataNumber: {jen.Float64, "Number", wirePath, "AppendFloat64"},
	ir.DataString: {jen.String, "String", wirePath, "AppendString"},
	ir.DataBytes:  {byteSlice, "Bytes", wirePath, "AppendBytes"},
	ir.DataTime:   {timeType, "Time", checkPath, "AppendTime"},
	ir.DataDate:   {timeType, "Date", checkPath, "AppendDate"},
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
	return dataScalars[r.Kind].goType()
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
	s := jen.Add(doc(t.Go + " " + dataDoc(t, p.owner))).Type().Id(t.Go)
	switch t.Kind {
	case ir.DataStruct:
		return s.Struct(structFields(t)...).Line()
	case ir.DataEnum:
		var constants []described
		for _, v := range t.Values {
			value := dataLiteral(v.Value)
			constants = append(constants, described{v.Doc, []string{v.Go, t.Go, fmt.Sprintf("= %#v", value)}, jen.Id(v.Go).Id(t.Go).Op("=").Add(value)})
		}
		return s.Add(dataScalars[t.Base].goType()).Line().Line().Add(jen.Const().Defs(withComments(constants)...)).Line()
	case ir.DataUnion:
		return s.Interface(jen.Id(t.Marker).Params()).Line()
	case ir.DataWrapper:
		return s.Struct(jen.Id("Value").Add(dataTypeOrNull(t.Of))).Line()
	}
	return s.Add(dataType(t.Of)).Line()
}

// dataDoc says what a type is: the schema's description, set off as a paragraph of its own.
func dataDoc(t *ir.DataType, owner string) string {
	text := map[ir.DataTypeKind]string{
		ir.DataStruct: "is an object of " + owner + ".", ir.DataEnum: "is one of a fixed set of values.",
		ir.DataDefined: "is a value of " + owner + ".", ir.DataWrapper: "holds a value of " + owner + ".",
	}[t.Kind]
	if t.Open {
		text = "is one of the values that are suggested, or another."
	}
	if t.Kind == ir.DataUnion {
		text = "is one of:\n"
		for _, c := range goCases(t) {
			name := c.Go
			if c.Type.Kind == ir.DataStruct || c.Type.Kind == ir.DataWrapper {
				name = "*" + name
			}
			text += "\n  - [" + name + "]"
		}
	}
	return paragraph(text, t.Doc)
}

// plainName are property names that a struct tag can hold without escapes.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func structFields(t *ir.DataType) []jen.Code {
	var fields []described
	add := func(name, comment, property string, typ *jen.Statement) {
		field := described{comment, []string{name, fmt.Sprintf("%#v", typ)}, jen.Id(name).Add(typ)}
		if property != "" {
			field.code.Tag(map[string]string{"json": property})
			field.cells = append(field.cells, "`json:\""+property+"\"`")
		}
		fields = append(fields, field)
	}
	for _, f := range t.Fields {
		if f.Go == "" {
			continue
		}
		typ, property := dataTypeOrNull(&f.Type), ""
		if f.Pointer {
			typ = jen.Op("*").Add(dataType(&f.Type))
		}
		if plainName.MatchString(f.Name) {
			property = f.Name
		}
		add(f.Go, fieldDoc(f), property, typ)
	}
	if t.Extra != nil {
		add(t.ExtraGo, t.ExtraGo+" are the properties that have no field of their own.", "-", jen.Map(jen.String()).Add(dataTypeOrNull(t.Extra)))
	}
	return withComments(fields)
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
	if text == "" || more == "" {
		return text + more
	}
	return text + "\n\n" + more
}

// dataLiteral is a JSON scalar as a Go literal.
func dataLiteral(text []byte) jen.Code {
	if s, ok := jsonString(text); ok {
		return jen.Lit(s)
	}
	return jen.Op(string(text)) // numbers and booleans are spelled alike
}

// dataMethods prints what emitted code and users call (see [ir.DataRef]). An enum inside a contract is validated by
// what holds it and encodes as what it is, so that Validate is enough.
func dataMethods(t *ir.DataType) jen.Code {
	v, read, check, write := jen.Id("v"), jen.Id("read"+t.Go), jen.Id("check"+t.Go), jen.Id("write"+t.Go)
	bytes := jen.Index().Byte()
	receiver := jen.Params(jen.Id("v").Op("*").Id(t.Go))
	s := jen.Add(doc("Validate returns nil or a *check.Error that lists how v breaks its schema, with JSON pointers."))
	s.Func().Add(receiver).Id("Validate").Params().Error().Add(oneLine(jen.Return(chk("Validate").Call(v, check)))).Line()
	if t.Kind == ir.DataEnum && !t.Root {
		return s
	}
	s.Line().Add(doc("UnmarshalJSON reads v from JSON, sets defaults and validates. The error is a *check.Error."))
	s.Func().Add(receiver).Id("UnmarshalJSON").Params(jen.Id("src").Add(bytes)).Error().
		Block(jen.Return(chk("Decode").Call(jen.Id("src"), v, read, check))).Line()
	s.Line().Add(doc("AppendJSON validates v and appends it to dst. The error is a *check.Error."))
	s.Func().Add(receiver).Id("AppendJSON").Params(jen.Id("dst").Add(bytes)).Params(bytes, jen.Error()).
		Block(jen.Return(chk("Append").Call(jen.Id("dst"), v, check, write))).Line()
	s.Line().Add(doc("MarshalJSON validates v and returns it as JSON. The error is a *check.Error."))
	return s.Func().Params(jen.Id("v").Id(t.Go)).Id("MarshalJSON").Params().Params(bytes, jen.Error()).
		Add(oneLine(jen.Return(v.Clone().Dot("AppendJSON").Call(jen.Nil())))).Line()
}

// goCases are the cases of a union by Go type: alternatives that must not both fit can have the same one.
func goCases(t *ir.DataType) []*ir.DataCase {
	var list []*ir.DataCase
	for _, c := range t.Cases {
		if !slices.ContainsFunc(list, func(o *ir.DataCase) bool { return o.Go == c.Go }) {
			list = append(list, c)
		}
	}
	return list
}

// caseIsPtr reports whether a pointer to t, not t itself, is a union's case.
func caseIsPtr(t *ir.DataType) bool { return t.Kind == ir.DataStruct || t.Kind == ir.DataWrapper }

// dataCase is the Go type of a union's case.
func dataCase(t *ir.DataType) *jen.Statement {
	if caseIsPtr(t) {
		return jen.Op("*").Id(t.Go)
	}
	return jen.Id(t.Go)
}

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
	var vars []jen.Code
	for _, source := range p.sources {
		vars = append(vars, jen.Id(p.patterns[source]).Op("=").Add(chk("NewPattern")).Call(jen.Lit(source)))
	}
	return jen.Var().Defs(vars...)
}
