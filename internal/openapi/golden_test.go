package openapi

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2agen/a2agen/generator/diag"
)

var update = flag.Bool("update", false, "rewrite the expectations")

const schemaFile = "apis/api.json"

// TestDocuments reads the documents in testdata: doc.yaml, and what is asked for in ask, each in a line. want.json are
// the contracts, calls.json what handlers call, and problems everything that is said.
func TestDocuments(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no documents", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := read(t, section(a, "doc.yaml"), strings.Fields(strings.ReplaceAll(section(a, "ask"), " ", "\u00a0")))
			for _, name := range []string{"want.json", "calls.json", "problems"} {
				expect(t, a, name, got[name])
			}
			if *update {
				if err := writeFile(file, txtar.Format(a)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func expect(t *testing.T, a *txtar.Archive, name, got string) {
	t.Helper()
	if section(a, name) == got {
		return
	}
	if !*update {
		t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(section(a, name), got))
		return
	}
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(got)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got)})
}

// read reads a document as an import does.
func read(t *testing.T, doc string, ask []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	d, list := Read("doc.yaml", []byte(doc))
	var im *Import
	if !list.HasErrors() {
		var tags, ids []string
		for _, s := range ask {
			s = strings.ReplaceAll(s, "\u00a0", " ")
			if tag, is := strings.CutPrefix(s, "tag:"); is {
				tags = append(tags, tag)
			} else {
				ids = append(ids, s)
			}
		}
		im, list = d.Import(Request{Operations: ids, Tags: tags, Name: d.APIName(""), SchemaFile: schemaFile})
	}
	out["problems"] = said(list)
	if im == nil || list.HasErrors() {
		return out
	}
	src, err := im.File(Pin{Document: "doc.yaml", Digest: "sha256:0"})
	if err != nil {
		t.Fatal(err)
	}
	out["want.json"] = string(src)
	calls, err := json.MarshalIndent(callsOf(im), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	out["calls.json"] = string(calls) + "\n"
	return out
}

func callsOf(im *Import) map[string]any {
	m := map[string]any{"api": im.Name, "url": im.URL, "env": im.Env}
	for _, op := range im.Operations {
		m[op.Skill] = op.Call
	}
	return m
}

func said(list diag.List) string {
	var b strings.Builder
	_ = list.WriteText(&b)
	return b.String()
}
