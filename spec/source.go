package spec

import (
	"bytes"
	"io/fs"
)

// Source returns the text of the shipped definition of a version, such as "1.0": its digest is what a project pins. When
// the definition has several files they follow one another.
func Source(version string) ([]byte, error) {
	paths, err := shippedFiles(version)
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, p := range paths {
		src, err := fs.ReadFile(shipped, p)
		if err != nil {
			return nil, err
		}
		all.Write(src)
	}
	return all.Bytes(), nil
}
