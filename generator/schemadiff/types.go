package schemadiff

import "strings"

// typeSet is a set of JSON types. A number is an integer or a fraction.
type typeSet uint8

const (
	tNull typeSet = 1 << iota
	tBool
	tObject
	tArray
	tString
	tInteger
	tFraction

	tNumber = tInteger | tFraction
	tAll    = tNull | tBool | tObject | tArray | tString | tNumber
)

// typeNames are the types as schemas name them, number before integer, which is a part of it.
var typeNames = []struct {
	name string
	set  typeSet
}{
	{"null", tNull}, {"boolean", tBool}, {"object", tObject}, {"array", tArray}, {"string", tString},
	{"number", tNumber}, {"integer", tInteger},
}

// typeOf returns the type that has a name, 0 for none.
func typeOf(name any) typeSet {
	for _, t := range typeNames {
		if t.name == name {
			return t.set
		}
	}
	return 0
}

// String lists the types: "string or integer".
func (t typeSet) String() string {
	if t == tAll {
		return "any"
	}
	var names []string
	for _, n := range typeNames {
		if t&n.set == n.set && (n.name != "integer" || t&tFraction == 0) {
			names = append(names, n.name)
		}
	}
	if t&tNumber == tFraction {
		names = append(names, "fraction")
	}
	return strings.Join(names, " or ")
}

// each returns the types of the set, a number as one.
func (t typeSet) each() (list []typeSet) {
	for _, one := range []typeSet{tNull, tBool, tObject, tArray, tString, tNumber} {
		if t&one != 0 {
			list = append(list, t&one)
		}
	}
	return list
}
