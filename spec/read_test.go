package spec

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/diag"
)

func TestReadKeepsEverythingADefinitionSays(t *testing.T) {
	doc, problems := Read("defs/my.proto", []byte(`syntax = "proto3";
package acme.v2;
import "google/api/annotations.proto";
import "google/api/field_behavior.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/empty.proto";
option go_package = "example.com/acme;acmev2";

// Thing is a thing.
//
// --8<-- [start:Thing]
// (-- api-linter: core::0123=disabled
//     reason --)
// It has two lines.
message Thing {
  string the_id = 1 [(google.api.field_behavior) = REQUIRED, json_name = "ID"];
  optional bool on = 2 [deprecated = true]; // Whether it is on.
  oneof what {
    // A number.
    uint64 n = 3;
    Inner inner = 4;
  }
  repeated Inner more = 5;
  map<string, Mode> modes = 6;
  google.protobuf.Duration took = 7;
	bytes tabbed = 8;
  message Inner {}
}
enum Mode { MODE_UNSPECIFIED = 0; MODE_FAST = 2; }
service Things {
  rpc Get(Thing) returns (stream Thing) {
    option (google.api.http) = {
      custom: { kind: "HEAD" path: "/things/{the_id}" }
      additional_bindings { patch: "/t" body: "what" }
    };
  }
  rpc Drop(google.protobuf.Empty) returns (google.protobuf.Empty);
}
`))
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	at := func(line, col int) diag.Pos { return diag.Pos{File: "defs/my.proto", Line: line, Col: col} }
	inner := Type{Kind: MessageOf, Name: "Thing.Inner"}
	want := &Document{
		Syntax: Proto,
		Path:   "defs/my.proto", Files: []string{"defs/my.proto"}, Package: "acme.v2",
		Messages: []*Message{
			{
				Name: "Thing", Comment: "Thing is a thing.\n\n\nIt has two lines.", Pos: at(15, 1),
				Fields: []*Field{
					{Name: "the_id", JSON: "ID", Number: 1, Pos: at(16, 3), Type: Type{Kind: String}, Required: true},
					{Name: "on", JSON: "on", Number: 2, Comment: "Whether it is on.", Pos: at(17, 3), Type: Type{Kind: Bool}, Optional: true, Deprecated: true},
					{Name: "n", JSON: "n", Number: 3, Comment: "A number.", Pos: at(20, 5), Type: Type{Kind: Uint64}, Union: "what"},
					{Name: "inner", JSON: "inner", Number: 4, Pos: at(21, 5), Type: inner, Union: "what"},
					{Name: "more", JSON: "more", Number: 5, Pos: at(23, 3), Type: Type{Kind: List, Elem: &inner}},
					{Name: "modes", JSON: "modes", Number: 6, Pos: at(24, 3), Type: Type{Kind: Map, Elem: &Type{Kind: EnumOf, Name: "Mode"}}},
					{Name: "took", JSON: "took", Number: 7, Pos: at(25, 3), Type: Type{Kind: Duration}},
					{Name: "tabbed", JSON: "tabbed", Number: 8, Pos: at(26, 2), Type: Type{Kind: Bytes}},
				},
				Unions: []*Union{{Name: "what", Pos: at(18, 3)}},
			},
			{Name: "Thing.Inner", Pos: at(27, 3)},
		},
		Enums: []*Enum{{Name: "Mode", Pos: at(29, 1), Values: []*EnumValue{
			{Name: "MODE_UNSPECIFIED", Pos: at(29, 13)}, {Name: "MODE_FAST", Number: 2, Pos: at(29, 35)},
		}}},
		Operations: []*Operation{
			{
				Name: "Get", GRPC: "/acme.v2.Things/Get", Pos: at(31, 3), Request: Type{Kind: MessageOf, Name: "Thing"}, Response: Type{Kind: MessageOf, Name: "Thing"}, Stream: true,
				HTTP: []Route{{Verb: "HEAD", Path: "/things/{the_id}"}, {Verb: "PATCH", Path: "/t", Body: "what"}},
			},
			{Name: "Drop", GRPC: "/acme.v2.Things/Drop", Pos: at(37, 3), Request: Type{Kind: Empty}, Response: Type{Kind: Empty}},
		},
	}
	if len(doc.Descriptor) == 0 {
		t.Error("there is no descriptor")
	}
	doc.Descriptor = nil
	if diff := cmp.Diff(want, doc); diff != "" {
		t.Errorf("document differs (-want +got):\n%s", diff)
	}
}

func TestReadTakesImportsFromTheFolderOfTheDefinition(t *testing.T) {
	const dir = "defs"
	folder := fstest.MapFS{
		"common.proto":    {Data: []byte("syntax = \"proto3\";\npackage a;\nimport \"deep/more.proto\";\nmessage Common { other.More more = 1; }")},
		"deep/more.proto": {Data: []byte("syntax = \"proto3\";\npackage other;\nmessage More {}")},
	}
	root := filepath.Join(dir, "root.proto")
	doc, problems := ReadIn(root, []byte("syntax = \"proto3\";\npackage a;\nimport \"common.proto\";\nmessage Root { Common c = 1; }"), folder)
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	var names []string
	for _, m := range doc.Messages {
		names = append(names, m.Name)
	}
	if want := []string{"Root", "Common", "other.More"}; !slices.Equal(names, want) {
		t.Errorf("messages %v, want %v", names, want)
	}
	if want := []string{root, filepath.Join(dir, "common.proto"), filepath.Join(dir, "deep", "more.proto")}; !slices.Equal(doc.Files, want) {
		t.Errorf("files %v, want %v", doc.Files, want)
	}
	if got := doc.Messages[2].Pos.File; got != filepath.Join(dir, "deep", "more.proto") {
		t.Errorf("the imported message is at %s", got)
	}
}

func TestReadReportsMistakesWhereTheyAre(t *testing.T) {
	const head = "syntax = \"proto3\";\npackage p;\n"
	for name, test := range map[string]struct{ src, want string }{
		"not a definition":              {"hello", "x.proto:1:1: "},
		"a syntax error":                {head + "message A {\n\tstring a = ;\n}", "x.proto:4:13: "},
		"an unknown type":               {head + "message A {\n  Missing a = 1;\n}", "x.proto:4:3: "},
		"a number used twice":           {head + "message A { string a = 1;\nstring b = 1; }", "x.proto:4:12: "},
		"an import that is missing":     {head + `import "nowhere.proto";`, "x.proto:3:8: "},
		"a foreign enum":                {head + "import \"google/api/field_behavior.proto\";\nmessage A {\n  google.api.FieldBehavior a = 1;\n}", "x.proto:5:3: field a has the enum"},
		"a foreign message":             {head + "import \"google/protobuf/descriptor.proto\";\nmessage A {\n  google.protobuf.FieldOptions a = 1;\n}", "x.proto:5:3: the type google.protobuf.FieldOptions cannot be generated"},
		"an edition of its own":         {"edition = \"2099\";\nmessage A {}", "x.proto:1:11: edition value \"2099\" not recognized"},
		"a map of an enum without zero": {"edition = \"2023\";\noption features.enum_type = CLOSED;\nenum E { ONE = 1; }\nmessage A { map<string, E> m = 1; }", "x.proto:4:13: the values of map m are of enum E, whose first value is 1"},
		"a message set":                 {"syntax = \"proto2\";\nmessage A {\n  option message_set_wire_format = true;\n  extensions 4 to 5;\n}", "x.proto:"},
		"too deep nesting":              {head + strings.Repeat("message A {", 100_000), "x.proto: the file nests 100000 levels"},
		"too large a file":              {head + "//" + strings.Repeat("x", maxSource), "x.proto: the file has "},
		"two mistakes":                  {head + "message A {\n  Missing a = 1;\n  Gone b = 2;\n}", "x.proto:5:3: "},
	} {
		doc, problems := Read("x.proto", []byte(test.src))
		if doc != nil || !slices.ContainsFunc(problems, func(d diag.Diagnostic) bool { return strings.HasPrefix(d.String(), test.want) }) {
			t.Errorf("%s: got %v, want %q", name, problems, test.want)
		}
	}
}

func TestReadRefusesFilesThatAreNoDefinition(t *testing.T) {
	if doc, problems := Read("a2a.yaml", nil); doc != nil || !problems.HasErrors() || problems[0].Pos.File != "a2a.yaml" {
		t.Errorf("got %v, %v", doc, problems)
	}
}

func TestDepthIgnoresCommentsAndStrings(t *testing.T) {
	for src, want := range map[string]int{
		"a { b { } } c { }": 2, "// {{{{\n{": 1, "/* {{{ */ {": 1, `"{{{" '{{\'{' {`: 1, "/* {": 0, "}}}}{": 1, "//": 0, `"\`: 0,
	} {
		if got := depth([]byte(src)); got != want {
			t.Errorf("depth(%q) = %d, want %d", src, got, want)
		}
	}
}

func FuzzReadNeverPanics(f *testing.F) {
	src, err := shipped.ReadFile("v1.0/a2a.proto")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src))
	for _, s := range []string{
		"", "syntax", "syntax = \"proto2\"; message A { required string a = 1; extensions 4 to max; }", "edition = \"2023\"; package p; message A { string a = 1; }",
		"syntax = \"proto3\"; import \"google/api/annotations.proto\"; service S { rpc R(E) returns (E) { option (google.api.http) = {}; } } message E {}",
		"syntax = \"proto3\"; message A { oneof o { string a = 1; } map<string, A> m = 2; }", "\xff\x00", "syntax = \"proto3\"; enum E { option allow_alias = true; A = 0; B = 0; }",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		began := time.Now()
		doc, problems := Read("x.proto", []byte(s))
		if (doc == nil) != problems.HasErrors() {
			t.Errorf("document %v with problems %v", doc, problems)
		}
		for _, p := range problems {
			if p.Message == "" || strings.Contains(p.Message, "panic") || strings.ContainsAny(p.Message, "\n") {
				t.Errorf("problem %+v", p)
			}
		}
		if doc != nil {
			if changes := Diff(doc, doc); len(changes) > 0 {
				t.Errorf("differs from itself: %v", render(changes))
			}
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("took %v for %d bytes", d, len(s))
		}
	})
}

func BenchmarkShipped(b *testing.B) {
	for _, version := range Versions() {
		b.Run(version, func(b *testing.B) {
			for b.Loop() {
				if _, err := Shipped(version); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
