package spec

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
)

// protoOf is what follows a version whose proto is meant, although a schema defines it: "0.3/proto".
const protoOf = "/proto"

// References returns what Open takes besides files, newest first: the shipped versions, and the protos of those that are
// defined by a schema.
func References() []string {
	var refs []string
	for _, d := range definitions {
		refs = append(refs, d.version)
		if len(d.paths) > 1 {
			refs = append(refs, d.version+protoOf)
		}
	}
	return refs
}

// Open reads the definition that ref names: a shipped one such as "0.3" or "0.3/proto", else the file of that name. The
// error says that there is none; the list says what is wrong with it, and when that holds an error the document is nil.
func Open(ref string) (*Document, diag.List, error) {
	if slices.Contains(References(), ref) {
		read := Shipped
		version, proto := strings.CutSuffix(ref, protoOf)
		if proto {
			read = ShippedProto
		}
		doc, err := read(version)
		return doc, nil, err
	}
	content, err := os.ReadFile(ref)
	switch {
	case err != nil && path.Ext(ref) != ".proto" && path.Ext(ref) != ".json":
		return nil, nil, fmt.Errorf("%q is neither a file nor a version that ships with a2agen: %s", ref, strings.Join(References(), ", "))
	case err != nil:
		return nil, nil, fmt.Errorf("read the definition: %w", err)
	}
	doc, list := Read(ref, content)
	return doc, list, nil
}
