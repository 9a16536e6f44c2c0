package schema

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
)

// keyword is one row of the table. The passes that read, merge, lower, publish and judge are driven by it. Of a keyword
// with a limit it is all that there is. Of one that holds schemas, as items, the row has what all passes need but
// lowering: there each makes something of another kind (a field, an element, a map, an interface), of several keywords
// at once, so that a column for it would hold the code of one keyword in every row.
type keyword struct {
	name string
	on   jsontype.Set // the types of values that it speaks of; 0: of any
	read reader       // nil for one with a limit
	// publish prints the keyword in the words of draft 2020-12; nil prints it as written.
	publish func(w *bundler, s *schema, k string, v *yaml.Node)
	holds   holding // the schemas in its value
	note    bool    // it says nothing about values
	data    bool    // its value is data, in which nothing is a keyword
	remedy  string  // what to write instead of a keyword that Go types cannot express
	limit   *limit
	// says is what is wrong with a value that it refuses, with its argument for %v: a number of units, if there is a
	// unit. explain says it where that depends on more.
	says, unit string
	explain    func(arg, v any) string
	order      int
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
	for _, row := range allKeywords() {
		row.order = len(table)
		table[row.name] = &row
	}
}

// isData reports whether the value of a keyword is data.
func isData(name string) bool { return table[name] != nil && table[name].data }

func allKeywords() []keyword {
	return slices.Concat(
		generalKeywords, numberKeywords, stringKeywords, arrayKeywords, objectKeywords, refusedKeywords)
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
	{name: "title", read: readTitle, note: true},
	{name: "description", read: readDescription, note: true},
	{name: "default", read: readDefault, note: true, data: true},
	{name: "examples", read: readExamples, note: true, data: true},
	{name: "example", read: readExample, publish: unpublished, note: true, data: true},
	{name: "deprecated", read: readDeprecated, note: true},
	{name: "readOnly", read: annotation, note: true},
	{name: "writeOnly", read: annotation, note: true},
	{name: "externalDocs", read: annotation, publish: unpublished, note: true},
	{name: "xml", read: annotation, publish: unpublished, note: true},
	{name: "type", read: readType, publish: publishType, explain: typeProblem},
	{name: "nullable", read: readNullable, publish: unpublished},
	{name: "enum", read: readEnum, data: true, says: "is not one of the valid values"},
	{name: "const", read: readConst, data: true, explain: constProblem},
	{name: "allOf", read: list(inAllOf), publish: publishBranches, holds: holdsList},
	{name: "anyOf", read: list(inAnyOf), publish: publishBranches, holds: holdsList,
		says: "fits none of the alternatives"},
	{name: "oneOf", read: list(inOneOf), publish: publishBranches, holds: holdsList,
		says: "does not fit exactly one of the alternatives"},
	{name: "discriminator", read: readDiscriminator, publish: publishDiscriminator},
}

// The keywords about strings.
var stringKeywords = []keyword{
	{name: "minLength", on: jsontype.String, limit: &limit{check: "c.MinLength", arg: count, sign: 1, move: longer},
		says: "must be at least %v long", unit: "character"},
	{name: "maxLength", on: jsontype.String, limit: &limit{check: "c.MaxLength", arg: count, sign: -1, move: shorter},
		says: "must be at most %v long", unit: "character"},
	{name: "pattern", on: jsontype.String,
		limit: &limit{check: "c.Pattern", form: ir.ArgPattern, arg: pattern, move: matchingText},
		says:  "must match the pattern %v"},
	{name: "format", on: jsontype.String, read: readFormat, publish: publishFormat,
		limit: &limit{check: "format.Check", form: ir.ArgText, move: formattedText},
		says:  "must be a valid %v"},
	{name: "contentEncoding", read: readEncoding},
	{name: "contentMediaType", read: annotation, note: true},
	{name: "contentSchema", read: annotation, note: true},
}

// The keywords about numbers.
var numberKeywords = []keyword{
	{name: "minimum", on: jsontype.Number, publish: publishBound,
		limit: &limit{check: "Minimum", arg: number, sign: 1, move: atLeast},
		says:  "must be at least %v"},
	{name: "exclusiveMinimum", on: jsontype.Number, publish: publishBound,
		limit: &limit{check: "ExclusiveMinimum", arg: exclusive, sign: 1, open: true, move: greaterThan},
		says:  "must be greater than %v"},
	{name: "maximum", on: jsontype.Number, publish: publishBound,
		limit: &limit{check: "Maximum", arg: number, sign: -1, move: atMost},
		says:  "must be at most %v"},
	{name: "exclusiveMaximum", on: jsontype.Number, publish: publishBound,
		limit: &limit{check: "ExclusiveMaximum", arg: exclusive, sign: -1, open: true, move: lessThan},
		says:  "must be less than %v"},
	{name: "multipleOf", on: jsontype.Number,
		limit: &limit{check: "MultipleOf", form: ir.ArgText, arg: divisor, move: multipleOf},
		says:  "must be a multiple of %v"},
}

// The keywords about arrays.
var arrayKeywords = []keyword{
	{name: "prefixItems", on: jsontype.Array, read: list(inPrefix), publish: publishPrefix, holds: holdsList},
	{name: "items", on: jsontype.Array, read: readItems, publish: publishItems, holds: holdsOne},
	{name: "additionalItems", on: jsontype.Array, read: readAdditionalItems, publish: publishAdditionalItems, holds: holdsOne,
		says: "has more items than are described"},
	{name: "minItems", on: jsontype.Array, limit: &limit{check: "c.MinItems", arg: count, sign: 1, move: atLeastSo},
		says: "must have at least %v", unit: "item"},
	{name: "maxItems", on: jsontype.Array, limit: &limit{check: "c.MaxItems", arg: count, sign: -1, move: atMostSo},
		says: "must have at most %v", unit: "item"},
	{name: "uniqueItems", on: jsontype.Array, limit: &limit{check: "Unique", form: ir.ArgElements, arg: flag},
		says: "has two equal items"},
}

// The keywords about objects.
var objectKeywords = []keyword{
	{name: "properties", on: jsontype.Object, read: readProperties, publish: publishProperties, holds: holdsByName},
	{name: "required", on: jsontype.Object, read: readRequired, explain: requiredProblem},
	{name: "additionalProperties", on: jsontype.Object, read: one(inAdditional), publish: publishAdditional, holds: holdsOne,
		says: "has a property that is not listed"},
	{name: "propertyNames", on: jsontype.Object, read: one(inNames), publish: publishNames, holds: holdsOne},
	{name: "minProperties", on: jsontype.Object,
		limit: &limit{check: "Min", form: ir.ArgKeys, arg: count, sign: 1, move: atLeastSo},
		says:  "must have at least %v properties"},
	{name: "maxProperties", on: jsontype.Object,
		limit: &limit{check: "Max", form: ir.ArgKeys, arg: count, sign: -1, move: atMostSo},
		says:  "must have at most %v properties"},
	{name: "dependentRequired", on: jsontype.Object, read: readDependent,
		says: "lacks a property that another one requires"},
	{name: "dependencies", on: jsontype.Object, read: readDependent, publish: publishDependencies},
}

// The keywords of JSON Schema that Go types cannot express.
var refusedKeywords = []keyword{
	{name: "if", holds: holdsOne, remedy: "write the alternatives as oneOf, told apart by a const property"},
	{name: "then", holds: holdsOne,
		remedy: "write the alternatives as oneOf, told apart by a const property"},
	{name: "else", holds: holdsOne,
		remedy: "write the alternatives as oneOf, told apart by a const property"},
	{name: "not", holds: holdsOne,
		remedy: "say what is allowed instead: enum, pattern, or minimum and maximum"},
	{name: "patternProperties", holds: holdsByName,
		remedy: "use additionalProperties for the values and propertyNames with a pattern for the keys"},
	{name: "unevaluatedProperties", holds: holdsOne,
		remedy: "merge the parts of allOf into one object and use additionalProperties"},
	{name: "unevaluatedItems", holds: holdsOne, remedy: "use items and maxItems"},
	{name: "contains", holds: holdsOne, remedy: "use items, or check it in the handler"},
	{name: "minContains", remedy: "use minItems, or check it in the handler"},
	{name: "maxContains", remedy: "use maxItems, or check it in the handler"},
	{name: "dependentSchemas", holds: holdsByName,
		remedy: "use dependentRequired, or oneOf told apart by a const property"},
	{name: "$dynamicRef", remedy: "use $ref"},
	{name: "$dynamicAnchor", remedy: "use $anchor"},
	{name: "$recursiveRef", remedy: "use $ref: '#'"},
	{name: "$recursiveAnchor", remedy: "use $ref: '#'"},
	{name: "$vocabulary", remedy: "remove it: the vocabulary of draft 2020-12 is used"},
}

// notes are keywords that tools outside JSON Schema write into schemas, so that one that reads like a keyword is no
// mistake.
var notes = []string{
	"id", "components", "markdownDescription", "enumNames", "enumDescriptions", "markdownEnumDescriptions",
	"defaultSnippets", "tsType", "tsEnumNames", "deprecationMessage", "doNotSuggest", "errorMessage",
	"patternErrorMessage", "suggestSortText", "allowComments", "allowTrailingCommas", "propertyOrdering", "options",
	"optionsLoader", "strict", "name", "label", "order", "placeholder", "hidden", "secret", "uniqueItemProperties",
}
