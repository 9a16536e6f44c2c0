package project

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/spec"
)

// OpenDefinition reads the definition that ref names: a shipped one such as "0.3" or "0.3/proto", else the file of
// that name. Imports are read from its folder and below only. The error says that it does not exist; the list has its
// mistakes, and if one is an error the document is nil.
func OpenDefinition(ref string) (*spec.Document, diag.List, error) {
	if slices.Contains(spec.References(), ref) {
		doc, err := spec.Named(ref)
		return doc, nil, err
	}
	content, err := os.ReadFile(ref)
	switch {
	case err != nil && path.Ext(ref) != ".proto" && path.Ext(ref) != ".json":
		known := strings.Join(spec.References(), ", ")
		return nil, nil, fmt.Errorf("%q is neither a file nor a version that ships with a2agen: %s", ref, known)
	case err != nil:
		return nil, nil, fmt.Errorf("read the definition: %w", err)
	}
	root, err := os.OpenRoot(filepath.Dir(ref))
	if err != nil {
		return nil, nil, fmt.Errorf("read the definition: %w", err)
	}
	defer root.Close()
	doc, list := spec.ReadIn(ref, content, root.FS())
	return doc, list, nil
}
