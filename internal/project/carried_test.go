package project

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// TestWhatIsCopiedMayOnlyFall limits what new projects carry of the runtime and of the test kit, where there is neither a release nor a
// checkout to build against. Lower a limit when the number has fallen. One that rises is often an import that nobody needs; to raise a
// limit is a commit of its own, which says why.
func TestWhatIsCopiedMayOnlyFall(t *testing.T) {
	t.Chdir(t.TempDir()) // out of this checkout
	projecttest.WriteFile(t, "card.json", `{"name":"desk","description":"d","version":"1","capabilities":{"streaming":true},
		"supportedInterfaces":[{"url":"https://desk.example/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"chat","name":"Chat","description":"d","tags":["t"]}]}`)
	if _, err := Init(t.Context(), InitOptions{Options: Options{Dir: "agent"}, Vendor: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := AddClient(t.Context(), ClientOptions{Options: Options{Dir: "client"}, Target: "card.json", Module: "example.com/desk"}); err != nil {
		t.Fatal(err)
	}
	for project, limit := range map[string]struct{ files, lines int }{
		"agent":  {315, 52_689},
		"client": {265, 44_332},
	} {
		files, lines := 0, 0
		err := filepath.WalkDir(filepath.Join(project, scaffold.Unpacked), func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			files, lines = files+1, lines+bytes.Count(text, []byte("\n"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if files > limit.files || lines > limit.lines {
			t.Errorf("a new %s carries %d files, %d lines; the limits are %d and %d", project, files, lines, limit.files, limit.lines)
		}
		if files == 0 {
			t.Errorf("a new %s carries nothing, though it has nothing else to build against", project)
		}
	}
}
