package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/gotool"
	"github.com/a2agen/a2agen/internal/projecttest"
)

// repository is this repository with other files in the place of some, which only the go command sees.
type repository struct {
	root, temp string
	replace    map[string]string
}

// put replaces or adds a file.
func (r *repository) put(t *testing.T, name, text string) {
	t.Helper()
	at := filepath.Join(r.temp, "files", filepath.FromSlash(name))
	projecttest.WriteFile(t, at, text)
	r.replace[filepath.Join(r.root, filepath.FromSlash(name))] = at
}

// read reads a file as it is in the repository.
func (r *repository) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// build compiles a program and returns its path.
func (r *repository) build(t *testing.T, pkg string) string {
	t.Helper()
	overlay, err := json.Marshal(map[string]any{"Replace": r.replace})
	if err != nil {
		t.Fatal(err)
	}
	file, program := filepath.Join(r.temp, "overlay.json"), filepath.Join(r.temp, filepath.Base(pkg))
	projecttest.WriteFile(t, file, string(overlay))
	r.run(t, exec.Command("go", "build", "-overlay", file, "-o", program, pkg))
	return program
}

func (r *repository) run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if cmd.Dir == "" {
		cmd.Dir = r.root
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%.4000s", cmd.Args, err, out)
	}
}

// replaced is text with one place changed.
func replaced(t *testing.T, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is there %d times", old, strings.Count(text, old))
	}
	return strings.Replace(text, old, new, 1)
}

// TestAVersionIsAFolderAnAlignmentAndAnEntry ships two versions more: 1.1, which a proto defines, and 0.4, which a
// schema defines. All else follows when the repository's generated code is made anew: the tool speaks them, and a new
// project speaks the newest.
func TestAVersionIsAFolderAnAlignmentAndAnEntry(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the tool twice")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &repository{root: root, temp: t.TempDir(), replace: map[string]string{}}
	const first = `	{"1.0", []string{"v1.0/a2a.proto"}},` + "\n"
	r.put(t, "spec/shipped.go", replaced(t, r.read(t, "spec/shipped.go"), first,
		`	{"1.1", []string{"v1.1/a2a.proto"}},`+"\n"+first+`	{"0.4", []string{"v0.4/a2a.json"}},`+"\n"))
	r.put(t, "spec/v1.1/a2a.proto", replaced(t, r.read(t, "spec/v1.0/a2a.proto"), "\nmessage Task {\n", "\nmessage Task {\n  string priority = 90;\n"))
	r.put(t, "spec/v0.4/a2a.json", r.read(t, "spec/v0.3/a2a.json"))
	r.put(t, "generator/lower/align/v0.4.txt", r.read(t, "generator/lower/align/v0.3.txt"))

	made := filepath.Join(r.temp, "made")
	r.run(t, exec.Command(r.build(t, "./internal/regen"), "-C", made))
	old, err := filepath.Glob(filepath.Join(root, "a2a", "*.gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		r.replace[name] = "" // gone, if it is not made anew
	}
	err = fs.WalkDir(os.DirFS(made), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			r.replace[filepath.Join(root, name)] = filepath.Join(made, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tool := r.build(t, "./cmd/a2agen")

	for name, protocol := range map[string]string{
		"newest": "", // as the tool carries it
		"all":    `protocol: ["1.1", "1.0", "0.4", "0.3"]` + "\nencodings: [proto]\n",
		"older":  `protocol: ["1.0", "0.4"]` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			projecttest.Write(t, dir, map[string]string{
				"agent.yaml": projecttest.Skills(1), "a2agen.yaml": protocol,
				"go.mod": "module example.com/made\n\ngo 1.26\n\nrequire github.com/a2agen/a2agen v0.0.0\n\nreplace github.com/a2agen/a2agen => " + root + "\n",
			})
			cmd := exec.Command(tool, "generate")
			cmd.Dir = dir
			r.run(t, cmd)
			r.run(t, gotool.Command(dir, "vet", "./..."))
			types, err := os.ReadFile(filepath.Join(dir, "a2a", "types.gen.go"))
			if err != nil {
				t.Fatal(err)
			}
			if has, want := strings.Contains(string(types), "\tPriority "), name != "older"; has != want {
				t.Errorf("a task has a priority: %v, want %v", has, want)
			}
		})
	}
	t.Run("carried", func(t *testing.T) {
		out, err := os.ReadFile(filepath.Join(made, "runtime", "server", "rpc_ages.gen.go"))
		if err != nil || !strings.Contains(string(out), `"1.0 and 1.1"`) || !strings.Contains(string(out), `"0.2 to 0.4"`) {
			t.Errorf("%v %s", err, out)
		}
	})
}
