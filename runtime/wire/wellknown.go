package wire

import "strings"

// Null is google.protobuf.NullValue, which is null in JSON and has one value.
type Null struct{}

// NullValue reads null, also by its name or its number in protobuf.
func (r *Reader) NullValue() Null {
	switch r.Kind() {
	case KindNull:
		r.Null()
	case KindString, KindNumber:
		r.Skip()
	default:
		r.expected("null")
	}
	return Null{}
}

// appendNullValue appends null.
func appendNullValue(b []byte, _ Null) []byte { return append(b, "null"...) }

// ListValue reads a JSON array as it is.
func (r *Reader) ListValue() Value {
	if r.Kind() != KindArray {
		r.expected("an array")
		return nil
	}
	return r.Value()
}

// AppendListValue appends a raw JSON array, checked and without whitespace; [] if it is not set. Anything else is an error.
func AppendListValue(b []byte, v Value) ([]byte, error) {
	if len(v) == 0 {
		return append(b, '[', ']'), nil
	}
	start := len(b)
	b, err := appendRaw(b, v)
	if err == nil && b[start] != '[' {
		return b[:start], &Error{Reason: "not an array"}
	}
	return b, err
}

// FieldMask are paths of fields, in the words of the definition: "status.state". nil is "not set".
type FieldMask []string

// FieldMask reads paths in camel case, separated by commas.
func (r *Reader) FieldMask() FieldMask {
	start := r.Offset()
	text := r.String()
	m := FieldMask{}
	if text == "" || r.err != nil {
		return m
	}
	for path := range strings.SplitSeq(text, ",") {
		snake := snakeCase(path)
		if camel, ok := camelCase(snake); !ok || camel != path {
			r.fail(start, "not a list of paths in camel case")
			return m
		}
		m = append(m, snake)
	}
	return m
}

// AppendFieldMask appends paths in camel case, separated by commas. A path that would be read as another one is an error.
func AppendFieldMask(b []byte, m FieldMask) ([]byte, error) {
	var text strings.Builder
	for i, path := range m {
		camel, ok := camelCase(path)
		if !ok {
			return b, &Error{Reason: "JSON cannot say the path " + path}
		}
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(camel)
	}
	return AppendString(b, text.String()), nil
}

func snakeCase(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// camelCase turns a path into camel case, if it can be turned back.
func camelCase(path string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case c >= 'A' && c <= 'Z', c == ',':
			return "", false
		case c == '_':
			if i++; i == len(path) || path[i] < 'a' || path[i] > 'z' {
				return "", false
			}
			c = path[i] - 'a' + 'A'
		}
		b.WriteByte(c)
	}
	return b.String(), path != ""
}

// Any is a google.protobuf.Any: a message of any type, which it names. It is kept as it came, as JSON or as protobuf, and is turned into the
// other form when it has to be: that needs a type of the definition, or one that JSON has a form for.
type Any struct {
	// TypeURL ends in the full name of the type behind a slash: "type.googleapis.com/lf.a2a.v1.Task".
	TypeURL string
	// JSON is the object with its member "@type"; nil if Proto is given.
	JSON Object
	// Proto is the message as protobuf.
	Proto []byte
}
