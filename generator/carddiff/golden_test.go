package carddiff

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite what is wanted")

// Each file of testdata has two cards, and what is said of them: as text and as JSON.
func TestPairsOfCards(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			list := Diff(published(t, a, "old.json"), published(t, a, "new.json"))
			var text, js bytes.Buffer
			enc := json.NewEncoder(&js)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(list); err != nil {
				t.Fatal(err)
			}
			if err := WriteText(&text, list); err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string][]byte{"want.txt": text.Bytes(), "want.json": js.Bytes()} {
				want := section(t, a, name)
				if *update {
					want.Data = got
				} else if !bytes.Equal(want.Data, got) {
					t.Errorf("%s: got\n%s\nwant\n%s", name, got, want.Data)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func section(t *testing.T, a *txtar.Archive, name string) *txtar.File {
	t.Helper()
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	t.Fatalf("no %s", name)
	return nil
}

func published(t *testing.T, a *txtar.Archive, name string) *Published {
	t.Helper()
	p, list := Read(name, section(t, a, name).Data)
	if p == nil {
		t.Fatal(list)
	}
	return p
}
