package generator

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/test/projecttest"
	"github.com/a2agen/a2agen/spec"
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

func TestGenerateGivesEqualBytesForEqualInputs(t *testing.T) {
	files := map[string]string{"agent.yaml": projecttest.Skills(10)}
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
	if len(out.Read) != 3 || out.Protocols[spec.Default] == "" {
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
		"folders that differ in case": {inputs(map[string]string{"a2agen.yaml": "packages: {agent: Gen/x, client: gen/x}\n", "agent.yaml": projecttest.Skills(10)}), "path"},
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
	out, list := Generate(ctx, inputs(map[string]string{"agent.yaml": projecttest.Skills(10)}))
	if len(out.Files) > 0 || !list.HasErrors() {
		t.Errorf("%d files, %v", len(out.Files), list)
	}
}
