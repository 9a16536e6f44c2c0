package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tripSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["to"],` +
	`"properties":{"to":{"type":"string","minLength":1,"description":"Where."},"days":{"type":"integer","minimum":1,"maximum":5,"default":3},` +
	`"units":{"$ref":"#/$defs/Units","default":"celsius"},"tags":{"type":"array","items":{"type":["string","null"]},"uniqueItems":true}},` +
	`"$defs":{"Units":{"enum":["celsius","fahrenheit"]}}}`

func TestASchemaIsMadeFitForADialect(t *testing.T) {
	for d, want := range map[Dialect]struct {
		schema string
		notes  []string
	}{
		OpenAI: {
			`{"type":"object","properties":{"to":{"type":"string","description":"Where. (minLength: 1)"},` +
				`"days":{"type":["integer","null"],"minimum":1,"maximum":5,"description":"(default: 3)"},` +
				`"units":{"anyOf":[{"$ref":"#/$defs/Units"},{"type":"null"}]},` +
				`"tags":{"type":["array","null"],"items":{"type":["string","null"]},"description":"(uniqueItems: true)"}},` +
				`"required":["to","days","units","tags"],"additionalProperties":false,"$defs":{"Units":{"enum":["celsius","fahrenheit"],"type":"string"}}}`,
			[]string{
				"input.to: minLength 1 is only in the description", "input.days: may be absent: it is null then",
				`input.units: default "celsius" is dropped, because nothing may stand beside a reference`, "input.units: may be absent: it is null then",
				"input.tags: uniqueItems true is only in the description", "input.tags: may be absent: it is null then",
			},
		},
		Gemini: {
			`{"type":"object","properties":{"to":{"type":"string","minLength":1,"description":"Where."},` +
				`"days":{"type":"integer","minimum":1,"maximum":5,"description":"(default: 3)"},` +
				`"units":{"enum":["celsius","fahrenheit"],"type":"string","description":"(default: \"celsius\")"},` +
				`"tags":{"type":"array","items":{"type":"string","nullable":true},"description":"(uniqueItems: true)"}},"required":["to"]}`,
			[]string{"input.tags: uniqueItems true is only in the description"},
		},
		Anthropic: {
			`{"type":"object","properties":{"to":{"type":"string","description":"Where. (minLength: 1)"},` +
				`"days":{"type":"integer","default":3,"description":"(minimum: 1, maximum: 5)"},"units":{"$ref":"#/$defs/Units"},` +
				`"tags":{"type":"array","items":{"type":["string","null"]},"description":"(uniqueItems: true)"}},"required":["to"],"additionalProperties":false,` +
				`"$defs":{"Units":{"enum":["celsius","fahrenheit"],"type":"string"}}}`,
			[]string{
				"input.to: minLength 1 is only in the description", "input.days: minimum 1 is only in the description", "input.days: maximum 5 is only in the description",
				`input.units: default "celsius" is dropped, because nothing may stand beside a reference`, "input.tags: uniqueItems true is only in the description",
			},
		},
	} {
		t.Run(string(d), func(t *testing.T) {
			got, notes := Portable(json.RawMessage(tripSchema), d)
			if string(got) != want.schema {
				t.Errorf("got  %s\nwant %s", got, want.schema)
			}
			if diff := cmp.Diff(want.notes, notes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatADialectCannotSayIsToldAndDropped(t *testing.T) {
	for _, c := range []struct {
		dialect            Dialect
		schema, want, note string
	}{
		{Gemini, `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}}}`,
			`{"type":"object","properties":{"n":{"type":"object","properties":{"next":{"type":"object","description":"As above."}}}}}`, "input.n.next: refers to itself, which ends here"},
		{OpenAI, `{"type":"object","properties":{"n":{"$ref":"#"}},"required":["n"]}`,
			`{"type":"object","properties":{"n":{"$ref":"#"}},"required":["n"],"additionalProperties":false}`, ""},
		{Anthropic, `{"type":"object","properties":{"n":{"$ref":"#"}}}`,
			`{"type":"object","properties":{"n":{"type":"object","description":"As above."}},"additionalProperties":false}`, "input.n: refers to itself, which ends here"},
		{OpenAI, `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"x":{"const":1}},"required":["x"]}}}`,
			`{"type":"object","properties":{"x":{"const":1}},"required":["x"],"additionalProperties":false}`, ""},
		{Gemini, `{"type":"object","properties":{"x":{"const":"a"},"y":{"enum":[1,2]}}}`,
			`{"type":"object","properties":{"x":{"enum":["a"],"type":"string"},"y":{"type":"number","description":"(enum: [1,2])"}}}`, "input.y: enum [1,2] is only in the description"},
		{OpenAI, `{"type":"object","additionalProperties":{"type":"string"}}`,
			`{"type":"object","properties":{},"required":[],"additionalProperties":false,"description":"(further properties are possible, but not here)"}`,
			"input: has further properties, which a model cannot give now"},
		{Gemini, `{"type":"object","properties":{"x":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`,
			`{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`, "input.x: oneOf became anyOf: more than one may fit"},
		{OpenAI, `[]`, `[]`, "the schema is no JSON object: nothing was changed"},
		{"french", `{}`, `{}`, `there is no dialect "french": nothing was changed`},
	} {
		got, notes := Portable(json.RawMessage(c.schema), c.dialect)
		if string(got) != c.want || strings.Join(notes, "; ") != c.note {
			t.Errorf("%s %s\ngot  %s (%s)\nwant %s (%s)", c.dialect, c.schema, got, strings.Join(notes, "; "), c.want, c.note)
		}
	}
}

// TestReferencesThatDoubleStayBounded: written out, thirty of them would be a thousand million schemas.
func TestReferencesThatDoubleStayBounded(t *testing.T) {
	var defs []string
	for i := range 30 {
		defs = append(defs, fmt.Sprintf(`"D%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/D%d"},"b":{"$ref":"#/$defs/D%d"}}}`, i, i+1, i+1))
	}
	defs = append(defs, `"D30":{"type":"string"}`)
	got, notes := Portable(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/D0"}},"$defs":{`+strings.Join(defs, ",")+`}}`), Gemini)
	if len(got) > 1<<20 || len(notes) == 0 || len(notes) > maxNotes || !json.Valid(got) {
		t.Errorf("%d bytes, %d notes", len(got), len(notes))
	}
}
