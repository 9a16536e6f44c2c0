package lower_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/lower"
)

var update = flag.Bool("update", false, "rewrite the expected errors of golden/hostile")

// TestHostileInputIsRefusedWithPositionOrTaken reads and lowers every case of golden/hostile: with a file "errors" it must give exactly those
// diagnostics, without one none at all. That what is taken also builds is tested where there is a whole project.
func TestHostileInputIsRefusedWithPositionOrTaken(t *testing.T) {
	paths, err := filepath.Glob("../../golden/hostile/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string][]byte{}
			for _, f := range archive.Files {
				files[f.Name] = f.Data
			}
			got := diagnostics(t, files)
			want, refused := files["errors"]
			if *update && refused {
				for i := range archive.Files {
					if archive.Files[i].Name == "errors" {
						archive.Files[i].Data = []byte(got)
					}
				}
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

// diagnostics are those of all inputs together, as the command line prints them.
func diagnostics(t *testing.T, files map[string][]byte) string {
	t.Helper()
	cfg, list := config.Read(config.File, files[config.File])
	c, problems := card.Read("agent.yaml", files["agent.yaml"], noFiles)
	list.Add(problems...)
	if !list.HasErrors() {
		_, problems = lower.Agent(c, spoken(cfg.Versions()...))
		list.Add(problems...)
	}
	list.Sort()
	var b strings.Builder
	if err := list.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
