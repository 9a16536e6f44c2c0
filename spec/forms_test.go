package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// formed reads a proto with the fields of message A.
func formed(t *testing.T, head, fields string) *Document {
	t.Helper()
	doc, list := Read("x.proto", []byte(head+"\npackage p;\nimport \"google/protobuf/wrappers.proto\";\nmessage B {}\nmessage A {\n"+fields+"\n}\nservice S { rpc R(A) returns (B); rpc Q(B) returns (A); }\n"))
	if list.HasErrors() {
		t.Fatal(list)
	}
	return doc
}

func TestFormsOfProtobufAreReadAndShown(t *testing.T) {
	const head, edition = `syntax = "proto3";`, `edition = "2024";`
	for _, tt := range []struct{ head, field, want string }{
		{head, "sint32 a = 1;", "a  sint32  number 1"},
		{head, "repeated fixed64 a = 1;", "a  list of fixed64  number 1"},
		{head, "map<sfixed32, B> a = 1;", "a  map of sfixed32 to B  number 1"},
		{head, "map<bool, google.protobuf.UInt32Value> a = 1;", "a  map of bool to UInt32Value  number 1"},
		{head, "google.protobuf.StringValue a = 1;", "a  StringValue  number 1"},
		{head, "repeated int32 a = 1 [packed = false];", "a  list of int32  not packed, number 1"},
		{`syntax = "proto2";`, "required string a = 1;", "a  string of any bytes  required, written when zero, number 1"},
		{`syntax = "proto2";`, "repeated group Step = 1 {}", "step  list of group A.Step  number 1"},
		{`syntax = "proto2";`, "optional int32 a = 1 [default = 7];", "a  int32  optional, 7 by default, number 1"},
		{edition, "B a = 1 [features.message_encoding = DELIMITED];", "a  group B  number 1"},
		{edition, "repeated int32 a = 1 [features.repeated_field_encoding = EXPANDED];", "a  list of int32  not packed, number 1"},
		{edition, "string a = 1 [features.field_presence = LEGACY_REQUIRED];", "a  string  required, written when zero, number 1"},
	} {
		var b strings.Builder
		if err := formed(t, tt.head, tt.field).WriteText(&b); err != nil {
			t.Fatal(err)
		}
		_, shown, _ := strings.Cut(b.String(), "message A\n  ")
		shown, _, _ = strings.Cut(shown, "\n")
		if shown != tt.want {
			t.Errorf("%s: %s, want %s", tt.field, shown, tt.want)
		}
	}
}

func TestDifferencesInBytesAreSeen(t *testing.T) {
	const head, edition = `syntax = "proto3";`, `edition = "2023";`
	for _, tt := range []struct{ head, was, is, want string }{
		{head, "int32 a = 1;", "sint32 a = 1;", "breaking field A.a is sint32 instead of int32"},
		{head, "fixed32 a = 1;", "uint32 a = 1;", "breaking field A.a is uint32 instead of fixed32"},
		{head, "map<int32, B> a = 1;", "map<sint32, B> a = 1;", "breaking field A.a is map of sint32 to B instead of map of int32 to B"},
		{head, "string a = 1;", "google.protobuf.StringValue a = 1;", "breaking field A.a is StringValue instead of string"},
		{edition, "B a = 1;", "B a = 1 [features.message_encoding = DELIMITED];", "breaking field A.a is group B instead of B"},
		{edition, "repeated B a = 1;", "repeated B a = 1 [features.message_encoding = DELIMITED];", "breaking field A.a is list of group B instead of list of B"},
		{edition, "repeated int32 a = 1;", "repeated int32 a = 1 [features.repeated_field_encoding = EXPANDED];", "compatible field A.a is no longer packed"},
		{edition, "string a = 1;", "string a = 1 [features.utf8_validation = NONE];", "breaking field A.a is string of any bytes instead of string"},
		{edition, "string a = 1;", "string a = 1 [features.field_presence = LEGACY_REQUIRED];", "breaking field A.a is required"},
		{edition, "int32 a = 1 [default = 1];", "int32 a = 1 [default = 2];", "breaking field A.a is 2 by default instead of 1"},
	} {
		var got []string
		for _, c := range Diff(formed(t, tt.head, tt.was), formed(t, tt.head, tt.is)) {
			effect := Compatible
			if c.Breaking() {
				effect = Breaking
			}
			got = append(got, string(effect)+" "+c.Text)
		}
		if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
			t.Errorf("%s → %s (-want +got):\n%s", tt.was, tt.is, diff)
		}
	}
}

func TestAnOperationOfForeignMessagesIsListed(t *testing.T) {
	doc, list := Read("x.proto", []byte("syntax = \"proto3\";\nimport \"google/protobuf/struct.proto\";\nmessage A {}\nservice S {\n  rpc R(A) returns (google.protobuf.Struct);\n}"))
	const warning = "x.proto:5:3: warning: operation R takes or answers google.protobuf.Struct: it is listed, and answers UnsupportedOperation"
	if list.HasErrors() || len(list) != 1 || !strings.HasPrefix(list[0].String(), warning) {
		t.Fatalf("%v", list)
	}
	var b strings.Builder
	if err := doc.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if want := "operation R(A) empty\n  answers UnsupportedOperation: google.protobuf.Struct is no message of the definition\n"; !strings.Contains(b.String(), want) {
		t.Errorf("%s", b.String())
	}
	own := *doc
	own.Operations = []*Operation{{Name: "R", GRPC: doc.Operations[0].GRPC, Request: doc.Operations[0].Request, Response: Type{Kind: Empty}}}
	if changes := Diff(doc, &own); len(changes) != 1 || changes[0].Text != "operation R takes or answers messages of the definition instead of google.protobuf.Struct" {
		t.Errorf("%v", changes)
	}
}

func TestAStreamOfRequestsIsListed(t *testing.T) {
	doc, list := Read("x.proto", []byte("syntax = \"proto3\";\nmessage A {}\nservice S {\n  rpc R(stream A) returns (stream A);\n}"))
	if list.HasErrors() || !doc.Operations[0].RequestStream {
		t.Fatalf("%v", list)
	}
	var b strings.Builder
	if err := doc.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if want := "operation R(stream of A) stream of A\n  answers UnsupportedOperation: a stream of requests has no binding here\n"; !strings.Contains(b.String(), want) {
		t.Errorf("%s", b.String())
	}
}
