package scaffold

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp/syntax"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
)

// constraints are the checks on one value, from its place and from its type. Nil entries say nothing.
type constraints []*ir.Checks

// each calls f for every set of checks.
func (cs constraints) each(f func(c *ir.Checks)) {
	for _, c := range cs {
		if c != nil {
			f(c)
		}
	}
}

// pick returns the index-th of the only valid values, if there are such.
func (cs constraints) pick(index int) (string, bool) {
	var got string
	cs.each(func(c *ir.Checks) {
		if len(c.Values) > 0 {
			got = string(c.Values[index%len(c.Values)])
		}
	})
	return got, got != ""
}

// number finds the index-th number, from zero or the smallest valid one upwards.
func (cs constraints) number(integer, unsigned bool, index int) (string, error) {
	var low, high *big.Rat
	lowOpen, highOpen := false, false
	step := big.NewRat(1, 1)
	multiple := false
	cs.each(func(c *ir.Checks) {
		raise(&low, &lowOpen, c.Minimum, false, 1)
		raise(&low, &lowOpen, c.ExclusiveMinimum, true, 1)
		raise(&high, &highOpen, c.Maximum, false, -1)
		raise(&high, &highOpen, c.ExclusiveMaximum, true, -1)
		for _, m := range c.MultipleOf {
			if r, ok := new(big.Rat).SetString(m); ok && r.Sign() > 0 {
				step, multiple = r, true
			}
		}
	})
	if unsigned && low == nil {
		low = new(big.Rat)
	}
	n := start(low, high, lowOpen, highOpen)
	if integer || multiple {
		n = align(n, step, low, lowOpen)
	}
	n.Add(n, new(big.Rat).Mul(step, big.NewRat(int64(index), 1)))
	if high != nil && (n.Cmp(high) > 0 || highOpen && n.Cmp(high) == 0) {
		return "", errors.New("no number satisfies the bounds")
	}
	if n.IsInt() {
		return n.Num().String(), nil
	}
	f, _ := n.Float64()
	if math.IsInf(f, 0) {
		return "", errors.New("the number is too large")
	}
	return fmt.Sprintf("%g", f), nil
}

// raise tightens a bound: sign 1 for a lower one, -1 for an upper one.
func raise(bound **big.Rat, open *bool, text string, exclusive bool, sign int) {
	r, ok := new(big.Rat).SetString(text)
	if text == "" || !ok {
		return
	}
	if *bound == nil || r.Cmp(*bound)*sign > 0 || r.Cmp(*bound) == 0 && exclusive {
		*bound, *open = r, exclusive
	}
}

// start is zero where that is valid, else a value near a bound.
func start(low, high *big.Rat, lowOpen, highOpen bool) *big.Rat {
	zero := new(big.Rat)
	aboveLow := low == nil || low.Sign() < 0 || low.Sign() == 0 && !lowOpen
	belowHigh := high == nil || high.Sign() > 0 || high.Sign() == 0 && !highOpen
	switch {
	case aboveLow && belowHigh:
		return zero
	case aboveLow && !highOpen:
		return new(big.Rat).Set(high)
	case !aboveLow && !lowOpen:
		return new(big.Rat).Set(low)
	case low != nil && high != nil:
		mid := new(big.Rat).Add(low, high)
		return mid.Quo(mid, big.NewRat(2, 1))
	case low != nil:
		return new(big.Rat).Add(low, big.NewRat(1, 1))
	default:
		return new(big.Rat).Sub(high, big.NewRat(1, 1))
	}
}

// align rounds n to a multiple of step: up where a lower bound pushed it, else down.
func align(n, step, low *big.Rat, lowOpen bool) *big.Rat {
	q := new(big.Rat).Quo(n, step)
	floor := new(big.Int).Div(q.Num(), q.Denom())
	r := new(big.Rat).Mul(new(big.Rat).SetInt(floor), step)
	if low != nil && (r.Cmp(low) < 0 || lowOpen && r.Cmp(low) == 0) {
		r.Add(r, step)
	}
	return r
}

// text finds the index-th string: by format, by pattern, else the property's name, stretched or cut to length.
func (cs constraints) text(name string, index int) (string, error) {
	least, most := 0, math.MaxInt
	format, pattern := "", ""
	cs.each(func(c *ir.Checks) {
		if c.MinLength != nil {
			least = max(least, *c.MinLength)
		}
		if c.MaxLength != nil {
			most = min(most, *c.MaxLength)
		}
		for _, f := range c.Formats {
			format = f
		}
		for _, p := range c.Patterns {
			pattern = p
		}
	})
	if least > 1000 {
		return "", fmt.Errorf("needs %d characters", least)
	}
	if pattern != "" {
		return matching(pattern, least)
	}
	if s := formats[format]; s != "" {
		return s, nil
	}
	text := []rune("sample " + name)
	if index > 0 {
		text = append(text, []rune(fmt.Sprintf(" %d", index+1))...)
	}
	for len(text) < least {
		text = append(text, '.')
	}
	if len(text) > most {
		text = text[len(text)-most:] // the end tells values apart
	}
	return string(text), nil
}

// formats are values of the checked string formats.
var formats = map[string]string{
	"email": "user@example.com", "idn-email": "user@example.com",
	"hostname": "example.com", "idn-hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"uri": "https://example.com/", "uri-reference": "/sample", "iri": "https://example.com/", "iri-reference": "/sample",
	"uuid": "123e4567-e89b-42d3-a456-426614174000", "duration": "PT1M", "time": "12:00:00Z",
	"date": "2026-01-02", "date-time": "2026-01-02T03:04:05Z",
	"json-pointer": "/sample", "relative-json-pointer": "0", "regex": "^sample$", "uri-template": "https://example.com/{id}",
}

// matching makes a short string that matches a pattern, which may be unanchored.
func matching(pattern string, least int) (string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := write(&b, re.Simplify(), least); err != nil {
		return "", err
	}
	return b.String(), nil
}

// write appends the shortest match of re; repetitions without a bound run until least characters are there.
func write(b *strings.Builder, re *syntax.Regexp, least int) error {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return errors.New("the pattern matches nothing")
		}
		b.WriteRune(readable(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			if err := write(b, sub, least); err != nil {
				return err
			}
		}
	case syntax.OpAlternate:
		return write(b, re.Sub[0], least)
	case syntax.OpPlus, syntax.OpStar:
		for first := re.Op == syntax.OpPlus; first || b.Len() < least; first = false {
			before := b.Len()
			if err := write(b, re.Sub[0], 0); err != nil {
				return err
			}
			if b.Len() == before {
				break
			}
		}
	case syntax.OpNoMatch:
		return errors.New("the pattern matches nothing")
	}
	return nil // the rest matches the empty string: anchors, optional parts
}

// readable chooses a letter or digit from a class, given as pairs of bounds, else its first character.
func readable(class []rune) rune {
	for _, want := range "aA1" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= want && want <= class[i+1] {
				return want
			}
		}
	}
	return class[0]
}

func (cs constraints) minItems() int {
	n := 0
	cs.each(func(c *ir.Checks) {
		if c.MinItems != nil {
			n = max(n, *c.MinItems)
		}
	})
	return n
}

func (cs constraints) maxItems() int {
	n := math.MaxInt
	cs.each(func(c *ir.Checks) {
		if c.MaxItems != nil {
			n = min(n, *c.MaxItems)
		}
	})
	return n
}

// keys are the properties that checks demand beyond what fields say of themselves: of each group the first choice.
func (cs constraints) keys() map[string]bool {
	keys := map[string]bool{}
	cs.each(func(c *ir.Checks) {
		for _, k := range c.Required {
			keys[k] = true
		}
		for _, g := range c.Groups {
			if len(g.Sets) > 0 {
				for _, k := range g.Sets[0] {
					keys[k] = true
				}
			}
		}
	})
	return keys
}

// depend adds the keys that the wanted ones demand. It reports whether there were any.
func (cs constraints) depend(wanted map[string]bool) (changed bool) {
	cs.each(func(c *ir.Checks) {
		for _, d := range c.DependentRequired {
			for _, k := range d.Then {
				if wanted[d.If] && !wanted[k] {
					wanted[k], changed = true, true
				}
			}
		}
	})
	return changed
}

// mapKeys are the keys of a map, in a fixed order: the demanded ones, then as many as are needed.
func (cs constraints) mapKeys() []string {
	var keys []string
	least := 0
	cs.each(func(c *ir.Checks) {
		keys = append(keys, c.Required...)
		if c.MinProperties != nil {
			least = max(least, *c.MinProperties)
		}
	})
	for i := 1; len(keys) < min(least, 100); i++ {
		keys = append(keys, fmt.Sprintf("key%d", i))
	}
	return keys
}
