package golden

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// TestCodeOfOlderVersionsRuns builds the projects in older, which have examples/weather as an earlier version generated it, against the runtime of
// today, and runs their tests. docs/compatibility.md says how long that holds.
func TestCodeOfOlderVersionsRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("older/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no projects", err)
	}
	for _, path := range paths {
		version := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(version, func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, f := range archive.Files {
				write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data)
			}
			write(t, filepath.Join(dir, "go.mod"), []byte(projecttest.GoMod("example.com/weather", root)))
			out, err := gotool.Command(dir, "test", "./...").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "ok  \texample.com/weather/skills\t") {
				t.Errorf("%s: what %s generated no longer runs with today's runtime; keep what it calls for the time that docs/compatibility.md promises:\n%v\n%s", path, version, err, out)
			}
		})
	}
}
