package project

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/project/disk"
)

// aged is a project that an older tool made: its scaffold is today's with the older texts in place.
func aged(t *testing.T, older map[string]func(today string) string) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := filepath.Join(t.TempDir(), "weather")
	o := InitOptions{Options: Options{Tool: Tool{Version: "v1.0.0"}, Dir: dir}, Skills: []string{"forecast"}, Vendor: true}
	if _, err := Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, output.LockName)
	for name, age := range older {
		file, base := filepath.Join(dir, name), filepath.Join(dir, ".a2agen/base", name+".base")
		today := read(t, file)
		old := age(today)
		for _, f := range []string{file, base} {
			if err := os.WriteFile(f, []byte(old), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text := strings.ReplaceAll(read(t, lock), output.Digest([]byte(today)), output.Digest([]byte(old)))
		if err := os.WriteFile(lock, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// edit replaces text in a file.
func edit(t *testing.T, file, old, new string) {
	t.Helper()
	text := read(t, file)
	if !strings.Contains(text, old) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, old, new)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// swapped is an older text: a line of today's read otherwise.
func swapped(today, old string) func(string) string {
	return func(text string) string { return strings.ReplaceAll(text, today, old) }
}

func updateScaffold(t *testing.T, dir string) Report {
	t.Helper()
	r, err := Update(t.Context(), UpdateOptions{Options: Options{Tool: Tool{Version: "v1.0.0"}, Dir: dir}, Scaffold: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUpdateScaffoldMergesThreeWays(t *testing.T) {
	older := map[string]func(string) string{
		"Makefile":           swapped("go vet ./...", "go vet ."),
		"Dockerfile":         swapped("golang:1.26", "golang:1.20"),
		"README.md":          swapped("## To add a skill", "## Adding skills"),
		"main.go":            swapped("Main reads the flags", "Main parses the flags"),
		"skills/forecast.go": swapped("Yours goes here.", "Put yours here."),
	}
	dir := aged(t, older)
	in := func(name string) string { return filepath.Join(dir, name) }
	today := map[string]string{}
	fresh := aged(t, nil)
	for name := range older {
		today[name] = read(t, filepath.Join(fresh, name))
	}
	edit(t, in("Makefile"), "run: ## start", "mine:\n\techo mine\n\nrun: ## start")
	edit(t, in("Dockerfile"), "golang:1.20", "golang:1.21-alpine")
	edit(t, in("skills/forecast.go"), "// A sample answer, so that the agent runs from the start. Put yours here.", "// Mine.")
	if err := os.Remove(in("main.go")); err != nil {
		t.Fatal(err)
	}
	handler := read(t, in("skills/forecast.go"))

	// Without update nothing is touched.
	before := userFiles(t, dir)
	if _, err := Run(t.Context(), Options{Tool: Tool{Version: "v1.0.0"}, Dir: dir, Force: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, userFiles(t, dir)); diff != "" {
		t.Fatalf("generate touched the user's files: %s", diff)
	}

	got := updateScaffold(t, dir).Updates
	want := []ScaffoldUpdate{
		{Path: "Dockerfile", Outcome: InConflict, Conflicts: 1},
		{Path: "Makefile", Outcome: MergedIn},
		{Path: "README.md", Outcome: Replaced},
		{Path: "skills/forecast.go", Outcome: LeftAlone, Reason: "it is implemented, and the stub is not made for it any more"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := read(t, in("README.md")); got != today["README.md"] {
		t.Errorf("README.md is\n%s", got)
	}
	if got, want := read(t, in("Makefile")), strings.Replace(today["Makefile"], "run: ## start", "mine:\n\techo mine\n\nrun: ## start", 1); got != want {
		t.Errorf("Makefile is\n%s", got)
	}
	if got := read(t, in("Dockerfile")); !strings.Contains(got, "<<<<<<< yours\nFROM golang:1.21-alpine AS build\n=======\nFROM golang:1.26 AS build\n>>>>>>> a2agen v1.0.0\n") {
		t.Errorf("Dockerfile is\n%s", got)
	}
	if got := read(t, in("skills/forecast.go")); got != handler {
		t.Errorf("the handler is\n%s", got)
	}
	if _, err := os.Stat(in("main.go")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file that the user deleted is back")
	}

	// A second update has nothing to do; the user decides the conflict, which is said until he has.
	if again := updateScaffold(t, dir); len(again.Updates) != 2 || again.Updates[0].Outcome != Unresolved || !again.Undecided() || len(again.Written) > 0 {
		t.Errorf("again: %+v, written %v", again.Updates, again.Written)
	}
	c, err := Check(t.Context(), Options{Tool: Tool{Version: "v1.0.0"}, Dir: dir})
	if err != nil || len(c.Drift) > 0 {
		t.Errorf("drift %v, error %v", c.Drift, err)
	}
}

func TestUpdateScaffoldLeavesWhatItCannotMerge(t *testing.T) {
	dir := aged(t, map[string]func(string) string{"Makefile": swapped("go vet ./...", "go vet ."), "README.md": swapped("## To add", "## Adding")})
	edit(t, filepath.Join(dir, "Makefile"), "\tgo vet .", "<<<<<<< HEAD\nx\n=======\n>>>>>>> other")
	if err := os.Remove(filepath.Join(dir, ".a2agen/base/README.md.base")); err != nil {
		t.Fatal(err)
	}
	before := userFiles(t, dir)
	got := updateScaffold(t, dir).Updates
	want := []ScaffoldUpdate{
		{Path: "Makefile", Outcome: Unresolved, Reason: "it has conflict markers: resolve them, and update again"},
		{Path: "README.md", Outcome: LeftAlone, Reason: "what a2agen once wrote there is not recorded"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, userFiles(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateScaffoldAddsFilesThatAreNew(t *testing.T) {
	dir := aged(t, nil)
	lock := filepath.Join(dir, output.LockName)
	var kept []string
	for line := range strings.Lines(read(t, lock)) {
		if !strings.HasPrefix(line, "  Dockerfile: ") {
			kept = append(kept, line)
		}
	}
	if err := errors.Join(os.WriteFile(lock, []byte(strings.Join(kept, "")), 0o644), os.Remove(filepath.Join(dir, "Dockerfile")), os.Remove(filepath.Join(dir, ".a2agen/base/Dockerfile.base"))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]ScaffoldUpdate{{Path: "Dockerfile", Outcome: Added}}, updateScaffold(t, dir).Updates); diff != "" {
		t.Error(diff)
	}
	if read(t, filepath.Join(dir, "Dockerfile")) == "" {
		t.Error("no Dockerfile")
	}
}

func TestUpdateScaffoldAddsNothingToAProjectThatInitDidNotMake(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := newProject(t)
	if _, err := Run(t.Context(), Options{Tool: Tool{Version: "v1.0.0"}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	before := userFiles(t, dir)
	if r := updateScaffold(t, dir); len(r.Updates) > 0 || len(r.Written) > 0 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(before, userFiles(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateScaffoldUnitesGoSum(t *testing.T) {
	got := union([]byte("a v1 h1:x\nb v2 h1:y"), []byte("a v1 h1:x\nc v3 h1:z\n"))
	if want := "a v1 h1:x\nb v2 h1:y\nc v3 h1:z\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProtocolPinMovesOnlyByUpdate(t *testing.T) {
	dir := aged(t, nil)
	o := Options{Tool: Tool{Version: "v1.0.0"}, Dir: dir}
	lock := filepath.Join(dir, output.LockName)
	out, _, err := Inspect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	now, older := out.Protocols["1.0"], "sha256:"+strings.Repeat("0", 64)
	edit(t, lock, now, older)
	edit(t, filepath.Join(dir, "agent.yaml"), "version:", "# a change\nversion:")
	before := read(t, lock)

	var invalid *InvalidError
	if _, err := Run(t.Context(), o); !errors.As(err, &invalid) || !strings.Contains(invalid.List[0].String(), "a2agen update protocol") {
		t.Errorf("generate: error %v", err)
	}
	c, err := Check(t.Context(), o)
	if err != nil || len(c.Drift) == 0 || c.Drift[0].State != "protocol changed" || !strings.Contains(c.Drift[0].Hint, "a2agen update protocol") {
		t.Errorf("check: %v, error %v", c.Drift, err)
	}
	if _, err := Update(t.Context(), UpdateOptions{Options: o, Scaffold: true}); !errors.As(err, &invalid) {
		t.Errorf("update scaffold: error %v", err)
	}
	if read(t, lock) != before {
		t.Error("something but update protocol wrote the lock")
	}
	r, err := Update(t.Context(), UpdateOptions{Options: o, Protocol: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Move{{"1.0", older, now}}, r.Moved); diff != "" {
		t.Error(diff)
	}
	if c, err := Check(t.Context(), o); err != nil || len(c.Drift) > 0 {
		t.Errorf("drift %v, error %v", c.Drift, err)
	}
}

// fataler is a test or a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// userFiles are all files of a project that are not the tool's.
func userFiles(t fataler, dir string) map[string]string {
	t.Helper()
	lock := &disk.Lock{}
	if data, err := os.ReadFile(filepath.Join(dir, output.LockName)); err == nil {
		if lock, err = disk.ParseLock(data); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{}
	for name, data := range allFiles(t, dir) {
		if lock.Files[name] == "" && name != output.LockName && !strings.HasPrefix(name, ".a2agen/base/") {
			files[name] = data
		}
	}
	return files
}

func allFiles(t fataler, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(bytes.Clone(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
