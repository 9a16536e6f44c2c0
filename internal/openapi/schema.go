package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/schema"
)

func unescapeURL(s string) (string, error) { return url.PathUnescape(s) }

// maxSchemas is how many schemas one import converts.
const maxSchemas = 20_000

// schemas converts the schemas of a document to JSON Schema 2020-12, with all that they refer to as definitions.
type schemas struct {
	d       *Document
	defs    map[string]any    // by their names
	names   map[string]string // of definitions, by their references
	dropped map[string]bool   // keywords that were left out
	count   int
	err     error
}

func newSchemas(d *Document) *schemas {
	return &schemas{d: d, defs: map[string]any{}, names: map[string]string{}, dropped: map[string]bool{}}
}

// old reports whether schemas are those of OpenAPI 3.0.
func (s *schemas) old() bool { return strings.HasPrefix(s.d.Version, "3.0") }

// convert returns a schema as 2020-12 has it.
func (s *schemas) convert(v any) any {
	in, is := v.(map[string]any)
	if s.count++; s.count > maxSchemas && s.err == nil {
		s.err = fmt.Errorf("the operations have more than %d schemas", maxSchemas)
	}
	switch {
	case s.err != nil:
		return true
	case !is:
		if b, is := v.(bool); is {
			return b
		}
		return true
	}
	if ref := text(in, "$ref"); ref != "" {
		return s.reference(ref, in)
	}
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if key != "discriminator" {
			s.keyword(out, key, in[key])
		}
	}
	if v, has := in["discriminator"]; has { // when the definitions of its cases have names
		out["discriminator"] = s.discriminator(v)
	}
	if s.old() {
		oldBounds(in, out)
		nullable(in, out)
	}
	tidy(out)
	return out
}

// reference returns a reference to a definition.
func (s *schemas) reference(ref string, in map[string]any) any {
	out := map[string]any{"$ref": "#/$defs/" + escape(s.define(ref))}
	if s.old() {
		if in["nullable"] == true {
			return map[string]any{"anyOf": []any{out, map[string]any{"type": "null"}}}
		}
		return out // what is beside a $ref has no meaning in 3.0
	}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if key != "$ref" {
			s.keyword(out, key, in[key])
		}
	}
	return out
}

// define returns the name of the definition for a reference, and converts it if it is new.
func (s *schemas) define(ref string) string {
	if name, has := s.names[ref]; has {
		return name
	}
	path, err := pointer(ref)
	var v any
	if err == nil {
		v, err = s.d.lookup(ref)
	}
	if err != nil {
		s.err = err
		return "missing"
	}
	base := path[len(path)-1]
	name := base
	for i := 2; ; i++ {
		if _, taken := s.defs[name]; !taken {
			break
		}
		name = fmt.Sprintf("%s%d", base, i)
	}
	s.names[ref], s.defs[name] = name, true // before converting, as it may lead back
	s.defs[name] = s.convert(v)
	return name
}

// escape writes a name as a step of a reference, and unescape reads it.
func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(s) }

func unescape(s string) string {
	return strings.NewReplacer("~1", "/", "~0", "~", "%25", "%").Replace(s)
}

// silent are the keywords that say nothing of values.
var silent = []string{"xml", "externalDocs", "nullable", "$schema", "$id", "$anchor", "$comment", "id"}

// keyword converts one keyword of a schema.
func (s *schemas) keyword(out map[string]any, key string, v any) {
	switch row := schema.Lookup(key); {
	case strings.HasPrefix(key, "x-"), slices.Contains(silent, key):
	case row.Remedy != "", key == "contentSchema": // which cannot be checked
		s.dropped[key] = true
	case row.Holds == schema.HoldsOne:
		out[key] = s.convert(v)
	case row.Holds == schema.HoldsList:
		var all []any
		items, _ := v.([]any)
		for _, item := range items {
			all = append(all, s.convert(item))
		}
		if len(all) > 0 {
			out[key] = all
		}
	case row.Holds == schema.HoldsByName:
		members, _ := v.(map[string]any)
		all := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			all[name] = s.convert(members[name])
		}
		out[key] = all
	case key == "example":
		if in, has := out["examples"]; !has || in == nil {
			out["examples"] = []any{v}
		}
	case key == "examples":
		if examples, is := v.([]any); is {
			out[key] = examples
		}
	case key == "pattern":
		if p, _ := v.(string); !compiles(p) {
			s.dropped[key] = true
			return
		}
		out[key] = v
	default:
		out[key] = v
	}
}

// compiles reports whether a pattern can be checked.
func compiles(pattern string) bool {
	_, err := regexp.Compile(schema.FromECMA(pattern))
	return err == nil
}

// discriminator has its references renamed.
func (s *schemas) discriminator(v any) any {
	out := map[string]any{"propertyName": text(v, "propertyName")}
	mapping := map[string]any{}
	for value, to := range object(v, "mapping") {
		ref, _ := to.(string)
		if !strings.Contains(ref, "/") {
			ref = "#/components/schemas/" + ref
		}
		if name, has := s.names[ref]; has {
			mapping[value] = "#/$defs/" + escape(name)
		}
	}
	if len(mapping) > 0 {
		out["mapping"] = mapping
	}
	return out
}

// oldBounds writes the bounds of 3.0, where exclusiveMinimum is true or false.
func oldBounds(in, out map[string]any) {
	for _, b := range [][2]string{{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}} {
		exclusive, is := in[b[1]].(bool)
		if !is {
			continue
		}
		delete(out, b[1])
		if bound, has := in[b[0]]; has && exclusive {
			delete(out, b[0])
			out[b[1]] = bound
		}
	}
}

// nullable writes a schema that takes null, which 3.0 says by a keyword of its own.
func nullable(in, out map[string]any) {
	if in["nullable"] != true {
		return
	}
	if values, is := out["enum"].([]any); is && !slices.Contains(values, nil) {
		out["enum"] = append(slices.Clone(values), nil)
	}
	if t, is := out["type"].(string); is {
		out["type"] = []any{t, "null"}
		return
	}
	if _, is := out["enum"]; is || len(out) == 0 {
		return
	}
	whole := maps.Clone(out)
	clear(out)
	out["anyOf"] = []any{whole, map[string]any{"type": "null"}}
}

// tidy drops what is said twice or of nothing.
func tidy(out map[string]any) {
	if values, is := out["enum"].([]any); is {
		var once []any
		for _, v := range values {
			if !slices.ContainsFunc(once, func(o any) bool { return reflect.DeepEqual(o, v) }) {
				once = append(once, v)
			}
		}
		out["enum"] = once
		if len(once) == 0 {
			delete(out, "enum")
		}
	}
	if required, has := out["required"]; has && !isList(required) {
		delete(out, "required") // of a property by itself, as drafts before 4 have it
	}
	properties, _ := out["properties"].(map[string]any)
	if properties == nil {
		return
	}
	if required, is := out["required"].([]any); is {
		var known []any
		for _, name := range required {
			if s, _ := name.(string); properties[s] != nil && !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
		out["required"] = known
		if len(known) == 0 {
			delete(out, "required")
		}
	}
}

func isList(v any) bool {
	_, is := v.([]any)
	return is
}

// marshal writes JSON that people read.
func marshal(v any) ([]byte, error) {
	src, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(src, '\n'), nil
}
