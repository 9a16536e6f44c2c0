// Package schemadiff says why values that fit one JSON Schema may not fit another one.
//
// [Narrowed] finds reasons in one direction. A sender of values is concerned by those from the old schema to the
// new one, a receiver by those from the new schema to the old one. No reason means that every value of
// the first schema is one of the second, which is proven, not guessed: what cannot be decided is a reason that is not
// [Reason.Sure].
//
// Schemas are those of draft 2020-12, as package schema prints them, and of drafts 4 to 2019-09 and OpenAPI. What
// values mean is what the evaluator of package schema says: formats are checked, and integers are of 64 bits.
package schemadiff

import (
	"fmt"
	"slices"
)

// Reason is why a value that fits the first schema may not fit the second one.
type Reason struct {
	// Path leads from the value as a whole to what does not fit: "days", "stops[].city", "labels.*"; "" is the whole.
	Path    string
	Keyword string // of the second schema: "maximum"
	// From and To are what the first and the second schema say there, "" for nothing: "7" and "5".
	From, To string
	// Sure is false where it could not be decided whether all values still fit.
	Sure bool
	// Undeclared: only values that have a property which the first schema neither names nor forbids may not fit.
	// Nobody who goes by the first schema sends such a value.
	Undeclared bool
}

// Limits on one comparison: far above real contracts, and low enough that hostile schemas end soon.
const (
	maxDepth   = 200     // of what is nested in a schema
	maxNodes   = 20_000  // schemas that one document holds
	maxSteps   = 100_000 // pairs of schemas that are compared
	maxSpent   = 200_000 // of all comparisons with a budget
	maxReasons = 100     // that are kept
)

// Narrowed returns the reasons why a value that fits from may not fit to, in the order of their paths. The error
// tells that one of them is no schema.
func Narrowed(from, to []byte) ([]Reason, error) { return new(Budget).Narrowed(from, to) }

// Budget limits what several comparisons cost together: beyond it nothing is decided any more. The zero value is
// ready for use.
type Budget struct{ spent int }

// Narrowed is [Narrowed] within the budget.
func (b *Budget) Narrowed(from, to []byte) ([]Reason, error) {
	first, err := read(from)
	if err != nil {
		return nil, fmt.Errorf("read the first schema: %w", err)
	}
	second, err := read(to)
	if err != nil {
		return nil, fmt.Errorf("read the second schema: %w", err)
	}
	most := min(maxSteps, maxSpent-b.spent)
	c := &comparer{to: second, pairs: map[string]*pair{}, same: map[[2]*node]bool{}, most: most}
	rs := c.narrowed(newValues(first.start), second.start, 0)
	b.spent += c.steps
	if c.full() {
		rs = append(rs, Reason{Keyword: "$schema", From: "too much is to be compared"})
	}
	return tidy(rs), nil
}

// tidy sorts reasons and removes repetitions.
func tidy(rs []Reason) []Reason {
	slices.SortFunc(rs, compareReasons)
	return slices.Compact(rs)
}
