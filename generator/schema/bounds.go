package schema

import (
	"math/big"
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
)

// checkBounds reports bounds that no value satisfies.
func (f *flat) checkBounds() {
	for _, low := range f.checks.Limits {
		for _, high := range f.checks.Limits {
			a, b := table[low.Keyword], table[high.Keyword]
			if a.Limit.Sign != 1 || b.Limit.Sign != -1 || a.On != b.On {
				continue
			}
			if cmp := rat(low.Arg).Cmp(rat(high.Arg)); cmp < 0 || cmp == 0 && !a.Limit.Open && !b.Limit.Open {
				continue
			}
			if a.On != jsontype.Number {
				f.errorf(f.at, nil, "conflict", "", "no value is at least %s and at most %s long", low.Arg, high.Arg)
				continue
			}
			f.errorf(f.at, nil, "conflict", "", "no number is %s and %s", says(low, "at least", "greater than"),
				says(high, "at most", "less than"))
			return
		}
	}
}

// says puts the words for the kind of bound before it.
func says(r ir.Limit, closed, open string) string {
	if table[r.Keyword].Limit.Open {
		return open + " " + r.Arg
	}
	return closed + " " + r.Arg
}

// numberLimits are the limits for numbers, of two lower or two upper bounds only the stricter.
func (f *flat) numberLimits() []ir.Limit {
	limits := f.limitsOn(jsontype.Number)
	return slices.DeleteFunc(slices.Clone(limits), func(r ir.Limit) bool {
		row := table[r.Keyword].Limit
		return row.Sign != 0 && slices.ContainsFunc(limits, func(o ir.Limit) bool {
			other := table[o.Keyword].Limit
			if other.Sign != row.Sign || other.Open == row.Open {
				return false
			}
			cmp := rat(o.Arg).Cmp(rat(r.Arg)) * row.Sign
			return cmp > 0 || cmp == 0 && other.Open
		})
	})
}

// intRange is what an integer kind can hold.
var intRange = map[ir.DataKind][2]*big.Int{
	ir.DataInt32:  {big.NewInt(-1 << 31), big.NewInt(1<<31 - 1)},
	ir.DataInt64:  {big.NewInt(-1 << 63), big.NewInt(1<<63 - 1)},
	ir.DataUint32: {big.NewInt(0), big.NewInt(1<<32 - 1)},
	ir.DataUint64: {big.NewInt(0), new(big.Int).SetUint64(1<<64 - 1)},
}

// IntegerRange is the Go type that integers with a format have, 64 bits where the format names no other, and what it holds.
func IntegerRange(format string) (kind ir.DataKind, low, high *big.Int) {
	kind = formats[format].kind
	if _, ok := intRange[kind]; !ok {
		kind = ir.DataInt64
	}
	return kind, intRange[kind][0], intRange[kind][1]
}

// integerLimits are the limits for an integer kind: inclusive whole bounds, and what the kind implies left out.
func (f *flat) integerLimits(kind ir.DataKind) []ir.Limit {
	low, high := intRange[kind][0], intRange[kind][1]
	var limits, bounds []ir.Limit
	for _, r := range f.limitsOn(jsontype.Number) {
		row := table[r.Keyword].Limit
		switch {
		case row.Sign > 0:
			if n := ceil(rat(r.Arg), row.Open); n.Cmp(low) > 0 {
				low, bounds = n, tighten(bounds, []ir.Limit{table["minimum"].with(n.String())})
			}
		case row.Sign < 0:
			if n := floor(rat(r.Arg), row.Open); n.Cmp(high) < 0 {
				high, bounds = n, tighten(bounds, []ir.Limit{table["maximum"].with(n.String())})
			}
		case r.Keyword == "multipleOf" && new(big.Rat).Inv(rat(r.Arg)).IsInt(): // it divides every whole number
		default:
			limits = append(limits, r)
		}
	}
	if low.Cmp(high) > 0 {
		f.errorf(f.at, nil, "conflict", "", "no %s is at least %s and at most %s", kind, low, high)
	}
	return tighten(bounds, limits)
}

// floor is the largest whole number that is at most r, or less than r when open.
func floor(r *big.Rat, open bool) *big.Int {
	n := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean: rounds down for a positive divisor
	if open && r.IsInt() {
		n.Sub(n, big.NewInt(1))
	}
	return n
}

// ceil is the smallest whole number that is at least r, or greater than r when open.
func ceil(r *big.Rat, open bool) *big.Int {
	return new(big.Int).Neg(floor(new(big.Rat).Neg(r), open))
}
