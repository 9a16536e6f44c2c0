package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

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
	return spanTail(src, len(s), high)
}

// spanTail is span for the last n bytes, fewer than eight.
func spanTail(src []byte, n int, high uint64) (int, uint64) {
	var x uint64
	if len(src) >= 8 {
		x = load8(src[len(src)-8:]) >> (8 * (8 - n)) // the zero bytes above stop the search like any control character
	} else {
		for i, c := range src[len(src)-n:] {
			x |= uint64(c) << (8 * i)
		}
	}
	m := bits.TrailingZeros64(special(x))
	return len(src) - n + m/8, (high | x&(1<<m-1)) & highs
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

// Skip reads and drops one value, as strictly as if it were wanted.
func (r *Reader) Skip() {
	switch c := r.token(); c {
	case '"':
		r.text()
	case '{':
		r.skipObject()
	case '[':
		for ok := r.Array(); ok; ok = r.Elem() {
			r.Skip()
		}
	case 't':
		r.literal("true")
	case 'f':
		r.literal("false")
	case 'n':
		r.literal("null")
	default:
		if c != '-' && (c < '0' || c > '9') {
			r.expected("a value")
			return
		}
		r.number()
	}
}

func (r *Reader) skipObject() {
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		if r.addKey(key) {
			r.Skip()
		}
	}
}

// Raw reads one value strictly and returns its bytes, which refer to the source and may hold whitespace.
func (r *Reader) Raw() []byte {
	start := r.Offset()
	r.Skip()
	if r.err != nil {
		return nil
	}
	return r.src[start:r.pos:r.pos]
}

// Deferred returns the bytes of the next value, which refer to the source, by looking at its brackets and quotes only.
// It is for a value that a Reader of its own will read: nothing about it has been checked.
func (r *Reader) Deferred() []byte {
	start := r.Offset()
	end := r.bracketed(start)
	if r.err != nil {
		return nil
	}
	if end == start {
		r.expected("a value")
		return nil
	}
	r.pos = end
	return r.src[start:end:end]
}

// bracketed returns the end of the value at i.
func (r *Reader) bracketed(i int) int {
	depth := 0
	for i < len(r.src) {
		switch c := r.src[i]; c {
		case '"':
			i = quoted(r.src, i+1)
			if i < 0 {
				r.fail(len(r.src), "unexpected end of input in a string")
				return 0
			}
			if depth == 0 {
				return i
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
			if depth == 0 {
				return i
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			i++
		default:
			i++
		}
	}
	if depth > 0 {
		r.fail(len(r.src), "unexpected end of input")
	}
	return i
}

// quoted returns the index after the quote that closes the string whose content starts at i, or -1.
func quoted(src []byte, i int) int {
	for {
		n := bytes.IndexByte(src[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		slashes := 0
		for end-slashes > i && src[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
}

// Value reads any value, null included, into memory of its own, without whitespace between tokens.
func (r *Reader) Value() Value {
	start := r.Offset()
	r.spaced = false
	r.Skip()
	if r.err != nil {
		return nil
	}
	raw := r.src[start:r.pos]
	room := r.room(len(raw))
	if r.spaced {
		room = compact(room, raw)
	} else {
		room = append(room, raw...)
	}
	r.share(len(raw), room)
	return Value(room[:len(room):len(room)])
}

// Struct reads an object as it is, without whitespace between tokens.
func (r *Reader) Struct() Object {
	if r.token() != '{' {
		r.expected("an object")
		return nil
	}
	return Object(r.Value())
}

// compact appends raw, which is valid JSON, without whitespace between tokens.
func compact(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := quoted(raw, i+1)
			dst = append(dst, raw[i:end]...)
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}
