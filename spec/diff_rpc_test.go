package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changesBetween renders what is different between two texts: for servers, for clients (B or -), and in words.
func changesBetween(t *testing.T, name, was, is string) []string {
	t.Helper()
	var docs []*Document
	for _, text := range []string{was, is} {
		doc, list := Read(name, []byte(text))
		if list.HasErrors() {
			t.Fatal(list)
		}
		docs = append(docs, doc)
	}
	short := map[Effect]string{Breaking: "B", Compatible: "-"}
	var all []string
	for _, c := range Diff(docs[0], docs[1]) {
		all = append(all, short[c.Server]+short[c.Client]+" "+c.Text)
	}
	return all
}

func TestOperationsAreComparedByService(t *testing.T) {
	const head = "syntax = \"proto3\";\npackage p;\nmessage A { string a = 1; }\nmessage B { string b = 1; }\n"
	const first = "service First { rpc Get(A) returns (A); }\n"
	for _, tt := range []struct {
		name, was, is string
		want          []string
	}{
		{"a second service with an operation of the same name", first, first + "service Second { rpc Get(B) returns (B); }", []string{"-- operation Second.Get was added"}},
		{"the second service comes first", first, "service Second { rpc Get(B) returns (B); }\n" + first, []string{"-- operation Second.Get was added"}},
		{"of two services one goes", first + "service Second { rpc Get(B) returns (B); }", first, []string{"-B operation Second.Get was removed"}},
		{"a service has another name", first, "service Second { rpc Get(A) returns (A); }", []string{"BB operation Get has gRPC method Second/Get instead of First/Get"}},
	} {
		if diff := cmp.Diff(tt.want, changesBetween(t, "x.proto", head+tt.was, head+tt.is)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

const getSchema = `{"definitions": {
 "Params": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
 "More": {"type": "object", "properties": {"id": {"type": "string"}, "length": {"type": "integer"}}, "required": ["id"]},
 "Thing": {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "string", "default": "1"}}, "required": ["size"]},
 "GetRequest": {"type": "object", "properties": {"id": {"type": ["string", "integer"]}, "jsonrpc": {"const": "2.0"}, "method": {"const": "get"}, "params": {"$ref": "#/definitions/Params"}}, "required": ["jsonrpc", "method"]},
 "GetResponse": {"type": "object", "properties": {"id": {"type": ["string", "integer", "null"]}, "jsonrpc": {"const": "2.0"}, "result": {"$ref": "#/definitions/Thing"}}, "required": ["id"]},
 "JSONRPCErrorResponse": {"type": "object", "properties": {"id": {"type": "string"}, "jsonrpc": {"const": "2.0"}, "error": {"type": "object"}}}
}}`

func TestSchemasAreComparedByWhatTheirReadersTake(t *testing.T) {
	for _, tt := range []struct {
		name, old, new string
		want           []string
	}{
		{"more parameters", `"$ref": "#/definitions/Params"`, `"$ref": "#/definitions/More"`, []string{"-- the request of operation Get is More instead of Params, which has all of it"}},
		{"more parameters or the same", `{"$ref": "#/definitions/Params"}`, `{"anyOf": [{"$ref": "#/definitions/Params"}, {"$ref": "#/definitions/More"}]}`,
			[]string{"-- the request of operation Get is GetRequest.params instead of Params, which has all of it"}},
		{"other parameters", `"$ref": "#/definitions/Params"`, `"$ref": "#/definitions/Thing"`, []string{"BB the request of operation Get is Thing instead of Params"}},
		{"the default of a required field", `"default": "1"`, `"default": "2"`, []string{`-- field Thing.size is "2" by default instead of "1"`}},
		{"the id of requests is required", `"required": ["jsonrpc", "method"]`, `"required": ["jsonrpc", "method", "id"]`, []string{"-B the id of the JSON-RPC request is integer or string, required instead of integer or string"}},
		{"the id of responses is never null", `["string", "integer", "null"]`, `["string", "integer"]`, []string{"B- the id of the JSON-RPC response is integer or string, required instead of integer or null or string, required"}},
		{"the id of an error may be null", `"properties": {"id": {"type": "string"}, "jsonrpc": {"const": "2.0"}, "error"`, `"properties": {"id": {"type": ["string", "null"]}, "jsonrpc": {"const": "2.0"}, "error"`,
			[]string{"-B the id of the JSON-RPC error is null or string instead of string"}},
	} {
		if strings.Count(getSchema, tt.old) != 1 {
			t.Fatalf("%s: %s is not there once", tt.name, tt.old)
		}
		got := changesBetween(t, "x.json", getSchema, strings.Replace(getSchema, tt.old, tt.new, 1))
		var kept []string
		for _, c := range got {
			if !strings.Contains(c, "choice") {
				kept = append(kept, c)
			}
		}
		if diff := cmp.Diff(tt.want, kept); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
