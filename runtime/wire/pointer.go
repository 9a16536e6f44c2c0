package wire

import (
	"strconv"
	"strings"
)

// container is one open container on the way to an offset.
type container struct {
	array bool
	// inside: a member's value or an element is being scanned, so that key or index is part of the pointer.
	inside bool
	index  int
	key    []byte // as written, escapes included
}

// pointerAt returns the JSON pointer of the value that starts at offset, or else of the innermost object or array
// around it. It scans src again from the start, which only failures pay for; src need not be valid from offset on.
func pointerAt(src []byte, offset int) string {
	var open []container
	for i := 0; i < offset && i < len(src); {
		top := len(open) - 1
		switch c := src[i]; c {
		case '{', '[':
			open = append(open, container{array: c == '[', inside: c == '['})
			i++
		case '}', ']':
			if top >= 0 {
				open = open[:top]
			}
			leave(open)
			i++
		case ',':
			if top >= 0 && open[top].array {
				open[top].index++
				open[top].inside = true
			}
			i++
		case ':':
			if top >= 0 {
				open[top].inside = true
			}
			i++
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := min(stringEnd(src, i+1), len(src))
			if end >= offset {
				return render(open)
			}
			if top >= 0 && !open[top].array && !open[top].inside {
				open[top].key = src[i+1 : end]
			} else {
				leave(open)
			}
			i = end + 1
		default:
			i++
			for i < len(src) && !strings.ContainsRune(",]} \t\r\n", rune(src[i])) {
				i++
			}
			if i > offset {
				return render(open)
			}
			leave(open)
		}
	}
	return render(open)
}

// leave notes that a value of the innermost open container ended.
func leave(open []container) {
	if n := len(open); n > 0 {
		open[n-1].inside = false
	}
}

// stringEnd returns the index of the quote that closes the string whose content starts at i, or len(src).
func stringEnd(src []byte, i int) int {
	for ; i < len(src) && src[i] != '"'; i++ {
		if src[i] == '\\' {
			i++
		}
	}
	return i
}

func render(open []container) string {
	var b strings.Builder
	for _, p := range open {
		if !p.inside {
			break
		}
		b.WriteByte('/')
		if p.array {
			b.WriteString(strconv.Itoa(p.index))
			continue
		}
		b.WriteString(EscapePointer(string(unescape(nil, p.key))))
	}
	return b.String()
}
