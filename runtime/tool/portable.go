package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Dialect is a part of JSON Schema that a family of models takes for tools. Their makers change it: what one refuses
// today it may take tomorrow. A dialect errs on the side of dropping.
type Dialect string

// The dialects.
const (
	// OpenAI is that of strict functions: every property is required, so that one which may be absent may be null, and
	// there are no further ones.
	OpenAI Dialect = "openai"
	// Gemini is that of function declarations, which is older than JSON Schema: no references, no $schema, one type a
	// value.
	Gemini Dialect = "gemini"
	// Anthropic is that of strict tools: no limits of numbers and lengths, no further properties, nothing that refers to
	// itself.
	Anthropic Dialect = "anthropic"
)

// Limits of what Portable makes.
const (
	maxNodes = 10_000 // schemas in one, references of [Gemini] written out
	maxNotes = 100
)

// Portable makes a schema that a dialect takes, and says in words what it had to drop: "input.days: maximum 5 is only
// in the description". What was dropped is still checked when the tool is called: tell the model [Text] of that error.
// Where a dialect requires every property, null stands for one that is absent, and tools take it so. For a text that is
// no schema, or an unknown dialect, it returns the text itself and says so.
func Portable(schema json.RawMessage, d Dialect) (of json.RawMessage, dropped []string) {
	v, err := parse(schema)
	root, ok := v.(*object)
	rules := rulesOf(d)
	switch {
	case err != nil || !ok:
		return schema, []string{"the schema is no JSON object: nothing was changed"}
	case rules == nil:
		return schema, []string{fmt.Sprintf("there is no dialect %.20q: nothing was changed", string(d))}
	}
	for range maxDepth { // a root that only refers to the schema
		next := (&porting{root: root}).target(root.text("$ref"))
		if next == nil || next == root {
			break
		}
		if defs, ok := root.values["$defs"]; ok {
			next.set("$defs", defs)
		}
		root = next
	}
	p := &porting{rules: rules, root: root, open: []string{"#"}}
	out := p.schema(root, "input")
	if defs := p.definitions(); len(defs.keys) > 0 {
		out.set("$defs", defs)
	}
	if out.text("type") == "" {
		out.set("type", "object")
		p.note("input", "is said to be an object")
	}
	return appendJSON(nil, out), p.notes
}

// rules are what a dialect takes.
type rules struct {
	keep     []string // keywords that stay as they are
	formats  []string // of strings
	refs     bool     // $ref to $defs; written out otherwise
	loops    bool     // … also of what refers to itself
	types    bool     // a list of types; otherwise one, and "nullable"
	closed   bool     // additionalProperties is false, and must be
	required bool     // every property is required
}

// rulesOf returns what a dialect takes; nil for one that is not known. A table would be in every program that has a
// client.
func rulesOf(d Dialect) *rules {
	switch d {
	case OpenAI:
		return &rules{
			keep: []string{"type", "title", "enum", "const", "pattern", "multipleOf",
				"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"},
			formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
			refs:    true, loops: true, types: true, closed: true, required: true,
		}
	case Gemini:
		return &rules{
			keep: []string{"type", "title", "enum", "pattern", "minimum", "maximum",
				"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"},
			formats: []string{"date-time"},
		}
	case Anthropic:
		return &rules{
			keep:    []string{"type", "title", "enum", "const", "default"},
			formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
			refs:    true, types: true, closed: true,
		}
	}
	return nil
}

// silent are keywords that say nothing of what fits, so that nobody is told that they are gone.
var silent = []string{"$schema", "$id", "$comment", "$anchor", "examples", "example", "deprecated", "readOnly", "writeOnly", "$defs",
	"contentMediaType", "contentEncoding"}

// porting is the state of one [Portable].
type porting struct {
	*rules
	root  *object
	notes []string
	nodes int
	open  []string // references that are being written out, or looked at
	used  []string // references that the result has, in the order in which they were met
	done  map[string]*object
}

func (p *porting) note(place, format string, args ...any) {
	if len(p.notes) < maxNotes {
		p.notes = append(p.notes, place+": "+fmt.Sprintf(format, args...))
	}
}

// schema ports a schema. true, false and what is none become a schema of everything.
func (p *porting) schema(v any, place string) *object {
	s, ok := v.(*object)
	out := newObject()
	if p.nodes++; p.nodes > maxNodes {
		p.note(place, "what is below is left out, because the schema is too large")
		return out
	}
	if !ok {
		p.note(place, "takes anything")
		return out
	}
	if ref := s.text("$ref"); ref != "" {
		return p.reference(s, ref, place)
	}
	var told []string
	for _, k := range s.keys {
		if text := p.keyword(out, s, k, place); text != "" {
			told = append(told, text)
		}
	}
	if told = append(told, p.object(out, s, place)...); len(told) > 0 {
		p.describe(out, told)
	}
	p.nullable(out, place)
	p.texts(out, place)
	return out
}

// keyword ports one keyword of a schema. It returns what the description has to say in its place.
func (p *porting) keyword(out, s *object, k, place string) (told string) {
	v := s.values[k]
	switch {
	case k == "description":
		out.set(k, v)
	case slices.Contains(p.keep, k):
		out.set(k, v)
	case k == "properties" || k == "required" || k == "additionalProperties" || slices.Contains(silent, k):
	case k == "items":
		out.set(k, p.schema(v, place+"[]"))
	case k == "format":
		if f := s.text(k); slices.Contains(p.formats, f) {
			out.set(k, f)
		} else {
			return p.tell(place, k, v)
		}
	case k == "const": // where an enum of one is as good
		out.set("enum", []any{v})
	case k == "minItems" && p.smallArrays(v):
		out.set(k, v)
	case k == "anyOf", k == "oneOf":
		if place == "input" {
			p.note(place, "the alternatives of the whole input are dropped")
			return "only one of several combinations of properties is valid"
		}
		p.alternatives(out, s.list(k), k, place)
	case k == "allOf":
		p.all(out, s.list(k), place)
	case k == "default":
		return "default: " + brief(v)
	default:
		return p.tell(place, k, v)
	}
	return ""
}

// smallArrays reports whether a dialect that takes no other limits of arrays takes this one.
func (p *porting) smallArrays(v any) bool {
	n, _ := v.(json.Number)
	return p.closed && !p.required && (n == "0" || n == "1")
}

// tell notes a keyword that is dropped, and returns it for the description.
func (p *porting) tell(place, k string, v any) string {
	p.note(place, "%s %s is only in the description", k, brief(v))
	return k + ": " + brief(v)
}

// brief is a value, cut where it is long.
func brief(v any) string {
	const room = 120
	text := string(appendJSON(nil, v))
	if len(text) > room {
		text = strings.ToValidUTF8(text[:room], "") + "…"
	}
	return text
}

// describe adds to the description.
func (p *porting) describe(out *object, told []string) {
	text := "(" + strings.Join(told, ", ") + ")"
	if have := out.text("description"); have != "" {
		text = have + " " + text
	}
	out.set("description", text)
}

// alternatives ports anyOf; oneOf becomes anyOf.
func (p *porting) alternatives(out *object, list []any, k, place string) {
	if k == "oneOf" {
		p.note(place, "oneOf became anyOf: more than one may fit")
	}
	var any []any
	for i, v := range list {
		any = append(any, p.schema(v, fmt.Sprintf("%s (alternative %d)", place, i+1)))
	}
	out.set("anyOf", any)
}

// all puts the schemas of allOf into the one that has it, as far as they do not say the same twice.
func (p *porting) all(out *object, list []any, place string) {
	for _, v := range list {
		if s, ok := v.(*object); ok {
			if target := p.target(s.text("$ref")); target != nil {
				v = target
			}
		}
		one := p.schema(v, place)
		for _, k := range one.keys {
			if _, ok := out.values[k]; !ok {
				out.set(k, one.values[k])
			} else if k != "type" && k != "description" {
				p.note(place, "%s of allOf is said twice, and only once now", k)
			}
		}
	}
}

// object ports what is said of an object's properties.
func (p *porting) object(out, s *object, place string) (told []string) {
	properties, isObject := s.object("properties"), s.text("type") == "object" || s.object("properties") != nil
	if !isObject {
		if types := s.list("type"); !slices.Contains(types, any("object")) {
			return nil
		}
	}
	if extra, ok := s.values["additionalProperties"]; ok && extra != false {
		p.note(place, "has further properties, which a model cannot give now")
		told = append(told, "further properties are possible, but not here")
	}
	required := s.list("required")
	if properties != nil {
		ported := newObject()
		for _, name := range properties.keys {
			one := p.schema(properties.values[name], place+"."+name)
			if p.required && !slices.Contains(required, any(name)) {
				one = orNull(one)
				required = append(required[:len(required):len(required)], any(name))
				p.note(place+"."+name, "may be absent: it is null then")
			}
			ported.set(name, one)
		}
		out.set("properties", ported)
	} else if p.closed {
		out.set("properties", newObject())
	}
	if len(required) > 0 || p.required {
		out.set("required", append([]any{}, required...))
	}
	if p.closed {
		out.set("additionalProperties", false)
	}
	return told
}

// orNull lets null fit a schema, too.
func orNull(s *object) *object {
	switch t := s.values["type"].(type) {
	case string:
		if t != "null" {
			s.set("type", []any{t, "null"})
		}
	case []any:
		if !slices.Contains(t, any("null")) {
			s.set("type", append(t[:len(t):len(t)], "null"))
		}
	default:
		return newObject("anyOf", []any{s, newObject("type", "null")})
	}
	if enum := s.list("enum"); enum != nil && !slices.Contains(enum, nil) {
		s.set("enum", append(enum[:len(enum):len(enum)], nil))
	}
	if c, ok := s.values["const"]; ok {
		s.drop("const")
		s.set("enum", []any{c, nil})
	}
	return s
}

// nullable says in the way of a dialect without lists of types that null fits, and gives an enum the type that it must
// have there.
func (p *porting) nullable(out *object, place string) {
	if enum := out.list("enum"); enum != nil && out.values["type"] == nil {
		if t := typeOf(enum); t != "" {
			out.set("type", t)
		}
	}
	types := out.list("type")
	if p.types || types == nil {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(types), func(t any) bool { return t == "null" })
	if len(rest) < len(types) {
		out.set("nullable", true)
	}
	if len(rest) > 0 {
		out.set("type", rest[0])
	}
	if len(rest) > 1 {
		p.note(place, "is of one type now, %v", rest[0])
	}
}

// texts drops an enum of other values than texts, where a dialect has none.
func (p *porting) texts(out *object, place string) {
	enum := out.list("enum")
	if p.types || enum == nil || out.text("type") == "string" {
		return
	}
	out.drop("enum")
	p.describe(out, []string{p.tell(place, "enum", enum)})
}

// typeOf is the one type of scalars; "" of several.
func typeOf(values []any) (t string) {
	for _, v := range values {
		var one string
		switch v.(type) {
		case string:
			one = "string"
		case bool:
			one = "boolean"
		case json.Number:
			one = "number"
		}
		if one == "" || t != "" && t != one {
			return ""
		}
		t = one
	}
	return t
}
