package schema

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

func readItems(c *compiler, s *schema, k, v *yaml.Node) {
	if v.Kind == yaml.SequenceNode {
		list(inPrefix)(c, s, k, v)
		return
	}
	one(inItems)(c, s, k, v)
}

func readAdditionalItems(c *compiler, s *schema, k, v *yaml.Node) {
	if items := yamlx.Get(s.node, "items"); items != nil && items.Kind == yaml.SequenceNode {
		one(inItems)(c, s, k, v)
	}
}

var unicodeEscape = regexp.MustCompile(`\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|.)`)

// FromECMA respells the escapes of ECMAScript in a pattern that RE2 writes differently: \u00e9 is \x{00e9}.
func FromECMA(pattern string) string {
	return unicodeEscape.ReplaceAllStringFunc(pattern, func(esc string) string {
		if len(esc) < 3 || esc[1] != 'u' {
			return esc
		}
		return `\x{` + strings.Trim(esc[2:], "{}") + "}"
	})
}

func readType(c *compiler, s *schema, k, v *yaml.Node) {
	items := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		items = v.Content
	}
	for _, n := range items {
		set := typeOf(n)
		if set == 0 {
			c.failf(s, n, "unknown-type", suggest.Key(n.Value, jsontype.Words()), "%s is no JSON type", yamlx.Describe(n))
		}
		s.types |= set
	}
	if len(items) == 0 {
		c.failf(s, k, "bad-keyword", "", "type must name at least one type")
	}
}

// typeOf returns the type that n names. An unquoted null in YAML means the type null.
func typeOf(n *yaml.Node) jsontype.Set {
	if yamlx.IsNull(n) {
		return jsontype.Null
	}
	return jsontype.Of(yamlx.Text(n))
}

func readEnum(c *compiler, s *schema, k, v *yaml.Node) {
	if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
		c.failf(s, v, "bad-keyword", "list the values that are allowed, or remove it",
			"enum is empty: no value is valid")
		return
	}
	if v.Kind != yaml.SequenceNode {
		c.failf(s, v, "bad-keyword", "", "enum must be a list of values, got %s", yamlx.Describe(v))
		return
	}
	if s.isConst {
		c.failf(s, k, "bad-keyword", "keep one of them", "const and enum in one schema")
		return
	}
	s.hasEnum = true
	listed := map[string]bool{}
	for _, n := range v.Content {
		c.addValue(s, n, listed)
	}
}

func readConst(c *compiler, s *schema, k, v *yaml.Node) {
	if s.hasEnum {
		c.failf(s, k, "bad-keyword", "keep one of them", "const and enum in one schema")
		return
	}
	s.hasEnum, s.isConst = true, true
	c.addValue(s, v, map[string]bool{})
}

// addValue adds one value of enum or const; listed are those before it.
func (c *compiler) addValue(s *schema, n *yaml.Node, listed map[string]bool) {
	if n.Tag == "!!int" || n.Tag == "!!float" {
		if _, ok := ParseNumber(n.Value); !ok {
			c.failf(s, n, "bad-value", "", "number %s is out of range", short(n.Value))
			return
		}
	}
	v := enumValue{node: n, json: canonical(n), from: s}
	if listed[v.json] {
		c.failf(s, n, "duplicate-value", "", "value %s is listed twice", short(v.json))
		return
	}
	listed[v.json] = true
	s.enum = append(s.enum, v)
}

// canonical is the JSON text of a scalar, equal for equal values: 1.0 and 1 are the same number.
func canonical(n *yaml.Node) string {
	if n.Tag != "!!int" && n.Tag != "!!float" {
		return string(yamlx.JSON(n))
	}
	return numberText(n.Value)
}

// numberText spells a number in its shortest way, when it is whole without a fraction or exponent.
func numberText(text string) string {
	r, ok := ParseNumber(text)
	if !ok {
		return text
	}
	if r.IsInt() && len(r.Num().String()) < 40 {
		return r.Num().String()
	}
	if f, _ := r.Float64(); new(big.Rat).SetFloat64(f) != nil {
		abs, format := f, byte('f')
		if abs < 0 {
			abs = -abs
		}
		if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
			format = 'e'
		}
		return strconv.FormatFloat(f, format, -1, 64)
	}
	return text
}

func readEncoding(c *compiler, s *schema, _, v *yaml.Node) {
	switch enc := c.text(s, v); strings.ToLower(enc) {
	case "base64":
		s.base64 = true
	case "", "7bit", "8bit", "binary":
	default:
		c.failf(s, v, "unsupported-value", "use base64", "content encoding %q is not supported", short(enc))
	}
}
