package openapi

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2agen/a2agen/internal/contract"
)

// FuzzImport: no document makes an import panic, and what is imported compiles.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(section(a, "doc.yaml")))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		d, list := Read("doc.yaml", src)
		if list.HasErrors() {
			return
		}
		for _, op := range d.all() {
			im, list := d.Import(Request{Operations: []string{op.route()}, Name: "api", SchemaFile: schemaFile})
			if im == nil || list.HasErrors() {
				continue
			}
			if problems := contract.Check(schemaFile, im); problems.HasErrors() {
				t.Errorf("%s: %s", op.route(), said(problems))
			}
			contract.AddSkills("agent.yaml", []byte("skills:\n  - id: echo\n"), im.Skills(), im.Ref(), im.Name)
		}
	})
}
