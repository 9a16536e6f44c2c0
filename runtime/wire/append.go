package wire

import (
	"math"
	"slices"
	"strconv"
)

// EndObject ends the object begun at len(b) == start, all of whose members were appended with a comma before them: the
// first comma becomes the opening brace.
func EndObject(b []byte, start int) []byte {
	if len(b) == start {
		return append(b, '{', '}')
	}
	b[start] = '{'
	return append(b, '}')
}

// EndArray is EndObject for an array, whose elements were appended with a comma before each.
func EndArray(b []byte, start int) []byte {
	if len(b) == start {
		return append(b, '[', ']')
	}
	b[start] = '['
	return append(b, ']')
}

// AppendKey appends a comma, the member name and a colon. Generated code has them as constants where it can.
func AppendKey(b []byte, name string) []byte {
	return append(AppendString(append(b, ','), name), ':')
}

// AppendString appends s as a JSON string. Quotes, backslashes and control characters are escaped, nothing else; bytes
// that are not UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	src := bytesOf(s)
	if len(src) <= shortText && isPlain(src) {
		return append(append(b, s...), '"')
	}
	end, high := span(src, 0)
	if end == len(s) && (high == 0 || validUTF8(src)) {
		b = append(b, s...)
		return append(b, '"')
	}
	return appendEscaped(b, src, end)
}

// longestEscape is the length of `\u0000`, in bytes.
const longestEscape = 6

// appendEscaped appends the content and the closing quote of a string that needs escapes or replacement. The first clean
// bytes of src are known to need no escape.
func appendEscaped(b, src []byte, clean int) []byte {
	if !validUTF8(src) {
		src, clean = []byte(string([]rune(string(src)))), 0 // each byte that is not UTF-8 reads as U+FFFD
	}
	b = append(b, src[:clean]...)
	i := clean
	for i+16 <= len(src) {
		// Copy words up to the next escape; when there is no room for both, make room again.
		b = slices.Grow(b, len(src)-i+16+longestEscape)
		dst, o := b[len(b):cap(b)], 0
		room := len(dst) - longestEscape
		for found := true; found && o <= room; {
			var n int
			n, found = copyPlain(dst[o:room], src[i:])
			i, o = i+n, o+n
			if found {
				o += putEscape(dst[o:], src[i])
				i++
			}
		}
		b = b[:len(b)+o]
	}
	for ; i < len(src); i++ {
		if c := src[i]; c >= ' ' && c != '"' && c != '\\' {
			b = append(b, c)
			continue
		}
		var escape [longestEscape]byte
		b = append(b, escape[:putEscape(escape[:], src[i])]...)
	}
	return append(b, '"')
}

const hexDigits = "0123456789abcdef"

// shortEscapes are the letters that stand for a character after a backslash, zero for other characters.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// putEscape writes the escape sequence of a quote, backslash or control character and returns its length.
func putEscape(dst []byte, c byte) int {
	if short := shortEscapes[c]; short != 0 {
		dst[0], dst[1] = '\\', short
		return 2
	}
	return copy(dst, []byte{'\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]})
}

// AppendBool appends true or false.
func AppendBool(b []byte, x bool) []byte { return strconv.AppendBool(b, x) }

// AppendInt32 appends a number.
func AppendInt32(b []byte, x int32) []byte { return strconv.AppendInt(b, int64(x), 10) }

// AppendUint32 appends a number.
func AppendUint32(b []byte, x uint32) []byte { return strconv.AppendUint(b, uint64(x), 10) }

// AppendInt64 appends a string of digits, as ProtoJSON has 64-bit integers.
func AppendInt64(b []byte, x int64) []byte {
	return append(strconv.AppendInt(append(b, '"'), x, 10), '"')
}

// AppendUint64 appends a string of digits.
func AppendUint64(b []byte, x uint64) []byte {
	return append(strconv.AppendUint(append(b, '"'), x, 10), '"')
}

// AppendInteger appends a 64-bit integer as a number, for contracts that are JSON rather than ProtoJSON.
func AppendInteger(b []byte, x int64) []byte { return strconv.AppendInt(b, x, 10) }

// AppendFloat32 appends a number, or one of the strings "NaN", "Infinity" and "-Infinity".
func AppendFloat32(b []byte, x float32) []byte { return appendFloat(b, float64(x), 32) }

// AppendFloat64 is AppendFloat32 for 64 bits.
func AppendFloat64(b []byte, x float64) []byte { return appendFloat(b, x, 64) }

// appendFloat writes the shortest digits that read back the same, with an exponent only far from zero.
func appendFloat(b []byte, x float64, size int) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(b, `"-Infinity"`...)
	}
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(b, x, 'e', -1, size)
	}
	return strconv.AppendFloat(b, x, 'f', -1, size)
}

// appendEnum appends an enum value that is in no table: a number if it is one, else a string.
func appendEnum(b []byte, name string) []byte {
	if _, ok := EnumNumber(name); ok {
		return append(b, name...)
	}
	return AppendString(b, name)
}

// AppendValue appends a raw value, checked and without whitespace; null if it is not set. A value that is not JSON is an error.
func AppendValue(b []byte, v Value) ([]byte, error) {
	if len(v) == 0 {
		return append(b, "null"...), nil
	}
	return appendRaw(b, v)
}

// AppendStruct appends a raw object, checked and without whitespace; {} if it is not set. Anything else is an error.
func AppendStruct(b []byte, o Object) ([]byte, error) {
	if len(o) == 0 {
		return append(b, '{', '}'), nil
	}
	start := len(b)
	b, err := appendRaw(b, o)
	if err == nil && b[start] != '{' {
		return b[:start], &Error{Reason: "not an object"}
	}
	return b, err
}

func appendRaw(b, raw []byte) ([]byte, error) {
	var r Reader
	r.Reset(raw)
	r.Skip()
	if err := r.Done(); err != nil {
		return b, err
	}
	if !r.spaced {
		return append(b, raw...), nil
	}
	return compact(b, raw), nil
}

// AppendPlainList appends a list whose elements can always be written.
func AppendPlainList[T any](b []byte, list []T, elem func([]byte, T) []byte) []byte {
	start := len(b)
	for _, x := range list {
		b = elem(append(b, ','), x)
	}
	return EndArray(b, start)
}
