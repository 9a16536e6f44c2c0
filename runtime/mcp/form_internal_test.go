package mcp

import (
	"encoding/json"
	"testing"
)

func TestFlatSchemasAreForms(t *testing.T) {
	object := func(field string) string { return `{"type":"object","properties":{"a":` + field + `}}` }
	for schema, want := range map[string]bool{
		object(`{"type":"string","title":"A","description":"d","minLength":1,"maxLength":9,"format":"email","default":"x"}`):                           true,
		object(`{"type":"string","enum":["a","b"],"default":"b"}`):                                                                                     true,
		object(`{"type":"integer","minimum":1,"maximum":5,"default":3}`):                                                                               true,
		object(`{"type":"number","default":1.5}`):                                                                                                      true,
		object(`{"type":"boolean","default":true}`):                                                                                                    true,
		`{"$schema":"` + dialect + `","type":"object","title":"t","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"string"}}}`: true,

		``: false, `null`: false, `true`: false, `7`: false, `{}`: false, `{"type":"object"}`: false, `{"type":"string"}`: false, `{"type":"object","properties":{}}`: false,
		object(`{"type":"object"}`): false, object(`{"type":"array"}`): false, object(`{}`): false, object(`true`): false, object(`{"type":["string","null"]}`): false,
		object(`{"type":"string","pattern":"a"}`): false, object(`{"type":"string","format":"uuid"}`): false, object(`{"type":"string","default":7}`): false,
		object(`{"type":"string","enum":["a"],"default":"b"}`): false, object(`{"type":"string","minLength":-1}`): false, object(`{"type":"string","minLength":2,"maxLength":1}`): false,
		object(`{"type":"integer","enum":["a"]}`): false, object(`{"type":"integer","default":1.5}`): false, object(`{"type":"number","minimum":2,"maximum":1}`): false,
		object(`{"type":"boolean","minimum":1}`): false, object(`{"type":"boolean","default":"x"}`): false, object(`{"type":"string","minimum":1}`): false,
		object(`{"$ref":"#/$defs/A"}`): false, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string"}}}`: false,
		`{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[]}`: false, `{"type":"object","properties":{"a":{"type":"string"}},"required":"a"}`: false,
	} {
		if got := isForm(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
		if !isForm(form(json.RawMessage(schema))) {
			t.Errorf("%s: the form for it is none: %s", schema, form(json.RawMessage(schema)))
		}
	}
}
