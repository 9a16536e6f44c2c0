package project_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// newAgent makes a project as init does, around the agent.yaml that is given.
func newAgent(t *testing.T, agentYAML string) project.Options {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a program")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	o := project.Options{Tool: project.Tool{Version: "devel"}, Dir: t.TempDir(), Force: true}
	projecttest.Write(t, o.Dir, map[string]string{"agent.yaml": agentYAML})
	r, err := project.Init(t.Context(), project.InitOptions{Options: o, Module: "example.com/first", Runtime: root})
	if err != nil {
		t.Fatalf("%v\n%v", err, r.Diagnostics)
	}
	o.Force = false
	return o
}

// passes builds a project and runs its tests, and vets it where long tests run.
func passes(t *testing.T, dir string) {
	t.Helper()
	commands := []string{"test"}
	if gotool.IsLong() {
		commands = append(commands, "vet")
	}
	for _, command := range commands {
		if out, err := gotool.Command(dir, command, "./...").CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%.4000s", command, err, out)
		}
	}
}

// TestStubsOfFreeObjectsBuildAndPass, with schemas as public ones have them: objects of which nothing is said, alone, in maps, in lists
// and further down.
func TestStubsOfFreeObjectsBuildAndPass(t *testing.T) {
	o := newAgent(t, `name: free
description: Free objects.
version: "1"
skills:
  - id: geojson_feature
    name: GeoJSON feature
    description: The properties of a feature are anybody's.
    tags: [free]
    input: &feature
      type: object
      required: [type, properties]
      properties: {type: {const: Feature}, id: {type: string}, properties: {type: object}}
    output: *feature
  - id: openapi_components
    name: OpenAPI components
    description: Schemas by name, each a free object.
    tags: [map]
    input: &components
      type: object
      required: [schemas]
      properties:
        schemas: {type: object, minProperties: 1, additionalProperties: {type: object}}
    output: *components
  - id: json_feed_items
    name: JSON feed
    description: Items with whatever extensions they have.
    tags: [list]
    input: &feed
      type: object
      required: [items, extensions]
      properties:
        items: {type: array, minItems: 1, items: {type: object, additionalProperties: true}}
        extensions: {type: array, items: {type: object}}
    output: *feed
  - id: custom_resource
    name: Custom resource
    description: As Kubernetes has them, with a free object at the bottom.
    tags: [nested]
    input: &resource
      type: object
      required: [spec]
      properties:
        spec:
          type: object
          required: [template, history]
          properties:
            template:
              type: object
              required: [values]
              properties: {values: {type: object, additionalProperties: true}}
            history: {type: array, items: {type: object, additionalProperties: {type: array, items: {type: object}}}}
    output: *resource
`)
	passes(t, o.Dir)
}

// aSkill is an agent.yaml with one skill, whose input and output are given, and further lines.
func aSkill(id, input, output, more string) string {
	y := "name: first\ndescription: First edits.\nversion: \"1\"\nskills:\n  - id: " + id + "\n    name: S\n    description: Does it.\n    tags: [s]\n"
	if input != "" {
		y += "    input: " + input + "\n"
	}
	if output != "" {
		y += "    output: " + output + "\n"
	}
	return y + more
}

const (
	textIn  = `{type: object, required: [text], properties: {text: {type: string}}}`
	textOut = textIn
	alerts  = "  - {id: alerts, name: Alerts, description: Tells., tags: [a], output: {type: object, required: [n], properties: {n: {type: integer}}}}\n"
	chat    = "  - {id: chat, name: Chat, description: Talks., tags: [c]}\n"
)

// firstEdits are what somebody does to agent.yaml before he has written a line of Go.
var firstEdits = map[string]string{
	"rename a property":          aSkill("forecast", `{type: object, required: [words], properties: {words: {type: string}}}`, textOut, alerts),
	"rename it in both":          aSkill("forecast", `{type: object, required: [words], properties: {words: {type: string}}}`, `{type: object, required: [words], properties: {words: {type: string}}}`, alerts),
	"add a property":             aSkill("forecast", `{type: object, required: [text], properties: {text: {type: string}, days: {type: integer}}}`, textOut, alerts),
	"add a required property":    aSkill("forecast", `{type: object, required: [text, since], properties: {text: {type: string}, since: {type: string, format: date-time}}}`, textOut, alerts),
	"remove the property":        aSkill("forecast", `{type: object, properties: {}}`, textOut, alerts),
	"give it another type":       aSkill("forecast", `{type: object, required: [text], properties: {text: {type: integer, minimum: 3}}}`, textOut, alerts),
	"make it optional":           aSkill("forecast", `{type: object, properties: {text: {type: string}}}`, textOut, alerts),
	"make it an enumeration":     aSkill("forecast", `{type: object, required: [text], properties: {text: {enum: [sun, rain]}}}`, textOut, alerts),
	"make it an object":          aSkill("forecast", `{type: object, required: [text], properties: {text: {type: object, required: [a], properties: {a: {type: string}}}}}`, textOut, alerts),
	"make it a free object":      aSkill("forecast", textIn, `{type: object, required: [text], properties: {text: {type: object}}}`, alerts),
	"make it nullable":           aSkill("forecast", textIn, `{type: object, required: [text], properties: {text: {type: [string, "null"]}}}`, alerts),
	"take a pattern":             aSkill("forecast", `{type: object, required: [text], properties: {text: {type: string, pattern: "^[A-Z]{3}$"}}}`, textOut, alerts),
	"an input without a sample":  aSkill("forecast", `{type: object, minProperties: 1, propertyNames: {pattern: "^x-"}, additionalProperties: {type: string}}`, textOut, alerts),
	"output becomes text":        aSkill("forecast", textIn, "", alerts),
	"output becomes a string":    aSkill("forecast", textIn, `{type: string}`, alerts),
	"output becomes a list":      aSkill("forecast", textIn, `{type: array, items: {type: object}}`, alerts),
	"input becomes text":         aSkill("forecast", "", textOut, alerts),
	"rename the skill":           aSkill("outlook", textIn, textOut, alerts),
	"rename it in letters alone": aSkill("fore-cast", textIn, textOut, alerts),
	"remove a skill":             aSkill("forecast", textIn, textOut, ""),
	"add a skill":                aSkill("forecast", textIn, textOut, alerts+chat),
	"replace all":                aSkill("talk", "", "", chat),
}

// TestFirstEditsLeaveAProjectThatBuilds: whatever somebody does to agent.yaml, a generate gives a project that check has nothing to say
// about and whose tests pass, as long as he has not edited the stubs; and so does taking the edit back. What each edit leaves is compiled where
// long tests run, and else what the last leaves.
func TestFirstEditsLeaveAProjectThatBuilds(t *testing.T) {
	first := aSkill("forecast", textIn, textOut, alerts)
	o := newAgent(t, first)
	t.Setenv("GOFLAGS", gotool.Flags)
	generate := func(t *testing.T, yaml string) {
		t.Helper()
		projecttest.Write(t, o.Dir, map[string]string{"agent.yaml": yaml})
		if r, err := project.Run(t.Context(), o); err != nil || len(r.Notes) > 0 {
			t.Fatalf("%v\n%v\n%v", err, r.Diagnostics, r.Notes)
		}
		check := o
		check.Build = gotool.IsLong()
		r, err := project.Check(t.Context(), check)
		breaks := slices.DeleteFunc(r.Handlers, func(f scaffold.Finding) bool { return f.Code == scaffold.Unwritten })
		if err != nil || len(r.Drift) > 0 || len(breaks) > 0 || check.Build && r.NotBuilt != "" {
			t.Fatalf("error %v, drift %v, handlers %v, %s", err, r.Drift, breaks, r.NotBuilt)
		}
	}
	for name, yaml := range firstEdits {
		t.Run(name, func(t *testing.T) {
			generate(t, yaml)
			if gotool.IsLong() {
				if out, err := gotool.Command(o.Dir, "test", "./skills").CombinedOutput(); err != nil {
					t.Errorf("%v\n%.4000s", err, out)
				}
			}
			generate(t, first)
		})
	}
	passes(t, o.Dir)
}
