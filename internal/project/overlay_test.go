package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnOverlayChangesTheStoreAndNothingOnTheDisk whatever a2agen.yaml says of it, if it says so in a line.
func TestAnOverlayChangesTheStoreAndNothingOnTheDisk(t *testing.T) {
	for name, tt := range map[string]struct{ config, wrong string }{
		"no file": {}, "a line": {config: "store: memory # for now\ncard: agent.yaml\n"}, "no line": {config: "card: agent.yaml\n"},
		"no lines at all": {config: "{store: memory}\n", wrong: "does not say in a line of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			dir, temp := t.TempDir(), t.TempDir()
			files := map[string]string{"go.mod": "module example.com/w\n\nrequire github.com/a2agen/a2agen v1.0.0\n", "agent.yaml": watchedCard, "schemas/in.json": schemaOf("x"), "a2agen.yaml": tt.config}
			w := &watched{t: t, dir: dir}
			for name, text := range files {
				if text != "" {
					w.write(name, text)
				}
			}
			o := Options{Tool: Tool{Version: "v1.2.3"}, Dir: dir}
			if _, err := Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(filepath.Join(dir, "agent/server.gen.go"))
			if err != nil {
				t.Fatal(err)
			}
			list, err := Overlay(t.Context(), o, "sqlite", temp)
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			var replaced struct{ Replace map[string]string }
			if err := json.Unmarshal(text, &replaced); err != nil {
				t.Fatal(err)
			}
			with := func(name string) string {
				b, err := os.ReadFile(replaced.Replace[filepath.Join(dir, name)])
				if err != nil {
					t.Fatalf("%s: %v in %s", name, err, text)
				}
				return string(b)
			}
			if !strings.Contains(with("agent/server.gen.go"), "sqlite.OpenStore") || !strings.Contains(with("go.mod"), "modernc.org/sqlite ") || !strings.Contains(with("go.sum"), "modernc.org/sqlite ") {
				t.Errorf("%s", text)
			}
			if after, err := os.ReadFile(filepath.Join(dir, "agent/server.gen.go")); err != nil || string(after) != string(before) || strings.Contains(string(after), "sqlite") {
				t.Errorf("the project was changed: %v", err)
			}
		})
	}
}
