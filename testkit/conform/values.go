package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// object is a JSON object. Numbers in it are json.Number.
type object = map[string]any

// decode reads one JSON value strictly: UTF-8, nothing behind it, no member twice.
func decode(src []byte) (any, error) {
	if !utf8.Valid(src) {
		return nil, errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is not JSON: it ends too early")
	case err != nil:
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON value")
	}
	return v, nil
}

// maxDepth bounds how deep values may be nested.
const maxDepth = 200

func decodeValue(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		o := object{}
		for d.More() {
			t, err := d.Token()
			if err != nil {
				return nil, fmt.Errorf("it is not JSON: %w", err)
			}
			key, _ := t.(string)
			if _, twice := o[key]; twice {
				return nil, fmt.Errorf("an object has the member %q twice", key)
			}
			if o[key], err = decodeValue(d, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := d.Token()
		return o, err
	}
	return t, nil
}

// encode writes a value; it is one of ours and has a form in JSON.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// member returns what is at a path of members; nil if there is nothing.
func member(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

// text returns the string at a path of members; "" if there is none.
func text(v any, path ...string) string {
	s, _ := member(v, path...).(string)
	return s
}

// objects returns the objects in a list, texts the strings.
func objects(v any) []object { return elements[object](v) }
func texts(v any) []string   { return elements[string](v) }

func elements[T any](v any) (all []T) {
	list, _ := v.([]any)
	for _, e := range list {
		if e, ok := e.(T); ok {
			all = append(all, e)
		}
	}
	return all
}

// number returns an integer; ok is false for anything else.
func number(v any) (n int64, ok bool) {
	j, isNumber := v.(json.Number)
	if !isNumber {
		return 0, false
	}
	n, err := j.Int64()
	if err == nil {
		return n, true
	}
	f, err := j.Float64()
	return int64(f), err == nil && f == float64(int64(f))
}

// plain returns a value in which numbers that are equal are written alike.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case object:
		o := object{}
		for name, e := range v {
			o[name] = plain(e)
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = plain(e)
		}
		return list
	}
	return v
}

// clean makes a text from outside fit for a terminal, and cuts it.
func clean(s string, most int) string {
	cut := ""
	if len(s) > most {
		s, cut = strings.ToValidUTF8(s[:most], ""), fmt.Sprintf(" … (%d bytes in all)", len(s))
	}
	var b strings.Builder
	for _, r := range s {
		if (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == utf8.RuneError) && r != '\n' {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), "\n") + cut
}
