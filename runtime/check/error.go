// Package check has what users meet of a value that breaks its JSON Schema: the [Error]. What decodes and validates is for generated
// code: package check of runtime/gen.
package check

import "strings"

// Violation is one way in which a value breaks its schema.
type Violation struct {
	// Pointer is the JSON pointer (RFC 6901) of the offending value, or of a missing one; "" is the whole document.
	Pointer string `json:"pointer"`
	// Message says what is wrong, lower case, without a full stop, safe to show to a peer.
	Message string `json:"message"`
}

// Error lists the violations of a value, first what could not be read, at most 100.
type Error struct {
	Violations []Violation
}

// Error renders the violations separated by semicolons.
func (e *Error) Error() string {
	var b strings.Builder
	for i, v := range e.Violations {
		if i > 0 {
			b.WriteString("; ")
		}
		if v.Pointer != "" {
			b.WriteString(v.Pointer)
			b.WriteString(": ")
		}
		b.WriteString(v.Message)
	}
	return b.String()
}
