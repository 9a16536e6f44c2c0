package mcptools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/contract"
	"github.com/a2agen/a2agen/internal/test/growth"
	call "github.com/a2agen/a2agen/runtime/mcptools"
)

const schemaFile = "mcp/tools.json"

func said(list diag.List) string {
	var b strings.Builder
	_ = list.WriteText(&b)
	return b.String()
}

// try imports tools of a listing, and returns what is said.
func try(doc string, tools ...string) (*Import, string) {
	l, list := Read("tools.json", []byte(doc))
	if list.HasErrors() {
		return nil, said(list)
	}
	im, more := l.Import(Request{Tools: tools, Name: "tools", SchemaFile: schemaFile})
	return im, said(append(list, more...))
}

// with is a listing with the tool x, which has a schema for its input.
func with(schema string) string {
	return `{"tools": [{"name": "x", "inputSchema": ` + schema + `}]}`
}

func TestListingsComeInThreeForms(t *testing.T) {
	tool := `{"name": "x", "inputSchema": {"type": "object"}}`
	for _, doc := range []string{`[` + tool + `]`, `{"tools": [` + tool + `]}`, `{"jsonrpc": "2.0", "id": 1, "result": {"tools": [` + tool + `]}}`} {
		if im, got := try(doc); got != "" || len(im.Tools) != 1 {
			t.Errorf("%s: %s", doc, got)
		}
	}
}

func TestHostileListingsAreRefusedOrRead(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"name": "x", "inputSchema": {"type": "object"}},`, 31), ",")
	tests := []struct{ name, doc, want string }{
		{"nothing", "", "cannot be read"},
		{"no listing", `{"a": 1}`, "this is no answer to tools/list: it has no tools"},
		{"no tools", `{"tools": []}`, "the server has no tools"},
		{"a tool that is a text", `{"tools": ["x"]}`, "tool 1 of the listing cannot be read"},
		{"a name that is a number", `{"tools": [{"name": 5}, {"name": "y", "inputSchema": {}}]}`, "tool 1 of the listing is left out"},
		{"cut", `{"tools": [`, "cannot be read"},
		{"a key twice", `{"tools": [], "tools": []}`, "cannot be read"},
		{"broken text", "{\"tools\": [{\"name\": \"\xff\"}]}", "cannot be read"},
		{"too much", `{"a": "` + strings.Repeat("x", MaxBytes) + `"}`, "more than the 16777216"},
		{"deep nesting", with(strings.Repeat(`{"items":`, 5000) + "{}" + strings.Repeat("}", 5000)), "cannot be read"},
		{"too many tools", `[` + many + `]`, "say which tools to import, by --tool: there are 31"},
		{"no schema", `[{"name": "x"}, {"name": "y", "inputSchema": {"type": "object"}}]`, `tool "x" has no inputSchema (it is left out)`},
		{"a schema that is a list", `[{"name": "x", "inputSchema": []}]`, "is no object"},
		{"no name", `[{"name": "天气", "inputSchema": {"type": "object"}}]`, `tool "天气" has no name for a skill`},
		{"an empty name", `[{"name": "", "inputSchema": {"type": "object"}}]`, `tool "" has no name for a skill`},
		{"one skill for two", `[{"name": "a/b", "inputSchema": {}}, {"name": "A b", "inputSchema": {}}]`, `would both be the skill "a_b"`},
		{"a name twice", `[{"name": "a", "inputSchema": {}}, {"name": "a", "inputSchema": {}}]`, `tools.json:1:36: several tools are called "a"`},
		{"a ref to a file", with(`{"properties": {"a": {"$ref": "file:///etc/passwd"}}}`), `refers to "file:///etc/passwd", which is outside the listing`},
		{"a ref to a URL", with(`{"$ref": "http://169.254.169.254/x"}`), "outside the listing"},
		{"a ref to nothing", with(`{"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}`), `refers to "#/$defs/A", which is not there`},
		{"a ref to itself", with(`{"$ref": "#"}`), ""},
		{"a task", `[{"name": "x", "inputSchema": {}, "execution": {"taskSupport": "required"}}]`, "can be called as a task of MCP only"},
		{"a tool that destroys", `[{"name": "x", "inputSchema": {}, "annotations": {"destructiveHint": true}}]`, `tool "x" destroys something`},
		{"hints that are none", `[{"name": "x", "inputSchema": {}, "annotations": 5}]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := try(tt.doc); !strings.Contains(got, tt.want) {
				t.Errorf("got %.500q, want %q", got, tt.want)
			}
		})
	}
}

func TestNamedToolsMustBeThere(t *testing.T) {
	doc := `[{"name": "get_issue", "inputSchema": {"type": "object"}}, {"name": "x", "inputSchema": []}]`
	if _, got := try(doc, "get_isue"); !strings.Contains(got, `no tool is called "get_isue" (did you mean "get_issue"?)`) {
		t.Errorf("got %s", got)
	}
	if _, got := try(doc, "get_issue", "get_issue"); got != "" {
		t.Errorf("got %s", got)
	}
	if _, got := try(doc, "x"); !strings.Contains(got, "error") && !strings.Contains(got, "is no object (leave it out)") {
		t.Errorf("got %s", got)
	}
}

func TestSchemasStayAsTheServerWroteThem(t *testing.T) {
	const schema = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["z"],"properties":` +
		`{"z":{"type":"number","maximum":9007199254740993,"description":"<b>&"},"a":{"$ref":"#/definitions/A"},"n":{"not":{"type":"null"}}},` +
		`"definitions":{"A":{"type":"array","items":{"$ref":"#/definitions/A"}}}}`
	im, got := try(with(schema))
	if !strings.Contains(got, "tools/x/input/properties/n is any JSON, which is not checked") {
		t.Errorf("said %s", got)
	}
	src, err := im.File(&Pin{Document: "mcp/tools.tools.json"})
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tools map[string]map[string]json.RawMessage
		Pin   Pin `json:"x-mcp"`
	}
	if err := json.Unmarshal(src, &file); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(file.Tools["x"]["input"])), "")
	text = strings.Replace(text, `"$id":"mcp:x%2Finput",`, "", 1)
	text = strings.Replace(text, `"x-go":"raw",`, "", 1)
	if text != schema || file.Pin.Document == "" {
		t.Errorf("the contract is\n%s, want\n%s", text, schema)
	}
	if problems := contract.Check(schemaFile, im); problems.HasErrors() {
		t.Errorf("it does not compile: %s", said(problems))
	}
}

func TestSchemasOfAllDialectsAreTaken(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"draft-04", `{"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": true}}}`, ""},
		{"draft-07", `{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"type": "string"}}}`, ""},
		{"2019-09", `{"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$anchor": "a"}}}`, ""},
		{"2020-12", `{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"a": {"prefixItems": [{"type": "string"}]}}}`, ""},
		{"OpenAPI", `{"type": "object", "properties": {"a": {"type": "string", "nullable": true, "example": "x"}}}`, ""},
		{"Pydantic", `{"title": "Args", "type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "A"}}}`, ""},
		{"Zod", `{"type": "object", "properties": {"a": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {}}}, "additionalProperties": false}`, ""},
		{"a dialect of others", `{"$schema": "https://example.com/my-dialect", "type": "object", "properties": {"a": {"if": {}, "then": {}}}}`, "is any JSON"},
		{"nothing", `{}`, ""},
		{"a union", `{"anyOf": [{"type": "object", "required": ["a"], "properties": {"a": {"const": 1}}}, {"type": "object", "required": ["b"]}]}`, ""},
		{"a pattern of ECMA-262", `{"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?!x)"}}}`, "is any JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			im, got := try(with(tt.schema))
			if im == nil || (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("said %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOfTenThousandToolsFewAreTaken(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, `{"name": "t%d", "inputSchema": {"$ref": "http://outside.example"}},`, i)
	}
	doc := "[" + b.String() + `{"name": "x", "inputSchema": {"type": "object"}}]`
	if im, got := try(doc, "x"); got != "" || len(im.Tools) != 1 {
		t.Errorf("said %s", got)
	}
	if _, got := try(doc); got != "tools.json: say which tools to import, by --tool: there are 10001: t0, t1, t10, t100, t1000, t1001, t1002, t1003, t1004, t1005, …\n" {
		t.Errorf("said %.300s", got)
	}
}

func TestAListingIsKeptSorted(t *testing.T) {
	a := `{"name": "a", "description": "A.", "inputSchema": {"type": "object"}, "_meta": {"now": 1}}`
	b := `{"inputSchema": { "type":"object" }, "name": "b", "outputSchema": {"type": "object", "properties": {"z": {}, "a": {}}}}`
	one, _ := Of("one", call.Listing{Name: "s", Tools: []json.RawMessage{[]byte(a), []byte(b)}})
	two, _ := Of("two", call.Listing{Name: "s", Tools: []json.RawMessage{[]byte(b), []byte(strings.Replace(a, "1", "2", 1))}})
	first, err := one.Document()
	if err != nil {
		t.Fatal(err)
	}
	second, _ := two.Document()
	if string(first) != string(second) || !strings.Contains(string(first), "\"z\": {},\n          \"a\": {}") {
		t.Errorf("got\n%s\nand\n%s", first, second)
	}
	again, list := Read("kept", first)
	if list.HasErrors() || again.Server.Name != "s" || len(Changes(one, again, []string{"a", "b"})) != 0 {
		t.Errorf("read again: %s %v", said(list), again)
	}
}

func TestChangesAreNamed(t *testing.T) {
	tool := func(name, description, schema string) Tool {
		return Tool{Name: name, Description: description, Input: json.RawMessage(schema)}
	}
	before := &Listing{Tools: []Tool{tool("a", "A", `{"type":"object","x":1}`), tool("b", "B", `{}`), tool("c", "C", `{}`), tool("d", "D", `{}`)}}
	now := &Listing{Tools: []Tool{tool("a", "A", `{"x": 1, "type": "object"}`), tool("b", "changed", `{}`), tool("d", "D", `{"type":"object"}`), tool("new", "", `{}`)}}
	got := Changes(before, now, []string{"a", "b", "c", "d"})
	want := []Change{{"b", "its description changed"}, {"c", "it is gone"},
		{"d", "its input schema changed, and contracts of before no longer fit (the whole: type object)"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAChangeOfASchemaIsToldByWhatItDoes(t *testing.T) {
	days := func(max string) json.RawMessage {
		return json.RawMessage(`{"type": "object", "properties": {"days": {"type": "integer", "maximum": ` + max + `}}}`)
	}
	tests := []struct {
		before, now Tool
		want        string
	}{
		{Tool{Input: days("7")}, Tool{Input: days("5")}, "its input schema changed, and contracts of before no longer fit (days: maximum 5)"},
		{Tool{Input: days("5")}, Tool{Input: days("7")}, "its input schema changed, and contracts of before still fit"},
		{Tool{Output: days("5")}, Tool{Output: days("7")}, "its output schema changed, and contracts of before no longer fit (days: maximum 5)"},
		{Tool{Output: days("7")}, Tool{Output: days("5")}, "its output schema changed, and contracts of before still fit"},
		{Tool{}, Tool{Output: days("5")}, "its output schema changed"},
	}
	for _, tt := range tests {
		tt.before.Name, tt.now.Name = "x", "x"
		got := Changes(&Listing{Tools: []Tool{tt.before}}, &Listing{Tools: []Tool{tt.now}}, []string{"x"})
		if !slices.Equal(got, []Change{{"x", tt.want}}) {
			t.Errorf("got %v, want %q", got, tt.want)
		}
	}
}

func TestTimeIsLinearInTheSizeOfAListing(t *testing.T) {
	growth.Linear(t, 200, func(n int) func() {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"name": "t%d", "description": "%s", "inputSchema": {"type": "object"}},`, i, strings.Repeat("x", 100))
		}
		doc := "[" + strings.TrimSuffix(b.String(), ",") + "]"
		return func() { try(doc, "t0") }
	})
}

// FuzzImport: no listing makes an import panic, and what is imported compiles.
func FuzzImport(f *testing.F) {
	f.Add([]byte(with(`{"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"not": {}}}}`)))
	f.Add([]byte(`[{"name": "x", "inputSchema": {"anyOf": [{"type": "string"}, {"if": {}}]}, "outputSchema": {"type": "array"}}]`))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, list := Read("tools.json", src)
		if list.HasErrors() {
			return
		}
		im, list := l.Import(Request{Name: "tools", SchemaFile: schemaFile})
		if im == nil || list.HasErrors() {
			return
		}
		if problems := contract.Check(schemaFile, im); problems.HasErrors() {
			t.Error(said(problems))
		}
		contract.AddSkills("agent.yaml", []byte("skills:\n  - id: echo\n"), im.Skills(), im.Ref(), im.Name)
	})
}
