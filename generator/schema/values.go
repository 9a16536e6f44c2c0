package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime/check"
)

// accepts says why the value n is not valid by ref, or "". It is asked about defaults, which are known when code is
// generated.
func accepts(ref *ir.DataRef, n *yaml.Node) string {
	if yamlx.IsNull(n) && ref.Null {
		return ""
	}
	switch ref.Kind {
	case ir.DataAny:
		return checkValues(ref.Checks, n)
	case ir.DataBool:
		if n.Tag != "!!bool" {
			return mismatch("true or false", n)
		}
		return checkValues(ref.Checks, n)
	case ir.DataString, ir.DataBytes, ir.DataTime, ir.DataDate:
		return acceptsText(ref, n)
	case ir.DataNumber, ir.DataInt32, ir.DataInt64, ir.DataUint32, ir.DataUint64:
		return acceptsNumber(ref.Kind, ref.Checks, n)
	case ir.DataList:
		return acceptsList(ref, n)
	case ir.DataMap:
		return acceptsMap(ref, n)
	}
	return acceptsNamed(ref, n)
}

func mismatch(want string, n *yaml.Node) string {
	return fmt.Sprintf("must be %s, not %s", want, yamlx.Describe(n))
}

var textFormats = map[ir.DataKind]string{ir.DataBytes: "byte", ir.DataTime: "date-time", ir.DataDate: "date"}

func acceptsText(ref *ir.DataRef, n *yaml.Node) string {
	if !yamlx.IsText(n) {
		return mismatch("a string", n)
	}
	if format := textFormats[ref.Kind]; !check.ValidFormat(format, n.Value) {
		return "must be a valid " + format
	}
	return checkText(ref.Checks, n.Value)
}

// checkText says why the string s breaks the checks, or "".
func checkText(c *ir.Checks, s string) string {
	if c == nil {
		return ""
	}
	length := utf8.RuneCountInString(s)
	switch {
	case c.MinLength != nil && length < *c.MinLength:
		return fmt.Sprintf("must be at least %d characters long", *c.MinLength)
	case c.MaxLength != nil && length > *c.MaxLength:
		return fmt.Sprintf("must be at most %d characters long", *c.MaxLength)
	}
	for _, p := range c.Patterns {
		if !regexp.MustCompile(p).MatchString(s) {
			return "must match the pattern " + short(p)
		}
	}
	for _, f := range c.Formats {
		if !check.ValidFormat(f, s) {
			return "must be a valid " + f
		}
	}
	if len(c.Values) > 0 && !slices.ContainsFunc(c.Values, func(v json.RawMessage) bool { return string(v) == string(quote(s)) }) {
		return "is not one of the valid values"
	}
	return ""
}

func checkValues(c *ir.Checks, n *yaml.Node) string {
	if c == nil || len(c.Values) == 0 || slices.ContainsFunc(c.Values, func(v json.RawMessage) bool { return string(v) == canonical(n) }) {
		return ""
	}
	return "is not one of the valid values"
}

func acceptsNumber(kind ir.DataKind, c *ir.Checks, n *yaml.Node) string {
	if n.Tag != "!!int" && n.Tag != "!!float" {
		return mismatch("a number", n)
	}
	x, ok := parseRat(n.Value)
	if !ok {
		return "is out of range"
	}
	if limits, whole := intRange[kind]; whole && (!x.IsInt() || x.Num().Cmp(limits[0]) < 0 || x.Num().Cmp(limits[1]) > 0) {
		return fmt.Sprintf("must be a whole number from %s to %s", limits[0], limits[1])
	}
	if c == nil {
		return ""
	}
	switch {
	case c.Minimum != "" && x.Cmp(rat(c.Minimum)) < 0:
		return "must be at least " + c.Minimum
	case c.ExclusiveMinimum != "" && x.Cmp(rat(c.ExclusiveMinimum)) <= 0:
		return "must be greater than " + c.ExclusiveMinimum
	case c.Maximum != "" && x.Cmp(rat(c.Maximum)) > 0:
		return "must be at most " + c.Maximum
	case c.ExclusiveMaximum != "" && x.Cmp(rat(c.ExclusiveMaximum)) >= 0:
		return "must be less than " + c.ExclusiveMaximum
	}
	for _, m := range c.MultipleOf {
		if !new(big.Rat).Quo(x, rat(m)).IsInt() {
			return "must be a multiple of " + m
		}
	}
	return ""
}

func acceptsList(ref *ir.DataRef, n *yaml.Node) string {
	if n.Kind != yaml.SequenceNode {
		return mismatch("a list", n)
	}
	seen := map[string]bool{}
	for i, item := range n.Content {
		elem := ref.Elem
		if i < len(ref.Prefix) {
			elem = ref.Prefix[i]
		} else if ref.Rest != nil {
			elem = ref.Rest
		}
		if problem := accepts(elem, item); problem != "" {
			return problem
		}
		text := string(yamlx.JSON(item))
		if ref.Checks != nil && ref.Checks.UniqueItems && seen[text] {
			return "has two equal items"
		}
		seen[text] = true
	}
	if c := ref.Checks; c != nil && (c.MinItems != nil && len(n.Content) < *c.MinItems || c.MaxItems != nil && len(n.Content) > *c.MaxItems) {
		return "has too few or too many items"
	}
	return ""
}

func acceptsMap(ref *ir.DataRef, n *yaml.Node) string {
	if n.Kind != yaml.MappingNode {
		return mismatch("a map", n)
	}
	for k, v := range yamlx.Pairs(n) {
		if ref.Checks != nil {
			if problem := checkText(ref.Checks.PropertyNames, k.Value); problem != "" {
				return fmt.Sprintf("name %q %s", short(k.Value), problem)
			}
		}
		if problem := accepts(ref.Elem, v); problem != "" {
			return problem
		}
	}
	return acceptsKeys(ref.Checks, n)
}

// acceptsKeys checks which keys an object has.
func acceptsKeys(c *ir.Checks, n *yaml.Node) string {
	if c == nil {
		return ""
	}
	count := len(n.Content) / 2
	if c.MinProperties != nil && count < *c.MinProperties || c.MaxProperties != nil && count > *c.MaxProperties {
		return "has too few or too many properties"
	}
	for _, name := range c.Required {
		if yamlx.Get(n, name) == nil {
			return fmt.Sprintf("property %q is required", short(name))
		}
	}
	for _, d := range c.DependentRequired {
		for _, name := range d.Then {
			if yamlx.Get(n, d.If) != nil && yamlx.Get(n, name) == nil {
				return fmt.Sprintf("property %q is required because of %q", short(name), short(d.If))
			}
		}
	}
	for _, g := range c.Groups {
		whole := 0
		for _, set := range g.Sets {
			if !slices.ContainsFunc(set, func(name string) bool { return yamlx.Get(n, name) == nil }) {
				whole++
			}
		}
		if whole == 0 || whole > 1 && g.One {
			return "does not have the right choice of properties"
		}
	}
	return ""
}

func acceptsNamed(ref *ir.DataRef, n *yaml.Node) string {
	t := ref.Type
	switch t.Kind {
	case ir.DataEnum:
		if t.Open {
			return accepts(&ir.DataRef{Kind: t.Base, Checks: ref.Checks}, n)
		}
		if n.Kind != yaml.ScalarNode || !slices.ContainsFunc(t.Values, func(v ir.DataValue) bool { return string(v.Value) == canonical(n) }) {
			return "is not one of the valid values"
		}
		if t.Base == ir.DataString {
			return checkText(ref.Checks, n.Value)
		}
		return acceptsNumber(t.Base, ref.Checks, n)
	case ir.DataStruct:
		return acceptsStruct(t, n)
	case ir.DataUnion:
		return acceptsUnion(t, n)
	}
	return accepts(t.Of, n)
}

func acceptsStruct(t *ir.DataType, n *yaml.Node) string {
	if n.Kind != yaml.MappingNode {
		return mismatch("a map", n)
	}
	known := map[string]bool{}
	for _, f := range t.Fields {
		known[f.Name] = true
		v := yamlx.Get(n, f.Name)
		switch {
		case v == nil && f.Required:
			return fmt.Sprintf("property %q is required", short(f.Name))
		case v == nil:
		case f.Const != nil:
			if v.Kind != yaml.ScalarNode || canonical(v) != string(f.Const) {
				return fmt.Sprintf("property %q must be %s", short(f.Name), f.Const)
			}
		default:
			if problem := accepts(&f.Type, v); problem != "" {
				return fmt.Sprintf("property %q: %s", short(f.Name), problem)
			}
		}
	}
	for k, v := range yamlx.Pairs(n) {
		switch {
		case known[k.Value]:
		case t.Closed:
			return fmt.Sprintf("property %q is unknown", short(k.Value))
		case t.Extra != nil:
			if problem := accepts(t.Extra, v); problem != "" {
				return fmt.Sprintf("property %q: %s", short(k.Value), problem)
			}
		}
	}
	return acceptsKeys(t.Checks, n)
}

func acceptsUnion(t *ir.DataType, n *yaml.Node) string {
	problem, fits := "is none of the alternatives", 0
	for _, c := range t.Cases {
		if !slices.ContainsFunc(c.Types, func(name string) bool { return nodeType(n)&typeSetOf(name) != 0 }) {
			continue
		}
		if len(c.Keys) > 0 {
			key := yamlx.Get(n, t.By)
			if key == nil || key.Kind != yaml.ScalarNode || !slices.ContainsFunc(c.Keys, func(k json.RawMessage) bool { return string(k) == canonical(key) }) {
				continue
			}
		}
		switch what := accepts(&ir.DataRef{Kind: ir.DataNamed, Type: c.Type}, n); {
		case what == "":
			fits++
		case fits == 0:
			problem = what
		}
	}
	if fits > 1 && t.One {
		return "is more than one of the alternatives"
	}
	if fits > 0 {
		return ""
	}
	return problem
}

// nodeType is the JSON type of a value.
func nodeType(n *yaml.Node) typeSet {
	switch n.Kind {
	case yaml.MappingNode:
		return tObject
	case yaml.SequenceNode:
		return tArray
	}
	return jsonType(canonical(n))
}

func typeSetOf(name string) typeSet {
	for _, t := range typeNames {
		if t.name == name {
			return t.set
		}
	}
	return 0
}

// zeroMeansAbsent reports whether the Go zero value of a scalar can stand for an absent property: it is the default, or
// not a valid value.
func zeroMeansAbsent(t *ir.DataRef, def *yaml.Node) bool {
	kind := t.Kind
	if kind == ir.DataNamed {
		if t.Type.Kind != ir.DataEnum {
			return false
		}
		kind = t.Type.Base
	}
	zero := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "0"}
	switch kind {
	case ir.DataString:
		zero.Tag, zero.Value = "!!str", ""
	case ir.DataBool:
		zero.Tag, zero.Value = "!!bool", "false"
	}
	return def.Kind == yaml.ScalarNode && canonical(zero) == canonical(def) || accepts(t, zero) != ""
}
