package card

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2agen/a2agen/generator/diag"
)

// TestMistakesAreReportedWithPositionAndRemedy reads every NAME.yaml of testdata/mistakes.txtar and compares all
// diagnostics, word for word, with NAME.want (R311, R313, T22).
func TestMistakesAreReportedWithPositionAndRemedy(t *testing.T) {
	const file = "testdata/mistakes.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	updated := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
			want[name] = string(f.Data)
		}
	}
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".yaml")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			_, list := Read("agent.yaml", f.Data, noFiles)
			got := printed(t, list)
			updated.Files = append(updated.Files, f, txtar.File{Name: name + ".want", Data: []byte(got)})
			if !list.HasErrors() {
				t.Error("no mistake is found")
			}
			if diff := cmp.Diff(want[name], got); diff != "" && !*update {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func printed(t *testing.T, list diag.List) string {
	t.Helper()
	var b strings.Builder
	if err := list.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
