package route

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
)

// Whatever schema, earlier input and text come together: the input that comes out is JSON, the question that asks for the rest can be sent,
// and schemas that refer to themselves do not matter.
func FuzzTextBecomesInput(f *testing.F) {
	const convert = `{"type":"object","required":["amount","to"],"properties":{"amount":{"type":"number"},"to":{"enum":["EUR","USD"]}}}`
	for _, seed := range []struct{ schema, have, text string }{
		{convert, `{}`, "amount 5, to: EUR"},
		{convert, `{"to":"x"}`, "AMOUNT=5;;\n,to"},
		{convert, ``, `{"amount":5}`},
		{`{"enum":["a",1,null,{}]}`, `"b"`, "A"},
		{`{"$ref":"#/$defs/X","$defs":{"X":{"oneOf":[{"$ref":"#/$defs/X"},{"anyOf":[{"$ref":"#/$defs/X"},{"type":["string","null"]}]}]}}}`, `5`, "x"},
		{`{"properties":{"":true,"a":false,"b":{"const":"x"}},"required":[""]}`, `null`, ": x"},
		{`true`, `[]`, "\xff"},
		{`{`, `{`, `{`},
	} {
		f.Add(seed.schema, seed.have, seed.text, true)
		f.Add(seed.schema, seed.have, seed.text, false)
	}
	f.Fuzz(func(t *testing.T, schema, have, text string, asked bool) {
		if !json.Valid([]byte(schema)) || have != "" && !json.Valid([]byte(have)) {
			return
		}
		sk := only(t, Skill{ID: "x", Name: "x", InputSchema: schema, Decode: func(input []byte) (any, error) {
			if len(input)%3 == 0 {
				return input, nil
			}
			return nil, &check.Error{Violations: []check.Violation{{Pointer: "/to", Message: "is bad"}}}
		}})
		input := sk.fromText(t.Context(), []byte(have), text, asked)
		if len(input) > 0 && !json.Valid(input) {
			t.Errorf("input is %s", input)
		}
		parts := sk.question(input, sk.check(input))
		if len(parts) != 2 || !json.Valid(parts[1].Data) {
			t.Errorf("question is %v", parts)
		}
	})
}

// Nobody waits any more for the input that a text means when its client has left.
func TestTextIsNotReadForAClientThatLeft(t *testing.T) {
	const schema = `{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`
	checks := 0
	sk := only(t, Skill{ID: "x", InputSchema: schema, Decode: func(input []byte) (any, error) { checks++; return input, nil }})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := sk.firstInput(gone, nil, "a: 1, b: 2"); !errors.Is(err, context.Canceled) {
		t.Errorf("a first message: %v", err)
	}
	parts := []runtime.Part{runtime.Text("a: 1, b: 2")}
	if _, _, err := sk.FollowUp(gone, nil, true, parts); !errors.Is(err, context.Canceled) {
		t.Errorf("a follow-up: %v", err)
	}
	if checks > 2 { // whether the text is all of it
		t.Errorf("%d values were checked", checks)
	}
}
