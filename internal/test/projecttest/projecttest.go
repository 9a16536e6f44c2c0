// Package projecttest holds what tests of generating share: inputs, and how they get into a folder.
package projecttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Skills is an agent.yaml with n skills, each with a contract of its own.
func Skills(n int) string {
	var b strings.Builder
	b.WriteString("name: weather\ndescription: Weather.\nversion: \"0.1.0\"\nskills:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - id: skill-%d
    name: Skill %d
    description: Number %d.
    tags: [weather]
    input:
      type: object
      required: [place, days]
      properties:
        place: {type: string, minLength: 1, maxLength: 100}
        days: {type: integer, minimum: 1, maximum: %d}
        units: {enum: [celsius, fahrenheit], default: celsius}
        where: {type: object, required: [lat, lng], properties: {lat: {type: number, minimum: -90, maximum: 90}, lng: {type: number}}}
    output:
      type: object
      required: [days]
      properties:
        days: {type: array, items: {type: object, required: [date, high], properties: {date: {type: string, format: date}, high: {type: number}}}}
`, i, i, i, i+5)
	}
	return b.String()
}

// GoMod is the go.mod of a module that is built against this repository, which is in the folder root. It requires what init requires: the go
// command compiles the runtime once for all modules that require the same version of it.
func GoMod(module, root string) string {
	return "module " + module + "\n\ngo 1.26.0\n\nrequire " + repository + " v0.0.0-00010101000000-000000000000\n\nreplace " + repository + " => " + root + "\n"
}

const repository = "github.com/a2agen/a2agen"

// RemoteCard is the card of another agent.
const RemoteCard = `{"name": "N", "description": "d", "version": "1", "supportedInterfaces": [{"url": "https://x.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
 "capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}]}`

// Write writes the files of a folder, given by their slash-separated paths.
func Write(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		WriteFile(tb, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
}

// WriteFile writes a file, and makes its folder.
func WriteFile(tb testing.TB, file, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}
