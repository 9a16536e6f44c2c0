package conform

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// Wire types of protobuf.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// maxProtoDepth is how deep messages may be nested, as in protobuf's own readers.
const maxProtoDepth = 100

// encode turns JSON into a message of the definition. Members that the message does not have are an error: protobuf cannot say
// them.
func (s *definition) encode(message string, doc []byte) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return s.appendMessage(nil, message, v)
}

func (s *definition) appendMessage(b []byte, message string, v any) ([]byte, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s must be an object", message)
	}
	t := s.named(message)
	if t == nil {
		return b, nil // the empty message
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		f := t.field(name)
		if f == nil {
			return nil, fmt.Errorf("%s has no field %q", message, name)
		}
		var err error
		if b, err = s.appendField(b, f, object[name]); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", message, name, err)
		}
	}
	return b, nil
}

// appendField appends all values of a field: of a list its elements, of a map its entries.
func (s *definition) appendField(b []byte, f *field, v any) ([]byte, error) {
	var err error
	number := int(f.number)
	if v == nil && f.typ != "value" {
		return b, nil
	}
	if elem, ok := list(f.typ); ok {
		elems, ok := v.([]any)
		if !ok {
			return nil, errors.New("must be a list")
		}
		for _, e := range elems {
			if b, err = s.appendValue(b, number, elem, e); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	if kind, ok := dict(f.typ); ok {
		entries, ok := v.(object)
		if !ok {
			return nil, errors.New("must be an object")
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			entry := appendBytes(nil, 1, []byte(key))
			if entry, err = s.appendValue(entry, 2, kind, entries[key]); err != nil {
				return nil, err
			}
			b = appendBytes(b, number, entry)
		}
		return b, nil
	}
	return s.appendValue(b, number, f.typ, v)
}

func (s *definition) appendValue(b []byte, number int, kind string, v any) ([]byte, error) {
	switch kind {
	case "string":
		text, ok := v.(string)
		if !ok {
			return nil, errors.New("must be a string")
		}
		return appendBytes(b, number, []byte(text)), nil
	case "bytes":
		text, _ := v.(string)
		raw, err := base64.StdEncoding.DecodeString(text)
		return appendBytes(b, number, raw), err
	case "bool":
		truth, ok := v.(bool)
		if !ok {
			return nil, errors.New("must be a boolean")
		}
		return appendVarint(b, number, map[bool]uint64{true: 1}[truth]), nil
	case "int32", "int64":
		n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
		return appendVarint(b, number, uint64(n)), err
	case "timestamp":
		text, _ := v.(string)
		t, err := time.Parse(time.RFC3339Nano, text)
		m := appendVarint(nil, 1, uint64(t.Unix()))
		return appendBytes(b, number, appendVarint(m, 2, uint64(t.Nanosecond()))), err
	case "struct", "value":
		m, err := appendJSON(nil, kind, v)
		return appendBytes(b, number, m), err
	}
	if t := s.named(kind); t != nil && t.values != nil {
		n, err := t.number(v)
		return appendVarint(b, number, uint64(n)), err
	}
	m, err := s.appendMessage(nil, kind, v)
	return appendBytes(b, number, m), err
}

// number is the number of a value of an enum, which is written as its name or as the number.
func (t *typeOf) number(v any) (int64, error) {
	if n, ok := v.(json.Number); ok {
		return n.Int64()
	}
	for _, value := range t.values {
		if value.name == v {
			return int64(value.number), nil
		}
	}
	return 0, fmt.Errorf("%s has no value %v", t.name, v)
}

// appendJSON appends a Struct or a Value of google.protobuf.
func appendJSON(b []byte, kind string, v any) ([]byte, error) {
	if kind == "struct" {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("must be an object")
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			value, err := appendJSON(nil, "value", object[key])
			if err != nil {
				return nil, err
			}
			b = appendBytes(b, 1, appendBytes(appendBytes(nil, 1, []byte(key)), 2, value))
		}
		return b, nil
	}
	switch x := v.(type) {
	case nil:
		return appendVarint(b, 1, 0), nil
	case json.Number:
		n, err := x.Float64()
		return binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, 2<<3|wire64), math.Float64bits(n)), err
	case string:
		return appendBytes(b, 3, []byte(x)), nil
	case bool:
		return appendVarint(b, 4, map[bool]uint64{true: 1}[x]), nil
	case map[string]any:
		m, err := appendJSON(nil, "struct", x)
		return appendBytes(b, 5, m), err
	case []any:
		var list []byte
		for _, e := range x {
			m, err := appendJSON(nil, "value", e)
			if err != nil {
				return nil, err
			}
			list = appendBytes(list, 1, m)
		}
		return appendBytes(b, 6, list), nil
	}
	return nil, fmt.Errorf("%T is not JSON", v)
}

func appendVarint(b []byte, number int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(number)<<3|wireVarint), v)
}

func appendBytes(b []byte, number int, v []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(number)<<3|wireBytes), uint64(len(v))), v...)
}
