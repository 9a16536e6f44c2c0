package wire

import (
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

const (
	// slabSize is the most that one block of shared string memory takes, in bytes: what a single string that
	// outlives its document can hold on to.
	slabSize = 2048
	// firstSlab is the size of a document's first block.
	firstSlab = 256
	// ownString is the length from which a string or a raw value gets memory of its own. It is at most firstSlab.
	ownString = 192
)

// String reads a string.
func (r *Reader) String() string {
	if r.token() != '"' {
		r.expected("a string")
		return ""
	}
	start := r.pos + 1
	end, high := span(r.src, start)
	if high == 0 && end < len(r.src) && r.src[end] == '"' {
		r.pos = end + 1
		return r.Keep(r.src[start:end])
	}
	return r.stringSlow(start, end, high)
}

// stringSlow continues behind the first span of a string that has escapes, is not ASCII, or is not valid.
func (r *Reader) stringSlow(start, end int, high uint64) string {
	close := quoted(r.src, start)
	if close < 0 || end >= close-1 {
		raw, _, _ := r.textSlow(start, end, high) // no escapes, or no end
		return r.Keep(raw)
	}
	raw := r.src[start : close-1]
	room := r.room(len(raw))
	text, ok := appendUnescaped(room, raw, end-start)
	if !ok || !validUTF8(raw) {
		r.textSlow(start, end, high) // finds the failure again and reports it
		return ""
	}
	r.pos = close
	r.share(len(raw), text)
	return stringOf(text)
}

// appendUnescaped appends the meaning of raw, the content of a string token, to dst, which has room for len(raw) bytes.
// The first clean bytes of raw are known to need no look. It is not ok if there is an invalid escape or a control character.
func appendUnescaped(dst, raw []byte, clean int) ([]byte, bool) {
	o := len(dst) + copy(dst[len(dst):cap(dst)], raw[:clean])
	dst = dst[:len(dst)+len(raw)]
	for i := clean; i < len(raw); {
		n, found := copyPlain(dst[o:], raw[i:])
		i, o = i+n, o+n
		if !found && i == len(raw) {
			break
		}
		c := raw[i]
		switch {
		case c == '\\':
			u, n := escape(raw[i:])
			if n == 0 {
				return nil, false
			}
			i, o = i+n, o+utf8.EncodeRune(dst[o:o+min(n, utf8.UTFMax)], u)
		case c < ' ':
			return nil, false
		default:
			dst[o] = c
			i, o = i+1, o+1
		}
	}
	return dst[:o], true
}

// simpleEscapes are the characters that a letter after a backslash stands for, zero for other letters.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// room returns an empty slice with space for n bytes: the rest of the shared slab or, for much, memory of its own. Slabs
// double in size, and are no larger than what is left to be read, so that a small document has a small one.
func (r *Reader) room(n int) []byte {
	if n >= ownString {
		return make([]byte, 0, n)
	}
	if cap(r.slab)-len(r.slab) < n {
		size := min(max(firstSlab, 2*cap(r.slab)), slabSize)
		r.slab = make([]byte, 0, min(size, n+len(r.src)-r.pos))
	}
	return r.slab[len(r.slab):]
}

// share takes what was appended to room(n) out of the slab's free space.
func (r *Reader) share(n int, used []byte) {
	if n < ownString {
		r.slab = r.slab[:len(r.slab)+len(used)]
	}
}

// Text reads a string and returns its bytes, which may refer to the source.
func (r *Reader) Text() []byte {
	if r.token() != '"' {
		r.expected("a string")
		return nil
	}
	raw, escaped, ok := r.text()
	if ok && escaped {
		return unescape(make([]byte, 0, len(raw)), raw)
	}
	return raw
}

// Strings reads a list of strings; nil for an empty one.
func (r *Reader) Strings() []string {
	var list []string
	for ok := r.Array(); ok; ok = r.Elem() {
		list = append(list, r.String())
	}
	return list
}

// Keep copies bytes of the source, such as a member name, into a string.
func (r *Reader) Keep(raw []byte) string {
	n := len(raw)
	if n == 0 {
		return ""
	}
	if n >= ownString {
		return string(raw)
	}
	if cap(r.slab)-len(r.slab) < n {
		r.room(n)
	}
	start := len(r.slab)
	r.slab = append(r.slab, raw...)
	return stringOf(r.slab[start:])
}

// escape reads the escape sequence at the start of b, which is a backslash: the character it stands for and its length,
// 0 if it is invalid. A surrogate pair is one sequence; half of one is invalid.
func escape(b []byte) (c rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	if simple := simpleEscapes[b[1]]; simple != 0 {
		return rune(simple), 2
	}
	c, ok := hex4(b[2:])
	if b[1] != 'u' || !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(c) {
		return c, 6
	}
	if len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
		return 0, 0
	}
	low, ok := hex4(b[8:])
	if c = utf16.DecodeRune(c, low); !ok || c == utf8.RuneError {
		return 0, 0
	}
	return c, 12
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var u rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		u = u<<4 | rune(c)
	}
	return u, true
}

// unescape appends the meaning of raw, the checked content of a string token.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		end, _ := span(raw, i)
		dst = append(dst, raw[i:end]...)
		if end >= len(raw) {
			break
		}
		c, n := escape(raw[end:])
		if n == 0 { // only in source that a failure is being reported for
			dst, n = append(dst, raw[end]), 1
		} else {
			dst = utf8.AppendRune(dst, c)
		}
		i = end + n
	}
	return dst
}

// stringOf returns b as a string without copying. b must never change afterwards.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytesOf returns s as bytes without copying. They must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
