package generator

import (
	"os"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/test/projecttest"
	"github.com/a2agen/a2agen/spec"
)

// definitionProject is a project with a definition of its own.
func definitionProject(t *testing.T, files map[string]string) Inputs {
	t.Helper()
	all := map[string]string{"agent.yaml": projecttest.Skills(10), "a2agen.yaml": "protocol: [{version: \"1.1-preview\", file: protocol/a2a.proto}, \"1.0\"]\n"}
	for name, text := range files {
		all[name] = text
	}
	return inputs(all)
}

func TestADefinitionOfTheProjectIsAnInputWithWhatItImports(t *testing.T) {
	src, err := spec.Source("1.0")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"protocol/a2a.proto":          strings.Replace(string(src), "package lf.a2a.v1;\n", "package lf.a2a.v1;\nimport \"parts/budget.proto\";\n", 1),
		"protocol/parts/budget.proto": "syntax = \"proto3\";\npackage lf.a2a.v1;\nmessage Budget { int64 tokens = 1; }\n",
	}
	out, list := Generate(t.Context(), definitionProject(t, files))
	if list.HasErrors() {
		t.Fatal(list)
	}
	for name, text := range files {
		if out.Read[name] != output.Digest([]byte(text)) {
			t.Errorf("%s has digest %q", name, out.Read[name])
		}
	}
	if len(out.Protocols) != 1 || out.Protocols["1.0"] == "" {
		t.Errorf("pinned versions %v", out.Protocols)
	}
	emitted := map[string]bool{}
	for _, f := range out.Files {
		emitted[f.Path] = true
		if strings.HasPrefix(f.Path, "runtime/") {
			t.Errorf("%s is emitted", f.Path)
		}
	}
	if !emitted["a2a/codec_v1_0_json.gen.go"] || !emitted["a2a/codec_v1_1_preview_json.gen.go"] {
		t.Errorf("files %v", emitted)
	}
}

func TestMistakesInADefinitionOfTheProject(t *testing.T) {
	const head = "syntax = \"proto3\";\npackage x;\n"
	schema, err := os.ReadFile("../spec/v0.3/a2a.json")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		files map[string]string
		want  string // a diagnostic, or its beginning
	}{
		{"it is not there", nil, `a2agen.yaml:1:12: the definition of version "1.1-preview" is not there: protocol/a2a.proto`},
		{"it is no proto", map[string]string{"protocol/a2a.proto": "message {"}, "protocol/a2a.proto:1:9: syntax error"},
		{"an import that is not there", map[string]string{"protocol/a2a.proto": head + "import \"other.proto\";\n"}, "protocol/a2a.proto:3:8: "},
		{"an import from outside of its folder", map[string]string{"protocol/a2a.proto": head + "import \"../other.proto\";\n", "other.proto": head}, "protocol/a2a.proto:3:8: "},
		{"an import from outside of the project", map[string]string{"protocol/a2a.proto": head + "import \"/etc/passwd\";\n"}, "protocol/a2a.proto:3:8: "},
		{"a mistake in an import", map[string]string{"protocol/a2a.proto": head + "import \"b.proto\";\n", "protocol/b.proto": head + "nonsense\n"}, "protocol/b.proto:3:1: syntax error"},
		{"a protocol without tasks", map[string]string{"protocol/a2a.proto": head + "message A {}\n"}, "protocol/a2a.proto"},
		{"a schema of 0.3 under another name alone", map[string]string{
			"a2agen.yaml": "protocol: [{version: \"0.4-mine\", file: old.json}]\n", "old.json": string(schema),
		}, `old.json: version 0.4-mine cannot be the newest one: the types are those of 1.0 or later (list "1.0" too)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, list := Generate(t.Context(), definitionProject(t, tt.files))
			if len(out.Files) > 0 || !list.HasErrors() {
				t.Fatalf("%d files, %v", len(out.Files), list)
			}
			if !hasDiagnostic(list, tt.want) {
				t.Errorf("no %q in %v", tt.want, list)
			}
		})
	}
}

func hasDiagnostic(list diag.List, want string) bool {
	for _, d := range list {
		if strings.HasPrefix(d.String(), want) {
			return true
		}
	}
	return false
}

func TestADefinitionThatWasFetchedHasWhatIsBuiltIn(t *testing.T) {
	tests := []struct{ name, imports, want string }{
		{"of google/protobuf", "google/protobuf/type.proto", ""},
		{"of google/api", "google/api/annotations.proto", ""},
		{"not the rest of google", "google/type/color.proto", `the definition imports "google/type/color.proto"`},
		{"nothing beside it", "common.proto", `the definition imports "common.proto"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := "syntax = \"proto3\";\npackage x;\nimport \"" + tt.imports + "\";\nmessage M {}\nservice S { rpc R(M) returns (M); }\n"
			_, list := ReadFetched("a.proto", config.Protocol{Version: "1.1"}, []byte(src))
			if got := list.HasErrors(); got != (tt.want != "") || got && !strings.Contains(list[0].Message, tt.want) {
				t.Errorf("got %v, want %q", list, tt.want)
			}
		})
	}
}
