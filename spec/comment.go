package spec

import (
	"regexp"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// comment returns the comment before d, else the one behind it, as plain text.
func comment(d protoreflect.Descriptor) string {
	loc := d.ParentFile().SourceLocations().ByDescriptor(d)
	if text := cleanComment(loc.LeadingComments); text != "" {
		return text
	}
	return cleanComment(loc.TrailingComments)
}

// linterNotes matches notes to linters in the style of API definitions: "(-- api-linter: … --)".
var linterNotes = regexp.MustCompile(`(?s)\(--.*?--\)`)

// cleanComment drops the blank that follows comment markers and notes that are meant for tools, not for readers.
func cleanComment(text string) string {
	lines := strings.Split(linterNotes.ReplaceAllString(text, ""), "\n")
	kept := lines[:0]
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "--8<--") || strings.HasPrefix(line, "protolint:") || strings.HasPrefix(line, "buf:lint:") {
			continue
		}
		kept = append(kept, line)
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}
