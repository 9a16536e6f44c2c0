package conform

import (
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
	"unicode/utf8"
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

// wellKnown are messages of google.protobuf that JSON has in a form of its own.
var wellKnown = map[string]*typeOf{
	"struct":    {fields: []field{{json: "value", typ: "{}value", number: 1, required: true}}},
	"listvalue": {fields: []field{{json: "value", typ: "[]value", number: 1, required: true}}},
	"timestamp": {fields: []field{{json: "seconds", typ: "int64", number: 1, required: true}, {json: "nanos", typ: "int32", number: 2, required: true}}},
}

// valueKinds are the kinds of the fields of google.protobuf.Value, by their numbers.
var valueKinds = []string{2: "double", 3: "string", 4: "bool", 5: "struct", 6: "listvalue"}

// encode turns JSON into a message of the definition. Members that the message does not have are an error: protobuf cannot say
// them.
func (d *definition) encode(message string, doc []byte) ([]byte, error) {
	v, err := decode(doc)
	if err != nil {
		return nil, err
	}
	return d.appendMessage(nil, message, v)
}

func (d *definition) appendMessage(b []byte, message string, v any) ([]byte, error) {
	o, ok := v.(object)
	if !ok {
		return nil, fmt.Errorf("%s must be an object", message)
	}
	t := d.named(message)
	if t == nil {
		return b, nil // the empty message
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		f := t.field(name)
		if f == nil {
			return nil, fmt.Errorf("%s has no field %q", message, name)
		}
		var err error
		if b, err = d.appendField(b, f, o[name]); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", message, name, err)
		}
	}
	return b, nil
}

// appendField appends all values of a field: of a list its elements, of a map its entries.
func (d *definition) appendField(b []byte, f *field, v any) (_ []byte, err error) {
	number := int(f.number)
	elem, isList := list(f.typ)
	kind, isMap := dict(f.typ)
	switch {
	case v == nil && f.typ != "value":
		return b, nil
	case isList:
		elems, ok := v.([]any)
		if !ok {
			return nil, errors.New("must be a list")
		}
		for _, e := range elems {
			if b, err = d.appendValue(b, number, elem, e); err != nil {
				return nil, err
			}
		}
		return b, nil
	case isMap:
		entries, ok := v.(object)
		if !ok {
			return nil, errors.New("must be an object")
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			entry, err := d.appendValue(appendBytes(nil, 1, []byte(key)), 2, kind, entries[key])
			if err != nil {
				return nil, err
			}
			b = appendBytes(b, number, entry)
		}
		return b, nil
	}
	return d.appendValue(b, number, f.typ, v)
}

func (d *definition) appendValue(b []byte, number int, kind string, v any) (_ []byte, err error) {
	var m []byte // what is not a number
	switch kind {
	case "string":
		text, ok := v.(string)
		if !ok {
			return nil, errors.New("must be a string")
		}
		return appendBytes(b, number, []byte(text)), nil
	case "bytes":
		text, _ := v.(string)
		m, err = base64.StdEncoding.DecodeString(text)
	case "bool":
		truth, ok := v.(bool)
		if !ok {
			return nil, errors.New("must be a boolean")
		}
		return appendVarint(b, number, map[bool]uint64{true: 1}[truth]), nil
	case "int32", "int64":
		n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
		return appendVarint(b, number, uint64(n)), err
	case "double":
		n, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		b = binary.AppendUvarint(b, uint64(number)<<3|wire64)
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(n)), err
	case "timestamp":
		text, _ := v.(string)
		var t time.Time
		t, err = time.Parse(time.RFC3339Nano, text)
		m = appendVarint(appendVarint(nil, 1, uint64(t.Unix())), 2, uint64(t.Nanosecond()))
	case "struct", "listvalue":
		if v == nil {
			return nil, errors.New("must not be null")
		}
		m, err = d.appendField(nil, &wellKnown[kind].fields[0], v)
	case "value":
		switch v.(type) {
		case nil:
			m = appendVarint(nil, 1, 0)
		case json.Number:
			m, err = d.appendValue(nil, 2, "double", v)
		case string:
			m, err = d.appendValue(nil, 3, "string", v)
		case bool:
			m, err = d.appendValue(nil, 4, "bool", v)
		case object:
			m, err = d.appendValue(nil, 5, "struct", v)
		case []any:
			m, err = d.appendValue(nil, 6, "listvalue", v)
		}
	default:
		if t := d.named(kind); t != nil && t.values != nil {
			n, err := t.number(v)
			return appendVarint(b, number, uint64(n)), err
		}
		m, err = d.appendMessage(nil, kind, v)
	}
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

func appendVarint(b []byte, number int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(number)<<3|wireVarint), v)
}

func appendBytes(b []byte, number int, v []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(number)<<3|wireBytes), uint64(len(v))), v...)
}

// decode turns a message into what its JSON would decode to. Required fields that protobuf leaves out when they are zero
// are there as zero; other fields are there when they were sent.
func (d *definition) decode(message string, b []byte) (object, error) {
	t := d.named(message)
	if t == nil {
		t = &typeOf{}
	}
	return d.readMessage(t, b, 0)
}

func (d *definition) readMessage(t *typeOf, b []byte, depth int) (object, error) {
	if depth > maxProtoDepth {
		return nil, errors.New("messages are nested too deep")
	}
	fields, out := map[int]*field{}, object{}
	for i := range t.fields {
		f := &t.fields[i]
		fields[int(f.number)] = f
		if zero := d.zero(f.typ); f.required && zero != nil {
			out[f.json] = zero
		}
	}
	err := eachField(b, func(number, wire int, n uint64, raw []byte) error {
		f := fields[number]
		if f == nil {
			return nil // of a later version
		}
		if err := d.readField(out, f, wire, n, raw, depth); err != nil {
			return fmt.Errorf("%s.%s: %w", t.name, f.json, err)
		}
		return nil
	})
	return out, err
}

// zero is what a field is that was not sent, if protobuf cannot tell that from its zero value.
func (d *definition) zero(kind string) any {
	if _, ok := list(kind); ok {
		return []any{}
	}
	if _, ok := dict(kind); ok {
		return object{}
	}
	switch kind {
	case "string", "bytes":
		return ""
	case "int32", "int64":
		return json.Number("0")
	case "bool":
		return false
	}
	if t := d.named(kind); t != nil && t.values != nil {
		return t.values[0].name
	}
	return nil
}

// readField reads a field, or one more element or entry of it.
func (d *definition) readField(out object, f *field, wire int, n uint64, raw []byte, depth int) error {
	kind, isMap := dict(f.typ)
	if !isMap {
		kind, isList := list(f.typ)
		v, err := d.readValue(kind, wire, n, raw, depth)
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
	entries, _ := out[f.json].(object)
	if entries == nil {
		entries = object{}
		out[f.json] = entries
	}
	key, value := "", d.zero(kind)
	if value == nil && kind != "value" {
		value = object{} // a message that was left out
	}
	err := eachField(raw, func(number, wire int, n uint64, raw []byte) (err error) {
		switch number {
		case 1:
			key = string(raw)
		case 2:
			value, err = d.readValue(kind, wire, n, raw, depth+1)
		}
		return err
	})
	entries[key] = value
	return err
}

func (d *definition) readValue(kind string, wire int, n uint64, raw []byte, depth int) (any, error) {
	t := d.named(kind)
	isEnum, must := t != nil && t.values != nil, wireBytes
	switch {
	case isEnum || slices.Contains([]string{"bool", "int32", "int64"}, kind):
		must = wireVarint
	case kind == "double":
		must = wire64
	}
	if wire != must {
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
	case "double":
		return json.Number(fmt.Sprint(math.Float64frombits(n))), nil
	case "timestamp":
		m, err := d.readMessage(wellKnown[kind], raw, depth+1)
		seconds, _ := number(m["seconds"])
		nanos, _ := number(m["nanos"])
		layout := "2006-01-02T15:04:05.000000000Z" // or with 6 or 3 digits
		for part := nanos; part%1000 == 0 && len(layout) > len("2006-01-02T15:04:05.000Z"); part /= 1000 {
			layout = layout[:len(layout)-4] + "Z"
		}
		return time.Unix(seconds, int64(int32(nanos))).UTC().Format(layout), err
	case "struct", "listvalue":
		m, err := d.readMessage(wellKnown[kind], raw, depth+1)
		return m["value"], err
	case "value":
		var v any
		err := eachField(raw, func(number, wire int, n uint64, raw []byte) (err error) {
			if number < len(valueKinds) && valueKinds[number] != "" {
				v, err = d.readValue(valueKinds[number], wire, n, raw, depth+1)
			}
			return err
		})
		return v, err
	}
	if isEnum {
		i := slices.IndexFunc(t.values, func(v value) bool { return int64(v.number) == int64(n) })
		if i < 0 {
			return json.Number(fmt.Sprint(int64(n))), nil
		}
		return t.values[i].name, nil
	}
	if t == nil {
		t = &typeOf{name: kind}
	}
	return d.readMessage(t, raw, depth+1)
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
		case wire64, wire32:
			size := map[int]int{wire64: 8, wire32: 4}[wire]
			if len(b) < size {
				return errors.New("a number cannot be read")
			}
			var word [8]byte
			copy(word[:], b[:size])
			n, b = binary.LittleEndian.Uint64(word[:]), b[size:]
		default:
			return fmt.Errorf("there is no wire type %d", wire)
		}
		if err := f(int(tag>>3), int(tag&7), n, raw); err != nil {
			return err
		}
	}
	return nil
}
