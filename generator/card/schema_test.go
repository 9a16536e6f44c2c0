package card

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/a2agen/a2agen/generator/yamlx"
)

// editorSchema is the shipped JSON Schema, compiled.
func editorSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(SchemaPath, doc); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile(SchemaPath)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// files yields the NAME.yaml of an archive.
func files(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]byte{}
	for _, f := range a.Files {
		if name, ok := strings.CutSuffix(f.Name, ".yaml"); ok {
			m[name] = f.Data
		}
	}
	return m
}

// oneSchemaFile holds a schema under any name that a skill may ask for.
func oneSchemaFile(path string) ([]byte, error) {
	if path != "schemas/forecast.json" {
		return nil, fs.ErrNotExist
	}
	return []byte(`{"type": "object", "properties": {"text": {"type": "string"}}}`), nil
}

func TestValidCardsPassTheReaderAndTheEditorsSchema(t *testing.T) {
	editor := editorSchema(t)
	for name, src := range files(t, "testdata/valid.txtar") {
		t.Run(name, func(t *testing.T) {
			card, list := Read("agent.yaml", src, oneSchemaFile)
			if len(list) > 0 {
				t.Errorf("the reader says:\n%s", printed(t, list))
			}
			if card == nil || len(card.Skills) == 0 {
				t.Fatal("no card")
			}
			if err := editor.Validate(value(t, src)); err != nil {
				t.Errorf("the editor's schema says: %v", err)
			}
		})
	}
}

func value(t *testing.T, src []byte) any {
	t.Helper()
	root, list := yamlx.Parse("agent.yaml", src)
	if list.HasErrors() {
		t.Fatal(list)
	}
	dec := json.NewDecoder(strings.NewReader(string(yamlx.JSON(root))))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestTheEditorsSchemaRefusesMistakes holds the JSON Schema to everything it can express: what one place of the card
// contradicts in another, and the syntax of some texts, only the reader sees.
func TestTheEditorsSchemaRefusesMistakes(t *testing.T) {
	onlyTheReader := map[string]bool{
		"the-same-interface-twice":                     true,
		"two-skills-with-one-id":                       true,
		"ids-that-become-one-go-name":                  true,
		"a-requirement-on-an-unknown-scheme-T4":        true,
		"a-requirement-without-any-scheme-declared":    true,
		"an-extended-card-needs-a-way-to-authenticate": true,
		"an-extended-card-that-says-nothing":           true,
		"an-extended-card-that-says-only-whose-it-is":  true,
		"an-extended-card-is-there-or-it-is-not":       true,
	}
	editor := editorSchema(t)
	for name, src := range files(t, "testdata/mistakes.txtar") {
		if _, list := yamlx.Parse("agent.yaml", src); list.HasErrors() {
			continue // not a value that a schema could judge
		}
		t.Run(name, func(t *testing.T) {
			err := editor.Validate(value(t, src))
			var invalid *jsonschema.ValidationError
			if err != nil && !errors.As(err, &invalid) {
				t.Fatal(err)
			}
			if accepted := err == nil; accepted != onlyTheReader[name] {
				t.Errorf("accepted by the schema: %v, want %v", accepted, onlyTheReader[name])
			}
		})
		delete(onlyTheReader, name)
	}
	for name := range onlyTheReader {
		t.Errorf("no such case: %s", name)
	}
}
