package golden

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/internal/test/gotool"
)

// brokenLine is a line of a user's program that no longer compiles, as the file "breaks" of its archive has it: where it is,
// what to write instead, and the words of CHANGELOG.md that say so.
type brokenLine struct{ at, instead, remedy string }

// TestProgramsOfUsersBuild generates with today's tool for the programs in users, which were written against earlier ones,
// and builds and runs them. Each archive is a project: the user's files, and in "breaks" the lines that docs/compatibility.md
// allowed to break. Those must fail as they are, and do in the words of the changelog.
func TestProgramsOfUsersBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	paths, err := filepath.Glob("users/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no programs", err)
	}
	text, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	changelog := strings.Join(strings.Fields(string(text)), " ")
	dir := t.TempDir()
	writeModule(t, dir)
	var known []string
	for _, path := range paths {
		known = append(known, writeUser(t, dir, path, changelog)...)
	}
	out, failed := gotool.Command(dir, "test", "-vet=off", "-gcflags="+module+"/...=-l -e", "./...").CombinedOutput()
	var found []string
	for _, m := range regexp.MustCompile(`(?m)^(\S+\.go:\d+):\d+: .*$`).FindAllStringSubmatch(string(out), -1) {
		if at := filepath.ToSlash(m[1]); !slices.Contains(known, at) {
			t.Errorf("no longer compiles: %s\nlist the line in \"breaks\" of its archive, with what to write instead, and say that in CHANGELOG.md", m[0])
		} else {
			found = append(found, at)
		}
	}
	for _, at := range known {
		if !slices.Contains(found, at) {
			t.Errorf("%s compiles: take it out of \"breaks\"", at)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^--- FAIL: .*(\n +.*)*|^panic: .*`).FindAllString(string(out), -1) {
		t.Error(m)
	}
	if failed != nil && len(known) == 0 {
		t.Errorf("%v\n%s", failed, out)
	}
	for _, path := range paths {
		if name := strings.TrimSuffix(filepath.Base(path), ".txtar"); !strings.Contains(string(out), "ok  \t"+module+"/users_"+name+"\t") {
			t.Errorf("%s did not run:\n%s", path, out)
		}
	}
}

// writeUser generates for a project and puts the user's files beside it, mended where they are broken. A package with broken
// lines is there as the user wrote it, too, in a folder "was". It returns the places of those lines.
func writeUser(t *testing.T, dir, path, changelog string) (known []string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g := &golden{path: path, name: "users_" + strings.TrimSuffix(filepath.Base(path), ".txtar"), archive: archive}
	out, list := generator.Generate(context.Background(), generator.Inputs{Open: g.open, Module: module + "/" + g.name})
	if list.HasErrors() {
		t.Fatalf("%s: %v", path, list)
	}
	for _, f := range out.Files {
		write(t, filepath.Join(dir, g.name, f.Path), f.Data)
	}
	breaks, _ := g.file("breaks")
	var rows []brokenLine
	for row := range strings.SplitSeq(strings.TrimSpace(breaks), "\n\n") {
		if row == "" {
			continue
		}
		lines := strings.Split(row, "\n")
		if len(lines) != 3 {
			t.Fatalf("%s: a row is a place, a line and words of the changelog, not %q", path, row)
		}
		if !strings.Contains(changelog, lines[2]) {
			t.Errorf("%s: CHANGELOG.md does not say %q", path, lines[2])
		}
		rows = append(rows, brokenLine{lines[0], lines[1], lines[2]})
	}
	for _, f := range archive.Files {
		if filepath.Ext(f.Name) != ".go" {
			continue
		}
		lines := strings.Split(string(f.Data), "\n")
		for _, row := range rows {
			if name, n, _ := strings.Cut(row.at, ":"); name == f.Name {
				i, err := strconv.Atoi(n)
				if err != nil || i < 1 || i > len(lines) {
					t.Fatalf("%s: there is no line %s", path, row.at)
				}
				lines[i-1] = row.instead
				known = append(known, filepath.ToSlash(filepath.Join(g.name, "was", row.at)))
			}
		}
		write(t, filepath.Join(dir, g.name, f.Name), []byte(strings.Join(lines, "\n")))
		folder := filepath.ToSlash(filepath.Dir(f.Name))
		if slices.ContainsFunc(rows, func(r brokenLine) bool { return filepath.ToSlash(filepath.Dir(r.at)) == folder }) {
			write(t, filepath.Join(dir, g.name, "was", f.Name), f.Data)
		}
	}
	return known
}
