package wire

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Bytes reads a base64 string: standard or URL-safe alphabet, with or without padding (T59), but no blanks or line
// breaks. An empty string gives an empty slice that is not nil.
func (r *Reader) Bytes() []byte {
	if r.token() != '"' {
		r.expected("a base64 string")
		return nil
	}
	// Base64 needs no escapes, so nearly always the content ends at the next quote and decoding is its only check.
	start := r.pos
	if n := bytes.IndexByte(r.src[start+1:], '"'); n >= 0 {
		if out, ok := decodeBase64(r.src[start+1 : start+1+n]); ok {
			r.pos = start + n + 2
			return out
		}
	}
	raw := r.Text()
	if r.err != nil {
		return nil
	}
	out, ok := decodeBase64(raw)
	if !ok {
		r.fail(start, "invalid base64")
	}
	return out
}

// encodePairs maps twelve bits to two characters of the standard alphabet, the first in the low byte.
var encodePairs = func() (t [1 << 12]uint16) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range t {
		t[i] = uint16(alphabet[i>>6]) | uint16(alphabet[i&63])<<8
	}
	return t
}()

// A byte of neither alphabet is marked twice in decodeQuads, so that the mark shows at notBase64 also when four characters
// are the high half of eight.
const (
	notBase64 = 1 << 62
	badQuad   = notBase64 | notBase64>>24
)

// decodeQuads maps the character at each of four places to its bits in the three bytes they stand for, the first byte
// lowest. It is derived from encodePairs.
var decodeQuads = func() (t [4][256]uint64) {
	for place := range t {
		for c := range t[place] {
			t[place][c] = badQuad
		}
	}
	set := func(c byte, six uint64) {
		for place := range t {
			bits := six << (18 - 6*place)
			t[place][c] = bits>>16&0xff | bits&0xff00 | bits&0xff<<16
		}
	}
	for six := range uint64(64) {
		set(byte(encodePairs[six]>>8), six)
	}
	set('-', 62)
	set('_', 63)
	return t
}()

// decodeBase64 decodes either alphabet, padded or not.
func decodeBase64(src []byte) ([]byte, bool) {
	if n := len(src); n >= 4 && n%4 == 0 && src[n-1] == '=' {
		src = src[:n-1]
		if src[n-2] == '=' {
			src = src[:n-2]
		}
	}
	if len(src)%4 == 1 {
		return nil, false
	}
	size := len(src)/4*3 + max(len(src)%4-1, 0)
	out := make([]byte, size)
	i, o := 0, 0
	for ; i+32 <= len(src) && o+26 <= size; i, o = i+32, o+24 {
		s, d := src[i:i+32:i+32], out[o:o+26:o+26]
		w, x, y, z := load8(s), load8(s[8:]), load8(s[16:]), load8(s[24:])
		w = decode4(uint32(w)) | decode4(uint32(w>>32))<<24
		x = decode4(uint32(x)) | decode4(uint32(x>>32))<<24
		y = decode4(uint32(y)) | decode4(uint32(y>>32))<<24
		z = decode4(uint32(z)) | decode4(uint32(z>>32))<<24
		if (w|x|y|z)&notBase64 != 0 {
			return nil, false
		}
		binary.LittleEndian.PutUint64(d, w)
		binary.LittleEndian.PutUint64(d[6:], x)
		binary.LittleEndian.PutUint64(d[12:], y)
		binary.LittleEndian.PutUint64(d[18:], z)
	}
	for ; i < len(src); i, o = i+4, o+3 {
		var bits uint64
		for place, c := range src[i:min(i+4, len(src))] {
			bits |= decodeQuads[place][c]
		}
		if bits&notBase64 != 0 {
			return nil, false
		}
		for k := o; k < min(o+3, size); k++ {
			out[k] = byte(bits)
			bits >>= 8
		}
	}
	return out, true
}

// decode4 returns the three bytes that four characters stand for, the first lowest; a character of neither alphabet
// sets the bits of badQuad.
func decode4(x uint32) uint64 {
	t := &decodeQuads
	return t[0][byte(x)] | t[1][byte(x>>8)] | t[2][byte(x>>16)] | t[3][x>>24]
}

// AppendBytes appends x as a string of standard base64 with padding.
func AppendBytes(b, x []byte) []byte {
	start := len(b)
	size := (len(x) + 2) / 3 * 4
	b = slices.Grow(b, size+2)[:start+size+2]
	b[start], b[len(b)-1] = '"', '"'
	encodeBase64(b[start+1:len(b)-1], x)
	return b
}

// encodeBase64 fills dst with x.
func encodeBase64(dst, x []byte) {
	i, o := 0, 0
	for ; i+26 <= len(x); i, o = i+24, o+32 {
		s, d := x[i:i+26:i+26], dst[o:o+32:o+32]
		binary.LittleEndian.PutUint64(d, encode6(binary.BigEndian.Uint64(s)))
		binary.LittleEndian.PutUint64(d[8:], encode6(binary.BigEndian.Uint64(s[6:])))
		binary.LittleEndian.PutUint64(d[16:], encode6(binary.BigEndian.Uint64(s[12:])))
		binary.LittleEndian.PutUint64(d[24:], encode6(binary.BigEndian.Uint64(s[18:])))
	}
	for ; i < len(x); i, o = i+3, o+4 {
		rest := x[i:min(i+3, len(x))]
		var v uint32
		for k, c := range rest {
			v |= uint32(c) << (16 - 8*k)
		}
		first, last := encodePairs[v>>12], encodePairs[v&0xfff]
		dst[o], dst[o+1], dst[o+2], dst[o+3] = byte(first), byte(first>>8), byte(last), byte(last>>8)
		for k := len(rest) + 1; k < 4; k++ {
			dst[o+k] = '='
		}
	}
}

// encode6 returns the eight characters for the six high bytes of v, the first lowest.
func encode6(v uint64) uint64 {
	return uint64(encodePairs[v>>52]) | uint64(encodePairs[v>>40&0xfff])<<16 | uint64(encodePairs[v>>28&0xfff])<<32 | uint64(encodePairs[v>>16&0xfff])<<48
}
