package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/projecttest"
	"github.com/a2agen/a2agen/spec"
)

func TestOpenDefinitionTakesVersionsAndFiles(t *testing.T) {
	for _, ref := range spec.References() {
		doc, list, err := OpenDefinition(ref)
		if err != nil || len(list) > 0 || !strings.HasPrefix(ref, doc.Version) || (doc.Syntax == spec.Proto) != (slices.Contains(spec.Hubs(), ref) || strings.HasSuffix(ref, "/proto")) {
			t.Errorf("%s: %v %v %v", ref, doc, list, err)
		}
	}
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.proto")
	projecttest.WriteFile(t, good, `{"definitions": {"A": {}}}`)
	projecttest.WriteFile(t, bad, "message")
	if doc, list, err := OpenDefinition(good); err != nil || list.HasErrors() || doc.Path != good {
		t.Errorf("%v %v %v", doc, list, err)
	}
	if doc, list, err := OpenDefinition(bad); err != nil || !list.HasErrors() || doc != nil {
		t.Errorf("%v %v %v", doc, list, err)
	}
	if _, _, err := OpenDefinition(filepath.Join(dir, "missing.proto")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "missing.proto") {
		t.Errorf("error %v", err)
	}
	if _, _, err := OpenDefinition("0.1/proto"); err == nil || !strings.Contains(err.Error(), strings.Join(spec.References(), ", ")) {
		t.Errorf("error %v", err)
	}
}

func TestADefinitionImportsNothingFromOutsideOfItsFolder(t *testing.T) {
	dir := t.TempDir()
	projecttest.WriteFile(t, filepath.Join(dir, "secret.proto"), "syntax = \"proto3\";\nmessage Secret {}")
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "secret.proto"), filepath.Join(dir, "in", "link.proto")); err != nil {
		t.Fatal(err)
	}
	for _, imported := range []string{"../secret.proto", "link.proto", filepath.Join(dir, "secret.proto"), "missing.proto"} {
		root := filepath.Join(dir, "in", "root.proto")
		projecttest.WriteFile(t, root, "syntax = \"proto3\";\nimport \""+imported+"\";")
		if doc, problems, err := OpenDefinition(root); err != nil || doc != nil || !problems.HasErrors() {
			t.Errorf("import %q was read", imported)
		}
	}
}
