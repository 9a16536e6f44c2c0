package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/a2agen/a2agen/runtime/wire"
)

// maxDepth is how deep a document may be nested.
const maxDepth = 200

// object is a JSON object whose members keep their order. The other values of a tree are []any, string, json.Number,
// bool and nil.
type object struct {
	keys   []string
	values map[string]any
}

func newObject(pairs ...any) *object {
	o := &object{values: map[string]any{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		o.set(name, pairs[i+1])
	}
	return o
}

func (o *object) set(name string, value any) {
	if _, ok := o.values[name]; !ok {
		o.keys = append(o.keys, name)
	}
	o.values[name] = value
}

func (o *object) drop(name string) {
	if _, ok := o.values[name]; ok {
		delete(o.values, name)
		o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == name })
	}
}

// object returns a member that is an object; nil otherwise.
func (o *object) object(name string) *object {
	v, _ := o.values[name].(*object)
	return v
}

// text returns a member that is a string; "" otherwise.
func (o *object) text(name string) string {
	v, _ := o.values[name].(string)
	return v
}

func (o *object) list(name string) []any {
	v, _ := o.values[name].([]any)
	return v
}

// appendJSON writes a tree.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case *object:
		b = append(b, '{')
		for i, k := range v.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(wire.AppendString(b, k), ':')
			b = appendJSON(b, v.values[k])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, e)
		}
		return append(b, ']')
	case string:
		return wire.AppendString(b, v)
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// parse reads a JSON document.
func parse(src []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	v, err := read(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is something behind the JSON")
	}
	return v, nil
}

func read(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return readObject(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := read(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

func readObject(d *json.Decoder, depth int) (*object, error) {
	o := newObject()
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := read(d, depth+1)
		if err != nil {
			return nil, err
		}
		name, _ := k.(string)
		o.set(name, v)
	}
	_, err := d.Token()
	return o, err
}
