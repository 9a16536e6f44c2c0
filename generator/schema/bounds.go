package schema

import (
	"math/big"
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
)

// mergeChecks tightens the constraints of f by those of one atom.
func (f *flat) mergeChecks(a *schema) {
	c, n := &f.checks, &a.checks
	tighten(&c.Minimum, n.Minimum, 1)
	tighten(&c.ExclusiveMinimum, n.ExclusiveMinimum, 1)
	tighten(&c.Maximum, n.Maximum, -1)
	tighten(&c.ExclusiveMaximum, n.ExclusiveMaximum, -1)
	tightenCount(&c.MinLength, n.MinLength, 1)
	tightenCount(&c.MaxLength, n.MaxLength, -1)
	tightenCount(&c.MinItems, n.MinItems, 1)
	tightenCount(&c.MaxItems, n.MaxItems, -1)
	tightenCount(&c.MinProperties, n.MinProperties, 1)
	tightenCount(&c.MaxProperties, n.MaxProperties, -1)
	c.UniqueItems = c.UniqueItems || n.UniqueItems
	c.MultipleOf = addNew(c.MultipleOf, n.MultipleOf)
	c.Patterns = addNew(c.Patterns, n.Patterns)
	c.Formats = addNew(c.Formats, n.Formats)
	c.DependentRequired = append(c.DependentRequired, n.DependentRequired...)
	c.Groups = append(c.Groups, n.Groups...)
}

// addNew appends what a does not have yet.
func addNew(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// tighten replaces a bound by a stricter one: sign 1 for lower bounds, -1 for upper ones.
func tighten(bound *string, by string, sign int) {
	if by != "" && (*bound == "" || rat(by).Cmp(rat(*bound)) == sign) {
		*bound = by
	}
}

func tightenCount(bound **int, by *int, sign int) {
	if by != nil && (*bound == nil || (*by-**bound)*sign > 0) {
		*bound = by
	}
}

// checkBounds reports bounds that no value satisfies.
func (f *flat) checkBounds() {
	c := &f.checks
	for _, pair := range [][2]*int{{c.MinLength, c.MaxLength}, {c.MinItems, c.MaxItems}, {c.MinProperties, c.MaxProperties}} {
		if pair[0] != nil && pair[1] != nil && *pair[0] > *pair[1] {
			f.errorf(f.at, nil, "conflict", "", "no value is at least %d and at most %d long", *pair[0], *pair[1])
		}
	}
	for _, low := range f.lowest() {
		for _, high := range f.highest() {
			if low.text == "" || high.text == "" {
				continue
			}
			if cmp := rat(low.text).Cmp(rat(high.text)); cmp > 0 || cmp == 0 && (low.open || high.open) {
				f.errorf(f.at, nil, "conflict", "", "no number is %s and %s", low.says("at least", "greater than"), high.says("at most", "less than"))
				return
			}
		}
	}
}

// bound is a lower or an upper bound of a number; open: itself it does not belong to the range.
type bound struct {
	text string // "": none
	open bool
}

func (f *flat) lowest() []bound {
	return []bound{{f.checks.Minimum, false}, {f.checks.ExclusiveMinimum, true}}
}
func (f *flat) highest() []bound {
	return []bound{{f.checks.Maximum, false}, {f.checks.ExclusiveMaximum, true}}
}

// says puts the words for the kind of bound before it.
func (b bound) says(closed, open string) string {
	if b.open {
		return open + " " + b.text
	}
	return closed + " " + b.text
}

// numberBounds are the bounds of f, of two lower or two upper ones only the stricter.
func (f *flat) numberBounds() ir.Checks {
	c := ir.Checks{
		Minimum: f.checks.Minimum, ExclusiveMinimum: f.checks.ExclusiveMinimum,
		Maximum: f.checks.Maximum, ExclusiveMaximum: f.checks.ExclusiveMaximum, MultipleOf: f.checks.MultipleOf,
	}
	if c.Minimum != "" && c.ExclusiveMinimum != "" {
		if rat(c.ExclusiveMinimum).Cmp(rat(c.Minimum)) >= 0 {
			c.Minimum = ""
		} else {
			c.ExclusiveMinimum = ""
		}
	}
	if c.Maximum != "" && c.ExclusiveMaximum != "" {
		if rat(c.ExclusiveMaximum).Cmp(rat(c.Maximum)) <= 0 {
			c.Maximum = ""
		} else {
			c.ExclusiveMaximum = ""
		}
	}
	return c
}

// intRange is what an integer kind can hold.
var intRange = map[ir.DataKind][2]*big.Int{
	ir.DataInt32:  {big.NewInt(-1 << 31), big.NewInt(1<<31 - 1)},
	ir.DataInt64:  {big.NewInt(-1 << 63), big.NewInt(1<<63 - 1)},
	ir.DataUint32: {big.NewInt(0), big.NewInt(1<<32 - 1)},
	ir.DataUint64: {big.NewInt(0), new(big.Int).SetUint64(1<<64 - 1)},
}

// integerChecks are the number checks for an integer kind: inclusive whole bounds, those that the kind implies left out.
func (f *flat) integerChecks(kind ir.DataKind) *ir.Checks {
	low, high := intRange[kind][0], intRange[kind][1]
	checks := &ir.Checks{MultipleOf: wholeMultiples(f.checks.MultipleOf)}
	for _, b := range f.lowest() {
		if b.text == "" {
			continue
		}
		if n := ceil(rat(b.text), b.open); n.Cmp(low) > 0 {
			low, checks.Minimum = n, n.String()
		}
	}
	for _, b := range f.highest() {
		if b.text == "" {
			continue
		}
		if n := floor(rat(b.text), b.open); n.Cmp(high) < 0 {
			high, checks.Maximum = n, n.String()
		}
	}
	if low.Cmp(high) > 0 {
		f.errorf(f.at, nil, "conflict", "", "no %s is at least %s and at most %s", kind, low, high)
	}
	return checks
}

// wholeMultiples drops divisors that divide every whole number.
func wholeMultiples(divisors []string) []string {
	var left []string
	for _, d := range divisors {
		if !new(big.Rat).Inv(rat(d)).IsInt() {
			left = append(left, d)
		}
	}
	return left
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
