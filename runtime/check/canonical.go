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

// canonicalNumber spells whole numbers without exponent or fraction and others as the nearest float64; what is out of
// range stays as it is.
func canonicalNumber(text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10) // -0 is 0
	}
	x, ok := parseRat(text)
	if !ok {
		return text
	}
	if x.IsInt() {
		return x.Num().String()
	}
	f, _ := x.Float64()
	return string(wire.AppendFloat64(nil, f))
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
