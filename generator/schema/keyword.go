package schema

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// rawHint tells the way out where a schema cannot become a Go type.
const rawHint = "or write \"x-go: raw\" here to take any JSON in its place"

// readKeywords reads the mapping of a schema.
func (c *compiler) readKeywords(s *schema) {
	for k, v := range yamlx.Pairs(s.node) {
		name := k.Value
		switch row := table[name]; {
		case row != nil && row.Remedy != "" && !s.ignores(name):
			c.failf(s, k, "unsupported-keyword", row.Remedy+"; "+rawHint, "%q cannot be expressed as a Go type", name)
			continue
		case s.ignores(name):
			c.list.Warnf(s.doc.pos(k), "no-effect", "put $ref into an allOf beside it, or name draft 2020-12 in $schema",
				"%s has no effect: in draft-0%d nothing beside $ref has", name, s.doc.draft)
			continue
		case row != nil:
			c.readKeyword(s, row, k, v)
			continue
		}
		if strings.HasPrefix(name, "x-") || slices.Contains(notes, name) {
			continue
		}
		var names []string
		for _, row := range inOrder() {
			if row.Remedy == "" {
				names = append(names, row.Name)
			}
		}
		near := suggest.Nearest(name, names)
		if near != "" && s.doc.foreign {
			c.list.Warnf(s.doc.pos(k), "unknown-keyword", "did its author mean \""+near+"\"?",
				"unknown keyword %q has no effect", short(name))
			continue
		}
		if near != "" {
			c.failf(s, k, "unknown-keyword", "did you mean \""+near+"\"? A note of your own begins with x-",
				"unknown keyword %q", short(name))
			continue
		}
		c.list.Warnf(s.doc.pos(k), "unknown-keyword", "prefix it with x- if it is a note of your own",
			"unknown keyword %q has no effect", short(name))
	}
	c.settle(s)
}

// readKeyword reads the value v of a keyword that there is a row for.
func (c *compiler) readKeyword(s *schema, row *Keyword, k, v *yaml.Node) {
	before := s.uses
	s.uses = row.On
	if row.read != nil {
		if row.Limit != nil { // the reader knows the types
			s.uses = 0
		}
		row.read(c, s, k, v)
	} else if arg := row.Limit.arg(c, s, k, v); arg != "" {
		s.checks.Limits = append(s.checks.Limits, row.with(arg))
	}
	c.warnIdle(s, k)
	s.uses |= before
}

// warnIdle warns of the keyword k, whose types s.uses holds, where the type beside it makes that it says nothing: legal
// in JSON Schema, but "type: string, minimum: 3" is a mistake. A format beside another type is an error elsewhere.
func (c *compiler) warnIdle(s *schema, k *yaml.Node) {
	typ := yamlx.Get(s.node, "type")
	if s.uses == 0 || s.bad || typ == nil || k.Value == "format" {
		return
	}
	var types jsontype.Set
	for _, n := range append(yamlx.Items(typ), typ) {
		types |= typeOf(n)
	}
	if types != 0 && families(types&s.uses) == 0 {
		c.list.Warnf(s.doc.pos(k), "no-effect", "remove it, or correct the type",
			"%s says nothing about a value of type %s", k.Value, types)
	}
}

// settle brings keywords that depend on one another into one spelling.
func (c *compiler) settle(s *schema) {
	if s.discriminator != nil && len(s.anyOf)+len(s.oneOf) == 0 {
		c.failf(s, s.discriminator.node, "lone-discriminator", "list the alternatives as oneOf beside it",
			"discriminator without oneOf or anyOf")
	}
	if len(s.anyOf) > 0 && onlyRequired(s.anyOf) {
		s.addGroup(s.anyOf, false)
		s.anyOf = nil
	}
	if len(s.oneOf) > 0 && onlyRequired(s.oneOf) {
		s.addGroup(s.oneOf, true)
		s.oneOf = nil
	}
	if len(s.anyOf) > 0 && len(s.oneOf) > 0 {
		c.failf(s, s.node, "two-unions", "keep one of them", "anyOf and oneOf in one schema cannot be told apart")
		s.anyOf = nil
	}
}

func annotation(*compiler, *schema, *yaml.Node, *yaml.Node) {}

func readTitle(c *compiler, s *schema, _, v *yaml.Node)       { s.title = c.text(s, v) }
func readDescription(c *compiler, s *schema, _, v *yaml.Node) { s.description = c.text(s, v) }
func readDeprecated(c *compiler, s *schema, _, v *yaml.Node)  { s.deprecated = c.flag(s, v) }
func readNullable(c *compiler, s *schema, _, v *yaml.Node)    { s.nullable = c.flag(s, v) }
func readDefault(_ *compiler, s *schema, _, v *yaml.Node)     { s.def = v }
func readExample(_ *compiler, s *schema, _, v *yaml.Node)     { s.examples = append(s.examples, v) }
func readExamples(_ *compiler, s *schema, _, v *yaml.Node) {
	s.examples = append(s.examples, yamlx.Items(v)...)
}

// dialects are the meta-schemas whose keywords are read alike, each with its draft where that makes a difference.
var dialects = map[string]int{
	"https://json-schema.org/draft/2020-12/schema": 0, "https://json-schema.org/draft/2019-09/schema": 0,
	"http://json-schema.org/draft-07/schema": 7, "https://json-schema.org/draft-07/schema": 7,
	"http://json-schema.org/draft-06/schema": 6, "https://json-schema.org/draft-06/schema": 6,
	"http://json-schema.org/draft-04/schema": 4, "https://json-schema.org/draft-04/schema": 4,
	"https://spec.openapis.org/oas/3.1/dialect/base": 0, "http://json-schema.org/schema": 0,
}

// dialectName is a dialect as dialects has it.
func dialectName(text string) string { return strings.TrimRight(text, "#") }

func readDialect(c *compiler, s *schema, _, v *yaml.Node) {
	name := dialectName(c.text(s, v))
	if _, known := dialects[name]; name != "" && !known {
		c.failf(s, v, "unknown-dialect", "write https://json-schema.org/draft/2020-12/schema",
			"unknown schema dialect %q", short(name))
	}
}

func readDefs(c *compiler, s *schema, k, v *yaml.Node) {
	if !c.isMap(s, k, v) {
		return
	}
	for dk, dv := range yamlx.Pairs(v) {
		c.read(s.doc, join(s.ptr, k.Value, dk.Value), dv)
	}
}

// one reads a keyword whose value is a schema into its place.
func one(place func(*schema) **schema) reader {
	return func(c *compiler, s *schema, k, v *yaml.Node) {
		*place(s) = c.read(s.doc, join(s.ptr, k.Value), v)
	}
}

// list reads a keyword whose value is a list of schemas into its place.
func list(place func(*schema) *[]*schema) reader {
	return func(c *compiler, s *schema, k, v *yaml.Node) {
		if len(yamlx.Items(v)) == 0 {
			c.failf(s, v, "bad-keyword", "", "%s must be a list of schemas, got %s", k.Value, yamlx.Describe(v))
			return
		}
		var subs []*schema
		for i, item := range v.Content {
			if sub := c.read(s.doc, joinIndex(s.ptr, k.Value, i), item); sub != nil {
				subs = append(subs, sub)
			}
		}
		*place(s) = subs
	}
}

// The places of schemas in a schema.
func inItems(s *schema) **schema      { return &s.items }
func inAdditional(s *schema) **schema { return &s.additional }
func inNames(s *schema) **schema      { return &s.names }
func inPrefix(s *schema) *[]*schema   { return &s.prefix }
func inAllOf(s *schema) *[]*schema    { return &s.allOf }
func inAnyOf(s *schema) *[]*schema    { return &s.anyOf }
func inOneOf(s *schema) *[]*schema    { return &s.oneOf }

func readDiscriminator(c *compiler, s *schema, k, v *yaml.Node) {
	if !c.isMap(s, k, v) {
		return
	}
	d := &discriminator{node: k, property: yamlx.Text(yamlx.Get(v, "propertyName"))}
	if d.property == "" {
		c.failf(s, v, "bad-keyword", "", "discriminator needs a propertyName")
		return
	}
	for mk, mv := range yamlx.Pairs(yamlx.Get(v, "mapping")) {
		text := c.text(s, mv)
		d.mapping = append(d.mapping, mappingEntry{value: mk.Value, node: mv, target: c.mapped(s, mv, text)})
	}
	s.discriminator = d
}
