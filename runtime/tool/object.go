package tool

import (
	"encoding/json"
	"strings"
)

// Object makes a schema that models take for arguments, which must be of an object: one of anything else is put below
// the one property "value", and wrapped is true. Its $defs stay at the root. What is no schema is returned as it is.
func Object(schema json.RawMessage) (of json.RawMessage, wrapped bool) {
	v, err := parse(schema)
	if err != nil {
		return schema, false
	}
	root, isObject := v.(*object)
	if isObject && root.text("type") == "object" {
		return schema, false
	}
	outer := newObject("type", "object", "required", []any{"value"},
		"properties", newObject("value", v), "additionalProperties", false)
	if isObject {
		movedRefs(root)
		for _, k := range []string{"$schema", "$defs"} {
			if have, ok := root.values[k]; ok {
				outer.set(k, have)
				root.drop(k)
			}
		}
	}
	return appendJSON(nil, outer), true
}

// movedRefs has the references of a schema find what is below "value" by now.
func movedRefs(v any) {
	switch v := v.(type) {
	case *object:
		if ref := v.text("$ref"); strings.HasPrefix(ref, "#") && !strings.HasPrefix(ref, "#/$defs/") {
			v.set("$ref", "#/properties/value"+ref[1:])
		}
		for _, k := range v.keys {
			movedRefs(v.values[k])
		}
	case []any:
		for _, e := range v {
			movedRefs(e)
		}
	}
}
