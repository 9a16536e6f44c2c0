package card

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzRead holds the reader to what its callers rely on: no panic, positions on everything, and a card that is complete
// when there is no error.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		card, list := Read("agent.yaml", src, oneSchemaFile)
		for _, d := range list {
			if d.Pos.Line < 1 || d.Message == "" {
				t.Errorf("a diagnostic without position or text: %+v", d)
			}
		}
		if list.HasErrors() {
			return
		}
		if card == nil || card.Name == "" || len(card.Skills) == 0 {
			t.Fatal("no error, and no card")
		}
		for _, s := range card.Skills {
			if s.ID == "" || s.Description == "" {
				t.Errorf("incomplete skill: %+v", s)
			}
		}
	})
}

// seeds adds every card of the test data.
func seeds(f *testing.F) {
	for _, archive := range []string{"testdata/valid.txtar", "testdata/mistakes.txtar", "testdata/import.txtar"} {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			f.Add(file.Data)
		}
	}
	for _, name := range []string{"weatherbot", "routeplanner"} {
		data, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// FuzzImport holds the importer to the promise that what it gives can be scaffolded and read again.
func FuzzImport(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		card, list := Import("card.json", src)
		if list.HasErrors() {
			return
		}
		fresh, list := Read("agent.yaml", scaffolded(card), noFiles)
		for _, d := range list {
			if d.Code != "name-collision" {
				t.Fatalf("the scaffold has an error: %v\n%s", d, scaffolded(card))
			}
		}
		if first, again := skillsOf(card), skillsOf(fresh); len(card.Skills) > 0 && !cmp.Equal(first, again) {
			t.Errorf("skills (-imported +scaffolded):\n%s", cmp.Diff(first, again))
		}
	})
}
