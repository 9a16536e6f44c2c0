package wire

import (
	"encoding/binary"
	"math/bits"
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

// Words of eight equal bytes, for scanning eight bytes at a time.
const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	spaces = 0x20 * ones
	quotes = '"' * ones
	slants = '\\' * ones
)

// special returns a word whose lowest set high bit marks the first byte of x that cannot stand for itself in a JSON
// string: a quote, a backslash or a control character. Bytes of 0x80 and above are not marked.
func special(x uint64) uint64 {
	q, s := x^quotes, x^slants
	return ((x - spaces) | (q - ones) | (s - ones)) &^ x & highs
}

// load8 reads eight bytes, the first lowest.
func load8(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// span returns the index of the first quote, backslash or control character at or after i, or len(src); high has a high
// bit set if a byte of 0x80 or above comes before it.
func span(src []byte, i int) (end int, high uint64) {
	if len(src)-i < 16 {
		return spanLong(src, len(src)-i, 0)
	}
	s := src[i : i+16 : i+16] // most strings end here
	x, y := load8(s), load8(s[8:])
	if m := special(x); m != 0 {
		n := bits.TrailingZeros64(m)
		return i + n/8, x & (1<<n - 1) & highs
	}
	if m := special(y); m != 0 {
		n := bits.TrailingZeros64(m)
		return i + 8 + n/8, (x | y&(1<<n-1)) & highs
	}
	return spanLong(src, len(src)-i-16, x|y)
}

// spanLong is span for the last n bytes, 32 at a time.
func spanLong(src []byte, n int, high uint64) (int, uint64) {
	s := src[len(src)-n:]
	for len(s) >= 32 {
		x, y, z, w := load8(s), load8(s[8:]), load8(s[16:]), load8(s[24:])
		if special(x)|special(y)|special(z)|special(w) != 0 {
			break
		}
		high |= x | y | z | w
		s = s[32:]
	}
	for len(s) >= 8 {
		x := load8(s)
		if m := special(x); m != 0 {
			n := bits.TrailingZeros64(m)
			return len(src) - len(s) + n/8, (high | x&(1<<n-1)) & highs
		}
		high |= x
		s = s[8:]
	}
	var x uint64 // the last bytes, fewer than eight; the zero bytes above stop the search like any control character
	if len(src) >= 8 {
		x = load8(src[len(src)-8:]) >> (8 * (8 - len(s)))
	} else {
		for i, c := range s {
			x |= uint64(c) << (8 * i)
		}
	}
	m := bits.TrailingZeros64(special(x))
	return len(src) - len(s) + m/8, (high | x&(1<<m-1)) & highs
}

// shortText is the length of texts that [isPlain] looks at: most ids and names.
const shortText = 64

// isPlain reports whether a short text has nothing but ASCII that stands for itself.
func isPlain(src []byte) bool {
	n := len(src)
	if n < 8 {
		for _, c := range src {
			if c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
				return false
			}
		}
		return true
	}
	x := load8(src[n-8:])
	found := special(x) | x
	for i := 0; i < n-8; i += 8 {
		x := load8(src[i:])
		found |= special(x) | x
	}
	return found&highs == 0
}

// copyPlain copies src to dst, 16 bytes at a time while both have as many, up to the first byte that cannot stand for
// itself in a JSON string. It returns the number of bytes before that byte, and whether it was found.
func copyPlain(dst, src []byte) (n int, found bool) {
	for n+16 <= len(src) && n+16 <= len(dst) {
		s, d := src[n:n+16:n+16], dst[n:n+16:n+16]
		x, y := load8(s), load8(s[8:])
		binary.LittleEndian.PutUint64(d, x)
		binary.LittleEndian.PutUint64(d[8:], y)
		if m := special(x); m != 0 {
			return n + bits.TrailingZeros64(m)/8, true
		}
		if m := special(y); m != 0 {
			return n + 8 + bits.TrailingZeros64(m)/8, true
		}
		n += 16
	}
	return n, false
}

// text reads the string token at pos, which is on its opening quote, and returns what is between the quotes: valid
// UTF-8 with valid escapes. The result refers to the source.
func (r *Reader) text() (raw []byte, escaped, ok bool) {
	start := r.pos + 1
	end, high := span(r.src, start)
	if high == 0 && end < len(r.src) && r.src[end] == '"' {
		r.pos = end + 1
		return r.src[start:end], false, true
	}
	return r.textSlow(start, end, high)
}

// textSlow continues behind the first span of the token.
func (r *Reader) textSlow(start, end int, high uint64) (raw []byte, escaped, ok bool) {
	for {
		if end >= len(r.src) {
			r.fail(end, "unexpected end of input in a string")
			return nil, false, false
		}
		c := r.src[end]
		if c == '"' {
			break
		}
		if c < ' ' {
			r.fail(end, "control character in a string")
			return nil, false, false
		}
		_, n := escape(r.src[end:])
		if n == 0 {
			r.fail(end, "invalid escape in a string")
			return nil, false, false
		}
		escaped = true
		var h uint64
		end, h = span(r.src, end+n)
		high |= h
	}
	raw = r.src[start:end]
	if high != 0 && !validUTF8(raw) {
		r.fail(start+validPrefix(raw), "invalid UTF-8 in a string")
		return nil, false, false
	}
	r.pos = end + 1
	return raw, escaped, true
}

// validPrefix returns the length of the longest valid UTF-8 prefix of b.
func validPrefix(b []byte) int {
	i := 0
	for i < len(b) {
		c, n := utf8.DecodeRune(b[i:])
		if c == utf8.RuneError && n <= 1 {
			break
		}
		i += n
	}
	return i
}
