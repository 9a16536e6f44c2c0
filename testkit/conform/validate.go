package conform

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// problem is something in a document that its definition does not have so.
type problem struct {
	kind problemKind
	path string // "task.status.state"
	text string
}

func (p problem) String() string {
	if p.path == "" {
		return p.text
	}
	return p.path + " " + p.text
}

// problemKind is the check that a problem belongs to.
type problemKind string

const (
	badType   problemKind = "answer.types"
	badName   problemKind = "answer.names"
	badEnum   problemKind = "answer.enums"
	badUnion  problemKind = "answer.unions"
	badTime   problemKind = "answer.times"
	badDigits problemKind = "answer.milliseconds"
	missing   problemKind = "answer.required"
	unknown   problemKind = "answer.members"
)

// validator compares documents with a definition. It stops at maxProblems.
type validator struct {
	def      *definition
	problems []problem
}

const maxProblems = 20

// validate returns what of a value is not as its type has it.
func (d *definition) validate(typ string, v any) []problem {
	c := validator{def: d}
	c.value(typ, v, "")
	return c.problems
}

func (c *validator) add(kind problemKind, path, format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, problem{kind, path, fmt.Sprintf(format, args...)})
	}
}

func (c *validator) value(typ string, v any, path string) {
	if len(c.problems) >= maxProblems {
		return
	}
	if elem, ok := list(typ); ok {
		l, ok := v.([]any)
		if !ok {
			c.add(badType, path, "must be a list, not %s", kindOf(v))
		}
		for i, e := range l {
			c.value(elem, e, fmt.Sprintf("%s[%d]", path, i))
		}
		return
	}
	o, isObject := v.(object)
	if elem, ok := dict(typ); ok {
		if !isObject {
			c.add(badType, path, "must be an object, not %s", kindOf(v))
		}
		for _, key := range slices.Sorted(maps.Keys(o)) {
			c.value(elem, o[key], join(path, key))
		}
		return
	}
	switch t := c.def.named(typ); {
	case t == nil:
		c.scalar(typ, v, path)
	case t.values != nil:
		c.enum(t, v, path)
	case t.anyOf != nil:
		c.choice(t, v, path)
	case !isObject:
		c.add(badType, path, "must be an object (%s), not %s", t.name, kindOf(v))
	default:
		c.message(t, o, path)
	}
}

func (c *validator) enum(t *typeOf, v any, path string) {
	s, ok := v.(string)
	if !ok {
		c.add(badEnum, path, "must be the name of a value of %s, not %s", t.name, kindOf(v))
		return
	}
	var names []string
	for _, x := range t.values {
		if !c.def.proto || x.number != 0 { // the value 0 of a proto says that there is none
			names = append(names, x.name)
		}
	}
	canceled := s == "TASK_STATE_CANCELED" && slices.Contains(names, "TASK_STATE_CANCELLED") // T43
	if !slices.Contains(names, s) && !canceled {
		c.add(badEnum, path, "is %q: %s has %s", s, t.name, strings.Join(names, ", "))
	}
}

// choice judges a value by the alternative that its tag names, else by the one that it fits best.
func (c *validator) choice(t *typeOf, v any, path string) {
	if t.tag != "" {
		if o, ok := v.(object); ok && o[t.tag] == nil {
			c.add(missing, join(path, t.tag), "is missing: it tells what the object is")
			return
		}
	}
	best := []problem(nil)
	for i, alternative := range t.anyOf {
		one := validator{def: c.def}
		one.value(alternative, v, path)
		if m := c.def.named(alternative); m != nil && t.tag != "" && len(one.problems) > 0 {
			if f := m.field(t.tag); f != nil && f.constant == string(encode(member(v, t.tag))) {
				c.problems = append(c.problems, one.problems...)
				return
			}
		}
		if i == 0 || len(one.problems) < len(best) {
			best = one.problems
		}
	}
	c.problems = append(c.problems, best...)
}

// message holds an object to the members that its type has. A list of parts has an element, and an id is not empty (T20).
func (c *validator) message(t *typeOf, o object, path string) {
	set := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		f, at := t.field(name), join(path, name)
		switch {
		case f == nil && t.open:
		case f == nil && camelCase(name) != name && t.field(camelCase(name)) != nil:
			c.add(badName, at, "must be written %s", camelCase(name))
		case f == nil:
			c.add(unknown, at, "is no member of %s in A2A %s", t.name, c.def.version)
		case o[name] == nil && (f.nullable || c.def.version == "0.1"): // of which an early schema had null everywhere
		case o[name] == nil && f.typ != "value" && f.typ != "nullvalue":
			c.add(badType, at, "is null: leave it out")
		default:
			set[f.union] = append(set[f.union], name)
			if f.constant != "" && string(encode(o[name])) != f.constant {
				c.add(badEnum, at, "must be %s, not %s", f.constant, clean(string(encode(o[name])), 60))
				continue
			}
			c.value(f.typ, o[name], at)
		}
	}
	for _, f := range t.fields {
		at := join(path, f.json)
		v, there := o[f.json]
		parts, isList := v.([]any)
		switch {
		case f.required && !there:
			c.add(missing, at, "is missing: %s requires it", t.name)
		case f.required && v == "" && (f.json == "id" || strings.HasSuffix(f.json, "Id")):
			c.add(missing, at, "is empty: %s requires it", t.name)
		case f.typ == "[]Part" && isList && len(parts) == 0:
			c.add(missing, at, "is empty: it must have at least one part")
		}
	}
	seen := map[string]bool{"": true}
	for _, f := range t.fields {
		names := set[f.union]
		switch {
		case seen[f.union]:
		case len(names) > 1:
			c.add(badUnion, path, "(%s) has %s: one of them may be set", t.name, strings.Join(names, " and "))
		case len(names) == 0:
			c.add(badUnion, path, "(%s) has nothing of %s: exactly one member must be set", t.name, f.union)
		}
		seen[f.union] = true
	}
}

// scalar holds a value to a kind, which has one name in problems.
func (c *validator) scalar(kind string, v any, path string) {
	ok, name := true, "a "+kind
	switch kind {
	case "string":
		_, ok = v.(string)
	case "bool":
		_, ok = v.(bool)
	case "int32", "int64", "uint32", "uint64":
		_, ok = number(v)
		name = "an integer"
	case "float", "double":
		_, ok = v.(json.Number)
		name = "a number"
	case "struct", "any":
		_, ok = v.(object)
		name = "an object"
	case "listvalue":
		_, ok = v.([]any)
		name = "a list"
	case "nullvalue":
		ok = v == nil
	case "empty":
		o, isObject := v.(object)
		ok = v == nil || isObject && len(o) == 0
		name = "an empty object"
	case "bytes":
		var s string
		if s, ok = v.(string); ok {
			if _, err := base64.StdEncoding.DecodeString(s); err != nil {
				c.add(badType, path, "is not base64")
			}
		}
	case "timestamp":
		c.timestamp(v, path)
	}
	if !ok {
		c.add(badType, path, "must be %s, not %s", name, kindOf(v))
	}
}

var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// timestamp holds a time to ISO 8601, and in 1.0 to UTC and milliseconds (R95 to R98).
func (c *validator) timestamp(v any, path string) {
	s, ok := v.(string)
	if !ok {
		c.add(badType, path, "must be a time as a string, not %s", kindOf(v))
		return
	}
	m := rfc3339.FindStringSubmatch(s)
	if _, err := time.Parse(time.RFC3339, s); err != nil || m == nil {
		_, noOffset := time.Parse("2006-01-02T15:04:05.999999999", s)
		_, noTime := time.Parse("2006-01-02", s)
		if c.def.proto || noOffset != nil && noTime != nil { // old versions have these, too
			c.add(badTime, path, "is %q: write a time as 2025-10-28T10:30:00.000Z", clean(s, 60))
		}
		return
	}
	if c.def.version == "1.0" && m[2] != "Z" {
		c.add(badTime, path, "is %q: a time has the offset Z", s)
	}
	if c.def.version == "1.0" && len(m[1]) > len(".000") {
		c.add(badDigits, path, "is %q: a time has milliseconds", s)
	}
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the string %q", clean(v, 40))
	case bool:
		return fmt.Sprintf("the bool %v", v)
	case json.Number:
		return "the number " + clean(v.String(), 40)
	case []any:
		return "a list"
	}
	return "an object"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// camelCase turns the name of a proto's field into that of JSON: "context_id" to "contextId".
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if r, size := utf8.DecodeRuneInString(w); size > 0 {
			words[i+1] = string(unicode.ToUpper(r)) + w[size:]
		}
	}
	return strings.Join(words, "")
}
