package schema

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
)

// Keyword is one row of the table, which four readers share. This package compiles a schema by it (on, read, Limit),
// prints it (publish, and the check that emitted code calls), and tells what an evaluated value lacks (says). Package
// schemadiff compares schemas by it, and package carddiff says what callers do about a change.
//
// Of a keyword with a limit the row is all that there is. Of one that holds schemas, as items, it has what all passes
// need but lowering: there each makes something of another kind (a field, an element, a map, an interface), of several
// keywords at once, so that a column for it would hold the code of one keyword in every row.
type Keyword struct {
	Name string
	On   jsontype.Set // the types of values that it constrains; 0: any
	read reader       // nil for one with a limit
	// publish prints the keyword in the words of draft 2020-12; nil prints it as written.
	publish func(w *bundler, s *schema, k string, v *yaml.Node)
	Holds   Holding // the schemas in its value
	note    bool    // it says nothing about values
	data    bool    // its value is data, in which nothing is a keyword
	Remedy  string  // what to write instead of a keyword that Go types cannot express
	Limit   *Limit
	// says is what is wrong with a value that it refuses, with its argument for %v: a number of units, if there is a
	// unit. explain says it where that depends on more.
	says, unit string
	explain    func(arg, v any) string
	Compared   Comparison
	With       []string  // the keywords that say something only together with it, itself included
	Do         [2]string // what callers do when its argument is now %: who sends, and who receives
	order      int
}

// reader reads the value v of the key k into s.
type reader func(c *compiler, s *schema, k, v *yaml.Node)

// Holding says where in the value of a keyword there are schemas.
type Holding int

// Where they are.
const (
	HoldsNone   Holding = iota
	HoldsOne            // it is one
	HoldsList           // its elements
	HoldsByName         // its members
)

// Comparison says how two schemas are compared by a keyword.
type Comparison int

// The ways to compare.
const (
	ByMeaning Comparison = iota // by what it says, if that is anything about values
	AsWritten                   // it says the same where it is written alike
	WithAll                     // as written, together with all other keywords of its schema
	LeadsAway                   // never: it leads elsewhere in each document
)

// Lookup is the row of a keyword, an empty one if there is none.
func Lookup(name string) Keyword {
	if row := table[name]; row != nil {
		return *row
	}
	return Keyword{}
}

// table holds the keywords by name. It is filled when the program starts, because readers look keywords up themselves.
var table map[string]*Keyword

func init() {
	table = map[string]*Keyword{}
	for _, row := range slices.Concat(
		generalKeywords, numberKeywords, stringKeywords, arrayKeywords, objectKeywords, refusedKeywords) {
		row.order = len(table)
		table[row.Name] = &row
	}
}

// isData reports whether the value of a keyword is data.
func isData(name string) bool { return table[name] != nil && table[name].data }

// inOrder are the keywords in the order of the table.
func inOrder() []*Keyword {
	rows := make([]*Keyword, len(table))
	for _, row := range table {
		rows[row.order] = row
	}
	return rows
}

// The keywords about values of any type, in drafts 6 to 2020-12 and OpenAPI 3.
var generalKeywords = []Keyword{
	{Name: "$ref", read: readRef, publish: publishRef, Compared: LeadsAway},
	{Name: "$schema", read: readDialect, publish: unpublished, note: true},
	{Name: "$id", read: annotation, publish: unpublished, note: true},
	{Name: "$anchor", read: annotation, publish: unpublished, note: true},
	{Name: "$comment", read: annotation, note: true},
	{Name: "$defs", read: readDefs, publish: unpublished, Holds: HoldsByName},
	{Name: "definitions", read: readDefs, publish: unpublished, Holds: HoldsByName},
	{Name: "title", read: readTitle, note: true},
	{Name: "description", read: readDescription, note: true},
	{Name: "default", read: readDefault, note: true, data: true},
	{Name: "examples", read: readExamples, note: true, data: true},
	{Name: "example", read: readExample, publish: unpublished, note: true, data: true},
	{Name: "deprecated", read: readDeprecated, note: true},
	{Name: "readOnly", read: annotation, note: true},
	{Name: "writeOnly", read: annotation, note: true},
	{Name: "externalDocs", read: annotation, publish: unpublished, note: true},
	{Name: "xml", read: annotation, publish: unpublished, note: true},
	{Name: "type", read: readType, publish: publishType, explain: typeProblem,
		Do: [2]string{"send %", "handle it as %"}},
	{Name: "nullable", read: readNullable, publish: unpublished},
	{Name: "enum", read: readEnum, data: true, says: "is not one of the valid values",
		Do: [2]string{"do not send it", "handle it"}},
	{Name: "const", read: readConst, data: true, explain: constProblem},
	{Name: "allOf", read: list(inAllOf), publish: publishBranches, Holds: HoldsList},
	{Name: "anyOf", read: list(inAnyOf), publish: publishBranches, Holds: HoldsList,
		says: "fits none of the alternatives",
		Do:   [2]string{"send one of the other alternatives", "handle the new alternative"}},
	{Name: "oneOf", read: list(inOneOf), publish: publishBranches, Holds: HoldsList,
		says: "does not fit exactly one of the alternatives",
		Do:   [2]string{"send one of the other alternatives", "handle the new alternative"}},
	{Name: "discriminator", read: readDiscriminator, publish: publishDiscriminator},
}

// The keywords about strings.
var stringKeywords = []Keyword{
	{Name: "minLength", On: jsontype.String, Limit: &Limit{check: "c.MinLength", arg: count, Sign: 1, move: longer},
		says: "must be at least %v long", unit: "character",
		Do: [2]string{"send at least % characters", "handle shorter texts"}},
	{Name: "maxLength", On: jsontype.String, Limit: &Limit{check: "c.MaxLength", arg: count, Sign: -1, move: shorter},
		says: "must be at most %v long", unit: "character",
		Do: [2]string{"send at most % characters", "handle longer texts"}},
	{Name: "pattern", On: jsontype.String,
		Limit: &Limit{check: "c.Pattern", form: ir.ArgPattern, arg: pattern, move: matchingText},
		says:  "must match the pattern %v",
		Do:    [2]string{"send only what matches %", "handle other texts"}},
	{Name: "format", On: jsontype.String, read: readFormat, publish: publishFormat,
		Limit: &Limit{check: "format.Check", form: ir.ArgText, move: formattedText},
		says:  "must be a valid %v",
		Do:    [2]string{"send only what is a valid %", "handle other values"}},
	{Name: "contentEncoding", read: readEncoding},
	{Name: "contentMediaType", read: annotation, note: true},
	{Name: "contentSchema", read: annotation, note: true},
}

// The keywords about numbers.
var numberKeywords = []Keyword{
	{Name: "minimum", On: jsontype.Number, publish: publishBound,
		Limit: &Limit{check: "Minimum", arg: number, Sign: 1, move: atLeast},
		says:  "must be at least %v",
		Do:    [2]string{"send at least %", "handle smaller numbers"}},
	{Name: "exclusiveMinimum", On: jsontype.Number, publish: publishBound,
		Limit: &Limit{check: "ExclusiveMinimum", arg: exclusive, Sign: 1, Open: true, move: greaterThan},
		says:  "must be greater than %v",
		Do:    [2]string{"send more than %", "handle smaller numbers"}},
	{Name: "maximum", On: jsontype.Number, publish: publishBound,
		Limit: &Limit{check: "Maximum", arg: number, Sign: -1, move: atMost},
		says:  "must be at most %v",
		Do:    [2]string{"send at most %", "handle larger numbers"}},
	{Name: "exclusiveMaximum", On: jsontype.Number, publish: publishBound,
		Limit: &Limit{check: "ExclusiveMaximum", arg: exclusive, Sign: -1, Open: true, move: lessThan},
		says:  "must be less than %v",
		Do:    [2]string{"send less than %", "handle larger numbers"}},
	{Name: "multipleOf", On: jsontype.Number,
		Limit: &Limit{check: "MultipleOf", form: ir.ArgText, arg: divisor, move: multipleOf},
		says:  "must be a multiple of %v",
		Do:    [2]string{"send multiples of %", "handle numbers that are none"}},
}

// The keywords about arrays.
var arrayKeywords = []Keyword{
	{Name: "prefixItems", On: jsontype.Array, read: list(inPrefix), publish: publishPrefix, Holds: HoldsList},
	{Name: "items", On: jsontype.Array, read: readItems, publish: publishItems, Holds: HoldsOne},
	{Name: "additionalItems", On: jsontype.Array, read: readAdditionalItems, publish: publishAdditionalItems, Holds: HoldsOne,
		says: "has more items than are described"},
	{Name: "minItems", On: jsontype.Array, Limit: &Limit{check: "c.MinItems", arg: count, Sign: 1, move: atLeastSo},
		says: "must have at least %v", unit: "item",
		Do: [2]string{"send at least % items", "handle shorter lists"}},
	{Name: "maxItems", On: jsontype.Array, Limit: &Limit{check: "c.MaxItems", arg: count, Sign: -1, move: atMostSo},
		says: "must have at most %v", unit: "item",
		Do: [2]string{"send at most % items", "handle longer lists"}},
	{Name: "uniqueItems", On: jsontype.Array, Limit: &Limit{check: "Unique", form: ir.ArgElements, arg: flag},
		says: "has two equal items",
		Do:   [2]string{"send no item twice", "handle equal items"}},
}

// The keywords about objects.
var objectKeywords = []Keyword{
	{Name: "properties", On: jsontype.Object, read: readProperties, publish: publishProperties, Holds: HoldsByName},
	{Name: "required", On: jsontype.Object, read: readRequired, explain: requiredProblem,
		Do: [2]string{"give it in every call", "handle answers without it"}},
	{Name: "additionalProperties", On: jsontype.Object, read: one(inAdditional), publish: publishAdditional, Holds: HoldsOne,
		says: "has a property that is not listed",
		Do:   [2]string{"leave out what the schema does not name", "handle properties that the old schema does not name"}},
	{Name: "propertyNames", On: jsontype.Object, read: one(inNames), publish: publishNames, Holds: HoldsOne,
		Do: [2]string{"send only names that fit", "handle other names"}},
	{Name: "minProperties", On: jsontype.Object,
		Limit: &Limit{check: "Min", form: ir.ArgKeys, arg: count, Sign: 1, move: atLeastSo},
		says:  "must have at least %v properties",
		Do:    [2]string{"send at least % properties", "handle fewer properties"}},
	{Name: "maxProperties", On: jsontype.Object,
		Limit: &Limit{check: "Max", form: ir.ArgKeys, arg: count, Sign: -1, move: atMostSo},
		says:  "must have at most %v properties",
		Do:    [2]string{"send at most % properties", "handle more properties"}},
	{Name: "dependentRequired", On: jsontype.Object, read: readDependent,
		says: "lacks a property that another one requires",
		Do:   [2]string{"give it, too", "handle answers without it"}},
	{Name: "dependencies", On: jsontype.Object, read: readDependent, publish: publishDependencies},
}

// The keywords that say something only together.
var (
	conditional = []string{"if", "then", "else"}
	counted     = []string{"contains", "minContains", "maxContains"}
)

// The keywords of JSON Schema that Go types cannot express.
var refusedKeywords = []Keyword{
	{Name: "if", Holds: HoldsOne, Remedy: "write the alternatives as oneOf, told apart by a const property", Compared: AsWritten, With: conditional},
	{Name: "then", Holds: HoldsOne,
		Remedy: "write the alternatives as oneOf, told apart by a const property", Compared: AsWritten, With: conditional},
	{Name: "else", Holds: HoldsOne,
		Remedy: "write the alternatives as oneOf, told apart by a const property", Compared: AsWritten, With: conditional},
	{Name: "not", Holds: HoldsOne,
		Remedy: "say what is allowed instead: enum, pattern, or minimum and maximum", Compared: AsWritten},
	{Name: "patternProperties", Holds: HoldsByName,
		Remedy: "use additionalProperties for the values and propertyNames with a pattern for the keys"},
	{Name: "unevaluatedProperties", Holds: HoldsOne,
		Remedy: "merge the parts of allOf into one object and use additionalProperties", Compared: WithAll},
	{Name: "unevaluatedItems", Holds: HoldsOne, Remedy: "use items and maxItems", Compared: WithAll},
	{Name: "contains", Holds: HoldsOne, Remedy: "use items, or check it in the handler", Compared: AsWritten, With: counted},
	{Name: "minContains", Remedy: "use minItems, or check it in the handler", Compared: AsWritten, With: counted},
	{Name: "maxContains", Remedy: "use maxItems, or check it in the handler", Compared: AsWritten, With: counted},
	{Name: "dependentSchemas", Holds: HoldsByName,
		Remedy: "use dependentRequired, or oneOf told apart by a const property", Compared: AsWritten},
	{Name: "$dynamicRef", Remedy: "use $ref", Compared: LeadsAway},
	{Name: "$dynamicAnchor", Remedy: "use $anchor"},
	{Name: "$recursiveRef", Remedy: "use $ref: '#'", Compared: LeadsAway},
	{Name: "$recursiveAnchor", Remedy: "use $ref: '#'"},
	{Name: "$vocabulary", Remedy: "remove it: the vocabulary of draft 2020-12 is used"},
}

// notes are keywords that tools outside JSON Schema write into schemas, so that one that reads like a keyword is no
// mistake.
var notes = []string{
	"id", "components", "markdownDescription", "enumNames", "enumDescriptions", "markdownEnumDescriptions",
	"defaultSnippets", "tsType", "tsEnumNames", "deprecationMessage", "doNotSuggest", "errorMessage",
	"patternErrorMessage", "suggestSortText", "allowComments", "allowTrailingCommas", "propertyOrdering", "options",
	"optionsLoader", "strict", "name", "label", "order", "placeholder", "hidden", "secret", "uniqueItemProperties",
}
