package schemadiff

import (
	"math/big"
	"regexp"
	"strconv"

	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/schema"
)

// numberReasons compares numbers with what a schema says of them.
func numberReasons(v values, n *node) (rs []Reason) {
	for _, lower := range []bool{true, false} {
		to := n.upper
		if lower {
			to = n.lower
		}
		from := v.bound(lower)
		if to == nil || from != nil && !stricter(to, from, lower) {
			continue
		}
		rs = append(rs, Reason{Keyword: to.keyword, From: from.text(), To: to.text(), Sure: true})
	}
	if n.step != nil && !v.steps(n.step) {
		r := Reason{Keyword: "multipleOf", To: numberText(n.step), Sure: true}
		for _, a := range v.atoms {
			if a.step != nil {
				r.From = numberText(a.step)
			}
		}
		rs = append(rs, r)
	}
	return rs
}

// text is the limit for readers; "" for none.
func (b *bound) text() string {
	switch {
	case b == nil:
		return ""
	case b.size != "":
		return b.size
	}
	return numberText(b.at)
}

// steps reports whether all numbers among the values are multiples of a number.
func (v values) steps(of *big.Rat) bool {
	divides := func(step *big.Rat) bool { return new(big.Rat).Quo(step, of).IsInt() }
	return v.types()&jsontype.Fraction == 0 && divides(big.NewRat(1, 1)) ||
		v.any(func(a *node) bool { return a.step != nil && divides(a.step) })
}

// sizeReasons compares a size with its limits in a schema. least and most are those of the values.
func sizeReasons(n *node, lower, upper string, least, most int, known bool) (rs []Reason) {
	if to, has := n.sizes[lower]; has && least < to {
		rs = append(rs, Reason{Keyword: lower, From: strconv.Itoa(least), To: strconv.Itoa(to), Sure: true})
	}
	if to, has := n.sizes[upper]; has && (!known || most > to) {
		r := Reason{Keyword: upper, To: strconv.Itoa(to), Sure: true}
		if known {
			r.From = strconv.Itoa(most)
		}
		rs = append(rs, r)
	}
	return rs
}

// stringReasons compares texts with what a schema says of them.
func stringReasons(v values, n *node) []Reason {
	most, known := v.most("maxLength")
	rs := sizeReasons(n, "minLength", "maxLength", v.least("minLength"), most, known)
	if n.pattern != "" && !v.any(func(a *node) bool { return a.pattern == n.pattern }) {
		rs = append(rs, v.otherPattern(n.pattern))
	}
	if n.format != "" && !v.any(func(a *node) bool { return within(a.format, n.format) }) {
		r := Reason{Keyword: "format", To: n.format, Sure: true}
		for _, a := range v.atoms {
			if r.From == "" {
				r.From = a.format
			}
			r.Sure = r.Sure && a.pattern == "" // which may have the texts of the format
		}
		rs = append(rs, r)
	}
	return rs
}

// within reports whether each text of a format is one of another format.
func within(format, other string) bool {
	return format == other || format == "uri" && other == "uri-reference"
}

// otherPattern is the reason for a pattern that the values need not match. Whether one expression matches all that
// another one does is not decided, but that a sample of the one does not match the other.
func (v values) otherPattern(to string) Reason {
	r := Reason{Keyword: "pattern", To: to, Sure: true}
	least, sample := v.least("minLength"), ""
	for _, a := range v.atoms {
		if a.format != "" {
			r.Sure = false
		}
		if a.pattern != "" {
			r.From, r.Sure = a.pattern, false
			sample, _ = schema.Matching(schema.FromECMA(a.pattern), least) // "" if there is none
		}
	}
	re, err := regexp.Compile(schema.FromECMA(to))
	if r.From != "" && sample != "" && err == nil && v.takesText(sample) && !re.MatchString(sample) {
		r.Sure = true
	}
	return r
}

// takesText reports whether a text is among the values, as far as length and pattern say.
func (v values) takesText(s string) bool {
	n := len([]rune(s))
	most, known := v.most("maxLength")
	return n >= v.least("minLength") && (!known || n <= most) && !v.any(func(a *node) bool {
		if a.pattern == "" {
			return a.format != ""
		}
		re, err := regexp.Compile(schema.FromECMA(a.pattern))
		return err != nil || !re.MatchString(s)
	})
}
