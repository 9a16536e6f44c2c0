package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestACommandWhoseResultsAreLostFails, whichever it is.
func TestACommandWhoseResultsAreLostFails(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module example.com/weather\n\ngo 1.26\n",
		"agent.yaml": "name: weather\ndescription: Weather.\nversion: \"0.1.0\"\nskills: [{id: forecast, name: Forecast, description: Tomorrow., tags: [weather]}]\n",
		"card.json": `{"name": "Routes", "description": "Finds a way.", "version": "2.0.0", "capabilities": {},
			"supportedInterfaces": [{"url": "https://routes.example.com/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
			"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
			"skills": [{"id": "plan", "name": "Plan", "description": "Plans.", "tags": ["maps"]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"card catalog add " + filepath.Join(dir, "card.json"), "card catalog list", "card catalog find", "generate --dry-run", "generate --help"} {
		args := append(strings.Fields(args), "-C", dir)
		var stderr bytes.Buffer
		if code := run(t.Context(), args, nil, full{}, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit %d, %s", args, code, &stderr)
		}
	}
}
