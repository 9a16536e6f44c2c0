package snippet

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/generator/ir"
)

// errNoLiteral says that a value has no short literal: it is read from JSON then.
var errNoLiteral = errors.New("no literal")

// literals writes values of a skill's contract as Go.
type literals struct {
	pkg     string // of the types: "client"
	imports map[string]bool
}

// scalarTypes are the Go types of scalars.
var scalarTypes = map[ir.DataKind]string{
	ir.DataBool: "bool", ir.DataInt32: "int32", ir.DataInt64: "int64", ir.DataUint32: "uint32", ir.DataUint64: "uint64", ir.DataNumber: "float64",
	ir.DataString: "string", ir.DataBytes: "[]byte", ir.DataTime: "time.Time", ir.DataDate: "time.Time",
}

// hasNil reports whether the Go type of r has a nil of its own.
func hasNil(r *ir.DataRef) bool {
	switch r.Kind {
	case ir.DataAny, ir.DataBytes, ir.DataList, ir.DataMap:
		return true
	case ir.DataNamed:
		return r.Type.Kind == ir.DataUnion
	}
	return false
}

// typeOf is the Go type of a reference.
func (l *literals) typeOf(r *ir.DataRef) (string, error) {
	name, err := "", error(nil)
	switch r.Kind {
	case ir.DataAny:
		l.imports["github.com/a2agen/a2agen/runtime/wire"] = true
		return "wire.Value", nil
	case ir.DataList, ir.DataMap:
		name, err = l.typeOf(r.Elem)
		if r.Kind == ir.DataList {
			return "[]" + name, err
		}
		return "map[string]" + name, err
	case ir.DataNamed:
		name = l.pkg + "." + r.Name
	case ir.DataTime, ir.DataDate:
		l.imports["time"] = true
		fallthrough
	default:
		if name = scalarTypes[r.Kind]; name == "" {
			err = errNoLiteral
		}
	}
	if r.Null && !hasNil(r) {
		name = "*" + name
	}
	return name, err
}

// value writes a value. pointer says that its place is a pointer.
func (l *literals) value(r *ir.DataRef, raw json.RawMessage, pointer bool) (string, error) {
	if string(raw) == "null" {
		if r.Null {
			return "nil", nil
		}
		return "", errNoLiteral
	}
	s, err := l.plain(r, raw)
	if err != nil || !pointer && (!r.Null || hasNil(r)) {
		return s, err
	}
	if r.Kind == ir.DataNamed && r.Type.Kind != ir.DataEnum && r.Type.Kind != ir.DataDefined {
		return "&" + s, nil
	}
	if goType := scalarTypes[r.Kind]; goType != "" && r.Kind != ir.DataString && r.Kind != ir.DataBool && r.Kind != ir.DataTime && r.Kind != ir.DataDate {
		s = goType + "(" + s + ")"
	}
	return "new(" + s + ")", nil
}

// plain writes a value that is no pointer.
func (l *literals) plain(r *ir.DataRef, raw json.RawMessage) (string, error) {
	switch r.Kind {
	case ir.DataBool, ir.DataNumber:
		return string(raw), nil
	case ir.DataInt32, ir.DataInt64, ir.DataUint32, ir.DataUint64:
		if strings.ContainsAny(string(raw), ".eE") { // 1e3 is an integer in JSON Schema, and none in Go
			return "", errNoLiteral
		}
		return string(raw), nil
	case ir.DataAny:
		l.imports["github.com/a2agen/a2agen/runtime/wire"] = true
		return "wire.Value(" + quote(string(raw)) + ")", nil
	case ir.DataList:
		return l.list(r, raw)
	case ir.DataMap:
		return l.dict(r, raw)
	case ir.DataNamed:
		return l.named(r.Type, raw)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", errNoLiteral
	}
	switch r.Kind {
	case ir.DataString:
		return strconv.Quote(s), nil
	case ir.DataBytes:
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return "", errNoLiteral
		}
		return "[]byte(" + strconv.Quote(string(b)) + ")", nil
	case ir.DataTime, ir.DataDate:
		return l.time(s)
	}
	return "", errNoLiteral
}

// time writes a time or date.
func (l *literals) time(s string) (string, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t, err = time.Parse(time.DateOnly, s)
	}
	if err != nil {
		return "", errNoLiteral
	}
	t = t.UTC()
	l.imports["time"] = true
	return fmt.Sprintf("time.Date(%d, %d, %d, %d, %d, %d, %d, time.UTC)",
		t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond()), nil
}

// list writes the elements of an array.
func (l *literals) list(r *ir.DataRef, raw json.RawMessage) (string, error) {
	var items []json.RawMessage
	if len(r.Prefix) > 0 || json.Unmarshal(raw, &items) != nil {
		return "", errNoLiteral
	}
	name, err := l.typeOf(r)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		if texts[i], err = l.value(r.Elem, item, false); err != nil {
			return "", err
		}
	}
	return name + "{" + strings.Join(texts, ", ") + "}", nil
}

// dict writes a map, its keys in order.
func (l *literals) dict(r *ir.DataRef, raw json.RawMessage) (string, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return "", errNoLiteral
	}
	name, err := l.typeOf(r)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(members)) {
		s, err := l.value(r.Elem, members[key], false)
		if err != nil {
			return "", err
		}
		texts = append(texts, strconv.Quote(key)+": "+s)
	}
	return name + "{" + strings.Join(texts, ", ") + "}", nil
}

// named writes a value of a named type.
func (l *literals) named(t *ir.DataType, raw json.RawMessage) (string, error) {
	name := l.pkg + "." + t.Go
	switch t.Kind {
	case ir.DataStruct:
		return l.structure(t, raw)
	case ir.DataEnum:
		for _, v := range t.Values {
			if string(v.Value) == string(raw) {
				return l.pkg + "." + v.Go, nil
			}
		}
		s, err := l.plain(&ir.DataRef{Kind: t.Base}, raw)
		return name + "(" + s + ")", err
	case ir.DataDefined:
		s, err := l.plain(t.Of, raw)
		return name + "(" + s + ")", err
	case ir.DataWrapper:
		s, err := l.value(t.Of, raw, false)
		return name + "{Value: " + s + "}", err
	}
	return "", errNoLiteral // of a union, which case it is, is for its own code to say
}

// structure writes an object that has a field for each of its members.
func (l *literals) structure(t *ir.DataType, raw json.RawMessage) (string, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return "", errNoLiteral
	}
	var texts []string
	for _, f := range t.Fields {
		value, ok := members[f.Name]
		delete(members, f.Name)
		if !ok || f.Go == "" {
			continue
		}
		s, err := l.value(&f.Type, value, f.Pointer)
		if err != nil {
			return "", err
		}
		texts = append(texts, f.Go+": "+s)
	}
	if len(members) > 0 {
		return "", errNoLiteral
	}
	return l.pkg + "." + t.Go + "{" + strings.Join(texts, ", ") + "}", nil
}

// quote is a text as a Go string, a raw one where that can be read more easily.
func quote(s string) string {
	if strconv.CanBackquote(s) && strings.ContainsAny(s, `"\`) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}
