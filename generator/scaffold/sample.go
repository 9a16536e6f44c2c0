package scaffold

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
)

// sample is a value of a skill's contract in both of its forms.
type sample struct {
	json string // compact JSON
	code string // Go expression of the emitted type, in the words of another package: "agent.ForecastUnitsCelsius"
}

// maxNest is the depth at which samples stop adding what nothing demands, and maxDepth the one at which they give up: a
// type that demands itself has no finite value.
const (
	maxNest  = 4
	maxDepth = 32
)

// maxElements is the largest number of elements of a list or map in a sample.
const maxElements = 100

// sampler makes values for a contract's types. It tries plausible values only: callers must check that a value
// satisfies the schema.
type sampler struct {
	pkg string // name of the package that declares the types
	// copies are Go expressions by property name that may stand for a plain value of that kind: {"location": "in.Location"}.
	copies map[string]copyable
	// least leaves out everything that is not required.
	least bool
	depth int
	// doubt: the sample holds what may not be valid although it was moved to all limits.
	doubt bool
}

// copyable is an expression of the request that an answer may repeat.
type copyable struct {
	kind ir.DataKind
	code string
}

// root makes a value of the root type of an input or output. The expression is a pointer.
func (s *sampler) root(ref *ir.DataRef) (sample, error) {
	v, err := s.named(ref.Type, constraints{ref.Checks, ref.Type.Checks}, "value", 0)
	if err != nil {
		return v, err
	}
	v.code = address(v.code, ref.Type)
	return v, nil
}

// address makes the expression of a named type a pointer.
func address(code string, t *ir.DataType) string {
	if t.Kind == ir.DataStruct || t.Kind == ir.DataWrapper {
		return "&" + code
	}
	return "new(" + code + ")"
}

// value makes the index-th value for the property or element called name.
func (s *sampler) value(ref *ir.DataRef, name string, index int) (sample, error) {
	return s.constrained(ref, constraints{ref.Checks}, name, index)
}

// constrained makes a value under the constraints cs, which include those of the reference.
func (s *sampler) constrained(ref *ir.DataRef, cs constraints, name string, index int) (sample, error) {
	s.depth++
	defer func() { s.depth-- }()
	if s.depth > maxDepth {
		return sample{}, fmt.Errorf("%s has no finite value", name)
	}
	if ref.Null && s.depth > maxNest {
		return sample{"null", "nil"}, nil
	}
	v, err := s.plain(ref, cs, name, index)
	if err != nil || !ref.Null {
		return v, err
	}
	switch {
	case ref.Kind == ir.DataNamed && ref.Type.Kind != ir.DataUnion:
		v.code = address(v.code, ref.Type)
	case ref.Kind != ir.DataNamed && !nilable(ref.Kind):
		v.code = pointer(ref.Kind, v.code)
	}
	return v, nil
}

func nilable(k ir.DataKind) bool {
	return k == ir.DataAny || k == ir.DataBytes || k == ir.DataList || k == ir.DataMap
}

// plain makes a value of a type without its pointer. It is never null.
func (s *sampler) plain(ref *ir.DataRef, cs constraints, name string, index int) (sample, error) {
	s.doubt = s.doubt || ref.Kind == ir.DataAny || len(ref.Prefix) > 0 || !cs.sure()
	if v, ok := cs.pick(index); ok && ref.Kind == ir.DataAny {
		return sample{v, "wire.Value(" + strconv.Quote(v) + ")"}, nil
	} else if ok && ref.Kind != ir.DataNamed {
		return scalar(ref.Kind, v)
	}
	switch ref.Kind {
	case ir.DataAny:
		return sample{"null", "wire.Value(`null`)"}, nil
	case ir.DataBool:
		return scalar(ref.Kind, "false")
	case ir.DataInt32, ir.DataInt64, ir.DataUint32, ir.DataUint64, ir.DataNumber:
		n, err := cs.number(strings.HasPrefix(string(ref.Kind), "uint"), index)
		if err != nil {
			return sample{}, fmt.Errorf("%s: %w", name, err)
		}
		return scalar(ref.Kind, n)
	case ir.DataString:
		text, err := cs.text(name, index)
		if err != nil {
			return sample{}, fmt.Errorf("%s: %w", name, err)
		}
		return scalar(ref.Kind, quoteJSON(text))
	case ir.DataBytes:
		return scalar(ref.Kind, `"c2FtcGxl"`)
	case ir.DataTime:
		return scalar(ref.Kind, fmt.Sprintf(`"2026-01-02T03:04:%02dZ"`, 5+index%50))
	case ir.DataDate:
		return scalar(ref.Kind, fmt.Sprintf(`"2026-01-%02d"`, 2+index%26))
	case ir.DataList:
		return s.list(ref, cs, name)
	case ir.DataMap:
		return s.mapping(ref, cs)
	case ir.DataNamed:
		return s.named(ref.Type, append(cs, ref.Type.Checks), name, index)
	}
	return sample{}, fmt.Errorf("%s: no sample for kind %q", name, ref.Kind)
}

// named makes a value of a declared type.
func (s *sampler) named(t *ir.DataType, cs constraints, name string, index int) (sample, error) {
	goName := s.pkg + "." + t.Go
	s.doubt = s.doubt || t.Kind == ir.DataUnion || t.Kind == ir.DataEnum && len(cs.limits()) > 0 || !cs.sure()
	switch t.Kind {
	case ir.DataStruct:
		return s.structure(t, cs)
	case ir.DataEnum:
		return s.enum(t, cs, index)
	case ir.DataUnion:
		return s.union(t, name, index)
	case ir.DataDefined:
		v, err := s.constrained(t.Of, append(cs, t.Of.Checks), name, index)
		if strings.HasPrefix(v.code, "[]") || strings.HasPrefix(v.code, "map[") { // a literal of the type itself reads better
			v.code = goName + v.code[strings.Index(v.code, "{"):]
		} else {
			v.code = goName + "(" + v.code + ")"
		}
		return v, err
	case ir.DataWrapper:
		v, err := s.value(t.Of, name, index)
		v.code = goName + "{Value: " + v.code + "}"
		return v, err
	}
	return sample{}, fmt.Errorf("%s: no sample for a type of kind %q", name, t.Kind)
}

func (s *sampler) enum(t *ir.DataType, cs constraints, index int) (sample, error) {
	want, narrowed := cs.pick(index)
	if !narrowed && len(t.Values) > 0 {
		want = string(t.Values[index%len(t.Values)].Value)
	}
	for _, v := range t.Values {
		if string(v.Value) == want {
			return sample{want, s.pkg + "." + v.Go}, nil
		}
	}
	return sample{}, fmt.Errorf("%s has no value %s", t.Go, want)
}

// union makes a value of the first case that has one.
func (s *sampler) union(t *ir.DataType, name string, index int) (sample, error) {
	err := fmt.Errorf("%s has no cases", t.Go)
	for _, c := range t.Cases {
		var v sample
		v, err = s.value(&ir.DataRef{Kind: ir.DataNamed, Name: c.Go, Type: c.Type}, name, index)
		if err != nil {
			continue
		}
		if c.Type.Kind == ir.DataStruct {
			v.code = "&" + v.code
		}
		return v, nil
	}
	return sample{}, err
}

// structure sets what is required; at the top, if nothing is required, everything.
func (s *sampler) structure(t *ir.DataType, cs constraints) (sample, error) {
	wanted := cs.keys()
	for _, f := range t.Fields {
		wanted[f.Name] = wanted[f.Name] || f.Required
	}
	for changed := true; changed; {
		changed = cs.depend(wanted)
	}
	all := s.depth == 0 && !s.least && len(t.Fields) <= 20 && !anyTrue(wanted)
	var js, code []string
	for _, f := range t.Fields {
		if !wanted[f.Name] && !all {
			continue
		}
		delete(wanted, f.Name)
		if f.Const != nil {
			js = append(js, quoteJSON(f.Name)+":"+string(f.Const))
			if f.Go == "" {
				continue
			}
		}
		v, err := s.field(f)
		if err != nil && all {
			continue
		}
		if err != nil {
			return sample{}, err
		}
		js = append(js, quoteJSON(f.Name)+":"+v.json)
		code = append(code, f.Go+": "+v.code+",")
	}
	if anyTrue(wanted) {
		return sample{}, fmt.Errorf("%s demands properties that it does not describe", t.Go)
	}
	return sample{"{" + strings.Join(js, ",") + "}", s.pkg + "." + t.Go + "{" + lines(code) + "}"}, nil
}

// field makes the value of one property.
func (s *sampler) field(f *ir.DataField) (sample, error) {
	v, err := s.value(&f.Type, f.Name, 0)
	if err != nil {
		return v, err
	}
	named := f.Type.Kind == ir.DataNamed
	switch c, ok := s.copies[f.Name]; {
	case ok && s.depth == 0 && c.kind == f.Type.Kind && f.Type.Checks == nil && !f.Pointer && !f.Type.Null:
		v.code = c.code
	case f.Pointer && !f.Type.Null && named && f.Type.Type.Kind != ir.DataUnion:
		v.code = address(v.code, f.Type.Type)
	case f.Pointer && !f.Type.Null && !named:
		v.code = pointer(f.Type.Kind, v.code)
	}
	return v, nil
}

// list makes as few elements as are allowed, but one if nesting is shallow: an empty list shows nothing to a reader.
func (s *sampler) list(ref *ir.DataRef, cs constraints, name string) (sample, error) {
	least, err := cs.size(name, 0)
	if err != nil {
		return sample{}, err
	}
	n := least
	if s.depth <= maxNest && len(ref.Prefix) == 0 {
		n, err = cs.size(name, 1)
	}
	if len(ref.Prefix) > 0 && least > 0 {
		err = fmt.Errorf("%s has a type for each place", name)
	}
	if err != nil {
		return sample{}, err
	}
	var js, code []string
	for i := range n {
		v, err := s.value(ref.Elem, strings.TrimSuffix(name, "s"), i)
		if err != nil && least == 0 {
			break
		}
		if err != nil {
			return sample{}, err
		}
		js, code = append(js, v.json), append(code, s.element(ref.Elem, v.code)+",")
	}
	return sample{"[" + strings.Join(js, ",") + "]", "[]" + s.goType(ref.Elem) + "{" + lines(code) + "}"}, nil
}

// element leaves out the type of a literal if that of the list or map has it, as gofmt -s would.
func (s *sampler) element(ref *ir.DataRef, code string) string {
	typ := s.goType(ref)
	if lit, ok := strings.CutPrefix(code, typ+"{"); ok {
		return "{" + lit
	}
	if lit, ok := strings.CutPrefix(code, "&"+strings.TrimPrefix(typ, "*")+"{"); ok && strings.HasPrefix(typ, "*") {
		return "{" + lit
	}
	return code
}

// mapping makes the keys that are required.
func (s *sampler) mapping(ref *ir.DataRef, cs constraints) (sample, error) {
	keys, err := cs.mapKeys()
	if err != nil {
		return sample{}, err
	}
	var js, code []string
	for i, k := range keys {
		v, err := s.value(ref.Elem, k, i)
		if err != nil {
			return sample{}, err
		}
		js = append(js, quoteJSON(k)+":"+v.json)
		code = append(code, strconv.Quote(k)+": "+s.element(ref.Elem, v.code)+",")
	}
	return sample{"{" + strings.Join(js, ",") + "}", "map[string]" + s.goType(ref.Elem) + "{" + lines(code) + "}"}, nil
}

// goType returns the Go type of a reference, as another package writes it.
func (s *sampler) goType(ref *ir.DataRef) string {
	star := ""
	if ref.Null {
		star = "*"
	}
	switch ref.Kind {
	case ir.DataAny:
		return "wire.Value"
	case ir.DataNumber:
		return star + "float64"
	case ir.DataBytes:
		return "[]byte"
	case ir.DataTime, ir.DataDate:
		return star + "time.Time"
	case ir.DataList:
		return "[]" + s.goType(ref.Elem)
	case ir.DataMap:
		return "map[string]" + s.goType(ref.Elem)
	case ir.DataNamed:
		if ref.Type.Kind == ir.DataUnion {
			star = ""
		}
		return star + s.pkg + "." + ref.Type.Go
	}
	return star + string(ref.Kind) // bool, int32, …, string
}

// scalar returns the Go expression of a JSON scalar.
func scalar(kind ir.DataKind, js string) (sample, error) {
	switch kind {
	case ir.DataString:
		var text string
		err := json.Unmarshal([]byte(js), &text)
		return sample{js, strconv.Quote(text)}, err
	case ir.DataBytes:
		var data []byte
		err := json.Unmarshal([]byte(js), &data)
		return sample{js, "[]byte(" + strconv.Quote(string(data)) + ")"}, err
	case ir.DataTime:
		var y, mo, d, h, mi, sec int
		_, err := fmt.Sscanf(js, `"%d-%d-%dT%d:%d:%dZ"`, &y, &mo, &d, &h, &mi, &sec)
		return sample{js, fmt.Sprintf("time.Date(%d, %d, %d, %d, %d, %d, 0, time.UTC)", y, mo, d, h, mi, sec)}, err
	case ir.DataDate:
		var y, mo, d int
		_, err := fmt.Sscanf(js, `"%d-%d-%d"`, &y, &mo, &d)
		return sample{js, fmt.Sprintf("time.Date(%d, %d, %d, 0, 0, 0, 0, time.UTC)", y, mo, d)}, err
	case ir.DataBool:
		return sample{js, js}, nil
	case ir.DataNumber, ir.DataInt32, ir.DataInt64, ir.DataUint32, ir.DataUint64:
		return sample{js, js}, nil
	}
	return sample{}, fmt.Errorf("no Go expression for %s of kind %s", js, kind)
}

// pointer makes a pointer of a plain value. A number's literal needs its type, as new(1) is an *int.
func pointer(kind ir.DataKind, code string) string {
	switch kind {
	case ir.DataNumber:
		code = "float64(" + code + ")"
	case ir.DataInt32, ir.DataInt64, ir.DataUint32, ir.DataUint64:
		code = string(kind) + "(" + code + ")"
	}
	return "new(" + code + ")"
}

func lines(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "\n" + strings.Join(items, "\n") + "\n"
}

func anyTrue(m map[string]bool) bool {
	for _, v := range m {
		if v {
			return true
		}
	}
	return false
}

func quoteJSON(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
