package wire

import (
	"strconv"
	"strings"
)

// Error says what is wrong with a JSON document and where.
type Error struct {
	// Pointer is the JSON pointer (RFC 6901) of the offending value; "" is the whole document.
	Pointer string
	// Reason says what is wrong, lower case, without a full stop, safe to show to a peer.
	Reason string
	// Offset is the byte offset in the source; 0 when the error is of writing.
	Offset int
}

// Error renders pointer and reason.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return e.Pointer + ": " + e.Reason
}

// In puts err, met while writing the member or element name, one level deeper: it prefixes the pointer of an [*Error]
// and turns any other error into one.
func In(err error, name string) error {
	if e, ok := err.(*Error); ok {
		return &Error{Pointer: "/" + EscapePointer(name) + e.Pointer, Reason: e.Reason, Offset: e.Offset}
	}
	return &Error{Pointer: "/" + EscapePointer(name), Reason: err.Error()}
}

// At is [In] for the element of a list.
func At(err error, index int) error { return In(err, strconv.Itoa(index)) }

// NotSet is the error of writing a value that is required, but not set.
func NotSet() error { return &Error{Reason: "required, but not set"} }

// TooFew is the error of writing a list of fewer than n elements where n are needed.
func TooFew(n int) error { return &Error{Reason: tooFew(n)} }

func tooFew(n int) string { return "at least " + strconv.Itoa(n) + " needed" }

// NoCase is the error of writing an object of whose alternatives none is set.
func NoCase(names ...string) error { return &Error{Reason: noCase(names)} }

func noCase(names []string) string {
	return "exactly one of " + strings.Join(names, ", ") + " is required"
}

// EscapePointer escapes a member name as one token of a JSON pointer (RFC 6901 §3).
func EscapePointer(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
