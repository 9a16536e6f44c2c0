package format

import (
	"math"
	"slices"
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

// validPunycode reports whether s, what follows "xn--" in a label, stands for a label that has to be written so: it decodes
// (RFC 3492 §6.2), not to ASCII alone, and to what may be a label.
func validPunycode(s string) bool {
	label, ok := fromPunycode(strings.ToLower(s))
	return ok && validULabel(label)
}

func fromPunycode(s string) (label []rune, ok bool) {
	if s == "" || s[0] == '-' {
		return nil, false
	}
	length := max(strings.LastIndexByte(s, '-'), 0)
	label = []rune(s[:length])
	rest := strings.TrimPrefix(s[length:], "-")
	point, at, bias, first := punyFirstPoint, 0, punyFirstBias, true
	for rest != "" {
		before, weight := at, 1
		for k := punyBase; ; k += punyBase {
			if rest == "" {
				return nil, false
			}
			digit := punyDigit(rest[0])
			if rest = rest[1:]; digit < 0 || digit > (math.MaxInt32-at)/weight {
				return nil, false
			}
			at += digit * weight
			t := min(max(k-bias, punyMin), punyMax)
			if digit < t {
				break
			}
			if weight > math.MaxInt32/(punyBase-t) {
				return nil, false
			}
			weight *= punyBase - t
		}
		length++
		bias = punyAdapt(at-before, length, first)
		point, at, first = point+at/length, at%length, false
		if point > unicode.MaxRune || !utf8.ValidRune(rune(point)) {
			return nil, false
		}
		label = slices.Insert(label, at, rune(point))
		at++
	}
	return label, !first
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
