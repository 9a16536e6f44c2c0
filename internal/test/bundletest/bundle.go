// Package bundletest makes JSON Schemas of proto definitions as protoc-gen-jsonschema does, so that tests can have a bundle of
// any definition without that tool.
package bundletest

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/a2agen/a2agen/spec"
)

// Form is one of the forms in which such schemas are published.
type Form int

// The forms.
const (
	ByName  Form = iota // "$defs" by the names of messages
	ByTitle             // "definitions" by title, references to files (1.0.0 and 1.0.1)
)

type object = map[string]any

// Make returns the bundle of a proto definition.
func Make(doc *spec.Document, form Form) ([]byte, error) {
	m := maker{doc: doc, form: form, enums: map[string]*spec.Enum{}}
	for _, e := range doc.Enums {
		m.enums[e.Name] = e
	}
	defs := object{}
	for _, msg := range doc.Messages {
		defs[m.key(msg.Name)] = m.message(msg)
	}
	for name, def := range map[string]object{
		"Struct": {"title": "Struct", "type": "object"}, "Value": {"title": "Value"},
		"Timestamp": {"title": "Timestamp", "type": "string", "format": "date-time"},
	} {
		defs[name] = def
	}
	root := object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A2A Protocol Schemas", "version": "v1"}
	root[map[Form]string{ByName: "$defs", ByTitle: "definitions"}[form]] = defs
	return json.MarshalIndent(root, "", "  ")
}

type maker struct {
	doc   *spec.Document
	form  Form
	enums map[string]*spec.Enum
}

func (m *maker) key(name string) string {
	if m.form == ByTitle {
		return title(name)
	}
	return name
}

func (m *maker) ref(pkg, name string) object {
	if m.form == ByTitle {
		return object{"$ref": pkg + "." + name + ".jsonschema.json"}
	}
	return object{"$ref": "#/$defs/" + name}
}

// title puts a blank before every capital that follows a small letter or a digit: "O Auth2 Security Scheme".
func title(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) && (!unicode.IsUpper(rune(name[i-1])) || i+1 < len(name) && unicode.IsLower(rune(name[i+1]))) {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (m *maker) message(msg *spec.Message) object {
	properties, aliases := object{}, object{}
	for _, f := range msg.Fields {
		schema := m.schema(f.Type)
		if zero := zeroOf(f.Type.Kind); zero != nil && !f.Optional && f.Union == "" {
			schema["default"] = zero
		}
		if f.Comment != "" {
			schema["description"] = f.Comment
		}
		properties[f.JSON] = schema
		if f.Name != f.JSON {
			aliases["^("+f.Name+")$"] = schema
		}
	}
	def := object{"title": title(msg.Name), "type": "object", "additionalProperties": false, "properties": properties}
	if msg.Comment != "" {
		def["description"] = msg.Comment
	}
	if len(aliases) > 0 {
		def["patternProperties"] = aliases
	}
	return def
}

// zeroOf is the default that the maker gives to what does not tell it from "not set".
func zeroOf(k spec.Kind) any {
	switch k {
	case spec.String, spec.Bytes:
		return ""
	case spec.Bool:
		return false
	case spec.Int32, spec.Int64, spec.Uint32, spec.Uint64, spec.Float, spec.Double, spec.EnumOf:
		return 0
	}
	return nil
}

func (m *maker) schema(t spec.Type) object {
	switch t.Kind {
	case spec.Bool:
		return object{"type": "boolean"}
	case spec.Bytes:
		return object{"type": "string", "pattern": "^[A-Za-z0-9+/]*={0,2}$"}
	case spec.Int32:
		return number(object{"type": "integer", "minimum": -2147483648, "maximum": 2147483647})
	case spec.Int64:
		return number(object{"type": "integer", "minimum": json.Number("-9223372036854775808"), "exclusiveMaximum": json.Number("9223372036854775808")})
	case spec.Struct, spec.Value, spec.Timestamp:
		return m.ref("google.protobuf", strings.ToUpper(string(t.Kind[:1]))+string(t.Kind[1:]))
	case spec.MessageOf:
		return m.ref(m.doc.Package, t.Name)
	case spec.EnumOf:
		return m.enum(m.enums[t.Name])
	case spec.List:
		return object{"type": "array", "items": m.schema(*t.Elem)}
	case spec.Map:
		return object{"type": "object", "propertyNames": object{"type": "string"}, "additionalProperties": m.schema(*t.Elem)}
	}
	return object{"type": "string"}
}

func number(integer object) object {
	return object{"anyOf": []object{integer, {"type": "string", "pattern": "^-?[0-9]+$"}}}
}

func (m *maker) enum(e *spec.Enum) object {
	var names []string
	for _, v := range e.Values[1:] {
		names = append(names, v.Name)
	}
	return object{"title": title(e.Name), "anyOf": []object{
		{"type": "string", "pattern": "^" + e.Values[0].Name + "$"}, {"type": "string", "enum": names},
		{"type": "integer", "minimum": -2147483648, "maximum": 2147483647},
	}}
}
