package wire

import (
	"math"
	"strconv"
)

// number reads the number token at pos and returns its bytes in the source.
func (r *Reader) number() []byte {
	start := r.pos
	end := numberEnd(r.src, start)
	if end < 0 {
		r.fail(start, "invalid number")
		return nil
	}
	r.pos = end
	return r.src[start:end]
}

// numberEnd returns the end of the number at i, or -1 if there is none.
func numberEnd(src []byte, i int) int {
	if i < len(src) && src[i] == '-' {
		i++
	}
	switch {
	case i >= len(src):
		return -1
	case src[i] == '0':
		i++
	default:
		if i = digits(src, i); i < 0 {
			return -1
		}
	}
	if i < len(src) && src[i] == '.' {
		if i = digits(src, i+1); i < 0 {
			return -1
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		return digits(src, i)
	}
	return i
}

// digits returns the end of the digits at i, of which there must be one, or -1.
func digits(src []byte, i int) int {
	start := i
	for i < len(src) && src[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	switch r.token() {
	case 't':
		return r.literal("true")
	case 'f':
		r.literal("false")
		return false
	}
	r.expected("true or false")
	return false
}

// NumberText reads a number and returns it as written; the bytes refer to the source.
func (r *Reader) NumberText() []byte {
	if c := r.token(); c != '-' && (c < '0' || c > '9') {
		r.expected("a number")
		return nil
	}
	return r.number()
}

// numeric reads a number, or a string that holds one, as ProtoJSON allows (A2A 1.0 §5.5).
func (r *Reader) numeric() (raw []byte, start int) {
	start = r.Offset()
	if r.Kind() != KindString {
		return r.NumberText(), start
	}
	raw = r.Text()
	if r.err == nil && numberEnd(raw, 0) != len(raw) {
		r.fail(start, "expected a number")
		return nil, start
	}
	return raw, start
}

// Int32 reads an integer from a number, an integral decimal such as 1.0 or 1e2, or a string holding one.
func (r *Reader) Int32() int32 { return int32(r.signed(math.MinInt32, math.MaxInt32)) }

// Int64 is Int32 for 64 bits.
func (r *Reader) Int64() int64 { return r.signed(math.MinInt64, math.MaxInt64) }

// Uint32 is Int32 for unsigned 32 bits.
func (r *Reader) Uint32() uint32 { return uint32(r.unsigned(math.MaxUint32)) }

// Uint64 is Int32 for unsigned 64 bits.
func (r *Reader) Uint64() uint64 { return r.unsigned(math.MaxUint64) }

// Integer reads an integer from a number, also an integral decimal such as 1.0, but not from a string.
func (r *Reader) Integer() int64 {
	start := r.Offset()
	return r.toSigned(r.NumberText(), start, math.MinInt64, math.MaxInt64)
}

func (r *Reader) signed(low, high int64) int64 {
	raw, start := r.numeric()
	return r.toSigned(raw, start, low, high)
}

func (r *Reader) toSigned(raw []byte, start int, low, high int64) int64 {
	if r.err != nil {
		return 0
	}
	negative, magnitude, ok := integer(raw)
	if !ok {
		r.fail(start, "expected an integer in range")
		return 0
	}
	switch {
	case !negative && magnitude <= uint64(high):
		return int64(magnitude)
	case negative && magnitude <= uint64(-(low+1))+1:
		return -int64(magnitude)
	}
	r.fail(start, "integer out of range")
	return 0
}

func (r *Reader) unsigned(high uint64) uint64 {
	raw, start := r.numeric()
	if r.err != nil {
		return 0
	}
	negative, magnitude, ok := integer(raw)
	if !ok || negative && magnitude != 0 || magnitude > high {
		r.fail(start, "expected an integer in range")
		return 0
	}
	return magnitude
}

// integer reads the value of a valid number token, exactly. It is not ok if the value has a fraction or more than 64 bits.
func integer(raw []byte) (negative bool, magnitude uint64, ok bool) {
	if raw[0] == '-' {
		negative, raw = true, raw[1:]
	}
	i := 0
	for ; i < len(raw) && raw[i]-'0' <= 9; i++ {
		if i >= 19 {
			return integerSlow(negative, raw)
		}
		magnitude = magnitude*10 + uint64(raw[i]-'0')
	}
	if i < len(raw) {
		return integerSlow(negative, raw)
	}
	return negative, magnitude, true
}

// integerSlow handles decimals, exponents and more than 19 digits: the digits without the point, and where the point
// then belongs.
func integerSlow(negative bool, raw []byte) (bool, uint64, bool) {
	var mantissa []byte
	point, exponent := -1, int64(0)
	for i, c := range raw {
		if c|0x20 == 'e' {
			exponent, _ = strconv.ParseInt(string(raw[i+1:]), 10, 64) // out of range saturates, which decides right below
			break
		}
		if c == '.' {
			point = len(mantissa)
			continue
		}
		mantissa = append(mantissa, c)
	}
	if point < 0 {
		point = len(mantissa)
	}
	lead := 0
	for lead < len(mantissa) && mantissa[lead] == '0' {
		lead++
	}
	mantissa, point = mantissa[lead:], point-lead
	for len(mantissa) > 0 && mantissa[len(mantissa)-1] == '0' {
		mantissa = mantissa[:len(mantissa)-1]
	}
	if len(mantissa) == 0 {
		return negative, 0, true
	}
	if exponent > 1<<40 || exponent < -1<<40 {
		return negative, 0, false // a nonzero number; no document is long enough to balance such an exponent
	}
	size := int64(point) + exponent
	if size < int64(len(mantissa)) || size > 20 {
		return negative, 0, false
	}
	for int64(len(mantissa)) < size {
		mantissa = append(mantissa, '0')
	}
	magnitude, err := strconv.ParseUint(string(mantissa), 10, 64)
	return negative, magnitude, err == nil
}

// Float32 reads a number, a string holding one, or one of the strings "NaN", "Infinity" and "-Infinity".
func (r *Reader) Float32() float32 { return float32(r.float(32)) }

// Float64 is Float32 for 64 bits.
func (r *Reader) Float64() float64 { return r.float(64) }

// Number reads a number, but not from a string. A number that no float64 is near is a failure.
func (r *Reader) Number() float64 {
	start := r.Offset()
	return r.toFloat(r.NumberText(), start, 64)
}

func (r *Reader) float(size int) float64 {
	start := r.Offset()
	if r.Kind() != KindString {
		return r.toFloat(r.NumberText(), start, size)
	}
	text := r.Text()
	switch string(text) {
	case "NaN":
		return math.NaN()
	case "Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	if r.err == nil && numberEnd(text, 0) != len(text) {
		r.fail(start, "expected a number")
	}
	return r.toFloat(text, start, size)
}

func (r *Reader) toFloat(raw []byte, start, size int) float64 {
	if r.err != nil {
		return 0
	}
	x, err := strconv.ParseFloat(string(raw), size)
	if err != nil {
		r.fail(start, "number out of range")
		return 0
	}
	return x
}

// Enum reads an enum value: by name, or by number, also in a string. The name may refer to the source.
func (r *Reader) Enum() (name []byte, number int32, byName bool) {
	start := r.Offset()
	switch r.Kind() {
	case KindString:
		name = r.Text()
		if n, ok := EnumNumber(stringOf(name)); ok {
			return nil, n, false
		}
		return name, 0, true
	case KindNumber:
		return nil, int32(r.toSigned(r.number(), start, math.MinInt32, math.MaxInt32)), false
	}
	r.expected("an enum name or number")
	return nil, 0, false
}

// EnumNumber reads the name of an enum value that is known by its number only: "7".
func EnumNumber(name string) (int32, bool) {
	if name == "" || name[0] != '-' && (name[0] < '0' || name[0] > '9') {
		return 0, false
	}
	n, err := strconv.ParseInt(name, 10, 32)
	return int32(n), err == nil && strconv.FormatInt(n, 10) == name
}
