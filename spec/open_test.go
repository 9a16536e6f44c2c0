package spec

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenTakesVersionsAndFiles(t *testing.T) {
	for _, ref := range References() {
		doc, list, err := Open(ref)
		if err != nil || len(list) > 0 || !strings.HasPrefix(ref, doc.Version) || (doc.Syntax == Proto) != (ref == "1.0" || strings.HasSuffix(ref, "/proto")) {
			t.Errorf("%s: %v %v %v", ref, doc, list, err)
		}
	}
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.proto")
	write(t, good, `{"definitions": {"A": {}}}`)
	write(t, bad, "message")
	if doc, list, err := Open(good); err != nil || list.HasErrors() || doc.Path != good {
		t.Errorf("%v %v %v", doc, list, err)
	}
	if doc, list, err := Open(bad); err != nil || !list.HasErrors() || doc != nil {
		t.Errorf("%v %v %v", doc, list, err)
	}
	if _, _, err := Open(filepath.Join(dir, "missing.proto")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "missing.proto") {
		t.Errorf("error %v", err)
	}
	if _, _, err := Open("0.1/proto"); err == nil || !strings.Contains(err.Error(), "1.0, 0.3, 0.3/proto, 0.2, 0.2/proto, 0.1") {
		t.Errorf("error %v", err)
	}
}
