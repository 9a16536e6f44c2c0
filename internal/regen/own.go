package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/a2agen/a2agen/spec"
)

// What internal/test/a2amore has beside what is published, in the words of a proto: operations of an agent's own, and a message with a field
// of every kind.
var (
	//go:embed own/operations.proto.txt
	ownOperations string
	//go:embed own/messages.proto.txt
	ownMessages string
)

// ownDefinition is that of a version with those operations and messages.
func ownDefinition(version string) (*spec.Document, error) {
	src, err := spec.Source(version)
	if err != nil {
		return nil, err
	}
	text := string(src) + ownMessages
	for before, more := range map[string]string{
		"import \"google/protobuf/empty.proto\";\n": "import \"google/protobuf/duration.proto\";\n",
		"  // GetExtendedAgentCard returns":         ownOperations,
	} {
		if strings.Count(text, before) != 1 {
			return nil, fmt.Errorf("the definition of %s has no place for more before %q", version, before)
		}
		text = strings.Replace(text, before, more+before, 1)
	}
	doc, problems := spec.Read("own.proto", []byte(text))
	if problems.HasErrors() {
		return nil, fmt.Errorf("read the definition with operations of its own: %s", problems[0])
	}
	doc.Version = version
	return doc, nil
}
