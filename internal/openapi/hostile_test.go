package openapi

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/contract"
	"github.com/a2agen/a2agen/internal/test/growth"
)

func writeFile(name string, data []byte) error { return os.WriteFile(name, data, 0o600) }

// tryAll reads a document and imports its operations x and y.
func tryAll(doc string) string {
	d, list := Read("doc.yaml", []byte(doc))
	if list.HasErrors() {
		return said(list)
	}
	_, list = d.Import(Request{Operations: []string{"x"}, Name: "api", SchemaFile: schemaFile})
	return said(list)
}

// with is a document whose operation x answers with a schema.
func with(schema, components string) string {
	return `{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {"/x": {"get": {"operationId": "x", "responses": {"200": {"description": "ok",
		"content": {"application/json": {"schema": ` + schema + `}}}}}}}, "components": {` + components + `}}`
}

func TestHostileDocumentsAreRefusedOrRead(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"nothing", "", "empty"},
		{"no document", "[1]", "expected an object"},
		{"another version", `{"openapi": "4.0.0"}`, "no document of OpenAPI 3.0 or 3.1"},
		{"Swagger", `{"swagger": "2.0"}`, "Swagger 2.0"},
		{"cut JSON", `{"openapi": "3.0.0", `, "cannot be read"},
		{"a key twice", `{"openapi": "3.0.0", "openapi": "3.0.0"}`, "cannot be read"},
		{"broken text", "{\"openapi\": \"3.0.0\xff\"}", "cannot be read"},
		{"too much", `{"a": "` + strings.Repeat("x", MaxBytes) + `"}`, "more than the 16777216"},
		{"too much YAML", "a: " + strings.Repeat("x", 5<<20), "of YAML that are read (convert it to JSON first)"},
		{"deep nesting", with(strings.Repeat(`{"items":`, 5000)+"{}"+strings.Repeat("}", 5000), ""), "cannot be read"},
		{"a bomb of aliases", "a: &a [x,x,x,x,x,x,x,x,x]\n" + bomb(), "alias"},
		{"a ref to a file", with(`{"$ref": "file:///etc/passwd"}`, ""), "leads out of the document"},
		{"a ref to a URL", with(`{"$ref": "http://169.254.169.254/x#/a"}`, ""), "leads out of the document"},
		{"a ref to nothing", with(`{"$ref": "#/components/schemas/A"}`, ""), "leads nowhere"},
		{"a ref to itself", with(`{"$ref": "#/components/schemas/A"}`, `"schemas": {"A": {"$ref": "#/components/schemas/A"}}`), ""},
		{"a circle", with(`{"$ref": "#/components/schemas/A"}`, `"schemas": {"A": {"allOf": [{"$ref": "#/components/schemas/B"}]}, "B": {"allOf": [{"$ref": "#/components/schemas/A"}]}}`), ""},
		{"a path that is a text", `{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {"/x": "y"}}`, "no operation is called"},
		{"paths that are a list", `{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": []}`, "no operation is called"},
		{"components that are a list", strings.Replace(with(`{}`, `"responses": [{"description": "ok"}]`), `{"200": {`, `{"201": {"$ref": "#/components/responses/0"}, "299": {`, 1), ""},
		{"required by itself", with(`{"type": "object", "properties": {"a": {"type": "string", "required": true}}}`, ""), ""},
		{"texts that are none", `{"openapi": "3.0.3", "info": {"title": 5, "version": 1.0}, "paths": {"/x": {"get": {"operationId": "x", "summary": 404, "tags": "t",
			"responses": {"200": {"description": 5}}}}}}`, ""},
		{"an operation without answers", `{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {"/x": {"get": {"operationId": "x"}}}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tryAll(tt.doc)
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %.500q, want %q", got, tt.want)
			}
		})
	}
}

// bomb is a text of YAML whose aliases stand for a billion values.
func bomb() string {
	var b strings.Builder
	for c := 'b'; c < 'm'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ","))
	}
	return b.String()
}

func TestNamesOfOthersAreSafe(t *testing.T) {
	doc := `{"openapi": "3.0.3", "info": {"title": "\"; os.Exit(1) //\n` + "`" + `", "version": "1"}, "servers": [{"url": "https://a.example/\"+x+\""}],
		"paths": {"/x\n/*": {"get": {"operationId": "../../x \u202e\"", "summary": "a\nb: c", "tags": ["- x\n  y", ""],
		"responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object", "properties": {"a\"\n": {"type": "string"}}}}}}}}}}}`
	d, list := Read("doc.json", []byte(doc))
	if list.HasErrors() {
		t.Fatal(said(list))
	}
	name := d.APIName("")
	im, list := d.Import(Request{Operations: []string{"GET /x\n/*"}, Name: name, SchemaFile: schemaFile})
	if list.HasErrors() {
		t.Fatal(said(list))
	}
	if name != "os_exit" || im.Operations[0].Skill != "x" || im.URLEnv != "OS_EXIT_URL" {
		t.Errorf("%q, %q, %q", name, im.Operations[0].Skill, im.URLEnv)
	}
	card := "name: a\nskills:\n  - id: echo\n    description: Echo.\n# the end\nversion: \"1\"\n"
	edited, added, list := contract.AddSkills("agent.yaml", []byte(card), im.Skills(), im.Ref(), im.Name)
	if list.HasErrors() || len(added) != 1 {
		t.Fatal(said(list))
	}
	if !strings.HasPrefix(string(edited), "name: a\nskills:\n  - id: echo\n    description: Echo.\n\n  - id: x\n") || !strings.HasSuffix(string(edited), "# the end\nversion: \"1\"\n") {
		t.Errorf("agent.yaml is now\n%s", edited)
	}
	if again, added, list := contract.AddSkills("agent.yaml", edited, im.Skills(), im.Ref(), im.Name); list.HasErrors() || len(added) != 0 || string(again) != string(edited) {
		t.Errorf("a second import adds %v", added)
	}
}

func TestSkillsAreAddedInTheStyleOfTheList(t *testing.T) {
	im := &Import{file: schemaFile, Name: "api", Operations: []*Operation{{Skill: "x", Name: "X", Description: "Does x."}}}
	for card, want := range map[string]string{
		"skills:\n- id: a\n  description: A.": "skills:\n- id: a\n  description: A.\n\n- id: x\n  name: X\n",
		"skills: [{id: a}]\n":                 "the list of skills cannot be extended",
		"name: a\n":                           "the list of skills cannot be extended",
		"skills:\n  - id: x\n    input: {}\n": `there is a skill "x" already`,
	} {
		edited, _, list := contract.AddSkills("agent.yaml", []byte(card), im.Skills(), im.Ref(), im.Name)
		if got := string(edited) + said(list); !strings.Contains(got, want) {
			t.Errorf("of %q comes %q, want %q", card, got, want)
		}
	}
}

func TestTimeIsLinearInTheSizeOfADocument(t *testing.T) {
	growth.Linear(t, 60, func(n int) func() {
		var schemas strings.Builder
		for i := range n {
			fmt.Fprintf(&schemas, `"S%d": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/S%d"}}},`, i, (i+1)%n)
		}
		doc := with(`{"$ref": "#/components/schemas/S0"}`, `"schemas": {`+strings.TrimSuffix(schemas.String(), ",")+`}`)
		return func() { tryAll(doc) }
	})
}

func TestALargeDocumentOfWhichLittleIsAskedIsReadInSeconds(t *testing.T) {
	var paths strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&paths, `"/p%d": {"get": {"operationId": "p%d", "description": "%s", "responses": {}}},`, i, i, strings.Repeat("x", 400))
	}
	doc := `{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {` + paths.String() + `"/x": {"get": {"operationId": "x", "responses": {"204": {"description": "ok"}}}}}}`
	start := time.Now()
	if got := tryAll(doc); got != "" {
		t.Errorf("got %.300q", got)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}
