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

// Keys are the rules on which keys an object has.
type Keys struct {
	Names    []string // known properties
	Required []bool   // by index of Names; nil: none
	Closed   bool     // no other properties
	Min, Max int      // number of properties; Max 0: no limit, -1: none allowed
	// Others are required keys that are no known properties.
	Others     []string
	Dependents []Dependent
	Groups     []Group
	// Name checks the names of other properties; nil: no rule.
	Name func(c *Checker, name string)
	// Nulls are, by index of Names, the properties that may be written as null where they are absent; nil: none.
	Nulls []bool
}

// Dependent says that key If demands the keys Then.
type Dependent struct {
	If   string
	Then []string
}

// Group is a choice of key sets: at least one of them as a whole, or exactly one when One is set.
type Group struct {
	Sets [][]string
	One  bool
}

// Unknown skips a member that k does not know: a violation if k is closed.
func (r *Reader) Unknown(key []byte, k *Keys) {
	r.ignored++
	if k.Closed && r.full() {
		// what would be said of it is not kept
	} else if k.Closed {
		if near := nearest(string(key), k.Names); near != "" {
			r.Failf("unknown property, did you mean %q?", near)
		} else {
			r.Failf("unknown property")
		}
	} else if k.Name != nil {
		k.Name(&r.Checker, string(key))
	}
	r.in.Unknown(key)
}

// Keys checks the keys of the object just read: which known ones were seen, and how many others; has reports whether
// one of the others is there, and may be nil.
func (r *Reader) Keys(k *Keys, seen []bool, others int, has func(string) bool) {
	if r.in.Err() == nil {
		r.keys(k, seen, others, has)
	}
}

// Keys checks the keys of an object that was not just read. present says which known ones will be written.
func (c *Checker) Keys(k *Keys, present []bool, others int, has func(string) bool) {
	if !c.decoded {
		c.keys(k, present, others, has)
	}
}

func (c *Checker) keys(k *Keys, present []bool, others int, has func(string) bool) {
	there := func(name string) bool {
		if i := slices.Index(k.Names, name); i >= 0 {
			return present[i]
		}
		return has != nil && has(name)
	}
	count := others
	for i, p := range present {
		if p {
			count++
		} else if k.Required != nil && k.Required[i] {
			c.Missing(k.Names[i])
		}
	}
	for _, name := range k.Others {
		if !there(name) {
			c.Missing(name)
		}
	}
	if count < k.Min {
		c.Failf("must have at least %d properties", k.Min)
	}
	if k.Max != 0 && count > max(k.Max, 0) {
		c.Failf("must have at most %d properties", max(k.Max, 0))
	}
	for _, d := range k.Dependents {
		c.dependent(d, there)
	}
	for _, g := range k.Groups {
		c.group(g, there)
	}
}

func (c *Checker) dependent(d Dependent, there func(string) bool) {
	if !there(d.If) {
		return
	}
	for _, name := range d.Then {
		if !there(name) {
			c.Enter(name)
			c.Failf("required because of %q, but missing", d.If)
			c.Leave()
		}
	}
}

func (c *Checker) group(g Group, there func(string) bool) {
	whole := 0
	for _, set := range g.Sets {
		if !slices.ContainsFunc(set, func(name string) bool { return !there(name) }) {
			whole++
		}
	}
	var sets []string
	for _, set := range g.Sets {
		sets = append(sets, strings.Join(set, " and "))
	}
	switch choice := strings.Join(sets, ", or "); {
	case whole == 0:
		c.Failf("one of these properties is required: %s", choice)
	case whole > 1 && g.One:
		c.Failf("only one of these properties may be given: %s", choice)
	}
}

// MapKeys checks the keys of a map.
func MapKeys[T any](c *Checker, k *Keys, m map[string]T) {
	has := func(name string) bool { _, ok := m[name]; return ok }
	c.keys(k, nil, len(m), has)
	EachName(c, k, m)
}

// EachName checks the names in a map, which must not be those of known properties. Those that were read are not.
func EachName[T any](c *Checker, k *Keys, m map[string]T) {
	if c.decoded && k.Name == nil {
		return
	}
	for name := range Entries(c, m) {
		c.Enter(name)
		c.Text(name)
		if slices.Contains(k.Names, name) {
			c.Failf("is a property of its own")
		}
		if k.Name != nil {
			k.Name(c, name)
		}
		c.Leave()
	}
}

// Has returns a function that reports whether m has a key.
func Has[T any](m map[string]T) func(string) bool {
	return func(name string) bool { _, ok := m[name]; return ok }
}

// nearest returns the known name that differs from name by case, separators or about one letter in four, or "".
func nearest(name string, known []string) string {
	if len(name) > 64 {
		return ""
	}
	best, least := "", max(len(name)/4, 1)+1
	for _, k := range known {
		if strings.EqualFold(name, k) {
			return k
		}
		if len(k) > 64 {
			continue
		}
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements of bytes that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j]+1, row[j+1]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
