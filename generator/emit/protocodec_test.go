package emit

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/spec"
)

var update = flag.Bool("update", false, "write the protobuf codec that the tests of package a2a use")

// TestTheProtobufCodecThatIsTestedIsFresh keeps the codec that package a2a has in its tests, and only there.
func TestTheProtobufCodecThatIsTestedIsFresh(t *testing.T) {
	p := lowered(t, false)
	lower.AddWires(p, ir.Proto)
	w := newestProto(p)
	if w == nil {
		t.Fatal("no protobuf wire")
	}
	f, err := ProtoCodec(p, w, Paths{Protocol: "github.com/a2agen/a2agen/a2a"})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("..", "..", "a2a", "codec_v1_0_proto_test.go")
	if *update {
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, f.Data) {
		t.Errorf("%s is stale: go test ./generator/emit -run Fresh -update", name)
	}
}

// sinkKinds are the types of the message Sink by the name of its fields.
var sinkKinds = []struct{ name, proto string }{
	{"string", "string"}, {"bool", "bool"}, {"int32", "int32"}, {"int64", "int64"}, {"uint32", "uint32"}, {"uint64", "uint64"}, {"float", "float"}, {"double", "double"},
	{"bytes", "bytes"}, {"timestamp", "google.protobuf.Timestamp"}, {"duration", "google.protobuf.Duration"}, {"struct", "google.protobuf.Struct"},
	{"value", "google.protobuf.Value"}, {"empty", "google.protobuf.Empty"}, {"leaf", "Leaf"}, {"color", "Color"}, {"light", "Light"},
}

// withSink adds to a definition a message that has every kind in every place: plain, optional, listed, mapped, in a oneof.
func withSink(definition []byte) string {
	var b strings.Builder
	b.Write(definition)
	b.WriteString("\nmessage Leaf { string name = 1; repeated Leaf leaves = 2; }\nenum Color { COLOR_UNSPECIFIED = 0; COLOR_RED = 1; COLOR_BLUE = 2; }\nenum Light { LIGHT_OFF = 0; LIGHT_ON = 1; }\nmessage Plain { Light light = 1; repeated int32 numbers = 2; map<string, string> names = 3; }\nmessage Sink {\n")
	for i, k := range sinkKinds {
		fmt.Fprintf(&b, "%s f_%s = %d;\n", k.proto, k.name, 15+i)
		fmt.Fprintf(&b, "optional %s o_%s = %d;\n", k.proto, k.name, 1000-i) // numbers against the order of declaration
		fmt.Fprintf(&b, "repeated %s l_%s = %d;\n", k.proto, k.name, 248+i)
		fmt.Fprintf(&b, "map<string, %s> m_%s = %d;\n", k.proto, k.name, 749+i)
	}
	b.WriteString("oneof pick {\n")
	for i, k := range sinkKinds {
		fmt.Fprintf(&b, "%s u_%s = %d;\n", k.proto, k.name, 1+i%2+(i/2)*3000)
	}
	b.WriteString("Leaf u_other = 4;\n}\noneof more { string text = 5; google.protobuf.Value any = 6; }\n}\n")
	return b.String()
}

func TestProtobufOfAnUnseenDefinitionEqualsGoogles(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	definition := withSink(unseen(t))
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
		output.File{Path: "unseen/definition_test.go", Data: []byte("package unseen\n\nconst definition = " + strconv.Quote(definition) + "\n")},
	))
}

func TestProtoCodecRefusesWhatItCannotPrint(t *testing.T) {
	list := ir.TypeRef{Kind: ir.KindList, Elem: &ir.TypeRef{Kind: ir.KindString}}
	tests := []struct {
		name   string
		change func(w *ir.Wire, l *ir.Layout)
		want   string
	}{
		{"another encoding", func(w *ir.Wire, _ *ir.Layout) { w.Encoding = ir.JSON }, `emit codec 9.9/json: encoding "json" is not protobuf`},
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
			_, err := ProtoCodec(p, w, testPaths)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestOnlyTheNewestProtoWireHasMethods(t *testing.T) {
	p := lowered(t, false)
	lower.AddWires(p, ir.Proto)
	older := *newestProto(p)
	older.Suffix, older.File = "V09Proto", "codec_v0_9_proto"
	p.Versions = append(p.Versions, &ir.Version{Name: "0.9", Wires: []*ir.Wire{&older}})
	f, err := ProtoCodec(p, &older, testPaths)
	if err != nil {
		t.Fatal(err)
	}
	if f.Path != "a2a/codec_v0_9_proto.gen.go" || strings.Contains(string(f.Data), "UnmarshalProto") || !strings.Contains(string(f.Data), "func decodeTaskV09Proto") {
		t.Errorf("%s:\n%.400s", f.Path, f.Data)
	}
}
