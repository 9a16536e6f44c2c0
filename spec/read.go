package spec

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
)

// Limits of a definition. The published one has 30 kB and nests three levels.
const (
	maxSource = 4 << 20 // bytes a file
	maxDepth  = 64      // nested braces
)

// Read reads the definition with the given content, a .proto file or a JSON Schema in a .json file. path names it in
// positions. It imports nothing but google/api and google/protobuf, which are built in. When the list holds an error the document
// is nil.
func Read(path string, content []byte) (*Document, diag.List) {
	return ReadIn(path, content, noFiles{})
}

// ReadIn is Read with the folder of path given: what a proto imports is read from there. It is used by several goroutines.
func ReadIn(path string, content []byte, folder fs.FS) (*Document, diag.List) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".proto":
	case ".json":
		return readSchema(path, content)
	default:
		var problems diag.List
		problems.Errorf(diag.Pos{File: path}, "unknown-definition", "give a .proto file or a JSON Schema (.json)", "%q is not a protocol definition that can be read", filepath.Base(path))
		return nil, problems
	}
	return readProto(path, content, folder)
}

// noFiles is a folder that is not there.
type noFiles struct{}

func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
