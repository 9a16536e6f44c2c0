package format

import (
	"slices"
	"unicode"
)

// validULabel reports whether a label that an A-label stands for may be one (RFC 5891 §4.2.3): no hyphens in the third
// and fourth place, at the beginning or the end, no combining mark first, and only characters that are valid as such or
// where they stand (RFC 5892). That it is normalized (NFC) and the rules of writing directions (RFC 5893) are not
// checked: their tables are not in the standard library.
func validULabel(label []rune) bool {
	if label[0] == '-' || label[len(label)-1] == '-' || len(label) > 3 && label[2] == '-' && label[3] == '-' {
		return false
	}
	if unicode.Is(unicode.M, label[0]) {
		return false
	}
	for i := range label {
		if !validInLabel(label, i) {
			return false
		}
	}
	return true
}

// validInLabel reports whether the character at i is valid in its place.
func validInLabel(label []rune, i int) bool {
	before, after := rune(-1), rune(-1)
	if i > 0 {
		before = label[i-1]
	}
	if i+1 < len(label) {
		after = label[i+1]
	}
	switch r := label[i]; {
	case r == 0xB7: // middle dot, of Catalan
		return before == 'l' && after == 'l'
	case r == 0x375: // keraia
		return unicode.Is(unicode.Greek, after)
	case r == 0x5F3, r == 0x5F4: // geresh, gershayim
		return unicode.Is(unicode.Hebrew, before)
	case r == 0x30FB: // katakana middle dot
		return slices.ContainsFunc(label, func(r rune) bool {
			return r != 0x30FB && unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han)
		})
	case isArabicDigit(r):
		return !slices.ContainsFunc(label, isExtendedArabicDigit)
	case isExtendedArabicDigit(r):
		return !slices.ContainsFunc(label, isArabicDigit)
	case r == 0x200C: // zero width non-joiner
		return unicode.Is(viramas, before) || joins(label[:i], true) && joins(label[i+1:], false)
	case r == 0x200D: // zero width joiner
		return unicode.Is(viramas, before)
	default:
		return validAnywhere(r)
	}
}

func isArabicDigit(r rune) bool         { return r >= 0x660 && r <= 0x669 }
func isExtendedArabicDigit(r rune) bool { return r >= 0x6F0 && r <= 0x6F9 }

// joins reports whether the letter nearest to the one end of text is of a script whose letters are joined.
func joins(text []rune, last bool) bool {
	for i := range text {
		r := text[i]
		if last {
			r = text[len(text)-1-i]
		}
		if !unicode.Is(unicode.Mn, r) {
			return unicode.IsLetter(r) && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian,
				unicode.Mandaic, unicode.Manichaean, unicode.Phags_Pa, unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Sogdian)
		}
	}
	return false
}

// validAnywhere reports whether a character is valid wherever it stands (RFC 5892 §2, §3).
func validAnywhere(r rune) bool {
	switch r {
	case '-', 0x6FD, 0x6FE, 0xF0B, 0x3007:
		return true
	case 0x640, 0x7FA, 0x302E, 0x302F, 0x303B:
		return false
	}
	return unicode.In(r, unicode.Ll, unicode.Lo, unicode.Lm, unicode.Mn, unicode.Mc, unicode.Nd) && !unicode.Is(otherwise, r)
}

// otherwise are letters, marks and digits that are not valid: another character is written for them when text is
// normalized (NFKC) without regard to case, or they are not seen, or of the old Hangul jamo.
var otherwise = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xAA, 0xBA, 16}, {0x133, 0x133, 1}, {0x140, 0x140, 1}, {0x149, 0x149, 1}, {0x17F, 0x17F, 1}, {0x1C6, 0x1CC, 3},
		{0x1F3, 0x1F3, 1}, {0x2B0, 0x2B8, 1}, {0x2E0, 0x2E4, 1}, {0x340, 0x341, 1}, {0x343, 0x345, 1}, {0x34F, 0x34F, 1},
		{0x374, 0x374, 1}, {0x37A, 0x37A, 1}, {0x3D0, 0x3D1, 1}, {0x3D5, 0x3D6, 1}, {0x3F0, 0x3F2, 1}, {0x3F5, 0x3F5, 1},
		{0x587, 0x587, 1}, {0x675, 0x678, 1}, {0x958, 0x95F, 1}, {0x9DC, 0x9DD, 1}, {0x9DF, 0x9DF, 1}, {0xA33, 0xA36, 3},
		{0xA59, 0xA5B, 1}, {0xA5E, 0xA5E, 1}, {0xB5C, 0xB5D, 1}, {0xE33, 0xE33, 1}, {0xEB3, 0xEB3, 1}, {0xEDC, 0xEDD, 1},
		{0xF77, 0xF79, 2}, {0x10FC, 0x10FC, 1}, {0x1100, 0x11FF, 1}, {0x13F8, 0x13FD, 1}, {0x17B4, 0x17B5, 1},
		{0x180B, 0x180F, 1}, {0x1C80, 0x1C88, 1}, {0x1D2C, 0x1D2E, 1}, {0x1D30, 0x1D3A, 1}, {0x1D3C, 0x1D4D, 1},
		{0x1D4F, 0x1D6A, 1}, {0x1D78, 0x1D78, 1}, {0x1D9B, 0x1DBF, 1}, {0x1E9A, 0x1E9B, 1}, {0x1F71, 0x1F7D, 2},
		{0x1F80, 0x1FAF, 1}, {0x1FB2, 0x1FB4, 1}, {0x1FB7, 0x1FB7, 1}, {0x1FBE, 0x1FBE, 1}, {0x1FC2, 0x1FC4, 1},
		{0x1FC7, 0x1FC7, 1}, {0x1FD3, 0x1FE3, 16}, {0x1FF2, 0x1FF4, 1}, {0x1FF7, 0x1FF7, 1}, {0x2071, 0x207F, 14},
		{0x2090, 0x209C, 1}, {0x2100, 0x214D, 1}, {0x2C7C, 0x2C7D, 1}, {0x2D6F, 0x2D6F, 1}, {0x302A, 0x302A, 1}, {0x3031, 0x3035, 1},
		{0x309F, 0x309F, 1}, {0x30FF, 0x30FF, 1}, {0x3131, 0x318E, 1}, {0xA69C, 0xA69D, 1}, {0xA770, 0xA770, 1},
		{0xA7F2, 0xA7F4, 1}, {0xA7F8, 0xA7F9, 1}, {0xA960, 0xA97C, 1}, {0xAB5C, 0xAB5F, 1}, {0xAB69, 0xABBF, 1},
		{0xD7B0, 0xD7FB, 1}, {0xF900, 0xFA0D, 1}, {0xFA10, 0xFA12, 2}, {0xFA15, 0xFA1E, 1}, {0xFA20, 0xFA22, 2},
		{0xFA25, 0xFA26, 1}, {0xFA2A, 0xFB1D, 1}, {0xFB1F, 0xFDFB, 1}, {0xFE00, 0xFE0F, 1}, {0xFE70, 0xFE72, 1},
		{0xFE74, 0xFEFC, 1}, {0xFF10, 0xFFDC, 1},
	},
	R32: []unicode.Range32{
		{0x10780, 0x107BA, 1}, {0x1D400, 0x1D7FF, 1}, {0x1E030, 0x1E06D, 1}, {0x1EE00, 0x1EEBB, 1}, {0x1FBF0, 0x1FBF9, 1},
		{0x2F800, 0x2FA1D, 1}, {0xE0100, 0xE01EF, 1},
	},
}

// viramas are the signs that a joiner may follow (canonical combining class 9).
var viramas = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x94D, 0xCCD, 0x80}, {0xD3B, 0xD3C, 1}, {0xD4D, 0xD4D, 1}, {0xDCA, 0xDCA, 1}, {0xE3A, 0xEBA, 0x80}, {0xF84, 0xF84, 1},
		{0x1039, 0x103A, 1}, {0x1714, 0x1715, 1}, {0x1734, 0x1734, 1}, {0x17D2, 0x17D2, 1}, {0x1A60, 0x1A60, 1},
		{0x1B44, 0x1B44, 1}, {0x1BAA, 0x1BAB, 1}, {0x1BF2, 0x1BF3, 1}, {0x2D7F, 0x2D7F, 1}, {0xA806, 0xA806, 1},
		{0xA82C, 0xA82C, 1}, {0xA8C4, 0xA8C4, 1}, {0xA953, 0xA953, 1}, {0xA9C0, 0xA9C0, 1}, {0xAAF6, 0xAAF6, 1},
		{0xABED, 0xABED, 1},
	},
	R32: []unicode.Range32{
		{0x10A3F, 0x10A3F, 1}, {0x11046, 0x11046, 1}, {0x11070, 0x1107F, 15}, {0x110B9, 0x110B9, 1}, {0x11133, 0x11134, 1},
		{0x111C0, 0x111C0, 1}, {0x11235, 0x11235, 1}, {0x112EA, 0x112EA, 1}, {0x1134D, 0x1134D, 1}, {0x11442, 0x11442, 1},
		{0x114C2, 0x114C2, 1}, {0x115BF, 0x115BF, 1}, {0x1163F, 0x1163F, 1}, {0x116B6, 0x116B6, 1}, {0x1172B, 0x1172B, 1},
		{0x11839, 0x11839, 1}, {0x1193D, 0x1193E, 1}, {0x119E0, 0x119E0, 1}, {0x11A34, 0x11A34, 1}, {0x11A47, 0x11A47, 1},
		{0x11A99, 0x11A99, 1}, {0x11C3F, 0x11C3F, 1}, {0x11D44, 0x11D45, 1}, {0x11D97, 0x11D97, 1},
	},
}
