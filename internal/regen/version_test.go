package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// repository is the root of a copy of this repository.
type repository string

// copied copies the repository, without what git and make keep in it.
func copied(t *testing.T) repository {
	t.Helper()
	r := repository(t.TempDir())
	from := os.DirFS(filepath.Join("..", ".."))
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".git" || name == "bin":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(r.path(name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		return os.WriteFile(r.path(name), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r repository) path(name string) string {
	return filepath.Join(string(r), filepath.FromSlash(name))
}

func (r repository) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(r.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// derive writes a file that is another one with one text replaced.
func (r repository) derive(t *testing.T, name, from, old, new string) {
	t.Helper()
	text := r.read(t, from)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q", from, old)
	}
	projecttest.WriteFile(t, r.path(name), strings.ReplaceAll(text, old, new))
}

// goTool runs the go command in the copy.
func (r repository) goTool(t *testing.T, args ...string) {
	t.Helper()
	succeed(t, gotool.Command(string(r), args...))
}

func succeed(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%.4000s", cmd.Args, err, out)
	}
}

// ship adds two versions: 1.1, which a proto defines, and 0.4, which a schema defines.
func (r repository) ship(t *testing.T) {
	t.Helper()
	const first = `	{"1.0", []string{"v1.0/a2a.proto"}},` + "\n"
	r.derive(t, "spec/shipped.go", "spec/shipped.go", first,
		`	{"1.1", []string{"v1.1/a2a.proto"}},`+"\n"+first+`	{"0.4", []string{"v0.4/a2a.json"}},`+"\n")
	r.derive(t, "spec/v1.1/a2a.proto", "spec/v1.0/a2a.proto", "\nmessage Task {\n",
		"\nmessage Task {\n  // How soon it is wanted.\n  string priority = 90;\n")
	projecttest.WriteFile(t, r.path("spec/v0.4/a2a.json"), r.read(t, "spec/v0.3/a2a.json"))
	r.derive(t, "generator/lower/align/v0.4.txt", "generator/lower/align/v0.3.txt", " 0.3\n", " 0.4\n")
	r.goTool(t, "run", "./internal/regen")
	r.goTool(t, "test", "-vet=off", "./generator/config", "-update")
}

// TestAVersionIsAFolderAnAlignmentAndAnEntry ships two versions more. All else follows when the repository's generated
// files are made anew: the tool speaks them, what there was stays as it was, and the tests of all that knows versions
// pass.
func TestAVersionIsAFolderAnAlignmentAndAnEntry(t *testing.T) {
	gotool.Long(t)
	r := copied(t)
	carried := r.read(t, "a2a/types.gen.go")
	r.ship(t)
	if r.read(t, "a2a/types.gen.go") != carried {
		t.Error("package a2a is another one: what speaks 1.0 would not any more")
	}
	ages := r.read(t, "runtime/server/internal/binding/methods.gen.go")
	if !strings.Contains(ages, `"1.0 and 1.1"`) || !strings.Contains(ages, `"0.2 to 0.4"`) {
		t.Error(ages)
	}
	tool := r.path("bin/a2agen")
	r.goTool(t, "build", "-o", tool, "./cmd/a2agen")
	for name, protocol := range map[string]string{
		"nothing said": "",
		"newest":       `protocol: ["1.1"]` + "\n",
		"all":          `protocol: ["1.1", "1.0", "0.4", "0.3"]` + "\nencodings: [proto]\n",
		"older":        `protocol: ["1.0", "0.4"]` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			projecttest.Write(t, dir, map[string]string{
				"agent.yaml": projecttest.Skills(1), "a2agen.yaml": protocol,
				"go.mod": projecttest.GoMod("example.com/made", string(r)),
			})
			cmd := exec.Command(tool, "generate")
			cmd.Dir = dir
			succeed(t, cmd)
			if protocol != "" { // what 1.0 alone is made into is the same as ever
				succeed(t, gotool.Command(dir, "build", "./..."))
			}
			types := repository(dir).read(t, "a2a/types.gen.go")
			if has, want := strings.Contains(types, "\tPriority "), strings.Contains(protocol, "1.1"); has != want {
				t.Errorf("a task has a priority: %v, want %v", has, want)
			}
		})
	}
	// What lists versions or has one's words in a table. The rest knows none, or names those that it means.
	t.Run("tests", func(t *testing.T) {
		r.goTool(t, "test", "-vet=off", "-short", "./spec", "./generator/config", "./generator/lower")
		r.goTool(t, "test", "-vet=off", "-short", "-run", "Version|Age|Conversations|Negotiation|CarriedProtocol|WholeModel|ClientSpeaks",
			"./generator", "./internal/a2awires", "./runtime/server")
		r.goTool(t, "test", "-vet=off", "-short", "./cmd/a2agen", "-run", "TestScripts/(call|spec|usage)$")
	})
}
