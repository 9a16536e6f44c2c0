// Package shape declares what a YAML file may hold, once: the same declaration checks a file (with positions), prints the
// JSON Schema that editors use and the reference table of the documentation, so that none can contradict another.
package shape

import "go.yaml.in/yaml/v4"

// Kind is the kind of a value.
type Kind int

// The kinds.
const (
	Text      Kind = iota // a string
	Bool                  // true or false
	Int                   // a whole number
	Duration              // a Go duration: "30s"
	URL                   // an absolute http or https URL
	MediaType             // "text/plain", "image/*"
	Struct                // a map with known keys, see Type.Object
	List                  // a list of Type.Elem
	Map                   // a map from names of the user's to Type.Elem
	Free                  // a map that holds anything
	Schema                // a JSON Schema, or the name of the file that holds one
)

// Type is what a value must be.
type Type struct {
	Kind   Kind
	Object *Object // of a Struct
	Elem   *Type   // of a List or Map
	// Min and Max bound the length of a text in runes, the number of elements, or a whole number. Max 0 is the
	// kind's default. Text of any kind is capped, so that a card stays a card.
	Min, Max int
	// Choices are the only texts allowed. Pattern is an RE2 and ECMAScript expression that a text must match, with
	// PatternSays to complete "must be …".
	Choices              []string
	Pattern, PatternSays string
	// NotScalar is the hint for a map or list in the place of a text.
	NotScalar string
	// Or is what a map in the place of a text has to be: the long form of an element. Nil for none.
	Or *Type
	// Check finds what the declaration cannot say, in a value that fits it otherwise.
	Check func(c *Checker, n *yaml.Node)
}

// Object is a map with known keys.
type Object struct {
	Name   string // in messages: "skill"
	Doc    string
	Fields []*Field
	// OneOf: exactly one of the keys is written. OneOfHint tells how to write two.
	OneOf     bool
	OneOfHint string
	// Foreign are keys of other dialects that users write by habit, each with what to write instead.
	Foreign map[string]string
	// Check finds what the declaration cannot say, in a map whose keys fit it.
	Check func(c *Checker, n *yaml.Node)
}

// Field is one key of an object.
type Field struct {
	Key      string
	Type     *Type
	Required bool
	Doc      string // one sentence or two, in plain text
	Default  string // what stands for a key that is not written, in words; "" when nothing does
}

// Keys returns the object's keys in the order declared.
func (o *Object) Keys() []string {
	keys := make([]string, len(o.Fields))
	for i, f := range o.Fields {
		keys[i] = f.Key
	}
	return keys
}

// Field returns the field of a key, or nil.
func (o *Object) Field(key string) *Field {
	for _, f := range o.Fields {
		if f.Key == key {
			return f
		}
	}
	return nil
}

// The default caps.
const (
	maxText  = 2000 // runes
	maxItems = 1000 // elements
	maxInt   = 1<<31 - 1
)

// max returns the upper bound in force.
func (t *Type) max() int {
	if t.Max > 0 {
		return t.Max
	}
	switch t.Kind {
	case List, Map:
		return maxItems
	case Int:
		return maxInt
	default:
		return maxText
	}
}

// String names a kind for a reader: "text", "list of media types".
func (t *Type) String() string {
	if t.Or != nil {
		return t.kind() + " or " + t.Or.String()
	}
	return t.kind()
}

func (t *Type) kind() string {
	switch t.Kind {
	case List:
		return "list of " + t.Elem.String()
	case Map:
		return "map to " + t.Elem.String()
	case Struct:
		return t.Object.Name
	default:
		return [...]string{Text: "text", Bool: "true or false", Int: "whole number", Duration: "duration", URL: "URL", MediaType: "media type", Free: "map", Schema: "JSON Schema or file name"}[t.Kind]
	}
}
