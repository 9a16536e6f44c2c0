package generator

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const remoteCardJSON = `{"name": "N", "description": "d", "version": "1", "supportedInterfaces": [{"url": "https://x.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
 "capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}]}`

// wholeFiles compares the bytes of a file at once: one by one they take seconds.
var wholeFiles = cmp.Comparer(bytes.Equal)

// TestOrderOfInputsDoesNotMatter shuffles what has no order: the keys of both files, and the list of clients.
func TestOrderOfInputsDoesNotMatter(t *testing.T) {
	keys := []string{
		"name: weather\n", "description: Weather.\n", "version: \"1\"\n", "documentationUrl: https://example.com\n",
		"skills:\n  - {id: a, name: A, description: a, tags: [x], input: in.json}\n",
	}
	clients := []string{"  - {name: one, file: cards/one.json}\n", "  - {name: two, file: cards/two.json}\n", "  - {name: six, file: cards/six.json}\n"}
	project := func(first int) map[string]string {
		rotate := func(parts []string) string {
			n := first % len(parts)
			return strings.Join(append(append([]string{}, parts[n:]...), parts[:n]...), "")
		}
		config := []string{"packages: {client: sdk, agent: internal/agent}\n", "clients:\n" + rotate(clients)}
		return map[string]string{
			"agent.yaml": rotate(keys), "a2agen.yaml": rotate(config),
			"in.json":        `{"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}`,
			"cards/one.json": remoteCardJSON, "cards/two.json": remoteCardJSON, "cards/six.json": remoteCardJSON,
		}
	}
	want, list := Generate(t.Context(), inputs(project(0)))
	if list.HasErrors() {
		t.Fatal(list)
	}
	for first := 1; first < len(keys)*2; first++ {
		got, list := Generate(t.Context(), inputs(project(first)))
		if list.HasErrors() {
			t.Fatal(list)
		}
		if diff := cmp.Diff(want.Files, got.Files, wholeFiles); diff != "" {
			t.Fatalf("rotated by %d: %s", first, diff)
		}
	}
}

// TestClockDoesNotMatter generates a day, a year and ten years later.
func TestClockDoesNotMatter(t *testing.T) {
	files := map[string]string{"agent.yaml": tenSkills()}
	now, _ := Generate(t.Context(), inputs(files))
	for _, later := range []time.Duration{0, 24 * time.Hour, 10 * 365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(later) // from midnight of 2000-01-01, at no time at all
			then, list := Generate(t.Context(), inputs(files))
			if list.HasErrors() {
				t.Fatal(list)
			}
			if diff := cmp.Diff(now.Files, then.Files, wholeFiles); diff != "" {
				t.Errorf("at %v: %s", time.Now(), diff)
			}
		})
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
	w.write("cards/one.json", remoteCardJSON)
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
	for _, name := range []string{"agent/types.gen.go", "client/one/client.gen.go", "third_party/a2agen/go.mod", "a2a/types.gen.go"} {
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
	want := map[string]string{"go.mod": "module example.com/w\n\nrequire github.com/a2agen/a2agen v1.0.0\n", "agent.yaml": plain, "a2agen.yaml": sharedProtocol, "cards/one.json": remoteCardJSON}
	for _, f := range out.Files {
		want[f.Path] = string(f.Data)
	}
	got := allFiles(t, dir)
	delete(got, "a2agen.lock")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("orphans: %s", diff)
	}
}
