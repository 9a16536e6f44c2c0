package schemadiff

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/internal/test/gotool"
)

// random makes schemas of what JSON Schema has, mostly small changes of one another, and values that nearly fit them.
type random struct{ *rand.Rand }

type object = map[string]any

func (r random) one(of ...any) any { return of[r.IntN(len(of))] }

func (r random) schema(depth int) any {
	if depth <= 0 {
		return r.scalar()
	}
	switch r.IntN(14) {
	case 0, 1, 2, 3:
		return r.object(depth)
	case 4:
		return object{"type": "array", "items": r.schema(depth - 1), "maxItems": 1 + r.IntN(3), "uniqueItems": r.IntN(2) == 0}
	case 5:
		s := object{"type": "array", "prefixItems": []any{r.schema(depth - 1), r.schema(0)}, "minItems": r.IntN(3)}
		if r.IntN(2) == 0 {
			s["items"] = r.one(false, r.schema(0))
		}
		return s
	case 6:
		return object{"type": "object", "additionalProperties": r.schema(depth - 1), "minProperties": r.IntN(2), "maxProperties": 2 + r.IntN(2)}
	case 7:
		return object{r.one("anyOf", "oneOf", "allOf").(string): []any{r.schema(depth - 1), r.schema(depth - 1)}}
	case 8:
		return r.tagged(depth)
	case 9:
		return object{"$ref": r.one("#/$defs/d", "#/$defs/e", "#")}
	case 10:
		return object{"allOf": []any{r.object(depth - 1), r.schema(depth - 1)}, "required": []any{r.one("a", "b")}}
	case 11:
		return object{"type": "object", "propertyNames": r.one(object{"enum": []any{"a", "b"}}, object{"pattern": "^a"}, object{"maxLength": 1})}
	case 12:
		return object{r.one("not", "contains").(string): r.schema(0), "type": r.one("array", []any{"array", "integer"})}
	}
	return r.scalar()
}

func (r random) scalar() any {
	return r.one(
		object{"type": "string"}, object{"type": "string", "minLength": r.IntN(3)}, object{"type": "string", "maxLength": 1 + r.IntN(3)},
		object{"type": "string", "pattern": r.one("^a", "^ab?$", "b")}, object{"type": "string", "format": r.one("date", "date-time", "uuid", "uri", "uri-reference")},
		object{"enum": []any{"a", "ab"}}, object{"enum": []any{"a", 1, nil, 1.5}}, object{"const": r.one("a", 1, true, nil)},
		object{"enum": []any{object{"a": 1}, []any{1}}}, object{"type": "integer"}, object{"type": "number"}, object{"type": "integer", "minimum": r.IntN(3)},
		object{"type": "number", "exclusiveMinimum": r.IntN(2), "maximum": 1 + r.IntN(3)}, object{"type": "integer", "multipleOf": r.one(2, 4, 1, 0.5)},
		object{"type": "number", "multipleOf": r.one(1, 0.5)}, object{"type": "integer", "format": r.one("int32", "uint32", "uint64")},
		object{"type": "boolean"}, object{"type": "null"}, object{"type": []any{"string", "null"}}, object{"type": []any{"integer", "string"}, "minimum": 2, "maxLength": 1},
		object{"minLength": 2}, object{"minimum": 1}, true, false, object{}, object{"required": []any{"a"}}, object{"anyOf": []any{object{"type": "integer"}, object{"type": "string", "minLength": 1}}},
	)
}

func (r random) object(depth int) any {
	props, required := object{}, []any{}
	for _, name := range []string{"a", "b", "c"} {
		if r.IntN(2) == 0 {
			continue
		}
		props[name] = r.schema(depth - 1)
		if r.IntN(3) == 0 {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": props, "required": required}
	switch r.IntN(6) {
	case 0:
		s["additionalProperties"] = r.one(true, false, object{"type": "integer"})
	case 1:
		s["dependentRequired"] = object{"a": []any{"b"}}
	case 2:
		s["patternProperties"] = object{"^[bc]": r.schema(0)}
	}
	return s
}

// tagged is a union of objects that a constant tells apart, mostly.
func (r random) tagged(depth int) any {
	var list []any
	for _, tag := range []any{"a", r.one("b", 1, "a"), "c"} {
		list = append(list, object{"type": "object", "required": []any{"a"}, "properties": object{"a": object{"const": tag}, "b": r.schema(depth - 1)}})
	}
	return object{r.one("anyOf", "oneOf").(string): list}
}

// document is a schema with definitions.
func (r random) document() object {
	s, isMap := r.schema(3).(object)
	if !isMap || s["$ref"] == "#" {
		return r.document()
	}
	s = maps.Clone(s)
	s["$defs"] = object{"d": r.object(2), "e": r.scalar()}
	return s
}

// changed is a copy of a schema with a small change somewhere, or none.
func (r random) changed(v any) any {
	switch v := v.(type) {
	case object:
		c := object{}
		keys := slices.Sorted(maps.Keys(v))
		at := -1
		if len(keys) > 0 && r.IntN(10) > 0 {
			at = r.IntN(len(keys))
		}
		for i, k := range keys {
			c[k] = v[k]
			if i != at {
				continue
			}
			switch {
			case r.IntN(8) == 0 && k != "$defs":
				delete(c, k)
			case k == "type":
				c[k] = r.one(v[k], []any{v[k], "null"}, "string", "object")
				if _, isList := v[k].([]any); isList {
					c[k] = v[k]
				}
			default:
				c[k] = r.changed(v[k])
			}
		}
		if props, ok := v["properties"].(object); ok && r.IntN(4) == 0 {
			props = maps.Clone(props)
			props[r.one("a", "b", "c", "d").(string)] = r.scalar()
			c["properties"] = props
		}
		if _, isSchema := v["type"]; isSchema && r.IntN(8) == 0 {
			more, _ := r.scalar().(object)
			for k, e := range more {
				if c[k] == nil {
					c[k] = e
				}
			}
		}
		return c
	case []any:
		c := slices.Clone(v)
		if len(c) > 0 {
			i := r.IntN(len(c))
			if c[i] = r.changed(c[i]); r.IntN(6) == 0 && len(c) > 1 {
				c = slices.Delete(c, i, i+1)
			}
		}
		return c
	case int:
		return max(0, v+r.IntN(3)-1)
	case bool:
		return r.IntN(2) == 0
	}
	return v
}

// value is a value that fits a schema, more often than not.
func (r random) value(doc object, s any, depth int) any {
	m, _ := s.(object)
	if depth <= 0 || r.IntN(8) == 0 {
		return r.one("", "a", "ab", "b", "abc", "2024-01-01", "2024-01-01T00:00:00Z", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "https://a.example", "x:y", 0, 1, 2, 3, 4, 1.5, 0.5, -4, 1e10, 1e19, true, false, nil, []any{}, object{})
	}
	if ref, ok := m["$ref"].(string); ok {
		if ref == "#" {
			return r.value(doc, doc, depth-1)
		}
		return r.value(doc, doc["$defs"].(object)[ref[len("#/$defs/"):]], depth-1)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := m[k].([]any); ok && len(list) > 0 {
			return r.value(doc, list[r.IntN(len(list))], depth-1)
		}
	}
	if list, ok := m["enum"].([]any); ok && len(list) > 0 {
		return list[r.IntN(len(list))]
	}
	if c, ok := m["const"]; ok {
		return c
	}
	switch typ := m["type"]; {
	case typ == "object" || m["properties"] != nil || m["required"] != nil:
		props, _ := m["properties"].(object)
		v := object{}
		for name, p := range props {
			if r.IntN(4) > 0 {
				v[name] = r.value(doc, p, depth-1)
			}
		}
		if required, ok := m["required"].([]any); ok {
			for _, name := range required {
				if _, has := v[name.(string)]; !has {
					v[name.(string)] = r.value(doc, props[name.(string)], depth-1)
				}
			}
		}
		if r.IntN(3) == 0 {
			v[r.one("a", "b", "c", "d").(string)] = r.value(doc, m["additionalProperties"], depth-1)
		}
		return v
	case typ == "array":
		v := []any{}
		for i := range r.IntN(4) {
			item := m["items"]
			if prefix, ok := m["prefixItems"].([]any); ok && i < len(prefix) {
				item = prefix[i]
			}
			v = append(v, r.value(doc, item, depth-1))
		}
		return v
	case typ == "string":
		return r.one("", "a", "ab", "b", "abc", "2024-01-01", "2024-01-01T00:00:00Z", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "https://a.example", "x:y", "%")
	case typ == "integer" || typ == "number":
		return r.one(0, 1, 2, 3, 4, 6, -4, 0.5, 1.5, 2.5, 5e9, 1e19, -5e9)
	}
	return r.value(doc, m, 0)
}

func text(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fits is the verdict of the evaluator; known is false for a schema that it does not evaluate.
func fits(e *schema.Evaluator, value []byte) (ok, known bool) {
	problem, err := e.Problem("", value)
	return problem == "", err == nil
}

// mentions reports whether a value has a property of a name somewhere.
func mentions(v any, name string) bool {
	switch v := v.(type) {
	case object:
		for k, e := range v {
			if k == name || mentions(e, name) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return mentions(e, name) })
	}
	return false
}

// What is not narrowed takes every value that was taken: for an input the new schema takes those of the old one, for an output
// the other way round, which is the same question. Where only undeclared properties are a reason, values without them are taken.
const seed = 65

func TestWithoutAReasonEveryValueStillFits(t *testing.T) {
	r := random{rand.New(rand.NewPCG(seed, 1))}
	var compared, proven, undeclared, judged int
	for range gotool.Tries(500, 4) {
		a := r.document()
		var b object
		for b = a; len(b) > 0 && (r.IntN(3) > 0 || reflect.DeepEqual(a, b)); {
			b, _ = r.changed(b).(object)
		}
		if r.IntN(20) == 0 {
			b = r.document()
		}
		from, to := text(t, a), text(t, b)
		e, err := schema.NewEvaluator(from)
		f, err2 := schema.NewEvaluator(to)
		if err != nil || err2 != nil {
			continue
		}
		reasons, err := Narrowed(from, to)
		if err != nil {
			continue // no schema
		}
		compared++
		var names []string
		tolerable := true
		for _, reason := range reasons {
			tolerable = tolerable && reason.Undeclared
			names = append(names, reason.Path[strings.LastIndexAny(reason.Path, ".]")+1:])
		}
		if !tolerable {
			continue
		}
		if len(reasons) == 0 {
			proven++
		} else {
			undeclared++
		}
		for range 60 {
			v := r.value(a, a, 5)
			value := text(t, v)
			was, known := fits(e, value)
			if !known {
				break
			}
			if !was || slices.ContainsFunc(names, func(n string) bool { return mentions(v, n) }) {
				continue
			}
			judged++
			if is, known := fits(f, value); known && !is {
				t.Fatalf("%s\n%s\n%v, but %s fits only the first", from, to, reasons, value)
			}
		}
	}
	t.Logf("%d pairs, %d without a reason, %d with undeclared properties only, %d values", compared, proven, undeclared, judged)
	if proven < gotool.Tries(150, 4) || undeclared < gotool.Tries(20, 4) || judged < gotool.Tries(3500, 4) {
		t.Errorf("%d pairs, %d without a reason, %d with undeclared properties only, %d values", compared, proven, undeclared, judged)
	}
}

// Every schema is proven to take its own values, also where it has what cannot be decided.
func TestASchemaIsNotNarrowerThanItself(t *testing.T) {
	r := random{rand.New(rand.NewPCG(66, 1))}
	for range 3000 {
		s := text(t, r.document())
		rs, err := Narrowed(s, s)
		rs = slices.DeleteFunc(rs, func(r Reason) bool { return r.Keyword == "$ref" }) // what refers to itself says nothing
		if err == nil && len(rs) > 0 {
			t.Fatalf("%s\n%+v", s, rs)
		}
	}
}
