package schema

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// keyword is one row of the table: all that is known of a keyword. The passes that read, merge, lower, publish and judge
// are driven by it.
type keyword struct {
	name string
	on   typeSet // the types of values that it speaks of; 0: of any
	read reader  // nil for one with a limit
	// publish prints the keyword in the words of draft 2020-12; nil prints it as written.
	publish func(w *bundler, s *schema, k string, v *yaml.Node)
	holds   holding // the schemas in its value
	note    bool    // it says nothing about values
	remedy  string  // what to write instead of a keyword that Go types cannot express
	limit   *limit
	says    func(arg, v any) string // why it refuses v
	order   int
}

// reader reads the value v of the key k into s.
type reader func(c *compiler, s *schema, k, v *yaml.Node)

// holding says where in the value of a keyword there are schemas.
type holding int

const (
	holdsNone   holding = iota
	holdsOne            // it is one
	holdsList           // its elements
	holdsByName         // its members
)

// table holds the keywords by name. It is filled when the program starts, because readers look keywords up themselves.
var table map[string]*keyword

func init() {
	table = map[string]*keyword{}
	for _, row := range slices.Concat(generalKeywords, numberKeywords, stringKeywords, arrayKeywords, objectKeywords, refusedKeywords) {
		row.order = len(table)
		table[row.name] = &row
	}
}

// inOrder are the keywords in the order of the table.
func inOrder() []*keyword {
	rows := make([]*keyword, len(table))
	for _, row := range table {
		rows[row.order] = row
	}
	return rows
}

// knownKeywords are offered as corrections of misspelt ones.
func knownKeywords() []string {
	var names []string
	for _, row := range inOrder() {
		if row.remedy == "" {
			names = append(names, row.name)
		}
	}
	return names
}

// The keywords about values of any type, in drafts 6 to 2020-12 and OpenAPI 3.
var generalKeywords = []keyword{
	{name: "$ref", read: readRef, publish: publishRef},
	{name: "$schema", read: readDialect, publish: unpublished, note: true},
	{name: "$id", read: annotation, publish: unpublished, note: true},
	{name: "$anchor", read: annotation, publish: unpublished, note: true},
	{name: "$comment", read: annotation, note: true},
	{name: "$defs", read: readDefs, publish: unpublished, holds: holdsByName},
	{name: "definitions", read: readDefs, publish: unpublished, holds: holdsByName},
	{name: "title", read: func(c *compiler, s *schema, _, v *yaml.Node) { s.title = c.text(s, v) }, note: true},
	{name: "description", read: func(c *compiler, s *schema, _, v *yaml.Node) { s.description = c.text(s, v) }, note: true},
	{name: "default", read: func(_ *compiler, s *schema, _, v *yaml.Node) { s.def = v }, note: true},
	{name: "examples", read: func(_ *compiler, s *schema, _, v *yaml.Node) { s.examples = append(s.examples, yamlx.Items(v)...) }, note: true},
	{name: "example", read: func(_ *compiler, s *schema, _, v *yaml.Node) { s.examples = append(s.examples, v) }, publish: unpublished, note: true},
	{name: "deprecated", read: func(c *compiler, s *schema, _, v *yaml.Node) { s.deprecated = c.flag(s, v) }, note: true},
	{name: "readOnly", read: annotation, note: true},
	{name: "writeOnly", read: annotation, note: true},
	{name: "externalDocs", read: annotation, publish: unpublished, note: true},
	{name: "xml", read: annotation, publish: unpublished, note: true},
	{name: "type", read: readType, publish: publishType, says: func(arg, v any) string { return "must be " + typesText(arg) + ", not " + describe(v) }},
	{name: "nullable", read: func(c *compiler, s *schema, _, v *yaml.Node) { s.nullable = c.flag(s, v) }, publish: unpublished},
	{name: "enum", read: readEnum, says: func(_, _ any) string { return "is not one of the valid values" }},
	{name: "const", read: readConst, says: func(arg, _ any) string { return "must be " + jsonText(arg) }},
	{name: "allOf", read: readCombination, publish: publishBranches, holds: holdsList},
	{name: "anyOf", read: readCombination, publish: publishBranches, holds: holdsList, says: func(_, _ any) string { return "fits none of the alternatives" }},
	{name: "oneOf", read: readCombination, publish: publishBranches, holds: holdsList, says: func(_, _ any) string { return "does not fit exactly one of the alternatives" }},
	{name: "discriminator", read: readDiscriminator, publish: publishDiscriminator},
}

// The keywords about strings.
var stringKeywords = []keyword{
	{name: "minLength", on: tString, limit: &limit{check: "c.MinLength", arg: count, sign: 1, move: longer},
		says: func(arg, _ any) string { return "must be at least " + plural(arg, "character") + " long" }},
	{name: "maxLength", on: tString, limit: &limit{check: "c.MaxLength", arg: count, sign: -1, move: shorter},
		says: func(arg, _ any) string { return "must be at most " + plural(arg, "character") + " long" }},
	{name: "pattern", on: tString, limit: &limit{check: "c.Pattern", form: ir.ArgPattern, arg: pattern, move: matchingText},
		says: func(arg, _ any) string { return "must match the pattern " + fmt.Sprint(arg) }},
	{name: "format", on: tString, read: readFormat, limit: &limit{check: "c.Format", form: ir.ArgText, move: formattedText},
		says: func(arg, _ any) string { return "must be a valid " + fmt.Sprint(arg) }},
	{name: "contentEncoding", read: readEncoding},
	{name: "contentMediaType", read: annotation, note: true},
	{name: "contentSchema", read: annotation, note: true},
}

// The keywords about numbers.
var numberKeywords = []keyword{
	{name: "minimum", on: tNumber, publish: publishBound, limit: &limit{check: "Minimum", arg: number, sign: 1, move: atLeast},
		says: func(arg, _ any) string { return fmt.Sprint("must be at least ", arg) }},
	{name: "exclusiveMinimum", on: tNumber, publish: publishBound, limit: &limit{check: "ExclusiveMinimum", arg: exclusive, sign: 1, open: true, move: greaterThan},
		says: func(arg, _ any) string { return fmt.Sprint("must be greater than ", arg) }},
	{name: "maximum", on: tNumber, publish: publishBound, limit: &limit{check: "Maximum", arg: number, sign: -1, move: atMost},
		says: func(arg, _ any) string { return fmt.Sprint("must be at most ", arg) }},
	{name: "exclusiveMaximum", on: tNumber, publish: publishBound, limit: &limit{check: "ExclusiveMaximum", arg: exclusive, sign: -1, open: true, move: lessThan},
		says: func(arg, _ any) string { return fmt.Sprint("must be less than ", arg) }},
	{name: "multipleOf", on: tNumber, limit: &limit{check: "MultipleOf", form: ir.ArgText, arg: divisor, move: multipleOf},
		says: func(arg, _ any) string { return fmt.Sprint("must be a multiple of ", arg) }},
}

// The keywords about arrays.
var arrayKeywords = []keyword{
	{name: "prefixItems", on: tArray, read: readPrefix, publish: publishPrefix, holds: holdsList},
	{name: "items", on: tArray, read: readItems, publish: publishItems, holds: holdsOne},
	{name: "additionalItems", on: tArray, read: readAdditionalItems, publish: publishAdditionalItems, holds: holdsOne},
	{name: "minItems", on: tArray, limit: &limit{check: "c.MinItems", arg: count, sign: 1, move: atLeastSo},
		says: func(arg, _ any) string { return "must have at least " + plural(arg, "item") }},
	{name: "maxItems", on: tArray, limit: &limit{check: "c.MaxItems", arg: count, sign: -1, move: atMostSo},
		says: func(arg, _ any) string { return "must have at most " + plural(arg, "item") }},
	{name: "uniqueItems", on: tArray, limit: &limit{check: "Unique", form: ir.ArgElements, arg: flag}, says: func(_, _ any) string { return "has two equal items" }},
}

// The keywords about objects.
var objectKeywords = []keyword{
	{name: "properties", on: tObject, read: readProperties, publish: publishProperties, holds: holdsByName},
	{name: "required", on: tObject, read: func(c *compiler, s *schema, k, v *yaml.Node) { s.required = c.texts(s, k, v) },
		says: func(_, _ any) string { return "lacks a required property" }},
	{name: "additionalProperties", on: tObject, holds: holdsOne,
		read:    func(c *compiler, s *schema, k, v *yaml.Node) { s.additional = c.read(s.doc, join(s.ptr, k.Value), v) },
		publish: func(w *bundler, s *schema, k string, _ *yaml.Node) { w.key(k); w.place(s.additional, false) },
		says:    func(_, _ any) string { return "has a property that is not listed" }},
	{name: "propertyNames", on: tObject, holds: holdsOne,
		read:    func(c *compiler, s *schema, k, v *yaml.Node) { s.names = c.read(s.doc, join(s.ptr, k.Value), v) },
		publish: func(w *bundler, s *schema, k string, _ *yaml.Node) { w.key(k); w.place(s.names, true) }},
	{name: "minProperties", on: tObject, limit: &limit{check: "Min", form: ir.ArgKeys, arg: count, sign: 1, move: atLeastSo},
		says: func(arg, _ any) string { return "must have at least " + fmt.Sprint(arg, " properties") }},
	{name: "maxProperties", on: tObject, limit: &limit{check: "Max", form: ir.ArgKeys, arg: count, sign: -1, move: atMostSo},
		says: func(arg, _ any) string { return "must have at most " + fmt.Sprint(arg, " properties") }},
	{name: "dependentRequired", on: tObject, read: readDependent, says: func(_, _ any) string { return "lacks a property that another one requires" }},
	{name: "dependencies", on: tObject, read: readDependent, publish: publishDependencies},
}

// The keywords of JSON Schema that Go types cannot express.
var refusedKeywords = []keyword{
	{name: "if", holds: holdsOne, remedy: "write the alternatives as oneOf, told apart by a const property"},
	{name: "then", holds: holdsOne, remedy: "write the alternatives as oneOf, told apart by a const property"},
	{name: "else", holds: holdsOne, remedy: "write the alternatives as oneOf, told apart by a const property"},
	{name: "not", holds: holdsOne, remedy: "say what is allowed instead: enum, pattern, or minimum and maximum"},
	{name: "patternProperties", holds: holdsByName, remedy: "use additionalProperties for the values and propertyNames with a pattern for the keys"},
	{name: "unevaluatedProperties", holds: holdsOne, remedy: "merge the parts of allOf into one object and use additionalProperties"},
	{name: "unevaluatedItems", holds: holdsOne, remedy: "use items and maxItems"},
	{name: "contains", holds: holdsOne, remedy: "use items, or check it in the handler"},
	{name: "minContains", remedy: "use minItems, or check it in the handler"},
	{name: "maxContains", remedy: "use maxItems, or check it in the handler"},
	{name: "dependentSchemas", holds: holdsByName, remedy: "use dependentRequired, or oneOf told apart by a const property"},
	{name: "$dynamicRef", remedy: "use $ref"},
	{name: "$dynamicAnchor", remedy: "use $anchor"},
	{name: "$recursiveRef", remedy: "use $ref: '#'"},
	{name: "$recursiveAnchor", remedy: "use $ref: '#'"},
	{name: "$vocabulary", remedy: "remove it: the vocabulary of draft 2020-12 is used"},
}

// notes are keywords that tools outside JSON Schema write into schemas, so that one that reads like a keyword is no mistake.
var notes = []string{
	"id", "components", "markdownDescription", "enumNames", "enumDescriptions", "markdownEnumDescriptions", "defaultSnippets", "tsType", "tsEnumNames",
	"deprecationMessage", "doNotSuggest", "errorMessage", "patternErrorMessage", "suggestSortText", "allowComments", "allowTrailingCommas",
	"propertyOrdering", "options", "optionsLoader", "strict", "name", "label", "order", "placeholder", "hidden", "secret", "uniqueItemProperties",
}
