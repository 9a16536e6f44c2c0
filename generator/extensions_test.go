package generator

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// extending is agent.yaml with extensions, each an item of a YAML list.
func extending(items ...string) string {
	return "capabilities:\n  extensions:\n    - " + strings.Join(items, "\n    - ") + "\n" + projecttest.Skills(1)
}

const traceFile = "uri: https://e.example/trace/v1\nname: trace\ncarries: {message: {type: object}, params: {type: object, required: [level], properties: {level: {type: integer}}}}\n"

func TestMistakesInExtensionsSayWhereTheyAreAndWhatToWrite(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no URI":              {map[string]string{"agent.yaml": extending(`{uri: "a uri"}`)}, `agent.yaml:3:13: "a uri" is not a URI (write an absolute URI with the version, such as https://example.com/extensions/trace/v1)`},
		"a comma":             {map[string]string{"agent.yaml": extending(`{uri: "urn:a,b"}`)}, "agent.yaml:3:13: a URI with a comma cannot stand in the header A2A-Extensions (write %2C in place of the comma)"},
		"no name":             {map[string]string{"agent.yaml": extending(`{uri: "urn:a", always: true}`)}, `agent.yaml:3:30: "always" needs the key "name", the Go package of the extension's types (add a name, such as name: trace)`},
		"a keyword":           {map[string]string{"agent.yaml": extending(`{uri: "urn:a", name: func}`)}, `agent.yaml:3:28: "func" cannot be a package name (choose another one)`},
		"an unknown word":     {map[string]string{"agent.yaml": extending(`{uri: "urn:a", name: a, carries: {mesage: true}}`)}, `agent.yaml:3:41: unknown key "mesage" in carries (did you mean "message"?)`},
		"no schema":           {map[string]string{"agent.yaml": extending(`{uri: "urn:a", name: a, carries: {message: {type: objekt}}}`)}, `agent.yaml:3:57: the text "objekt" is no JSON type (did you mean "object"?)`},
		"the skills":          {map[string]string{"agent.yaml": extending(`{uri: "https://github.com/a2agen/a2agen/extensions/skills/v1", name: a}`)}, "agent.yaml:3:76: the contract of this extension is made from the skills (remove it: the skills' input and output are this extension's types)"},
		"an unknown method":   {map[string]string{"agent.yaml": extending(`{uri: "urn:a", name: a, methods: [Pause]}`)}, `agent.yaml:3:7: the extension urn:a has the method "Pause", which no definition of the protocol adds (list a definition with that operation under protocol in a2agen.yaml)`},
		"two of one name":     {map[string]string{"agent.yaml": extending(`{uri: "urn:a", name: my_x}`, `{uri: "urn:b", name: myx}`, `{uri: "urn:c", name: my_x}`)}, "agent.yaml:5:7: the extensions urn:a and urn:c have one Go name, MyX (rename one of them)"},
		"two of one member":   {map[string]string{"agent.yaml": extending(`{uri: "urn:a", name: a}`, `{uri: "urn:b", name: b, key: "urn:a"}`)}, `agent.yaml:4:7: the extensions urn:a and urn:b have one member of metadata, "urn:a" (give one of them another key)`},
		"params that do not":  {map[string]string{"agent.yaml": extending(`{uri: "https://e.example/trace/v1", params: {level: high}}`), "a2agen.yaml": "extensions: [trace.yaml]\n", "trace.yaml": traceFile}, `agent.yaml:3:51: the params of the extension https://e.example/trace/v1 do not fit its schema: "level" must be a whole number, not the text "high" (the schema is under carries, in trace.yaml)`},
		"no params":           {map[string]string{"agent.yaml": extending(`{uri: "https://e.example/trace/v1"}`), "a2agen.yaml": "extensions: [trace.yaml]\n", "trace.yaml": traceFile}, `agent.yaml:3:7: the params of the extension https://e.example/trace/v1 do not fit its schema: lacks the property "level", which is required (the schema is under carries, in trace.yaml)`},
		"two contracts":       {map[string]string{"agent.yaml": extending(`{uri: "https://e.example/trace/v1", name: other}`), "a2agen.yaml": "extensions: [trace.yaml]\n", "trace.yaml": traceFile}, "agent.yaml:3:7: the extension https://e.example/trace/v1 has two contracts (take one of them out)"},
		"no such file":        {map[string]string{"agent.yaml": extending(), "a2agen.yaml": "extensions: [trace.yaml]\n"}, "a2agen.yaml:1:14: there is no file trace.yaml (write the extension's contract there, or take it off the list)"},
		"a file of a card":    {map[string]string{"agent.yaml": extending(), "a2agen.yaml": "extensions: [trace.yaml]\n", "trace.yaml": traceFile + "required: true\n"}, `trace.yaml:4:1: key "required" does not belong in extension (write it in agent.yaml: it is up to each agent)`},
		"a file outside":      {map[string]string{"agent.yaml": extending(), "a2agen.yaml": "extensions: [../trace.yaml]\n"}, `a2agen.yaml:1:14: "../trace.yaml" is not the path of a file inside the project`},
		"a file listed twice": {map[string]string{"agent.yaml": extending(), "a2agen.yaml": "extensions: [trace.yaml, trace.yaml]\n", "trace.yaml": traceFile}, `a2agen.yaml:1:26: the extension "trace.yaml" is listed twice`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.files["agent.yaml"] == extending() {
				c.files["agent.yaml"] = projecttest.Skills(1)
			}
			_, list := Generate(t.Context(), inputs(c.files))
			if !slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
				first, _, _ := strings.Cut(d.String(), "\n")
				return d.Severity == diag.Error && first == c.want
			}) {
				t.Errorf("got %s\nwant %s", list, c.want)
			}
		})
	}
}

func TestACardDoesNotPublishTheContractOfAnExtension(t *testing.T) {
	out, list := Generate(t.Context(), inputs(map[string]string{
		"agent.yaml": extending(`{uri: "urn:a", name: a, key: k, always: true, params: {x: 1}, carries: {message: true}}`),
	}))
	if list.HasErrors() {
		t.Fatal(list)
	}
	if card := string(out.Model.Agent.Card); !strings.Contains(card, `"extensions":[{"uri":"urn:a","params":{"x":1}},`) {
		t.Error(card)
	}
	var paths []string
	for _, f := range out.Files {
		if strings.HasPrefix(f.Path, "extensions/") {
			paths = append(paths, f.Path)
		}
	}
	if want := []string{"extensions/a/extension.gen.go", "extensions/a/types.gen.go"}; !slices.Equal(paths, want) {
		t.Errorf("the files are %v", paths)
	}
}
