package check

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The parameters of punycode (RFC 3492 §5).
const (
	punyBase, punyMin, punyMax    = 36, 1, 26
	punySkew, punyDamp            = 38, 700
	punyFirstBias, punyFirstPoint = 72, 0x80
)

// validPunycode reports whether s, what follows "xn--" in a label, stands for a text that has to be written so: it decodes
// (RFC 3492 §6.2), and not to ASCII alone.
func validPunycode(s string) bool {
	s = strings.ToLower(s)
	length := max(strings.LastIndexByte(s, '-'), 0)
	rest := strings.TrimPrefix(s[length:], "-")
	point, at, bias, first := punyFirstPoint, 0, punyFirstBias, true
	for rest != "" {
		before, weight := at, 1
		for k := punyBase; ; k += punyBase {
			if rest == "" {
				return false
			}
			digit := punyDigit(rest[0])
			if rest = rest[1:]; digit < 0 || digit > (math.MaxInt32-at)/weight {
				return false
			}
			at += digit * weight
			t := min(max(k-bias, punyMin), punyMax)
			if digit < t {
				break
			}
			if weight > math.MaxInt32/(punyBase-t) {
				return false
			}
			weight *= punyBase - t
		}
		length++
		bias = punyAdapt(at-before, length, first)
		point, at, first = point+at/length, at%length+1, false
		if point > unicode.MaxRune || !utf8.ValidRune(rune(point)) {
			return false
		}
	}
	return !first
}

func punyDigit(c byte) int {
	switch {
	case c >= 'a' && c <= 'z':
		return int(c - 'a')
	case c >= '0' && c <= '9':
		return int(c-'0') + 26
	}
	return -1
}

func punyAdapt(delta, length int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / length
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}
