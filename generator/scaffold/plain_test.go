package scaffold

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// contracts draws schemas, most of them plain.
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
		maybe("format", func() any { return rapid.SampledFrom([]string{"date", "date-time", "email"}).Draw(t, "format") })
	case "number", "integer":
		s["type"] = kind
		maybe("minimum", number(-9, 9))
		maybe("maximum", number(-9, 9))
	case "boolean":
		s["type"] = kind
	case "enum":
		s["enum"] = []string{"a", "b"}
		maybe("type", func() any { return "string" })
	case "array":
		s["type"], s["items"] = kind, contracts(t, depth+1)
		maybe("minItems", number(0, 4))
		maybe("maxItems", number(0, 4))
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

// TestWhatIsPlainNeedsNoCheck: a sample of a plain contract satisfies it.
func TestWhatIsPlainNeedsNoCheck(t *testing.T) {
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(members(t, map[string]any{"type": "object"}, 0))
		if err != nil {
			t.Fatal(err)
		}
		ref, bundle, err := compileOrError(string(text))
		if err != nil || !plain(bundle) {
			return
		}
		for _, least := range []bool{false, true} {
			v, err := (&sampler{pkg: "agent", least: least}).root(ref)
			if err != nil {
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

func TestWhatIsNotPlain(t *testing.T) {
	for name, keywords := range map[string]string{
		"a pattern": `"type":"string","pattern":"a"`, "a format with a checker": `"type":"string","format":"email"`, "a choice": `"anyOf":[{"type":"string"}]`,
		"two types": `"type":["string","null"]`, "no type": `"description":"any"`, "what is not": `"type":"string","not":{"enum":["a"]}`,
		"unique items": `"type":"array","items":{"type":"string"},"uniqueItems":true`, "a constant": `"const":1`, "numbers to choose from": `"enum":[1]`,
		"bounds without room": `"type":"integer","minimum":3,"maximum":3`, "a length that there is not": `"type":"string","minLength":3,"maxLength":2`,
	} {
		if contract := object("{" + keywords + "}"); plain(json.RawMessage(contract)) {
			t.Errorf("%s is plain: %s", name, contract)
		}
	}
	if contract := object(`{"type":"string"}`); !plain(json.RawMessage(contract)) {
		t.Errorf("%s is not plain", contract)
	}
}
