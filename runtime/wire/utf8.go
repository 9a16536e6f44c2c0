package wire

import (
	"math/bits"
	"unicode/utf8"
)

// validUTF8 is utf8.Valid, faster for what text mostly is: ASCII with other characters in between, or characters of two
// and three bytes throughout.
func validUTF8(b []byte) bool {
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c < utf8.RuneSelf:
			if i+8 > len(b) {
				i++
				continue
			}
			m := load8(b[i:]) & highs
			i += bits.TrailingZeros64(m) / 8 // 8 if there is no high bit
		case c >= 0xc2 && c <= 0xdf && i+1 < len(b) && b[i+1]&0xc0 == 0x80:
			i += 2
		case c >= 0xe1 && c <= 0xef && c != 0xed && i+2 < len(b) && b[i+1]&0xc0 == 0x80 && b[i+2]&0xc0 == 0x80:
			i += 3
		default: // four bytes, those of three that need a closer look, and what is not valid
			if r, n := utf8.DecodeRune(b[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			return false
		}
	}
	return true
}
