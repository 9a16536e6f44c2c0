// Package arch holds the tests of the repository's structure: who may import whom, and what an agent links.
package arch

import (
	"encoding/json"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/a2agen/a2agen"

// allowed maps a folder to the folders of ours that its packages may import. A folder allows itself.
var allowed = map[string][]string{
	"spec":      {"generator/diag"},
	"runtime":   {},
	"templates": {},
	"a2a":       {"runtime"},
	"generator": {"spec", "templates", "runtime", "a2a", "."},
	"cmd":       {"generator", "spec", "internal/project", "internal/talk", "internal/shell"},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	readFolders(t)
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var ps []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	return ps
}

// readFolders looks into every folder, so that the go command runs these tests again when a file changes: it does not see what
// another program reads.
func readFolders(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 2 && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestArrows keeps the imports between folders as the design draws them.
func TestArrows(t *testing.T) {
	for _, p := range list(t, "./...") {
		from, ok := strings.CutPrefix(p.ImportPath, module+"/")
		if !ok {
			continue
		}
		rules, ok := allowed[top(from)]
		if !ok {
			continue // internal tools may import anything
		}
		for _, imp := range p.Imports {
			to, ours := relative(imp)
			if ours && top(to) != top(from) && !permits(rules, to) {
				t.Errorf("%s imports %s", from, to)
			}
		}
	}
}

// TestAgentsLinkLittle holds the runtime and what is emitted to the standard library and our own packages.
func TestAgentsLinkLittle(t *testing.T) {
	for _, p := range list(t, "./runtime/...", "./a2a", "./internal/a2aall") {
		for _, dep := range p.Deps {
			first, _, _ := strings.Cut(dep, "/")
			if strings.Contains(first, ".") && dep != module && !strings.HasPrefix(dep, module+"/") {
				t.Errorf("%s links %s", p.ImportPath, dep)
			}
		}
	}
}

func relative(imp string) (string, bool) {
	if imp == module {
		return ".", true
	}
	return strings.CutPrefix(imp, module+"/")
}

func top(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

func permits(rules []string, to string) bool {
	for _, r := range rules {
		if to == r || strings.HasPrefix(to, r+"/") {
			return true
		}
	}
	return false
}
