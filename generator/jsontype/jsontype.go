// Package jsontype has sets of the types that a JSON value may have.
package jsontype

import "strings"

// Set is a set of JSON types. A number is an integer or a fraction, so that integer is part of number.
type Set uint8

// The types.
const (
	Null Set = 1 << iota
	Bool
	Object
	Array
	String
	Integer
	Fraction

	Number = Integer | Fraction
	All    = Null | Bool | Object | Array | String | Number
)

// named are the types as schemas name them, number before integer, which is a part of it.
var named = []struct {
	name string
	set  Set
}{
	{"null", Null}, {"boolean", Bool}, {"object", Object}, {"array", Array}, {"string", String},
	{"number", Number}, {"integer", Integer},
}

// Words returns the names of all types.
func Words() []string {
	var words []string
	for _, t := range named {
		words = append(words, t.name)
	}
	return words
}

// Of returns the type that has a name; 0 for none.
func Of(name string) Set {
	for _, t := range named {
		if t.name == name {
			return t.set
		}
	}
	return 0
}

// Names lists the types of the set as a schema would.
func (s Set) Names() []string {
	var names []string
	for _, t := range named {
		if s&t.set == t.set && (t.name != "integer" || s&Fraction == 0) {
			names = append(names, t.name)
		}
	}
	return names
}

// String lists the types in words: "string or integer".
func (s Set) String() string {
	if s == All {
		return "any"
	}
	names := s.Names()
	if s&Number == Fraction {
		names = append(names, "fraction")
	}
	return strings.Join(names, " or ")
}

// Each returns the types of the set one by one, a number as one.
func (s Set) Each() (list []Set) {
	for _, one := range []Set{Null, Bool, Object, Array, String, Number} {
		if s&one != 0 {
			list = append(list, s&one)
		}
	}
	return list
}
