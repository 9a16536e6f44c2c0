package generator_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/internal/test/bundletest"
	"github.com/a2agen/a2agen/internal/test/projecttest"
	"github.com/a2agen/a2agen/spec"
)

// mutator changes a schema at random.
type mutator struct {
	*rand.Rand
	definitions map[string]any
}

// objects are all objects in v that pass, in a fixed order.
func objects(v any, pass func(map[string]any) bool) (list []map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		if pass(v) {
			list = append(list, v)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = append(list, objects(v[name], pass)...)
		}
	case []any:
		for _, elem := range v {
			list = append(list, objects(elem, pass)...)
		}
	}
	return list
}

func (m mutator) name(of map[string]any) string {
	names := slices.Sorted(maps.Keys(of))
	return names[m.IntN(len(names))]
}

// types are schemas for members.
func (m mutator) member() any {
	var v any
	texts := []string{
		`{"type":"string"}`, `{"type":"integer"}`, `{"type":"boolean","default":false}`, `{"type":"number"}`, `{"type":"array","items":{"type":"integer"}}`, `{"enum":["a","b-c"],"type":"string"}`,
		`{"type":"object","properties":{"deep":{"type":"string"}}}`, `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"const":"new","type":"string"}`, `{"const":1}`, `{}`,
		`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"array","items":{"type":"array","items":{"type":"string"}}}`, `{"type":"string","format":"date-time"}`, "REF", "REF", "LIST", "MAP",
	}
	text := texts[m.IntN(len(texts))]
	if prefix := map[string]string{"REF": "", "LIST": `{"type":"array","items":`, "MAP": `{"type":"object","additionalProperties":`}; len(text) < 5 && text != "{}" {
		text = prefix[text] + `{"$ref":"#/` + m.key() + `/` + m.name(m.definitions) + `"}` + strings.Repeat("}", min(1, len(prefix[text])))
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

func (m mutator) key() string {
	if m.definitions["Struct"] != nil {
		return "$defs"
	}
	return "definitions"
}

func (m mutator) mutate() {
	messages := objects(m.definitions, func(o map[string]any) bool { p, ok := o["properties"].(map[string]any); return ok && len(p) > 0 })
	message := messages[m.IntN(len(messages))]
	properties := message["properties"].(map[string]any)
	names := []string{"news", "text", "tenant", "task_id", "-", "ß", "kind", "apply", "String", "metadata", "json_name", "returnImmediately"}
	switch m.IntN(8) {
	case 0, 1, 2:
		properties[names[m.IntN(len(names))]] = m.member()
	case 3:
		delete(properties, m.name(properties))
	case 4:
		delete(m.definitions, m.name(m.definitions))
	case 5:
		types := []string{"-", "~Task", "Step", "Task2", "ListTasksResponse", "StringList", "TaskState.step", "Wave-Form", "StepRequest", "StepResponse", "Protocol"}
		m.definitions[types[m.IntN(len(types))]] = map[string]any{"type": "object", "properties": map[string]any{"name": m.member(), "kind": map[string]any{"const": "step"}}}
	case 6:
		choices := objects(m.definitions, func(o map[string]any) bool { _, ok := o["anyOf"].([]any); return ok })
		choice := choices[m.IntN(len(choices))]
		choice["anyOf"] = append(choice["anyOf"].([]any), map[string]any{"$ref": "#/" + m.key() + "/" + m.name(m.definitions)})
	case 7:
		enums := objects(m.definitions, func(o map[string]any) bool { e, ok := o["enum"].([]any); return ok && len(e) > 1 })
		enum := enums[m.IntN(len(enums))]
		if m.IntN(2) == 0 {
			enum["enum"] = enum["enum"].([]any)[1:]
		} else {
			enum["enum"] = append(enum["enum"].([]any), "NEW_"+fmt.Sprint(m.IntN(3)))
		}
	}
}

// TestMutatedSchemasAreTakenOrRefusedWithTheirPlace changes schemas at random: what lowering takes can be emitted,
// and what it refuses names the file.
func TestMutatedSchemasAreTakenOrRefusedWithTheirPlace(t *testing.T) {
	base, err := spec.Shipped("1.0")
	if err != nil {
		t.Fatal(err)
	}
	made, err := bundletest.Make(base, bundletest.ByName)
	if err != nil {
		t.Fatal(err)
	}
	sources := [][]byte{made}
	for _, version := range []string{"0.3", "0.2", "0.1"} {
		src, err := spec.Source(version)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(string(src), "\n}\n")
		sources = append(sources, []byte(text+"\n}\n"))
	}
	taken := 0
	seeds := uint64(80)
	if testing.Short() {
		seeds = 12
	}
	for seed := range seeds {
		var root map[string]any
		if err := json.Unmarshal(sources[seed%4], &root); err != nil {
			t.Fatal(err)
		}
		m := mutator{Rand: rand.New(rand.NewPCG(seed, 1))}
		for _, key := range []string{"definitions", "$defs"} {
			if defs, ok := root[key].(map[string]any); ok {
				m.definitions = defs
			}
		}
		for range 1 + m.IntN(3) {
			m.mutate()
		}
		src, err := json.MarshalIndent(root, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if files, list := emitMutated(t, src); list.HasErrors() {
			for _, d := range list {
				if d.Pos.File != "mine.json" {
					t.Errorf("seed %d: %s is said of no place in the schema", seed, d)
				}
			}
		} else {
			taken++
			keepMutated(t, seed, files)
		}
	}
	if taken < int(seeds)/4 {
		t.Errorf("only %d of %d were taken", taken, seeds)
	}
}

// emitMutated reads, lowers and emits a schema beside 1.0 and 0.3.
func emitMutated(t *testing.T, src []byte) (map[string][]byte, diag.List) {
	t.Helper()
	doc, list := spec.Read("mine.json", src)
	if list.HasErrors() {
		return nil, list
	}
	doc.Version = "1.1-mine"
	docs := []*spec.Document{doc}
	for _, version := range []string{"1.0", "0.3"} {
		shipped, err := spec.Shipped(version)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, shipped)
	}
	p, list := lower.Protocol(docs)
	if list.HasErrors() {
		return nil, list
	}
	emitted, err := emit.ProtocolPackage(p, emit.Paths{Protocol: "example.com/mine/a2a", Agent: "example.com/mine/agent", Client: "example.com/mine/client"})
	if err != nil {
		t.Errorf("emit what was taken: %v", err)
	}
	files := map[string][]byte{}
	for _, f := range emitted {
		files[path.Base(f.Path)] = f.Data
	}
	return files, nil
}

// keepMutated writes what was emitted to a folder, if one is given, so that it can be built by hand: that takes long.
func keepMutated(t *testing.T, seed uint64, files map[string][]byte) {
	dir := os.Getenv("A2AGEN_KEEP_MUTATED")
	if dir == "" {
		return
	}
	for name, data := range files {
		projecttest.WriteFile(t, filepath.Join(dir, fmt.Sprint("m", seed), name), string(data))
	}
}
