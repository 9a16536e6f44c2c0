// Package golden runs the cases of this folder: txtar archives that hold a project's inputs and what must come of them.
//
//	agent.yaml, a2agen.yaml, …   the inputs
//	a2agen.lock                  what is pinned
//	errors                       the exact diagnostics; without it the case must generate without one
//	warnings                     likewise for a case that generates
//	want/PATH                    the exact content of a generated file
//	run/main.go, run.out         a program against the generated packages, and what it prints
//	fake_test.go                 tests that use the generated fakes
//
// Cases in agents are agents as people want them: what is generated, and how it behaves. Cases in clients have clients of
// other agents. Cases in hostile are cards that mean harm. Programs in users and projects in older are other tests'. Everything that generates is checked for its format, compiled
// and vetted too, all cases in one module. Rewrite expectations with "go test ./golden -update", and say in the commit
// why they changed.
package golden

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/project/disk"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

var update = flag.Bool("update", false, "rewrite the expectations")

// module is the module in which all cases are compiled.
const module = "golden.test"

// golden is one case.
type golden struct {
	path    string // of the archive
	name    string // folder in the module: "hostile_yaml_tabs"
	archive *txtar.Archive
}

func load(t *testing.T) []*golden {
	t.Helper()
	var cases []*golden
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".txtar" || slices.Contains([]string{"users", "older"}, filepath.Dir(path)) {
			return err
		}
		a, err := txtar.ParseFile(path)
		name := strings.NewReplacer("/", "_", "-", "_").Replace(strings.TrimSuffix(filepath.ToSlash(path), ".txtar"))
		cases = append(cases, &golden{path: path, name: name, archive: a})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	return cases
}

// file returns a file of the archive.
func (g *golden) file(name string) (string, bool) {
	i := slices.IndexFunc(g.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return string(g.archive.Files[i].Data), true
}

// open reads an input of the case.
func (g *golden) open(name string) ([]byte, error) {
	if data, ok := g.file(name); ok {
		return []byte(data), nil
	}
	if name == "a2agen.yaml" { // so that the protocol's package is compiled once, not once a case
		return []byte("protocol: [\"1.0\"]\nprotocol_import: github.com/a2agen/a2agen/a2a\n"), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// pins are the pinned cards of other agents.
func (g *golden) pins(t *testing.T) map[string]output.ClientPin {
	t.Helper()
	text, ok := g.file(output.LockName)
	if !ok {
		return nil
	}
	lock, err := disk.ParseLock([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return lock.Clients
}

// expect compares what the case got with its file of that name, or rewrites the file.
func (g *golden) expect(t *testing.T, name, got string) {
	t.Helper()
	want, ok := g.file(name)
	if want == got {
		return
	}
	if !*update {
		t.Errorf("%s: %s (-want +got):\n%s", g.path, name, cmp.Diff(want, got))
		return
	}
	if ok {
		i := slices.IndexFunc(g.archive.Files, func(f txtar.File) bool { return f.Name == name })
		g.archive.Files[i].Data = []byte(got)
	} else {
		g.archive.Files = append(g.archive.Files, txtar.File{Name: name, Data: []byte(got)})
	}
	if err := os.WriteFile(g.path, txtar.Format(g.archive), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestGolden(t *testing.T) {
	dir := t.TempDir()
	writeModule(t, dir)
	var runs programs
	test := []string{"test", "-vet=off"}
	for _, g := range load(t) {
		t.Run(g.name, func(t *testing.T) {
			if !generate(t, g, dir) {
				return
			}
			if _, ok := g.file("run/main.go"); ok {
				runs = append(runs, g)
			}
			if _, ok := g.file("fake_test.go"); ok {
				test = append(test, "./"+g.name+"/...")
			}
		})
	}
	if testing.Short() {
		t.Skip("the cases generate as they should, but are not compiled and run")
	}
	write(t, filepath.Join(dir, "main.go"), runs.main())
	if out, err := gotool.Command(dir, "vet", "./...").CombinedOutput(); err != nil {
		t.Fatalf("what the cases generate does not vet: %v\n%s", err, out)
	}
	program := filepath.Join(dir, "program")
	if out, err := gotool.Command(dir, "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, g := range runs {
		t.Run(g.name+"/run", func(t *testing.T) {
			g.expect(t, "run.out", run(t, program, g))
		})
	}
	t.Run("fakes", func(t *testing.T) {
		if out, err := gotool.Command(dir, test...).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// generate checks what comes of the case and puts it into the module. It reports whether the case generated.
func generate(t *testing.T, g *golden, dir string) bool {
	out, list := generator.Generate(context.Background(), generator.Inputs{Open: g.open, Module: module + "/" + g.name, Pins: g.pins(t)})
	var diagnostics bytes.Buffer
	if err := list.WriteText(&diagnostics); err != nil {
		t.Fatal(err)
	}
	if list.HasErrors() {
		g.expect(t, "errors", diagnostics.String())
		return false
	}
	if _, ok := g.file("errors"); ok {
		t.Fatalf("%s generated, but should not have", g.path)
	}
	g.expect(t, "warnings", diagnostics.String())
	generated := map[string]bool{}
	for _, f := range out.Files {
		generated[f.Path] = true
		if filepath.Ext(f.Path) == ".go" {
			checkFormat(t, f)
			checkSurface(t, g.path+": "+f.Path, f.Data)
			checkWidth(t, g.path+": "+f.Path, f.Data)
			g.checkExample(t, f)
		}
		write(t, filepath.Join(dir, g.name, f.Path), f.Data)
		if _, ok := g.file("want/" + f.Path); ok {
			g.expect(t, "want/"+f.Path, string(f.Data))
		}
	}
	for _, f := range g.archive.Files {
		if want, ok := strings.CutPrefix(f.Name, "want/"); ok && !generated[want] {
			t.Errorf("%s: %s was not generated", g.path, want)
		}
		switch {
		case f.Name == "run/main.go":
			write(t, filepath.Join(dir, g.name, f.Name), asPackage(f.Data))
		case filepath.Ext(f.Name) == ".go" && !strings.HasPrefix(f.Name, "want/"):
			write(t, filepath.Join(dir, g.name, f.Name), f.Data)
		}
	}
	return true
}

// checkFormat refuses a file that gofmt would change.
func checkFormat(t *testing.T, f output.File) {
	t.Helper()
	formatted, err := format.Source(f.Data)
	if err != nil {
		t.Errorf("%s: %v", f.Path, err)
	} else if diff := cmp.Diff(string(formatted), string(f.Data)); diff != "" {
		t.Errorf("%s is not formatted (-gofmt +got):\n%s", f.Path, diff)
	}
}

func writeModule(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), []byte(projecttest.GoMod(module, root)))
	write(t, filepath.Join(dir, "go.sum"), a2agen.GoSum())
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// programs are the cases that have one. All are linked as one program, which is told the name of a case: linking is what takes long.
type programs []*golden

// asPackage makes a program a package, whose function Main is called.
func asPackage(src []byte) []byte {
	return bytes.Replace(bytes.Replace(src, []byte("package main\n"), []byte("package run\n"), 1), []byte("func main()"), []byte("func Main()"), 1)
}

// main is the source of the program.
func (ps programs) main() []byte {
	var imports, cases strings.Builder
	for _, g := range ps {
		fmt.Fprintf(&imports, "\t%s %q\n", g.name, module+"/"+g.name+"/run")
		fmt.Fprintf(&cases, "\tcase %[1]q:\n\t\t%[1]s.Main()\n", g.name)
	}
	return fmt.Appendf(nil, "package main\n\nimport (\n\t\"os\"\n\n%s)\n\nfunc main() {\n\tswitch os.Args[1] {\n%s\t}\n}\n", &imports, &cases)
}

// run runs the program of a case and returns what it prints. What it logs, on standard error, is of no concern here.
func run(t *testing.T, program string, g *golden) string {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd := exec.Command(program, g.name)
	cmd.Stdout, cmd.Stderr, cmd.Dir = &stdout, &stderr, t.TempDir()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &stdout, &stderr)
	}
	return stdout.String()
}
