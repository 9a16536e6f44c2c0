package project_test

import (
	"path/filepath"
	"testing"

	"github.com/a2agen/a2agen/internal/gotool"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/projecttest"
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

// passes builds a project and runs its tests.
func passes(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} {
		if out, err := gotool.Command(dir, args...).CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%.4000s", args, err, out)
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
