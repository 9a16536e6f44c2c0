package generator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/output"
)

// inputs reads a project from memory.
func inputs(files map[string]string) Inputs {
	return Inputs{Module: "example.com/weather", Open: func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}}
}

// tenSkills is an agent.yaml with ten skills.
func tenSkills() string { return manySkills(10) }

func TestGenerateGivesEqualBytesForEqualInputs(t *testing.T) {
	files := map[string]string{"agent.yaml": tenSkills()}
	first, list := Generate(t.Context(), inputs(files))
	if len(list) > 0 {
		t.Fatal(list)
	}
	for _, procs := range []int{1, 8} {
		old := runtime.GOMAXPROCS(procs)
		again, _ := Generate(t.Context(), inputs(files))
		runtime.GOMAXPROCS(old)
		if diff := cmp.Diff(first.Files, again.Files, wholeFiles); diff != "" {
			t.Errorf("with GOMAXPROCS=%d: %s", procs, diff)
		}
	}
}

func TestGenerateNotesWhatItRead(t *testing.T) {
	files := map[string]string{
		"a2agen.yaml":      "card: cards/agent.yaml\n",
		"cards/agent.yaml": "name: x\ndescription: x\nversion: \"1\"\nskills:\n  - {id: a, name: a, description: a, tags: [a], input: in.json}\n",
		"cards/in.json":    `{"type": "object", "properties": {"a": {"type": "string"}}}`,
		"in.json":          `{"type": "object", "properties": {"a": {"type": "string"}}}`,
	}
	out, list := Generate(t.Context(), inputs(files))
	if list.HasErrors() {
		t.Fatal(list)
	}
	for name, digest := range out.Read {
		if text, ok := files[name]; !ok || digest != output.Digest([]byte(text)) {
			t.Errorf("%s has digest %s", name, digest)
		}
	}
	if len(out.Read) != 3 || out.Protocols["1.0"] == "" {
		t.Errorf("read %v, protocols %v", out.Read, out.Protocols)
	}
}

func TestGenerateStopsAtErrorsWithoutFiles(t *testing.T) {
	broken := errors.New("disk on fire")
	tests := map[string]struct {
		in   Inputs
		code string
	}{
		"no card":           {inputs(nil), "no-card"},
		"an invalid card":   {inputs(map[string]string{"agent.yaml": "nam: x\n"}), "unknown-key"},
		"an invalid config": {inputs(map[string]string{"a2agen.yaml": "protocol: [\"7.0\"]\n"}), "bad-value"},
		"an unreadable card": {Inputs{Module: "m", Open: func(name string) ([]byte, error) {
			return nil, broken
		}}, "unreadable"},
		"folders that differ in case": {inputs(map[string]string{"a2agen.yaml": "packages: {agent: Gen/x, client: gen/x}\n", "agent.yaml": tenSkills()}), "path"},
		"a client without its card":   {inputs(map[string]string{"a2agen.yaml": "clients: [{name: a, url: \"https://a.example\"}]\n"}), "no-card"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, list := Generate(t.Context(), tt.in)
			if len(out.Files) > 0 || !list.HasErrors() {
				t.Fatalf("%d files, %v", len(out.Files), list)
			}
			for _, d := range list {
				if d.Code == tt.code {
					return
				}
			}
			t.Errorf("no %s in %v", tt.code, list)
		})
	}
}

func TestGenerateCanBeCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, list := Generate(ctx, inputs(map[string]string{"agent.yaml": tenSkills()}))
	if len(out.Files) > 0 || !list.HasErrors() {
		t.Errorf("%d files, %v", len(out.Files), list)
	}
}

// newProject is a folder with an agent of ten skills.
func newProject(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	place(tb, dir, map[string]string{"go.mod": "module example.com/weather\n", "agent.yaml": tenSkills()})
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
