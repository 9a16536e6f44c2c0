package check

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime/wire"
)

// canonical appends a valid value in the one spelling that all equal values share: members sorted by name, numbers by value.
func canonical(dst []byte, v wire.Value) []byte {
	switch v.Kind() {
	case wire.KindObject:
		return canonicalObject(dst, v)
	case wire.KindArray:
		return canonicalArray(dst, v)
	case wire.KindNumber:
		return append(dst, canonicalNumber(string(v))...)
	case wire.KindString:
		var r wire.Reader
		r.Reset(v)
		return wire.AppendString(dst, r.String())
	}
	return append(dst, v...)
}

func canonicalObject(dst []byte, v wire.Value) []byte {
	type member struct {
		name  string
		value wire.Value
	}
	var members []member
	for name, value := range wire.Object(v).All() {
		members = append(members, member{name, value})
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	start := len(dst)
	for _, m := range members {
		dst = canonical(wire.AppendKey(dst, m.name), m.value)
	}
	return wire.EndObject(dst, start)
}

func canonicalArray(dst []byte, v wire.Value) []byte {
	var r wire.Reader
	r.Reset(v)
	dst = append(dst, '[')
	for first, ok := true, r.Array(); ok; first, ok = false, r.Elem() {
		if !first {
			dst = append(dst, ',')
		}
		dst = canonical(dst, wire.Value(r.Raw()))
	}
	return append(dst, ']')
}

// wholeDigits is below how many digits a whole number is spelled out.
const wholeDigits = 40

// canonicalNumber spells whole numbers without exponent or fraction and others as the nearest float64. What is larger than one would
// spell out, or too small for a float64, keeps its digits and gets an exponent: no number becomes long by its exponent.
func canonicalNumber(text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10) // -0 is 0
	}
	sign, digits, exp, ok := decimal(text)
	switch {
	case !ok:
		return text
	case digits == "":
		return "0"
	case exp >= 0 && len(digits)+exp < wholeDigits:
		return sign + digits + strings.Repeat("0", exp)
	case exp < 0:
		if f, err := strconv.ParseFloat(text, 64); err == nil && f != 0 {
			return string(wire.AppendFloat64(nil, f))
		}
	}
	return sign + digits + "e" + strconv.Itoa(exp)
}

// maxExponent bounds the exponents that are looked at; what is beyond stays as it is written.
const maxExponent = 1 << 24

// decimal takes a JSON number apart: it is digits, without zeros at either end, times ten to the power of exp.
func decimal(text string) (sign, digits string, exp int, ok bool) {
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if exp, err = strconv.Atoi(text[i+1:]); err != nil || exp > maxExponent || exp < -maxExponent {
			return "", "", 0, false
		}
		text = text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	exp -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	return sign, trimmed, exp + len(digits) - len(trimmed), true
}

// parseRat reads a JSON number exactly. It refuses exponents whose expansion would fill the memory.
func parseRat(text string) (*big.Rat, bool) {
	if len(text) > 1000 {
		return nil, false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if exp, err := strconv.Atoi(text[i+1:]); err != nil || exp > 400 || exp < -400 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}
