package wire

import (
	"bytes"
	"strconv"
)

// MaxNesting is how deep data may be for readers of protobuf, counted as [Portable] does. Those of C++, Java and Python
// read 100 messages in one another; around the data of a part there are up to eight: a page, its task, the status, the
// message, the part, and what 0.3 puts around data that is no object.
const MaxNesting = 100 - 8

// How many messages of protobuf an object and a list are in one another: an object is a Struct, an entry of its map and
// a Value, a list is a ListValue and a Value.
const (
	nestingOfObject = 3
	nestingOfList   = 2
)

// longestPlain is up to which length a number without an exponent is one that a double holds, in bytes: the largest
// double has 309 digits.
const longestPlain = 308

// Portable reports what in raw, which is valid JSON, is lost on other readers although it is JSON: a number that no
// double is near, which neither protobuf nor most JSON readers have, and, unless nesting is 0, data that are nested more
// deeply, where an object counts three and a list two. The error is an [*Error]. Nothing else about raw is checked.
func Portable(raw []byte, nesting int) error {
	depth := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case '"':
			if i = quoted(raw, i+1); i < 0 {
				return nil
			}
			continue
		case '{', '[':
			if depth += nestingOf(c); nesting > 0 && depth > nesting {
				return &Error{Pointer: pointerAt(raw, i), Reason: "nested too deeply for readers of protobuf", Offset: i}
			}
		case '}', ']':
			depth -= nestingOf(c)
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			end := numberEnd(raw, i)
			if end < 0 {
				return nil
			}
			if !isDouble(raw[i:end]) {
				return &Error{Pointer: pointerAt(raw, i), Reason: "number out of range: no double holds it", Offset: i}
			}
			i = end
			continue
		}
		i++
	}
	return nil
}

// nestingOf is what the container with the bracket counts.
func nestingOf(bracket byte) int {
	if bracket == '{' || bracket == '}' {
		return nestingOfObject
	}
	return nestingOfList
}

// isDouble reports whether a double is near the number.
func isDouble(number []byte) bool {
	if len(number) <= longestPlain && bytes.IndexByte(number, 'e') < 0 && bytes.IndexByte(number, 'E') < 0 {
		return true
	}
	_, err := strconv.ParseFloat(string(number), 64)
	return err == nil
}

// Valid reports what is wrong with raw as JSON, as the strict [Reader] reads it; the error is an [*Error].
func Valid(raw []byte) error {
	var r Reader
	r.Reset(raw)
	r.Skip()
	return r.Done()
}
