package conform

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// decode turns a message into what its JSON would decode to. Required fields that protobuf leaves out when they are zero
// are there as zero; other fields are there when they were sent.
func (s *definition) decode(message string, b []byte) (map[string]any, error) {
	return s.readMessage(message, b, 0)
}

func (s *definition) readMessage(message string, b []byte, depth int) (map[string]any, error) {
	if depth > maxProtoDepth {
		return nil, errors.New("messages are nested too deep")
	}
	fields, out := map[int]*field{}, map[string]any{}
	if t := s.named(message); t != nil {
		for i := range t.fields {
			f := &t.fields[i]
			fields[int(f.number)] = f
			if f.required {
				s.setZero(out, f)
			}
		}
	}
	err := eachField(b, func(number, wire int, n uint64, raw []byte) error {
		f := fields[number]
		if f == nil {
			return nil // of a later version
		}
		if err := s.readField(out, f, wire, n, raw, depth); err != nil {
			return fmt.Errorf("%s.%s: %w", message, f.json, err)
		}
		return nil
	})
	return out, err
}

// setZero sets a field to what it is when it was not sent, if protobuf cannot tell that from its zero value.
func (s *definition) setZero(out map[string]any, f *field) {
	if _, ok := list(f.typ); ok {
		out[f.json] = []any{}
		return
	}
	if _, ok := dict(f.typ); ok {
		out[f.json] = map[string]any{}
		return
	}
	switch f.typ {
	case "string", "bytes":
		out[f.json] = ""
	case "int32", "int64":
		out[f.json] = json.Number("0")
	case "bool":
		out[f.json] = false
	}
	if t := s.named(f.typ); t != nil && t.values != nil {
		out[f.json] = t.values[0].name
	}
}

func (s *definition) readField(out map[string]any, f *field, wire int, n uint64, raw []byte, depth int) error {
	if kind, ok := dict(f.typ); ok {
		entries, _ := out[f.json].(map[string]any)
		if entries == nil {
			entries = map[string]any{}
			out[f.json] = entries
		}
		return s.readEntry(entries, kind, raw, depth)
	}
	kind, isList := list(f.typ)
	v, err := s.readValue(kind, wire, n, raw, depth)
	if err != nil {
		return err
	}
	if isList {
		elems, _ := out[f.json].([]any)
		v = append(elems, v)
	}
	out[f.json] = v
	return nil
}

func (s *definition) readEntry(entries map[string]any, kind string, raw []byte, depth int) error {
	key, value := "", any(nil)
	switch {
	case kind == "string":
		value = ""
	case kind != "value":
		value = map[string]any{} // a message that was left out
	}
	err := eachField(raw, func(number, wire int, n uint64, raw []byte) (err error) {
		switch number {
		case 1:
			key = string(raw)
		case 2:
			value, err = s.readValue(kind, wire, n, raw, depth+1)
		}
		return err
	})
	entries[key] = value
	return err
}

func (s *definition) readValue(kind string, wire int, n uint64, raw []byte, depth int) (any, error) {
	t := s.named(kind)
	isEnum := t != nil && t.values != nil
	varint := isEnum || kind == "bool" || kind == "int32" || kind == "int64"
	if varint != (wire == wireVarint) {
		return nil, fmt.Errorf("a %s has the wire type %d", kind, wire)
	}
	switch kind {
	case "string":
		if !utf8.Valid(raw) {
			return nil, errors.New("a string is not UTF-8")
		}
		return string(raw), nil
	case "bytes":
		return base64.StdEncoding.EncodeToString(raw), nil
	case "bool":
		return n != 0, nil
	case "int32", "int64":
		return json.Number(fmt.Sprint(int64(n))), nil
	case "timestamp":
		return readTimestamp(raw)
	case "struct", "value":
		return readJSON(kind, raw, depth+1)
	}
	if isEnum {
		i := slices.IndexFunc(t.values, func(v value) bool { return int64(v.number) == int64(n) })
		if i < 0 {
			return json.Number(fmt.Sprint(int64(n))), nil
		}
		return t.values[i].name, nil
	}
	return s.readMessage(kind, raw, depth+1)
}

// readTimestamp writes a time in UTC with 3, 6 or 9 digits.
func readTimestamp(b []byte) (any, error) {
	var seconds, nanos uint64
	err := eachField(b, func(number, _ int, n uint64, _ []byte) error {
		switch number {
		case 1:
			seconds = n
		case 2:
			nanos = n
		}
		return nil
	})
	digits := ".000000000"
	for len(digits) > 4 && nanos%1000 == 0 {
		digits, nanos = digits[:len(digits)-3], nanos/1000
	}
	for range (10 - len(digits)) / 3 {
		nanos *= 1000
	}
	return time.Unix(int64(seconds), int64(int32(nanos))).UTC().Format("2006-01-02T15:04:05" + digits + "Z"), err
}

// readJSON reads a Struct or a Value of google.protobuf.
func readJSON(kind string, b []byte, depth int) (any, error) {
	if depth > maxProtoDepth {
		return nil, errors.New("values are nested too deep")
	}
	object, list, value := map[string]any{}, []any{}, any(nil)
	err := eachField(b, func(number, wire int, n uint64, raw []byte) (err error) {
		switch {
		case kind == "struct":
			return (&definition{}).readEntry(object, "value", raw, depth)
		case kind == "list":
			var e any
			e, err = readJSON("value", raw, depth+1)
			list = append(list, e)
		case number == 2 && wire == wire64:
			value = json.Number(fmt.Sprint(math.Float64frombits(n)))
		case number == 3:
			value = string(raw)
		case number == 4:
			value = n != 0
		case number == 5:
			value, err = readJSON("struct", raw, depth+1)
		case number == 6:
			value, err = readJSON("list", raw, depth+1)
		}
		return err
	})
	switch kind {
	case "struct":
		return object, err
	case "list":
		return list, err
	}
	return value, err
}

// eachField calls f for each field of a message: n has its number, raw its bytes.
func eachField(b []byte, f func(number, wire int, n uint64, raw []byte) error) error {
	for len(b) > 0 {
		tag, size := binary.Uvarint(b)
		if size <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return errors.New("a field's number cannot be read")
		}
		b = b[size:]
		var n uint64
		var raw []byte
		switch wire := int(tag & 7); wire {
		case wireVarint, wireBytes:
			if n, size = binary.Uvarint(b); size <= 0 {
				return errors.New("a number cannot be read")
			}
			b = b[size:]
			if wire == wireBytes {
				if n > uint64(len(b)) {
					return errors.New("a field is longer than its message")
				}
				raw, b = b[:n], b[n:]
			}
		case wire64:
			if len(b) < 8 {
				return errors.New("a number cannot be read")
			}
			n, b = binary.LittleEndian.Uint64(b), b[8:]
		case wire32:
			if len(b) < 4 {
				return errors.New("a number cannot be read")
			}
			n, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		default:
			return fmt.Errorf("there is no wire type %d", wire)
		}
		if err := f(int(tag>>3), int(tag&7), n, raw); err != nil {
			return err
		}
	}
	return nil
}
