package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// Limit is what a keyword does that sets one limit to a value.
type Limit struct {
	check string     // what emitted code checks it with: see ir.Limit
	form  ir.ArgForm // and how the argument is written there
	// arg reads the argument; "" after an error, and when it says nothing.
	arg func(c *compiler, s *schema, k, v *yaml.Node) string
	// Sign is 1 for a lower bound, of which the highest holds, -1 for an upper one; 0: all hold. Open: the bound itself
	// is not valid.
	Sign int
	Open bool
	// move changes a sample that breaks the limit. It reports whether it did, or could not.
	move func(d *Draft, arg string) bool
}

// with is the limit of a keyword with an argument.
func (k *Keyword) with(arg string) ir.Limit {
	return ir.Limit{Keyword: k.Name, Check: k.Limit.check, Form: k.Limit.form, Arg: arg}
}

// exclusive reads the bound as a number, and in the spelling of draft 4 and OpenAPI 3.0 as a flag on the other bound.
func exclusive(c *compiler, s *schema, k, v *yaml.Node) string {
	if v.Tag != "!!bool" {
		return number(c, s, k, v)
	}
	if v.Value != "true" {
		return ""
	}
	other := strings.ToLower(strings.TrimPrefix(k.Value, "exclusive"))
	if n := yamlx.Get(s.node, other); n != nil {
		return number(c, s, k, n)
	}
	c.failf(s, v, "bad-keyword", "write the bound itself: "+k.Value+": 0", "%s: true without %s", k.Value, other)
	return ""
}

func divisor(c *compiler, s *schema, k, v *yaml.Node) string {
	text := number(c, s, k, v)
	if text != "" && rat(text).Sign() <= 0 {
		c.failf(s, v, "bad-keyword", "", "%s must be greater than 0", k.Value)
		return ""
	}
	return text
}

func flag(c *compiler, s *schema, _, v *yaml.Node) string {
	if c.flag(s, v) {
		return "true"
	}
	return ""
}

func pattern(c *compiler, s *schema, _, v *yaml.Node) string {
	text := FromECMA(c.text(s, v))
	if len(text) > 10_000 {
		c.failf(s, v, "bad-pattern", "", "the pattern has more than 10000 bytes")
		return ""
	}
	if _, err := regexp.Compile(text); err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		c.failf(s, v, "bad-pattern",
			"patterns are RE2 (https://github.com/google/re2/wiki/Syntax): no lookaround, no back references",
			"pattern is not RE2: %s", short(why))
		return ""
	}
	return text
}

// tighten adds limits to others that hold too: of two bounds of a kind the stricter, else what is not there yet.
func tighten(limits, by []ir.Limit) []ir.Limit {
	for _, r := range by {
		sign := table[r.Keyword].Limit.Sign
		i := slices.IndexFunc(limits, func(o ir.Limit) bool { return o.Keyword == r.Keyword && (sign != 0 || o == r) })
		switch {
		case i < 0:
			limits = append(limits, r)
		case sign != 0 && rat(r.Arg).Cmp(rat(limits[i].Arg)) == sign:
			limits = slices.Clone(limits)
			limits[i] = r
		}
	}
	slices.SortStableFunc(limits, func(a, b ir.Limit) int { return table[a.Keyword].order - table[b.Keyword].order })
	return limits
}

// limitsOn are the limits of f about values of a type.
func (f *flat) limitsOn(t jsontype.Set) []ir.Limit {
	return slices.DeleteFunc(slices.Clone(f.checks.Limits), func(r ir.Limit) bool { return table[r.Keyword].On != t })
}

// plural is a number of things.
func plural(n any, what string) string {
	if fmt.Sprint(n) == "1" {
		return "1 " + what
	}
	return fmt.Sprintf("%v %ss", n, what)
}
