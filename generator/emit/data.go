package emit

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// Data prints the types of skill inputs and outputs with their codecs and validation, as the file at filePath of the
// package pkgName. What a root type offers is said at [ir.DataRef].
func Data(types []*ir.DataType, pkgName, filePath string) output.File {
	p := &dataPackage{
		types: types, markers: map[*ir.DataType][]string{}, patterns: map[string]string{},
		goText: goText{imports: map[string]string{}},
	}
	p.prepare()
	for _, t := range types {
		p.add(p.declaration(t), p.marks(t))
		if t.Kind == ir.DataUnion {
			p.add(p.readUnion(t), p.checkUnion(t), p.writeUnion(t))
			continue
		}
		p.add(p.methods(t)...)
		p.add(p.keys(t), p.read(t), p.check(t), p.write(t))
	}
	p.add(p.patternVars())
	return p.file(pkgName, filePath)
}

// dataPackage is the state of printing one package's skill types.
type dataPackage struct {
	goText
	types   []*ir.DataType
	markers map[*ir.DataType][]string // marker methods of the unions that have the type as a case
	locals  map[string]int            // names that the function being printed has taken, by stem
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

// local is a new name of a variable in the function being printed: "start0", then "start1".
func (p *dataPackage) local(stem string) string {
	n := p.locals[stem]
	p.locals[stem]++
	return stem + strconv.Itoa(n)
}

// chk and wire name a function or type of the runtime's packages check and wire.
func (p *dataPackage) chk(name string) string  { return p.qualified(checkPath, name) }
func (p *dataPackage) wire(name string) string { return p.qualified(wirePath, name) }

// dataScalars are the Go types of the scalar kinds that need no import.
var dataScalars = map[ir.DataKind]string{
	ir.DataBool: "bool", ir.DataInt32: "int32", ir.DataInt64: "int64", ir.DataUint32: "uint32", ir.DataUint64: "uint64",
	ir.DataNumber: "float64", ir.DataString: "string", ir.DataBytes: "[]byte",
}

// goType is the Go type of a reference, null apart.
func (p *dataPackage) goType(r *ir.DataRef) string {
	switch r.Kind {
	case ir.DataAny:
		return p.wire("Value")
	case ir.DataTime, ir.DataDate:
		return p.qualified("time", "Time")
	case ir.DataList:
		return "[]" + p.goTypeOrNull(r.Elem)
	case ir.DataMap:
		return "map[string]" + p.goTypeOrNull(r.Elem)
	case ir.DataNamed:
		return r.Name
	}
	return dataScalars[r.Kind]
}

// goTypeOrNull is the Go type of a reference.
func (p *dataPackage) goTypeOrNull(r *ir.DataRef) string {
	if isPtr(r) {
		return "*" + p.goType(r)
	}
	return p.goType(r)
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
func (p *dataPackage) declaration(t *ir.DataType) string {
	head := comment(t.Go+" "+dataDoc(t)) + "type " + t.Go + " "
	switch t.Kind {
	case ir.DataStruct:
		if fields := p.structFields(t); len(fields) > 0 {
			return block(head+"struct", fields...)
		}
		return head + "struct{}"
	case ir.DataEnum:
		return head + dataScalars[t.Base] + "\n\n" + enumConstants(t)
	case ir.DataUnion:
		return block(head+"interface", t.Marker+"()")
	case ir.DataWrapper:
		return block(head+"struct", "Value "+p.goTypeOrNull(t.Of))
	}
	return head + p.goType(t.Of)
}

// dataDoc says what a type is: the schema's description, set off so that it reads whatever it says.
func dataDoc(t *ir.DataType) string {
	text := map[ir.DataTypeKind]string{
		ir.DataStruct: "is an object of a skill's contract.", ir.DataEnum: "is one of a fixed set of values.",
		ir.DataDefined: "is a value of a skill's contract.", ir.DataWrapper: "holds a value of a skill's contract.",
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
	if t.Doc != "" {
		text += "\n\n" + t.Doc
	}
	return text
}

// plainName are property names that a struct tag can hold without escapes.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func (p *dataPackage) structFields(t *ir.DataType) []string {
	var rows []row
	for _, f := range t.Fields {
		if f.Go == "" {
			continue
		}
		typ := p.goTypeOrNull(&f.Type)
		if f.Pointer {
			typ = "*" + p.goType(&f.Type)
		}
		r := row{comment: comment(fieldDoc(f)), cells: []string{f.Go, typ}}
		if plainName.MatchString(f.Name) {
			r.cells = append(r.cells, "`json:\""+f.Name+"\"`")
		}
		rows = append(rows, r)
	}
	if t.Extra != nil {
		rows = append(rows, row{
			comment: comment(t.ExtraGo + " are the properties that have no field of their own."),
			cells:   []string{t.ExtraGo, "map[string]" + p.goTypeOrNull(t.Extra), "`json:\"-\"`"},
		})
	}
	return columns(rows)
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

func enumConstants(t *ir.DataType) string {
	var rows []row
	for _, v := range t.Values {
		rows = append(rows, row{comment: comment(v.Doc), cells: []string{v.Go, t.Go, "= " + dataLiteral(v.Value)}})
	}
	return "const (" + inner(columns(rows)) + "\n)"
}

// dataLiteral is a JSON scalar as a Go literal.
func dataLiteral(text []byte) string {
	if s, ok := jsonString(text); ok {
		return strconv.Quote(s)
	}
	return number(string(text))
}

// number is a JSON number or boolean as gofmt spells it in Go.
func number(text string) string { return strings.ReplaceAll(text, "E", "e") }

// methods prints what emitted code and users call (see [ir.DataRef]). An enum inside a contract is validated by what
// holds it and encodes as what it is, so that Validate is enough.
func (p *dataPackage) methods(t *ir.DataType) []string {
	ptr, value := "func (v *"+t.Go+") ", "func (v "+t.Go+") "
	read, check, write := "read"+t.Go, "check"+t.Go, "write"+t.Go
	validate := "// Validate returns nil or a *check.Error that lists how v breaks its schema, with JSON pointers.\n" +
		block(ptr+"Validate() error", "return "+call(p.chk("Validate"), "v", check))
	if t.Kind == ir.DataEnum && !t.Root {
		return []string{validate}
	}
	return []string{
		validate,
		"// UnmarshalJSON reads v from JSON, sets defaults and validates. The error is a *check.Error.\n" +
			block(ptr+"UnmarshalJSON(src []byte) error", "return "+call(p.chk("Decode"), "src", "v", read, check)),
		"// AppendJSON validates v and appends it to dst. The error is a *check.Error.\n" +
			block(ptr+"AppendJSON(dst []byte) ([]byte, error)", "return "+call(p.chk("Append"), "dst", "v", check, write)),
		"// MarshalJSON validates v and returns it as JSON. The error is a *check.Error.\n" +
			block(value+"MarshalJSON() ([]byte, error)", "return "+call(p.chk("Append"), "nil", "&v", check, write)),
	}
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

// marks prints the marker methods that make t a case of unions.
func (p *dataPackage) marks(t *ir.DataType) string {
	var methods []row
	for _, marker := range p.markers[t] {
		receiver := t.Go
		if caseIsPtr(t) {
			receiver = "*" + t.Go
		}
		head := "func (" + receiver + ") " + marker + "()"
		body := emptyBody(head)
		methods = append(methods, row{cells: []string{head, body}, alone: body != "{}"})
	}
	return strings.Join(columns(methods), "\n")
}

// caseIsPtr reports whether a pointer to t, not t itself, is a union's case.
func caseIsPtr(t *ir.DataType) bool { return t.Kind == ir.DataStruct || t.Kind == ir.DataWrapper }

// pattern returns the variable of a regular expression.
func (p *dataPackage) pattern(source string) string {
	name, ok := p.patterns[source]
	if !ok {
		name = "schemaPattern" + strconv.Itoa(len(p.sources)+1)
		p.patterns[source] = name
		p.sources = append(p.sources, source)
	}
	return name
}

func (p *dataPackage) patternVars() string {
	if len(p.sources) == 0 {
		return ""
	}
	var rows []row
	for _, source := range p.sources {
		rows = append(rows, row{cells: []string{p.patterns[source], "= " + call(p.chk("NewPattern"), strconv.Quote(source))}})
	}
	return "var (" + inner(columns(rows)) + "\n)"
}
