package emit

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/spec"
)

// sinkKinds are the types of the message Sink by the name of its fields.
var sinkKinds = []struct{ name, proto string }{
	{"string", "string"}, {"bool", "bool"}, {"int32", "int32"}, {"int64", "int64"}, {"uint32", "uint32"}, {"uint64", "uint64"}, {"float", "float"}, {"double", "double"},
	{"bytes", "bytes"}, {"timestamp", "google.protobuf.Timestamp"}, {"duration", "google.protobuf.Duration"}, {"struct", "google.protobuf.Struct"},
	{"value", "google.protobuf.Value"}, {"empty", "google.protobuf.Empty"}, {"leaf", "Leaf"}, {"color", "Color"}, {"light", "Light"},
	{"sint32", "sint32"}, {"sint64", "sint64"}, {"fixed32", "fixed32"}, {"fixed64", "fixed64"}, {"sfixed32", "sfixed32"}, {"sfixed64", "sfixed64"},
	{"list", "google.protobuf.ListValue"}, {"null", "google.protobuf.NullValue"}, {"mask", "google.protobuf.FieldMask"}, {"any", "google.protobuf.Any"},
	{"strings", "google.protobuf.StringValue"}, {"bools", "google.protobuf.BoolValue"}, {"int32s", "google.protobuf.Int32Value"}, {"int64s", "google.protobuf.Int64Value"},
	{"uint32s", "google.protobuf.UInt32Value"}, {"uint64s", "google.protobuf.UInt64Value"}, {"floats", "google.protobuf.FloatValue"},
	{"doubles", "google.protobuf.DoubleValue"}, {"bytess", "google.protobuf.BytesValue"},
}

// sinkKeys are the types of a map's keys.
var sinkKeys = []string{"string", "bool", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64"}

// withSink adds to a definition a message that has every kind in every place: plain, optional, listed, mapped, in a oneof.
func withSink(definition []byte) string {
	var b strings.Builder
	b.WriteString(strings.Replace(string(definition), "import \"google/protobuf/timestamp.proto\";", `import "google/protobuf/timestamp.proto";
import "google/protobuf/any.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/wrappers.proto";`, 1))
	b.WriteString("\nmessage Leaf { string name = 1; repeated Leaf leaves = 2; }\nenum Color { COLOR_UNSPECIFIED = 0; COLOR_RED = 1; COLOR_BLUE = 2; }\nenum Light { LIGHT_OFF = 0; LIGHT_ON = 1; }\nmessage Plain { Light light = 1; repeated int32 numbers = 2; map<string, string> names = 3; }\nmessage Sink {\n")
	for i, k := range sinkKinds {
		fmt.Fprintf(&b, "%s f_%s = %d;\n", k.proto, k.name, 15+i)
		fmt.Fprintf(&b, "optional %s o_%s = %d;\n", k.proto, k.name, 1000-i) // numbers against the order of declaration
		fmt.Fprintf(&b, "repeated %s l_%s = %d;\n", k.proto, k.name, 248+i)
		fmt.Fprintf(&b, "map<string, %s> m_%s = %d;\n", k.proto, k.name, 749+i)
	}
	for i, key := range sinkKeys {
		fmt.Fprintf(&b, "map<%s, int32> k_%s = %d;\nmap<%s, Leaf> kl_%s = %d;\n", key, key, 1100+i, key, key, 1200+i)
	}
	b.WriteString("oneof pick {\n")
	for i, k := range sinkKinds {
		fmt.Fprintf(&b, "%s u_%s = %d;\n", k.proto, k.name, 1+i%2+(i/2)*3000)
	}
	b.WriteString("Leaf u_other = 4;\n}\noneof more { string text = 5; google.protobuf.Value any = 6; }\n}\n")
	return b.String()
}

// optionalField is a field of explicit presence as proto3 has it: label, type and name, number, options.
var optionalField = regexp.MustCompile(`optional ([\w.]+ \w+) = (\d+);`)

// inEdition turns a definition in proto3 into one of an edition, in which every default of protobuf's encoding is another one, and adds
// a message with what proto2 has besides.
func inEdition(definition string) string {
	definition = strings.Replace(definition, `syntax = "proto3";`, `edition = "2024";`, 1)
	definition = strings.Replace(definition, "option go_package", `option features.field_presence = IMPLICIT;
option features.message_encoding = DELIMITED;
option features.repeated_field_encoding = EXPANDED;
option features.enforce_naming_style = STYLE_LEGACY;
option go_package`, 1)
	definition = optionalField.ReplaceAllString(definition, "$1 = $2 [features.field_presence = EXPLICIT];")
	return definition + `
export enum Shut { option features.enum_type = CLOSED; SHUT_FIRST = 1; SHUT_SECOND = 2; }
enum Zero { ZERO_UNSPECIFIED = 0; ZERO_ONE = 1; }
local message Odd {
  string r_string = 1 [features.field_presence = LEGACY_REQUIRED];
  int32 r_int32 = 2 [features.field_presence = LEGACY_REQUIRED];
  bool r_bool = 3 [features.field_presence = LEGACY_REQUIRED];
  bytes r_bytes = 4 [features.field_presence = LEGACY_REQUIRED];
  double r_double = 5 [features.field_presence = LEGACY_REQUIRED];
  Leaf r_leaf = 6 [features.field_presence = LEGACY_REQUIRED];
  Shut r_shut = 7 [features.field_presence = LEGACY_REQUIRED];
  Zero r_zero = 8 [features.field_presence = LEGACY_REQUIRED];
  google.protobuf.Int32Value r_wrapped = 9 [features.field_presence = LEGACY_REQUIRED];
  repeated sint32 packed = 10 [features.repeated_field_encoding = PACKED];
  repeated Zero zeros = 11 [features.repeated_field_encoding = PACKED];
  repeated Shut shuts = 12;
  string raw = 13 [features.utf8_validation = NONE];
  Leaf prefixed = 14 [features.message_encoding = LENGTH_PREFIXED];
  map<string, Leaf> leaves = 15;
  Shut shut = 16 [features.field_presence = EXPLICIT, default = SHUT_SECOND];
  Odd odd = 17;
  oneof pick { Leaf leaf = 18; Odd other = 19; string raw_pick = 20 [features.utf8_validation = NONE]; Shut shut_pick = 21; }
}
`
}

func TestProtobufOfAnUnseenDefinitionEqualsGoogles(t *testing.T) {
	t.Run("edition", func(t *testing.T) { equalsGoogles(t, inEdition(withSink(unseen(t)))) })
	t.Run("proto3", func(t *testing.T) {
		gotool.Long(t)
		equalsGoogles(t, withSink(unseen(t)))
	})
}

func equalsGoogles(t *testing.T, definition string) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	doc, problems := spec.Read("unseen.proto", []byte(definition))
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	doc.Version = "1.1-preview"
	p, problems := lower.Protocol([]*spec.Document{doc})
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	lower.AddWires(p, ir.Proto)
	files, err := ProtocolPackage(p, Paths{Protocol: "github.com/a2agen/a2agen/internal/unseen"})
	if err != nil {
		t.Fatal(err)
	}
	test, err := os.ReadFile(filepath.Join("testdata", "protowire_test.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	goTest(t, append(files,
		output.File{Path: "unseen/protowire_test.go", Data: test},
		output.File{Path: "unseen/definition_test.go", Data: []byte("package unseen\n\nconst definition = " + strconv.Quote(understood(definition)) + "\n")},
	))
}

// understood is a definition as the compiler takes it, which does not know edition 2024.
func understood(definition string) string {
	return strings.NewReplacer(`"2024"`, `"2023"`, "export enum", "enum", "local message", "message", "option features.enforce_naming_style = STYLE_LEGACY;", "").Replace(definition)
}

func TestProtoCodecRefusesWhatItCannotPrint(t *testing.T) {
	list := ir.TypeRef{Kind: ir.KindList, Elem: &ir.TypeRef{Kind: ir.KindString}}
	tests := []struct {
		name   string
		change func(w *ir.Wire, l *ir.Layout)
		want   string
	}{
		{"hook", func(_ *ir.Wire, l *ir.Layout) { l.Fields[0].Hook = "Blocking" }, `emit codec 9.9/json: Leaf.name: no hook "Blocking"`},
		{"no number", func(_ *ir.Wire, l *ir.Layout) { l.Fields[0].Number = 0 }, "emit codec 9.9/json: Leaf.name: no field number"},
		{"a number twice", func(_ *ir.Wire, l *ir.Layout) { l.Fields = append(l.Fields, l.Fields[0]) }, "emit codec 9.9/json: Leaf.name: has the field number of name"},
		{"list of lists", func(_ *ir.Wire, l *ir.Layout) {
			l.Fields[0].Field = &ir.Field{Type: ir.TypeRef{Kind: ir.KindList, Elem: &list}}
		}, "emit codec 9.9/json: Leaf.name: a list cannot be here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, w := sinkProtocol()
			w.Encoding, w.Layouts[1].Fields[0].Number = ir.Proto, 1
			w.Layouts = w.Layouts[:2]
			tt.change(w, w.Layouts[1])
			_, err := Codec(p, w, testPaths)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestOnlyTheNewestProtoWireHasMethods(t *testing.T) {
	p := lowered(t, false)
	lower.AddWires(p, ir.Proto)
	older := *newest(p, ir.Proto)
	older.Suffix, older.File = "V09Proto", "codec_v0_9_proto"
	p.Versions = append(p.Versions, &ir.Version{Name: "0.9", Wires: []*ir.Wire{&older}})
	f, err := Codec(p, &older, testPaths)
	if err != nil {
		t.Fatal(err)
	}
	if f.Path != "a2a/codec_v0_9_proto.gen.go" || strings.Contains(string(f.Data), "UnmarshalProto") || !strings.Contains(string(f.Data), "\tcodecTaskV09Proto = ") {
		t.Errorf("%s:\n%.400s", f.Path, f.Data)
	}
}
