package check

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Number is a Go type that a JSON number becomes.
type Number interface {
	~int32 | ~int64 | ~uint32 | ~uint64 | ~float64
}

// Minimum checks v ≥ low.
func Minimum[N Number](c *Checker, v, low N) {
	if v < low {
		c.Failf("must be at least %v", low)
	}
}

// Maximum checks v ≤ high.
func Maximum[N Number](c *Checker, v, high N) {
	if v > high {
		c.Failf("must be at most %v", high)
	}
}

// ExclusiveMinimum checks v > low.
func ExclusiveMinimum[N Number](c *Checker, v, low N) {
	if v <= low {
		c.Failf("must be greater than %v", low)
	}
}

// ExclusiveMaximum checks v < high.
func ExclusiveMaximum[N Number](c *Checker, v, high N) {
	if v >= high {
		c.Failf("must be less than %v", high)
	}
}

// MultipleOf checks that v is a whole multiple of the decimal number of, computed exactly on the shortest decimal that
// reads back as v: 0.3 is a multiple of 0.1.
func MultipleOf[N Number](c *Checker, v N, of string) {
	x, ok := parseRat(fmt.Sprint(v))
	divisor, valid := parseRat(of)
	if ok && valid && !new(big.Rat).Quo(x, divisor).IsInt() {
		c.Failf("must be a multiple of %s", of)
	}
}

// Finite checks that v is a number that JSON can express.
func (c *Checker) Finite(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		c.Failf("not a number that JSON can express")
	}
}

// Text checks that s is valid UTF-8.
func (c *Checker) Text(s string) {
	if !utf8.ValidString(s) {
		c.Failf("must be valid UTF-8")
	}
}

// MinLength checks that s has at least n code points.
func (c *Checker) MinLength(s string, n int) {
	if len(s) < n || utf8.RuneCountInString(s) < n {
		c.Failf("must be at least %s long", plural(n, "character"))
	}
}

// MaxLength checks that s has at most n code points.
func (c *Checker) MaxLength(s string, n int) {
	if len(s) > n && utf8.RuneCountInString(s) > n {
		c.Failf("must be at most %s long", plural(n, "character"))
	}
}

// MinItems checks that a list has at least n elements.
func (c *Checker) MinItems(have, n int) {
	if have < n {
		c.Failf("must have at least %s", plural(n, "item"))
	}
}

// MaxItems checks that a list has at most n elements.
func (c *Checker) MaxItems(have, n int) {
	if have > n {
		c.Failf("must have at most %s", plural(n, "item"))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Unique checks that no two elements are equal as JSON values. write appends an element as JSON.
func Unique[T any](c *Checker, list []T, write func([]byte, T) []byte) {
	if len(list) < 2 {
		return
	}
	first := make(map[string]int, len(list))
	var b []byte
	for i, e := range list {
		b = write(b[:0], e)
		key := string(canonical(nil, wire.Value(b)))
		if before, ok := first[key]; ok {
			c.Failf("items %d and %d are equal", before, i)
			return
		}
		first[key] = i
	}
}

// OneOf checks that v is one of the values; text lists them for the message.
func OneOf[T comparable](c *Checker, v T, text string, values ...T) {
	if !slices.Contains(values, v) {
		c.Failf("must be %s", text)
	}
}

// Time checks that t can be written as a date-time (RFC 3339): a year from 0 to 9999, a zone offset in whole minutes.
func (c *Checker) Time(t time.Time) {
	if _, err := t.MarshalText(); err != nil {
		c.Failf("must have a year from 0 to 9999 and a zone offset of whole minutes below 24 hours")
	}
}

// Date checks that t can be written as a date.
func (c *Checker) Date(t time.Time) {
	if y := t.Year(); y < 0 || y > 9999 {
		c.Failf("must have a year from 0 to 9999")
	}
}

// Any checks that v is one JSON value. An empty one is not set.
func (c *Checker) Any(v wire.Value) {
	if c.decoded {
		return
	}
	if len(v) == 0 {
		c.NotSet()
		return
	}
	if _, err := wire.ParseValue(v); err != nil {
		c.Failf("not a JSON value: %v", err)
	}
}

// NotSet records that the present value is required.
func (c *Checker) NotSet() { c.Failf("required, but not set") }

// Pattern is a regular expression (RE2, unanchored), compiled when it is first used.
type Pattern struct {
	source string
	re     func() *regexp.Regexp
}

// NewPattern returns the pattern with a source that was found valid when the code was generated.
func NewPattern(source string) *Pattern {
	return &Pattern{source: source, re: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })}
}

// Pattern checks that p matches somewhere in s.
func (c *Checker) Pattern(s string, p *Pattern) {
	if !p.re().MatchString(s) {
		c.Failf("must match the pattern %s", p.source)
	}
}

// Names returns the keys of m, sorted.
func Names[T any](m map[string]T) []string {
	return slices.SortedFunc(maps.Keys(m), strings.Compare)
}
