package conform

import (
	"slices"
	"strings"
)

// definition is a published definition of a version of the protocol: the messages with their members, and the operations with
// their names in each binding. The tables are made from the documents in package spec by "go generate ./a2a".
type definition struct {
	version string // "1.0"
	// proto: a proto defines it and its JSON is ProtoJSON. Otherwise it is a JSON Schema of JSON-RPC messages.
	proto      bool
	operations []operation
	types      []typeOf
}

// operation is one operation of a definition. A type is written as in [field].
type operation struct {
	name, rpc, grpc   string // "SendMessage", "message/send", "/lf.a2a.v1.A2AService/SendMessage"
	request, response string
	stream            bool
	routes            []route
}

// route is an operation over HTTP+JSON: body is "*" if the body is the whole request, a field's name for that field, "" for none.
type route struct{ verb, path, body string }

// typeOf is a message (fields), an enum (values) or a choice of several types (anyOf), which the constant of the member tag tells
// apart.
type typeOf struct {
	name   string
	open   bool // a message may have members that are not listed
	fields []field
	values []value
	tag    string
	anyOf  []string
}

// value is a value of an enum. A schema has no numbers; it counts from 1.
type value struct {
	name   string
	number int32
}

// field is a member of a message. Its type is a kind ("string", "timestamp", "struct"), the name of a type, or a list or map of
// either: "[]Part", "{}string".
type field struct {
	json     string // its name in JSON: "contextId"
	typ      string
	number   int32 // of a proto
	required bool
	nullable bool   // null is a value
	constant string // the only value, as JSON: `"task"`
	union    string // of the fields of a union one is set
}

// definitionOf returns the definition of a version; nil if there is none.
func definitionOf(version string, proto bool) *definition {
	for _, d := range definitions {
		if d.version == version && d.proto == proto {
			return d
		}
	}
	return nil
}

// named returns the type with a name; nil if there is none.
func (d *definition) named(name string) *typeOf {
	for i := range d.types {
		if d.types[i].name == name {
			return &d.types[i]
		}
	}
	return nil
}

// operation returns the operation that one of the names is of; nil if there is none.
func (d *definition) operation(names []string) *operation {
	for i := range d.operations {
		if slices.Contains(names, d.operations[i].name) {
			return &d.operations[i]
		}
	}
	return nil
}

// field returns the member with a name in JSON; nil if there is none.
func (t *typeOf) field(name string) *field {
	for i := range t.fields {
		if t.fields[i].json == name {
			return &t.fields[i]
		}
	}
	return nil
}

// list and dict take the prefix of a list or of a map off a type.
func list(typ string) (elem string, ok bool) { return strings.CutPrefix(typ, "[]") }
func dict(typ string) (elem string, ok bool) { return strings.CutPrefix(typ, "{}") }
