package schema

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// keyword reads the value v of the key k into s.
type keyword func(c *compiler, s *schema, k, v *yaml.Node)

// keywords are all that may stand in a schema, in drafts 7 to 2020-12 and OpenAPI 3.
func keywords(name string) keyword {
	switch name {
	case "$ref":
		return readRef
	case "$schema":
		return readDialect
	case "$id", "$anchor", "$comment", "readOnly", "writeOnly", "contentMediaType", "contentSchema", "externalDocs", "xml":
		return annotation
	case "$defs", "definitions":
		return readDefs
	case "title":
		return func(c *compiler, s *schema, _, v *yaml.Node) { s.title = c.text(s, v) }
	case "description":
		return func(c *compiler, s *schema, _, v *yaml.Node) { s.description = c.text(s, v) }
	case "deprecated":
		return func(c *compiler, s *schema, _, v *yaml.Node) { s.deprecated = c.flag(s, v) }
	case "examples":
		return func(_ *compiler, s *schema, _, v *yaml.Node) { s.examples = append(s.examples, yamlx.Items(v)...) }
	case "example":
		return func(_ *compiler, s *schema, _, v *yaml.Node) { s.examples = append(s.examples, v) }
	case "default":
		return func(_ *compiler, s *schema, _, v *yaml.Node) { s.def = v }
	case "type":
		return readType
	case "nullable":
		return func(c *compiler, s *schema, _, v *yaml.Node) { s.nullable = c.flag(s, v) }
	case "enum":
		return readEnum
	case "const":
		return readConst
	case "format":
		return readFormat
	case "contentEncoding":
		return readEncoding
	case "allOf", "anyOf", "oneOf":
		return readCombination
	case "discriminator":
		return readDiscriminator
	}
	if read := objectKeyword(name); read != nil {
		return read
	}
	return valueKeyword(name)
}

// knownKeywords are offered as corrections of misspelt ones.
var knownKeywords = []string{
	"$ref", "$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
	"type", "nullable", "enum", "const", "format", "contentEncoding", "contentMediaType", "contentSchema", "allOf", "anyOf", "oneOf", "discriminator",
	"properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties", "dependentRequired", "dependencies",
	"items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
}

// unsupported are keywords of JSON Schema that Go types cannot express, with what to write instead.
var unsupported = map[string]string{
	"if":                    "write the alternatives as oneOf, told apart by a const property",
	"then":                  "write the alternatives as oneOf, told apart by a const property",
	"else":                  "write the alternatives as oneOf, told apart by a const property",
	"not":                   "say what is allowed instead: enum, pattern, or minimum and maximum",
	"patternProperties":     "use additionalProperties for the values and propertyNames with a pattern for the keys",
	"unevaluatedProperties": "merge the parts of allOf into one object and use additionalProperties",
	"unevaluatedItems":      "use items and maxItems",
	"contains":              "use items, or check it in the handler",
	"minContains":           "use minItems, or check it in the handler",
	"maxContains":           "use maxItems, or check it in the handler",
	"dependentSchemas":      "use dependentRequired, or oneOf told apart by a const property",
	"$dynamicRef":           "use $ref",
	"$dynamicAnchor":        "use $anchor",
	"$recursiveRef":         "use $ref: '#'",
	"$recursiveAnchor":      "use $ref: '#'",
	"$vocabulary":           "remove it: the vocabulary of draft 2020-12 is used",
}

// rawHint tells the way out where a schema cannot become a Go type.
const rawHint = "or write \"x-go: raw\" here to take any JSON in its place"

// notes are keywords that tools outside JSON Schema write into schemas, so that one that reads like a keyword is no mistake.
var notes = []string{
	"id", "components", "markdownDescription", "enumNames", "enumDescriptions", "markdownEnumDescriptions", "defaultSnippets", "tsType", "tsEnumNames",
	"deprecationMessage", "doNotSuggest", "errorMessage", "patternErrorMessage", "suggestSortText", "allowComments", "allowTrailingCommas",
	"propertyOrdering", "options", "optionsLoader", "strict", "name", "label", "order", "placeholder", "hidden", "secret", "uniqueItemProperties",
}

// readKeywords reads the mapping of a schema.
func (c *compiler) readKeywords(s *schema) {
	for k, v := range yamlx.Pairs(s.node) {
		name := k.Value
		if hint, ok := unsupported[name]; ok {
			c.failf(s, k, "unsupported-keyword", hint+"; "+rawHint, "%q cannot be expressed as a Go type", name)
			continue
		}
		if read := keywords(name); read != nil {
			before := s.uses
			s.uses = 0
			read(c, s, k, v)
			c.warnIdle(s, k)
			s.uses |= before
			continue
		}
		if strings.HasPrefix(name, "x-") || slices.Contains(notes, name) {
			continue
		}
		if near := suggest.Nearest(name, knownKeywords); near != "" {
			c.failf(s, k, "unknown-keyword", "did you mean \""+near+"\"? A note of your own begins with x-", "unknown keyword %q", short(name))
			continue
		}
		c.list.Warnf(s.doc.pos(k), "unknown-keyword", "prefix it with x- if it is a note of your own", "unknown keyword %q has no effect", short(name))
	}
	c.settle(s)
}

// warnIdle warns of the keyword k, whose types s.uses holds, where the type beside it makes that it says nothing: legal in
// JSON Schema, but nobody means "type: string, minimum: 3". A format beside another type is an error elsewhere.
func (c *compiler) warnIdle(s *schema, k *yaml.Node) {
	typ := yamlx.Get(s.node, "type")
	if s.uses == 0 || s.bad || typ == nil || k.Value == "format" {
		return
	}
	var types typeSet
	for _, n := range append(yamlx.Items(typ), typ) {
		types |= typeOf(n)
	}
	if types != 0 && families(types&s.uses) == 0 {
		c.list.Warnf(s.doc.pos(k), "no-effect", "remove it, or correct the type", "%s says nothing about a value of type %s", k.Value, types)
	}
}

// settle brings keywords that depend on one another into one spelling.
func (c *compiler) settle(s *schema) {
	if s.discriminator != nil && len(s.anyOf)+len(s.oneOf) == 0 {
		c.failf(s, s.discriminator.node, "lone-discriminator", "list the alternatives as oneOf beside it", "discriminator without oneOf or anyOf")
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

// dialects are the meta-schemas whose keywords are read alike.
var dialects = map[string]bool{
	"https://json-schema.org/draft/2020-12/schema": true, "https://json-schema.org/draft/2019-09/schema": true,
	"http://json-schema.org/draft-07/schema": true, "https://json-schema.org/draft-07/schema": true,
	"http://json-schema.org/draft-06/schema": true, "https://spec.openapis.org/oas/3.1/dialect/base": true, "http://json-schema.org/schema": true,
}

func readDialect(c *compiler, s *schema, _, v *yaml.Node) {
	name := c.text(s, v)
	for len(name) > 0 && name[len(name)-1] == '#' {
		name = name[:len(name)-1]
	}
	if name != "" && !dialects[name] {
		c.failf(s, v, "unknown-dialect", "write https://json-schema.org/draft/2020-12/schema", "unknown schema dialect %q", short(name))
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

func readCombination(c *compiler, s *schema, k, v *yaml.Node) {
	items := yamlx.Items(v)
	if len(items) == 0 {
		c.failf(s, v, "bad-keyword", "", "%s must be a list of schemas, got %s", k.Value, yamlx.Describe(v))
		return
	}
	var subs []*schema
	for i, item := range items {
		if sub := c.read(s.doc, joinIndex(s.ptr, k.Value, i), item); sub != nil {
			subs = append(subs, sub)
		}
	}
	switch k.Value {
	case "allOf":
		s.allOf = subs
	case "anyOf":
		s.anyOf = subs
	default:
		s.oneOf = subs
	}
}

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
