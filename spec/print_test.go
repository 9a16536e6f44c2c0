package spec

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestADefinitionIsPrintedForPeople(t *testing.T) {
	for name, test := range map[string]struct{ file, src, want string }{
		"a proto": {"a.proto", `syntax = "proto3"; package p; import "google/api/annotations.proto"; import "google/protobuf/empty.proto";
message A { option deprecated = true; repeated string the_list = 1; oneof u { A a = 2; int32 number = 3 [deprecated = true]; } }
enum E { E_NONE = 0; E_B = 1 [deprecated = true]; }
service S { rpc Do(A) returns (stream google.protobuf.Empty) { option deprecated = true; option (google.api.http) = { post: "/a" body: "*" additional_bindings { get: "/b" } }; } }`, `a.proto (proto, package p)

operation Do(A) stream of empty, deprecated
  gRPC /p.S/Do
  POST /a, body: the whole request
  GET /b

message A, deprecated
  theList  list of string  number 1
  a        A               in union u, number 2
  number   int32           in union u, deprecated, number 3

enum E
  E_NONE
  E_B, deprecated
`},
		"a schema": {"a.json", `{"definitions": {
"A": {"properties": {"kind": {"const": "a"}, "on": {"type": ["boolean", "null"], "default": true}, "any": {}}, "required": ["kind"], "additionalProperties": {}},
"C": {"anyOf": [{"$ref": "#/definitions/A"}, {"type": "string"}, {"type": "null"}]},
"DoRequest": {"properties": {"jsonrpc": {}, "method": {"const": "do\u001b[2J"}}}, "DoResponse": {"properties": {"jsonrpc": {}, "result": {"$ref": "#/definitions/C"}}},
"GoneError": {"properties": {"code": {"const": -1}, "message": {"const": "gone"}}}}}`, `a.json (schema)

operation Do(empty) C
  JSON-RPC do�[2J

message A
  kind  string  required, always "a"
  on    bool    optional, or null, true by default
  any   value
  and members of other names: value

choice C, by their fields
  A
  string
  null

errors
  -1 GoneError: gone
`},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := read(t, test.file, test.src).WriteText(&b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, b.String()); diff != "" {
				t.Errorf("text differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangesArePrintedByWhomTheyBreak(t *testing.T) {
	var b bytes.Buffer
	changes := []Change{
		{Text: "a", Server: Compatible, Client: Compatible}, {Text: "b", Server: Breaking, Client: Compatible},
		{Text: "c", Server: Compatible, Client: Breaking}, {Text: "d", Server: Breaking, Client: Breaking}, {Text: "e", Server: Breaking, Client: Compatible},
	}
	if err := WriteChanges(&b, changes); err != nil {
		t.Fatal(err)
	}
	want := "breaking for servers and clients:\n  d\nbreaking for servers:\n  b\n  e\nbreaking for clients:\n  c\ncompatible:\n  a\nbreaking: 3 for servers, 2 for clients; compatible: 1\n"
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	b.Reset()
	if err := WriteChanges(&b, nil); err != nil || b.String() != "no differences\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}
