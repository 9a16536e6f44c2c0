package grpcserver

import "encoding/binary"

// deepest is to which depth messages are counted: what is deeper is text or metadata, which are not decoded.
const deepest = 6

// objectsIn is an upper bound of the messages in parameters: without their definition, a text that could be a message
// counts as one.
func objectsIn(params []byte) int {
	n, _ := countIn(params, deepest)
	return n
}

// countIn counts the fields of a message that may be messages. It is false for bytes that are no message.
func countIn(b []byte, depth int) (n int, ok bool) {
	for len(b) > 0 {
		tag, m := binary.Uvarint(b)
		if m <= 0 || tag>>3 == 0 {
			return n, false
		}
		b = b[m:]
		size := uint64(0)
		switch tag & 7 {
		case 0:
			if _, m = binary.Uvarint(b); m <= 0 {
				return n, false
			}
			size = uint64(m)
		case 1:
			size = 8
		case 5:
			size = 4
		case 2:
			length, m := binary.Uvarint(b)
			if m <= 0 {
				return n, false
			}
			if b = b[m:]; length > uint64(len(b)) {
				return n, false
			}
			size = length
			n++
			if depth > 0 {
				inside, _ := countIn(b[:length], depth-1)
				n += inside
			}
		default: // groups, which nobody writes
			return n, false
		}
		if size > uint64(len(b)) {
			return n, false
		}
		b = b[size:]
	}
	return n, true
}
