package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime/wire"
)

// readRequest reads the schema of a request with all that it refers to, and returns its root; nil after an error.
func (c *compiler) readRequest(req Request) *schema {
	node := req.Node
	if node == nil {
		parsed, problems := yamlx.Parse(req.File, req.JSON)
		c.list.Add(problems...)
		if parsed == nil || problems.HasErrors() {
			return nil
		}
		node = parsed
	}
	doc := newDocument(req.File, node, req.Foreign)
	if yamlx.IsText(node) {
		return c.lookup(doc, node, node.Value, nil)
	}
	return c.read(doc, "", node)
}

// read returns the schema at the JSON pointer ptr of doc, reading it and everything it refers to when it is new.
// It is nil when there are too many.
func (c *compiler) read(doc *document, ptr string, node *yaml.Node) *schema {
	if s, ok := doc.schemas[ptr]; ok {
		return s
	}
	if c.schemas >= maxSchemas {
		c.limit(&schema{origin: origin{doc: doc, node: node}}, "schemas", maxSchemas)
		return nil
	}
	c.schemas++
	s := &schema{origin: origin{doc: doc, ptr: ptr, node: node, key: strconv.Itoa(c.schemas)}}
	doc.schemas[ptr] = s
	switch {
	case node.Kind == yaml.MappingNode && yamlx.Text(yamlx.Get(node, "x-go")) == "raw":
		c.readRaw(s)
	case node.Kind == yaml.MappingNode:
		c.readKeywords(s)
	case node.Tag == "!!bool":
		always := node.Value == "true"
		s.always = &always
	default:
		c.failf(s, node, "not-a-schema", "write a map of keywords such as type: string",
			"a schema must be a map, true or false, got %s", yamlx.Describe(node))
	}
	return s
}

// readRaw reads a schema that the user keeps as raw JSON: it is published as it is, with what it refers to.
func (c *compiler) readRaw(s *schema) {
	s.refs = references{}
	s.title, s.description = yamlx.Text(yamlx.Get(s.node, "title")), yamlx.Text(yamlx.Get(s.node, "description"))
	c.rawRefs(s, s.node)
}

func (c *compiler) rawRefs(s *schema, n *yaml.Node) {
	for _, item := range yamlx.Items(n) {
		c.rawRefs(s, item)
	}
	for k, v := range yamlx.Pairs(n) {
		switch {
		case k.Value == "$ref" && yamlx.IsText(v):
			if s.refs[v] = c.lookup(s.doc, v, v.Value, s); s.refs[v] != nil {
				s.refs[v].target = true
			}
		case !isData(k.Value):
			c.rawRefs(s, v)
		}
	}
}

// rat is the value of a JSON number that was checked when it was read.
func rat(text string) *big.Rat {
	r, _ := ParseNumber(text)
	return r
}

// ParseNumber reads a JSON number exactly, refusing what no float64 can hold, which emitted code could not name, and
// exponents whose expansion would fill the memory.
func ParseNumber(text string) (*big.Rat, bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if exp, err := strconv.Atoi(text[i+1:]); err != nil || exp > 400 || exp < -400 {
			return new(big.Rat), false
		}
	}
	if len(text) > 1000 {
		return new(big.Rat), false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return new(big.Rat), false
	}
	if f, _ := r.Float64(); math.IsInf(f, 0) {
		return new(big.Rat), false
	}
	return r, true
}

// number reads a number for a keyword; "" after an error.
func number(c *compiler, s *schema, k, v *yaml.Node) string {
	if v.Tag != "!!int" && v.Tag != "!!float" {
		c.failf(s, v, "bad-keyword", "", "%s must be a number, got %s", k.Value, yamlx.Describe(v))
		return ""
	}
	if _, ok := ParseNumber(v.Value); !ok {
		c.failf(s, v, "bad-keyword", "", "%s is out of range: %s", k.Value, short(v.Value))
		return ""
	}
	return numberText(v.Value)
}

// count reads a size for a keyword; "" after an error, and when every value has it.
func count(c *compiler, s *schema, k, v *yaml.Node) string {
	if v.Tag == "!!int" || v.Tag == "!!float" {
		if r, ok := ParseNumber(v.Value); ok && r.IsInt() && r.Sign() >= 0 && r.Num().IsInt64() &&
			r.Num().Int64() < 1<<31 {
			if n := r.Num().String(); n != "0" || table[k.Value].Limit.Sign < 0 {
				return n
			}
			return ""
		}
	}
	c.failf(s, v, "bad-keyword", "", "%s must be a whole number from 0 on, got %s", k.Value, yamlx.Describe(v))
	return ""
}

func (c *compiler) flag(s *schema, v *yaml.Node) bool {
	if v.Tag != "!!bool" {
		c.failf(s, v, "bad-keyword", "write true or false", "must be true or false, got %s", yamlx.Describe(v))
	}
	return v.Value == "true"
}

func (c *compiler) text(s *schema, v *yaml.Node) string {
	if !yamlx.IsText(v) {
		c.failf(s, v, "bad-keyword", "put it in quotes", "must be text, got %s", yamlx.Describe(v))
		return ""
	}
	return v.Value
}

// texts reads a list of different strings.
func (c *compiler) texts(s *schema, k, v *yaml.Node) []*yaml.Node {
	if v.Kind != yaml.SequenceNode {
		hint := ""
		if k.Value == "required" && v.Tag == "!!bool" {
			hint = "list the names of required properties in the object: required: [city]"
		}
		c.failf(s, v, "bad-keyword", hint, "%s must be a list of property names, got %s", short(k.Value),
			yamlx.Describe(v))
		return nil
	}
	var texts []*yaml.Node
	seen := map[string]bool{}
	for _, n := range v.Content {
		switch {
		case !yamlx.IsText(n):
			c.failf(s, n, "bad-keyword", "put it in quotes", "%s must list property names, got %s", short(k.Value),
				yamlx.Describe(n))
		case seen[n.Value]:
			c.failf(s, n, "duplicate-value", "", "%q is listed twice", short(n.Value))
		default:
			seen[n.Value] = true
			texts = append(texts, n)
		}
	}
	return texts
}

func (c *compiler) isMap(s *schema, k, v *yaml.Node) bool {
	if v.Kind == yaml.MappingNode {
		return true
	}
	c.failf(s, v, "bad-keyword", "", "%s must be a map, got %s", k.Value, yamlx.Describe(v))
	return false
}

// join appends names to a JSON pointer.
func join(ptr string, names ...string) string {
	for _, n := range names {
		ptr += "/" + wire.EscapePointer(n)
	}
	return ptr
}

func joinIndex(ptr, name string, i int) string { return fmt.Sprintf("%s/%s/%d", ptr, name, i) }

// short cuts text from a schema to what fits into a message.
func short(s string) string {
	if rs := []rune(s); len(rs) > 60 {
		return string(rs[:59]) + "…"
	}
	return s
}

// quote is s as a JSON string.
func quote(s string) json.RawMessage {
	return yamlx.JSON(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s})
}
