package config

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/a2agen/a2agen/generator/shape"
)

var update = flag.Bool("update", false, "rewrite the reference tables of the documentation")

// TestTheDocumentationHasTheDeclarationsTables holds the reference tables to the declaration that the reader follows.
func TestTheDocumentationHasTheDeclarationsTables(t *testing.T) {
	const path = "../../docs/a2agen-yaml.md"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := shape.ReplaceSection(doc, "a2agen.yaml", shape.Markdown(project()))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(doc, want) {
		t.Errorf("the tables in %s differ from the declaration; if the change is meant, run go test with -update", path)
	}
}
