package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// newProject is a folder with an agent of ten skills.
func newProject(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	projecttest.Write(tb, dir, map[string]string{"go.mod": "module example.com/weather\n", "agent.yaml": projecttest.Skills(10)})
	return dir
}

func TestRunSkipsAProjectThatIsFresh(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir := newProject(t)
	for _, tool := range []Tool{{Version: "devel"}, {Version: "v1.2.3"}} {
		o := Options{Tool: tool, Dir: dir}
		for _, fresh := range []bool{false, true, true} {
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Fresh != fresh {
				t.Errorf("%s: fresh = %v, want %v", tool.Version, r.Fresh, fresh)
			}
		}
	}
	// Without a place for stamps, an unreleased tool generates anew every time.
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "go.mod", "not-a-folder"))
	for range 2 {
		r, err := Run(t.Context(), Options{Tool: Tool{Version: "devel"}, Dir: dir})
		if err != nil || r.Fresh {
			t.Errorf("fresh = %v, error %v", r.Fresh, err)
		}
	}
}

func TestInitThatFailsLeavesNoFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	_, err := Init(t.Context(), InitOptions{Options: Options{Tool: Tool{Version: "devel"}, Dir: dir}, Skills: []string{"x", "x"}})
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder is left: %v", err)
	}
}

func TestInitRefusesHostileNames(t *testing.T) {
	for _, name := range []string{"a\nb", "a\x00b", " a", strings.Repeat("x", 201)} {
		dir := filepath.Join(t.TempDir(), "p")
		_, err := Init(t.Context(), InitOptions{Options: Options{Tool: Tool{Version: "devel"}, Dir: dir}, Name: name})
		var bad *ArgumentError
		if !errors.As(err, &bad) {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

func TestKilledInitCanBeRepeated(t *testing.T) {
	dir := t.TempDir()
	o := InitOptions{Options: Options{Tool: Tool{Version: "devel"}, Dir: dir}}
	if _, err := Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	// What a process leaves that is killed before its last step, the renaming of the lock.
	if err := os.Rename(filepath.Join(dir, "a2agen.lock"), filepath.Join(dir, "a2agen.lock.new")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "main.go")); err != nil {
		t.Fatal(err)
	}
	r, err := Init(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Written) != 1 || r.Written[0].Path != "main.go" {
		t.Errorf("written %+v, want main.go", r.Written)
	}
	c, err := Check(t.Context(), o.Options)
	if err != nil || len(c.Drift) > 0 {
		t.Errorf("drift %v, error %v", c.Drift, err)
	}
}

func TestFilesOfRemovedTypesDisappear(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	w := &watched{t: t, dir: dir}
	agent := "name: w\ndescription: W.\nversion: \"1\"\nskills:\n  - {id: a, name: A, description: A., tags: [a]%s}\n"
	contract := strings.Replace(agent, "%s", ", input: {type: object, properties: {x: {type: string}}}", 1)
	plain := strings.Replace(agent, "%s", "", 1)
	w.write("go.mod", "module example.com/w\n\nrequire github.com/a2agen/a2agen v0.0.0-00010101000000-000000000000\n\nreplace github.com/a2agen/a2agen => ./third_party/a2agen\n")
	w.write("agent.yaml", contract)
	w.write("cards/one.json", projecttest.RemoteCard)
	w.write("a2agen.yaml", "clients: [{name: one, file: cards/one.json}]\n")
	o := Options{Tool: Tool{Version: "v1.0.0"}, Dir: dir}
	run := func() Report {
		t.Helper()
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	run()
	for _, name := range []string{"agent/types/types.gen.go", "client/one/client.gen.go", "third_party/a2agen/go.mod", "a2a/types.gen.go"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Fatalf("before: %v", err)
		}
	}

	// The skill loses its types, the client goes, the protocol is shared, and the runtime comes from elsewhere.
	w.write("agent.yaml", plain)
	w.write("a2agen.yaml", sharedProtocol)
	w.write("go.mod", "module example.com/w\n\nrequire github.com/a2agen/a2agen v1.0.0\n")
	run()
	out, _, err := Inspect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"go.mod": "module example.com/w\n\nrequire github.com/a2agen/a2agen v1.0.0\n", "agent.yaml": plain, "a2agen.yaml": sharedProtocol, "cards/one.json": projecttest.RemoteCard}
	for _, f := range out.Files {
		want[f.Path] = string(f.Data)
	}
	got := allFiles(t, dir)
	delete(got, "a2agen.lock")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("orphans: %s", diff)
	}
}
