package ir

import (
	"encoding/json"
	"strconv"
)

// DataKind is the kind of a JSON value in a skill's contract.
type DataKind string

// The kinds, with their Go types.
const (
	DataAny    DataKind = "any"    // wire.Value: the schema says explicitly that anything goes
	DataNull   DataKind = "null"   // struct{}; not produced: a value that can only be null is a constant or an error
	DataBool   DataKind = "bool"   // bool
	DataInt32  DataKind = "int32"  // int32
	DataInt64  DataKind = "int64"  // int64
	DataUint32 DataKind = "uint32" // uint32
	DataUint64 DataKind = "uint64" // uint64
	DataNumber DataKind = "number" // float64
	DataString DataKind = "string" // string
	DataBytes  DataKind = "bytes"  // []byte; base64 in JSON
	DataTime   DataKind = "time"   // time.Time; RFC 3339 in JSON
	DataDate   DataKind = "date"   // time.Time at midnight UTC; 2006-01-02 in JSON
	DataList   DataKind = "list"   // []Elem
	DataMap    DataKind = "map"    // map[string]Elem
	DataNamed  DataKind = "named"  // Type
)

// DataRef is the Go type of a JSON value in a skill's contract, with the constraints on the value at this place.
//
// The root of every input and output is a reference of kind named, without Null, to a type that is not an interface:
// handlers and clients use a pointer to it (*ForecastInput). Whatever T the root is — struct, defined string, list —
// emitted code offers the same four methods and nothing else needs to be known:
//
//	func (v *T) UnmarshalJSON(src []byte) error            // parse, set defaults, validate; *check.Error with JSON pointers
//	func (v *T) AppendJSON(dst []byte) ([]byte, error)     // validate, append; *check.Error with JSON pointers
//	func (v T) MarshalJSON() ([]byte, error)               // AppendJSON(nil)
//	func (v *T) Validate() error                           // nil or *check.Error with every violation (at most 100)
//
// UnmarshalJSON is to be called on a fresh value (new(T)). Malformed JSON, duplicate keys and bad UTF-8 are
// *check.Error too.
type DataRef struct {
	Kind DataKind  `json:"kind"`
	Name string    `json:"name,omitempty"` // Go name of a named type: "ForecastInput"
	Type *DataType `json:"-"`              // resolved Name
	Elem *DataRef  `json:"elem,omitempty"` // of a list or map
	// Prefix are the types of a list's first elements where they differ, and Rest that of the others; Elem can hold
	// all.
	Prefix []*DataRef `json:"prefix,omitempty"`
	Rest   *DataRef   `json:"rest,omitempty"`
	// Null: null is valid too. The Go type is then a pointer, except for what has a nil of its own
	// (any, bytes, list, map, union).
	Null   bool    `json:"null,omitempty"`
	Checks *Checks `json:"checks,omitempty"` // nil: none
}

// Limit is a limit on one value. What there are of them is declared by the table of keywords in package schema.
type Limit struct {
	Keyword string `json:"keyword"` // that sets it: "minLength"
	// Check is what emitted code calls to check it: a function of runtime/gen/check ("Minimum") or of its package
	// format ("format.Check"), a method of its Checker ("c.MinLength"), or of an object's size the field of its Keys ("Min").
	Check string  `json:"-"`
	Form  ArgForm `json:"-"`
	// Arg is the argument. A number is a JSON number text, so that none loses digits.
	Arg string `json:"arg"`
}

// ArgForm is how emitted code gives a limit's argument to its check.
type ArgForm int

// The forms.
const (
	ArgNumber   ArgForm = iota // as a number: of values, of code points, of items
	ArgText                    // in quotes
	ArgPattern                 // as a regular expression (RE2, unanchored)
	ArgElements                // not at all, but a function that writes the elements of the list
	ArgKeys                    // as a field of the object's keys
)

// Checks are the constraints on one value.
type Checks struct {
	Limits []Limit           `json:"limits,omitempty"`
	Values []json.RawMessage `json:"values,omitempty"` // the only valid scalars, of an enum narrowed at this place
	// PropertyNames constrains the keys of a map, or of the additional properties of a struct.
	PropertyNames *Checks `json:"propertyNames,omitempty"`
	// Required are keys that a map must have; DependentRequired keys that another key demands.
	Required          []string     `json:"required,omitempty"`
	DependentRequired []Dependency `json:"dependentRequired,omitempty"`
	// Groups are alternatives of required keys, from anyOf and oneOf whose branches say nothing but "required".
	Groups []KeyGroup `json:"groups,omitempty"`
}

// Size returns the argument of the limit that a keyword sets to a size, if there is one.
func (c *Checks) Size(keyword string) (int, bool) {
	if c == nil {
		return 0, false
	}
	for _, r := range c.Limits {
		if r.Keyword == keyword {
			n, err := strconv.Atoi(r.Arg)
			return n, err == nil
		}
	}
	return 0, false
}

// Dependency says that key If demands the keys Then.
type Dependency struct {
	If   string   `json:"if"`
	Then []string `json:"then"`
}

// KeyGroup is a choice of key sets: at least one of them must be there as a whole, or exactly one when One is set.
type KeyGroup struct {
	Sets [][]string `json:"sets"`
	One  bool       `json:"one,omitempty"`
}

// DataTypeKind tells how a named type is declared.
type DataTypeKind string

// The kinds of a named type.
const (
	DataStruct  DataTypeKind = "struct"  // struct with one field a property
	DataEnum    DataTypeKind = "enum"    // defined string, int64 or float64 with constants
	DataUnion   DataTypeKind = "union"   // sealed interface with one Go type a case
	DataDefined DataTypeKind = "defined" // defined type over Of: a root that is no object, a recursive list, a union's scalar case
	DataWrapper DataTypeKind = "wrapper" // struct {Value Of}: a root that is a union or nullable
)

// DataType is one emitted Go type of a skill's contract.
type DataType struct {
	Go string `json:"go"` // "ForecastInputLocation"
	// Wants is what the type is to be called as long as it has no name.
	Wants Wants        `json:"-"`
	Doc   string       `json:"doc,omitempty"` // plain text, may span lines
	Kind  DataTypeKind `json:"kind"`
	Root  bool         `json:"root,omitempty"` // an input or output as a whole
	// Checks of the value as a whole, wherever the type is used.
	Checks *Checks `json:"checks,omitempty"`

	Fields []*DataField `json:"fields,omitempty"` // of a struct, in the schema's order
	// Closed: a struct without Extra refuses properties it does not know; otherwise they are ignored.
	Closed bool `json:"closed,omitempty"`
	// Extra is the type of additional properties, kept in the field ExtraGo, a map; nil: none are kept.
	Extra   *DataRef `json:"extra,omitempty"`
	ExtraGo string   `json:"extraGo,omitempty"`

	Base   DataKind    `json:"base,omitempty"`   // of an enum: string, int64 or number
	Values []DataValue `json:"values,omitempty"` // of an enum, in the schema's order

	Of *DataRef `json:"of,omitempty"` // of a defined type or wrapper

	// Open: an enum whose constants are suggestions: any value of Base is valid.
	Open bool `json:"open,omitempty"`

	// Of a union: its marker method ("isForecastInputShape"), its cases and how they are told apart: by the value of
	// property By, by JSON type, and where several cases of one JSON type have no Keys by trying each. One: a value
	// that is tried must fit only one of them.
	Marker string      `json:"marker,omitempty"`
	By     string      `json:"by,omitempty"`
	Cases  []*DataCase `json:"cases,omitempty"`
	One    bool        `json:"one,omitempty"`
}

// Uses lists the named types that t refers to directly, in a fixed order.
func (t *DataType) Uses() []*DataType {
	var out []*DataType
	t.EachRef(func(r *DataRef) {
		if r.Type != nil {
			out = append(out, r.Type)
		}
	})
	for _, c := range t.Cases {
		out = append(out, c.Type)
	}
	return out
}

// EachRef visits every reference in t, elements included.
func (t *DataType) EachRef(visit func(*DataRef)) {
	var walk func(r *DataRef)
	walk = func(r *DataRef) {
		for ; r != nil; r = r.Elem {
			visit(r)
			for _, place := range r.Prefix {
				walk(place)
			}
			walk(r.Rest)
		}
	}
	for _, f := range t.Fields {
		walk(&f.Type)
	}
	walk(t.Extra)
	walk(t.Of)
}

// Wants is what a type is to be called: Suffix behind the name of its owner, or behind Base when it has none.
type Wants struct {
	Owner        *DataType
	Base, Suffix string
}

// DataField is one property of a struct.
type DataField struct {
	Name       string  `json:"name"`         // property name, any string
	Go         string  `json:"go,omitempty"` // "MaxResults"; "" for a constant, which has no Go field
	Doc        string  `json:"doc,omitempty"`
	Deprecated bool    `json:"deprecated,omitempty"`
	Type       DataRef `json:"type"`
	Required   bool    `json:"required,omitempty"`
	// Pointer: the Go field is a pointer although null is not valid, so that nil means absent.
	Pointer bool `json:"pointer,omitempty"`
	// OmitZero: the Go zero value means absent, because it is not a valid value or is the default.
	OmitZero bool `json:"omitZero,omitempty"`
	// Const is the only valid value of a required constant: written always, checked when read, no Go field.
	Const json.RawMessage `json:"const,omitempty"`
	// Default is what an absent property is read as; nil: none.
	Default json.RawMessage `json:"default,omitempty"`
}

// DataValue is one constant of an enum.
type DataValue struct {
	Go    string          `json:"go"`    // "ForecastInputUnitsCelsius"
	Value json.RawMessage `json:"value"` // a JSON string or number
	Doc   string          `json:"doc,omitempty"`
}

// DataCase is one case of a union. Its Go type is a pointer to a struct type, else the named type itself.
type DataCase struct {
	Type  *DataType         `json:"-"`
	Go    string            `json:"go"` // name of Type
	Doc   string            `json:"doc,omitempty"`
	Keys  []json.RawMessage `json:"keys,omitempty"`  // values of the property By that choose this case
	Types []string          `json:"types,omitempty"` // JSON types that choose this case: "string", "number", "integer", …
}
