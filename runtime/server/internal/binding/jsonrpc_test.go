package binding

import (
	"bytes"
	"slices"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2agen/a2agen/runtime"
)

// A reader of the standard's wording decides what the envelope's members are and what is no JSON. Only the inside of params is left to
// their decoder, and what nests deeper than wire.MaxDepth is refused.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, `{"jsonrpc":"2.0","id":"\\\"","method":"a\u0062","params":{"a":["}",{"b":"\\"}]}}`,
		` { "id" : null , "jsonrpc" : "2.0" , "method" : "m" } `, `[]`, `{`, `{"a"}`, `{"a":1,}`, `{,}`, `{"jsonrpc":"2.0","method":"m","params":{}}x`, `{"jsonrpc":"2.0","id":-,"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":[}]}}`, `{"jsonrpc":"2.0","\u006dethod":"m","x":{"y":tru}}`, `{"method":"m","x":1,"\u0078":2}`,
		"{\"id\":\"\xff\",\"method\":\"m\"}", `{"id":"\ud800","method":"m"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		env, fault := readEnvelope(body)
		ref := map[string]jsontext.Value{}
		err := jsonv2.Unmarshal(body, &ref)
		if fault != nil {
			if fault.Code == runtime.ErrParse.Code && err == nil {
				t.Fatalf("valid JSON is called malformed: %q", body)
			}
			return
		}
		if err != nil && env.params != nil { // its decoder finds that out
			for at := 0; err != nil && bytes.Contains(body[at:], env.params); at++ {
				at += bytes.Index(body[at:], env.params)
				clear(ref)
				err = jsonv2.Unmarshal(slices.Concat(body[:at], []byte("{}"), body[at+len(env.params):]), &ref)
			}
			env.params = []byte("{}")
		}
		if err != nil {
			t.Fatalf("%q passes: %v", body, err)
		}
		method, _ := ref["method"].MarshalJSON()
		want := ""
		_ = jsonv2.Unmarshal(method, &want)
		if params := ref["params"]; params.Kind() == 'n' && env.params == nil {
			delete(ref, "params")
		}
		if string(env.id) != string(ref["id"]) || string(env.method) != want || string(env.params) != string(ref["params"]) {
			t.Fatalf("%q is read as id %q, method %q, params %q", body, env.id, env.method, env.params)
		}
	})
}
