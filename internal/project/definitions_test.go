package project

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/output"
)

// TestAFetchedDefinitionMayChangeItsSyntax starts from a lock that pins the schema of 0.3.
func TestAFetchedDefinitionMayChangeItsSyntax(t *testing.T) {
	schema, err := os.ReadFile("../../spec/v0.3/a2a.json")
	if err != nil {
		t.Fatal(err)
	}
	proto, err := os.ReadFile("../../spec/v1.0/a2a.proto")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(proto) }))
	defer srv.Close()
	dir := aged(t, nil)
	lock, oldFile, newFile := filepath.Join(dir, output.LockName), filepath.Join(dir, "protocol/0.9.json"), filepath.Join(dir, "protocol/0.9.proto")
	edit(t, filepath.Join(dir, config.File), `protocol: ["1.0", "0.3"]`, `protocol: [{version: "0.9", url: "`+srv.URL+`/latest"}, "1.0"]`)
	edit(t, lock, "protocols:\n", "protocols:\n  \"0.9\": "+output.Digest(schema)+"\n")
	edit(t, lock, "files:\n", "files:\n  protocol/0.9.json: "+output.Digest(schema)+"\n")
	if err := errors.Join(os.Mkdir(filepath.Dir(oldFile), 0o755), os.WriteFile(oldFile, schema, 0o600)); err != nil {
		t.Fatal(err)
	}

	o := Options{Tool: Tool{Version: "v1.0.0"}, Dir: dir}
	r, err := Update(t.Context(), UpdateOptions{Options: o, Protocol: true, AllowPrivate: true})
	if err != nil {
		t.Fatal(err, r.Diagnostics)
	}
	if len(r.Fetched) != 1 || r.Fetched[0].File != "protocol/0.9.proto" || !r.Fetched[0].Compared || len(r.Fetched[0].Changes) == 0 {
		t.Errorf("fetched %+v", r.Fetched)
	}
	if diff := cmp.Diff([]Move{{"0.9", output.Digest(schema), output.Digest(proto)}}, r.Moved); diff != "" {
		t.Error(diff)
	}
	if read(t, newFile) != string(proto) {
		t.Error("what is kept is not what was fetched")
	}
	if _, err := os.Stat(oldFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the definition in the other syntax is still there: %v", err)
	}
	if c, err := Check(t.Context(), o); err != nil || len(c.Drift) > 0 {
		t.Errorf("drift %v, error %v", c.Drift, err)
	}
	if r, err := Run(t.Context(), o); err != nil || !r.Fresh {
		t.Errorf("generate: fresh %v, error %v", r.Fresh, err)
	}
	before := read(t, lock)
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o); err != nil || pinned(read(t, lock)) != pinned(before) {
		t.Errorf("without a lock: %v, and another lock", err)
	}
}

// pinned is the part of a lock in front of the user's files.
func pinned(lock string) string {
	pins, _, _ := strings.Cut(lock, "\nscaffold:")
	return pins
}

func TestDefinitionsAreKeptByTheEndingOfTheURLElseByContent(t *testing.T) {
	tests := []struct{ name, url, content, want string }{
		{"a proto", "https://a.example/a2a.proto", "syntax = \"proto3\";", "protocol/9.1.proto"},
		{"a schema", "https://a.example/a2a.json?raw=1", "{}", "protocol/9.1.json"},
		{"a page in the place of a schema", "https://a.example/a2a.json", "<html>", "protocol/9.1.json"},
		{"an object in the place of a proto", "https://a.example/a2a.PROTO#x", "{}", "protocol/9.1.proto"},
		{"an object without an ending", "https://a.example/latest", "\n {}", "protocol/9.1.json"},
		{"a text without an ending", "https://a.example/", "// a proto", "protocol/9.1.proto"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := keptAs(config.Protocol{Version: "9.1", URL: tt.url}, []byte(tt.content)); got != tt.want {
				t.Errorf("kept as %s, want %s", got, tt.want)
			}
		})
	}
}
