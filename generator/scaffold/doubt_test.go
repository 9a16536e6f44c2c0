package scaffold

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// contracts draws schemas.
func contracts(t *rapid.T, depth int) map[string]any {
	kinds := []string{"string", "number", "integer", "boolean", "enum", "array", "object", "map"}
	if depth >= 3 {
		kinds = kinds[:5]
	}
	s := map[string]any{}
	maybe := func(key string, value func() any) {
		if rapid.Bool().Draw(t, key) {
			s[key] = value()
		}
	}
	number := func(low, high int) func() any {
		return func() any { return rapid.IntRange(low, high).Draw(t, "bound") }
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "string":
		s["type"] = kind
		maybe("minLength", number(0, 40))
		maybe("maxLength", number(0, 40))
		maybe("pattern", func() any { return rapid.SampledFrom([]string{"^a+$", "[0-9]", "x{3}"}).Draw(t, "pattern") })
		maybe("format", func() any { return rapid.SampledFrom([]string{"date", "date-time", "email"}).Draw(t, "format") })
	case "number", "integer":
		s["type"] = kind
		maybe("minimum", number(-9, 9))
		maybe("exclusiveMinimum", number(-9, 9))
		maybe("maximum", number(-9, 9))
		maybe("exclusiveMaximum", number(-9, 9))
		maybe("multipleOf", func() any { return rapid.SampledFrom([]float64{0.5, 2, 3, 0.1}).Draw(t, "multiple") })
	case "boolean":
		s["type"] = kind
	case "enum":
		s["enum"] = []string{"a", "b"}
		maybe("type", func() any { return "string" })
	case "array":
		s["type"], s["items"] = kind, contracts(t, depth+1)
		maybe("minItems", number(0, 4))
		maybe("maxItems", number(0, 4))
		maybe("uniqueItems", func() any { return true })
	case "map":
		s["type"], s["additionalProperties"] = "object", contracts(t, depth+1)
	case "object":
		s["type"] = kind
		return members(t, s, depth)
	}
	return s
}

// members gives an object properties.
func members(t *rapid.T, s map[string]any, depth int) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range rapid.IntRange(1, 4).Draw(t, "properties") {
		name := fmt.Sprintf("p%d", i)
		properties[name] = contracts(t, depth+1)
		if rapid.Bool().Draw(t, "required") {
			required = append(required, name)
		}
	}
	s["properties"], s["required"] = properties, required
	return s
}

// TestWhatIsNotInDoubtNeedsNoCheck: a sample of which nothing is in doubt satisfies its contract.
func TestWhatIsNotInDoubtNeedsNoCheck(t *testing.T) {
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(members(t, map[string]any{"type": "object"}, 0))
		if err != nil {
			t.Fatal(err)
		}
		ref, bundle, err := compileOrError(string(text))
		if err != nil {
			return
		}
		for _, least := range []bool{false, true} {
			s := &sampler{pkg: "agent", least: least}
			v, err := s.root(ref)
			if err != nil || s.doubt {
				continue // no sample is no wrong one
			}
			if err := holds(v, bundle); err != nil {
				t.Errorf("%s\ndoes not satisfy\n%s\n%v", v.json, bundle, err)
			}
			checked++
		}
	})
	if checked < 50 && !testing.Short() {
		t.Errorf("only %d samples were checked", checked)
	}
}
