// Package official gives tests the documents of A2A's own repository, which this one has no copy of.
package official

import (
	"os"
	"path/filepath"
	"testing"
)

// Env names the variable with the folder of the documents: of each release the schema (a2a-v0.3.0.json), and what was taken from its
// definition and text, facts/a2a-v0.3.0.proto-facts.json and samples/v0.3.0/*.json.
const Env = "A2A_SPEC"

// Folder is a path below the folder of the documents. A test that wants one is skipped where there is none; "make test" says how many
// such tests there are.
func Folder(t testing.TB, elem ...string) string {
	t.Helper()
	folder := os.Getenv(Env)
	if folder == "" {
		t.Skip("compares with the official documents: set " + Env + " to their folder")
	}
	path := filepath.Join(append([]string{folder}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s: %v", Env, err)
	}
	return path
}
