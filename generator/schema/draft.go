package schema

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/gen/check/format"
)

// Draft is a sample in the making: a number, a text, or the size of a list or map, whichever the limits speak of.
type Draft struct {
	Index  int      // which of several different samples it is
	Number *big.Rat // of the first sample; nil: 0
	// Unsigned: no number below 0 will do.
	Unsigned bool
	step     *big.Rat // from one sample to the next
	Text     string
	least    int // characters that the text must have
	Size     int

	round int
}

// maxRounds is how often limits move a sample before it is given up: what suits one may break another.
const maxRounds = 8

// Keep moves the draft until it keeps to all limits. It reports whether it does.
func (d *Draft) Keep(limits []ir.Limit) bool {
	if d.Number == nil {
		d.Number, d.step = new(big.Rat), big.NewRat(1, 1)
	}
	for d.round = 0; d.round < maxRounds; d.round++ {
		if !d.move(limits) {
			return true
		}
	}
	return false
}

// move applies all limits once.
func (d *Draft) move(limits []ir.Limit) (moved bool) {
	for _, r := range limits {
		if move := table[r.Keyword].Limit.move; move != nil && move(d, r.Arg) {
			moved = true
		}
	}
	return moved
}

// NumberText is the number of the draft, index steps from the first one up or else down, as JSON. Where that leads out of
// the limits it is the first one again.
func (d *Draft) NumberText(limits []ir.Limit) (string, error) {
	if !d.Keep(limits) {
		return "", errors.New("no number satisfies the bounds")
	}
	way := new(big.Rat).Mul(d.step, big.NewRat(int64(d.Index), 1))
	for _, n := range []*big.Rat{new(big.Rat).Add(d.Number, way), new(big.Rat).Sub(d.Number, way), d.Number} {
		if other := (&Draft{Number: n, step: d.step}); d.Unsigned && n.Sign() < 0 || other.move(limits) {
			continue
		}
		if n.IsInt() {
			return n.Num().String(), nil
		}
		if f, _ := n.Float64(); !math.IsInf(f, 0) {
			return fmt.Sprintf("%g", f), nil
		}
	}
	return "", errors.New("no number satisfies the bounds")
}

func atLeast(d *Draft, arg string) bool {
	if a := rat(arg); d.Number.Cmp(a) < 0 {
		d.Number = a
		return true
	}
	return false
}

func atMost(d *Draft, arg string) bool {
	if a := rat(arg); d.Number.Cmp(a) > 0 {
		d.Number = a
		return true
	}
	return false
}

func greaterThan(d *Draft, arg string) bool {
	if a := rat(arg); d.Number.Cmp(a) <= 0 {
		d.Number = new(big.Rat).Add(a, d.away())
		return true
	}
	return false
}

func lessThan(d *Draft, arg string) bool {
	if a := rat(arg); d.Number.Cmp(a) >= 0 {
		d.Number = new(big.Rat).Sub(a, d.away())
		return true
	}
	return false
}

// away is how far from an open bound a number goes: in each round half as far, so that it gets between two.
func (d *Draft) away() *big.Rat { return big.NewRat(1, 1<<d.round) }

// multipleOf rounds up and down in turn, since a bound may be in the way.
func multipleOf(d *Draft, arg string) bool {
	by := rat(arg)
	d.step = by
	q := new(big.Rat).Quo(d.Number, by)
	if q.IsInt() {
		return false
	}
	n := floor(q, false)
	if d.round%2 == 0 {
		n.Add(n, big.NewInt(1))
	}
	d.Number = new(big.Rat).Mul(new(big.Rat).SetInt(n), by)
	return true
}

// maxSampleText is the longest text that a sample is stretched to.
const maxSampleText = 1000

func longer(d *Draft, arg string) bool {
	d.least = size(arg)
	missing := d.least - utf8.RuneCountInString(d.Text)
	if missing > 0 && d.least <= maxSampleText {
		d.Text += strings.Repeat(".", missing)
	}
	return missing > 0
}

func shorter(d *Draft, arg string) bool {
	text := []rune(d.Text)
	if len(text) <= size(arg) {
		return false
	}
	d.Text = string(text[len(text)-size(arg):]) // the end tells values apart
	return true
}

func formattedText(d *Draft, arg string) bool {
	if format.Valid(arg, d.Text) {
		return false
	}
	d.Text = formats[arg].sample
	return true
}

func matchingText(d *Draft, arg string) bool {
	if regexp.MustCompile(arg).MatchString(d.Text) {
		return false
	}
	if text, err := Matching(arg, d.least); err == nil {
		d.Text = text
	}
	return true
}

func atLeastSo(d *Draft, arg string) bool {
	few := d.Size < size(arg)
	d.Size = max(d.Size, size(arg))
	return few
}

func atMostSo(d *Draft, arg string) bool {
	many := d.Size > size(arg)
	d.Size = min(d.Size, size(arg))
	return many
}

// size is the argument of a limit about sizes, which was checked when it was read.
func size(arg string) int {
	n, _ := strconv.Atoi(arg)
	return n
}

// Matching makes a short string that matches a pattern, which may be unanchored.
func Matching(pattern string, least int) (string, error) {
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
