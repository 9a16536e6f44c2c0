package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/internal/test/gotool"
)

// randomSchemas makes schemas out of what is understood, combined without plan, and instances that are nearly valid.
type randomSchemas struct{ *rand.Rand }

func (r randomSchemas) one(of ...any) any { return of[r.IntN(len(of))] }

// schema is a random schema, whose alternatives may overlap, contradict what is beside them, and take null.
func (r randomSchemas) schema(depth int) map[string]any {
	if depth <= 0 || r.IntN(3) == 0 {
		return r.scalar()
	}
	switch r.IntN(8) {
	case 0:
		return map[string]any{"type": "array", "items": r.schema(depth - 1), "maxItems": 1 + r.IntN(3), "uniqueItems": r.IntN(2) == 0}
	case 1:
		return map[string]any{"type": "object", "additionalProperties": r.schema(depth - 1), "minProperties": r.IntN(2)}
	case 2:
		return r.object(depth)
	case 3:
		return map[string]any{"type": "array", "prefixItems": []any{r.schema(depth - 1), r.schema(depth - 1)}, "items": r.one(false, r.schema(0))}
	case 4:
		return map[string]any{"type": "array", "prefixItems": []any{r.schema(depth - 1)}}
	case 5:
		return r.tagged(depth)
	}
	s := map[string]any{}
	var list []any
	for range 2 + r.IntN(2) {
		list = append(list, r.schema(depth-1))
	}
	s[r.one("anyOf", "oneOf").(string)] = list
	if r.IntN(3) == 0 {
		s["type"] = []any{"string", "integer", "object", r.one("null", "array")}
	}
	return s
}

// tagged is a union of objects that a constant tells apart, mostly.
func (r randomSchemas) tagged(depth int) map[string]any {
	var list []any
	for _, tag := range []any{"a", r.one("b", 1, "a")} {
		list = append(list, map[string]any{"type": "object", "required": []any{"a"}, "properties": map[string]any{
			"a": map[string]any{"const": tag}, "b": r.schema(depth - 1)}})
	}
	if r.IntN(4) == 0 {
		list = append(list, r.one(map[string]any{}, r.schema(0)))
	}
	return map[string]any{r.one("anyOf", "oneOf").(string): list}
}

func (r randomSchemas) scalar() map[string]any {
	return r.one(
		map[string]any{"type": "string"}, map[string]any{"type": "string", "minLength": 2}, map[string]any{"type": "string", "pattern": "^a"},
		map[string]any{"type": "string", "format": r.one("date-time", "date", "uuid", "time")}, map[string]any{"enum": []any{"a", "ab"}}, map[string]any{"const": r.one("a", 1, true, nil)},
		map[string]any{"enum": []any{"a", 1, nil}}, map[string]any{"enum": []any{map[string]any{"a": 1}, "a"}}, map[string]any{"type": "integer"}, map[string]any{"type": "number", "minimum": 1},
		map[string]any{"type": "integer", "multipleOf": 2}, map[string]any{"type": "boolean"}, map[string]any{"type": "null"}, map[string]any{"type": []any{"string", "null"}},
		map[string]any{"type": []any{"integer", "string"}, "minimum": 2, "maxLength": 1}, map[string]any{"type": "string", "format": "date-time", "maxLength": 20},
	).(map[string]any)
}

func (r randomSchemas) object(depth int) map[string]any {
	props, required := map[string]any{}, []any{}
	for _, name := range []string{"a", "b", "c"} {
		if r.IntN(2) == 0 {
			continue
		}
		props[name] = r.schema(depth - 1)
		if r.IntN(2) == 0 {
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": props, "required": required}
	if r.IntN(3) == 0 {
		s["additionalProperties"] = r.one(true, false, map[string]any{"type": "integer"})
	}
	return s
}

func (r randomSchemas) value(depth int) any {
	scalars := []any{"", "a", "ab", "b", "2024-01-01", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00+10:60", "08:30:06-24:00", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", 0, 1, 2, 3, 1.5, -4, true, false, nil, nil}
	if depth <= 0 || r.IntN(2) == 0 {
		return r.one(scalars...)
	}
	if r.IntN(2) == 0 {
		list := []any{}
		for range r.IntN(4) {
			list = append(list, r.value(depth-1))
		}
		return list
	}
	object := map[string]any{}
	for _, name := range []string{"a", "b", "c", "d"} {
		if r.IntN(2) == 0 {
			object[name] = r.value(depth - 1)
		}
	}
	return object
}

// randomOnes holds emitted code against the oracle, which must refuse what it refuses. What emitted code refuses although the
// standard does not is counted: oneOf in oneOf, and nothing else, may be read more strictly.
func randomOnes(t *testing.T) inquiry {
	const seed = 77
	r := randomSchemas{rand.New(rand.NewPCG(seed, 1))}
	var cases []conformance
	for len(cases) < gotool.Tries(15, 4) {
		text, err := json.Marshal(map[string]any{"type": "object", "required": []string{"v"}, "properties": map[string]any{"v": r.schema(3)}})
		if err != nil {
			t.Fatal(err)
		}
		if _, list := compileOne(string(text), nil); list.HasErrors() {
			continue // contradictions
		}
		c := conformance{name: fmt.Sprint(len(cases)), schema: string(text)}
		for range 80 {
			value, err := json.Marshal(map[string]any{"v": r.value(3)})
			if err != nil {
				t.Fatal(err)
			}
			c.tests = append(c.tests, instance{json: string(value)})
		}
		cases = append(cases, c)
	}
	return inquiry{"accepts nothing that the standard refuses", cases, func(t *testing.T, roots []schema.Root, verdicts [][]verdict) {
		var valid, stricter int
		for i, c := range cases {
			for _, s := range oracleFor(t, c, roots[i].Bundle) {
				for j, test := range c.tests {
					accepted, ok := checkRandom(t, c, test, verdicts[i][j], s)
					if same := evaluate(t, roots[i].Bundle, test.json); same != ok {
						t.Errorf("%s\nthe evaluator says %v of %s, the standard %v", c.schema, same, test.json, ok)
					}
					if ok {
						valid++
					}
					if ok && !accepted {
						stricter++
					}
				}
			}
		}
		t.Logf("%d valid instances, %d of them refused", valid, stricter)
		if valid < 5*len(cases) || stricter*20 > valid {
			t.Errorf("%d valid instances, %d of them refused", valid, stricter)
		}
	}}
}

// TestRandomSchemasMakeGoThatParses holds every schema that is taken to code that gofmt reads.
func TestRandomSchemasMakeGoThatParses(t *testing.T) {
	r := randomSchemas{rand.New(rand.NewPCG(23, 1))}
	taken, all := 0, gotool.Tries(300, 10)
	for range all {
		text, err := json.Marshal(r.schema(4))
		if err != nil {
			t.Fatal(err)
		}
		res, list := compileOne(string(text), nil)
		if list.HasErrors() {
			continue
		}
		taken++
		if _, err := emit.Data(res.Types, "agent", "agent/data.gen.go"); err != nil {
			t.Fatalf("%s\n%.300s", text, err)
		}
	}
	if taken < all/3 {
		t.Errorf("only %d schemas were taken", taken)
	}
}

// keyed is an object whose schema says how many properties it has, or which together; most may be null.
func (r randomSchemas) keyed() map[string]any {
	props, names := map[string]any{}, []any{"a", "b", "c", "d"}
	for _, name := range names {
		props[name.(string)] = r.one(
			map[string]any{"type": []any{"string", "null"}}, map[string]any{"type": "null"}, map[string]any{"type": "integer"}, map[string]any{},
			map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "integer"}, map[string]any{"type": "null"}}})
	}
	s := map[string]any{"type": "object", "properties": props}
	if r.IntN(2) == 0 {
		s["minProperties"] = 1 + r.IntN(3)
	}
	if r.IntN(3) == 0 {
		s["maxProperties"] = 3
	}
	if r.IntN(2) == 0 {
		s["dependentRequired"] = map[string]any{r.one(names...).(string): []any{"a"}, "b": []any{r.one("c", "d")}}
	}
	if r.IntN(2) == 0 {
		s[r.one("anyOf", "oneOf").(string)] = []any{
			map[string]any{"required": []any{r.one("a", "b")}}, map[string]any{"required": []any{r.one("c", "a"), "d"}}}
	}
	if r.IntN(3) == 0 {
		s["additionalProperties"] = map[string]any{"type": []any{"boolean", "null"}}
	}
	return s
}

// keyedOnes holds objects with rules about their keys, whose properties may be absent or null, to it
// that what was valid is valid when it is written.
func keyedOnes(t *testing.T) inquiry {
	r := randomSchemas{rand.New(rand.NewPCG(28, 1))}
	var cases []conformance
	for len(cases) < gotool.Tries(20, 3) {
		s := r.keyed()
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, list := compileOne(string(text), nil); list.HasErrors() {
			continue // two alternatives that are the same
		}
		c := conformance{name: fmt.Sprint(len(cases)), schema: string(text)}
		for range 200 {
			value := map[string]any{}
			for _, name := range []string{"a", "b", "c", "d"} {
				if r.IntN(2) == 0 {
					value[name] = r.one(nil, nil, 1, "x")
				}
			}
			if s["additionalProperties"] != nil && r.IntN(3) == 0 {
				value["e"] = r.one(true, nil)
			}
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			c.tests = append(c.tests, instance{json: string(text)})
		}
		cases = append(cases, c)
	}
	return inquiry{"writes what it has read", cases, func(t *testing.T, roots []schema.Root, verdicts [][]verdict) {
		valid := 0
		for i, c := range cases {
			for _, s := range oracleFor(t, c, roots[i].Bundle) {
				for j, test := range c.tests {
					got := verdicts[i][j]
					if accepted, ok := checkRandom(t, c, test, got, s); accepted != ok {
						t.Errorf("%s\n%s: %v, the standard says %v", c.schema, test.json, got.Violations, ok)
					} else if ok {
						valid++
					}
					if len(got.Violations) > 0 {
						continue
					}
					if got.Encode != "" || got.Again != string(got.Out) {
						t.Errorf("%s\nreads %s, writes %s (%s), then %s", c.schema, test.json, got.Out, got.Encode, got.Again)
					}
				}
			}
		}
		if valid < 16*len(cases) {
			t.Errorf("only %d valid instances", valid)
		}
	}}
}

// unwritable is what can be read and not written: docs/skills.md names it.
func unwritable() inquiry {
	cases := []conformance{
		{name: "properties that are ignored count", schema: `{"type":"object","minProperties":1,"properties":{"a":{"type":"string"}}}`, tests: []instance{ok(`{"zzz":1}`)}},
		{name: "a default is one property more", schema: `{"type":"object","maxProperties":1,"properties":{"a":{"type":"integer","default":1},"b":{"type":"string"}}}`, tests: []instance{ok(`{"b":"x"}`)}},
	}
	return inquiry{"cannot write what the docs name", cases, func(t *testing.T, _ []schema.Root, verdicts [][]verdict) {
		for i, c := range cases {
			if got := verdicts[i][0]; len(got.Violations) > 0 || got.Encode == "" {
				t.Errorf("%s: read %v, written %s", c.name, got.Violations, got.Out)
			}
		}
	}}
}

// checkRandom compares one verdict with the oracle's, and what was written with what the schema says of it.
func checkRandom(t *testing.T, c conformance, test instance, got verdict, s *jsonschema.Schema) (accepted, valid bool) {
	t.Helper()
	accepted, valid = len(got.Violations) == 0, s.Validate(parse(t, test.json)) == nil
	switch {
	case accepted && !valid:
		t.Errorf("%s\ntakes %s", c.schema, test.json)
	case valid && !accepted:
		t.Logf("%s\nrefuses %s: %v", c.schema, test.json, got.Violations)
	case accepted && got.Encode == "" && s.Validate(parse(t, string(got.Out))) != nil:
		t.Errorf("%s\nreads %s and writes %s", c.schema, test.json, got.Out)
	}
	return accepted, valid
}
