// Package spec holds the protocol definitions that ship with a2agen and reads any such definition into a [Document].
//
// A document is neutral of the syntax it was written in. It keeps what the definition says, in its order, with comments
// and positions; what that means for Go is decided by lowering.
package spec

import (
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
)

// Syntax is how a definition is written. It decides what JSON looks like: the schemas of 0.1 to 0.3 describe JSON as it is
// (an integer of any width is a number, an enum value is the string that is listed), the other two describe ProtoJSON.
type Syntax string

// The syntaxes.
const (
	Proto  Syntax = "proto"  // protobuf
	Schema Syntax = "schema" // JSON Schema of JSON-RPC messages, as published for 0.1 to 0.3
	Bundle Syntax = "bundle" // JSON Schema made from a proto: no operations, numbers, required fields or unions
)

// Document is one protocol definition.
type Document struct {
	Syntax Syntax `json:"syntax"`
	// Version is the protocol version, such as "1.0". The reader of a file leaves it empty: a file does not say.
	Version string `json:"version,omitempty"`
	// Path is the file the document was read from.
	Path string `json:"path"`
	// Files are all files that were read, Path first, the files it imports after it in order of path.
	Files []string `json:"files,omitempty"`
	// Package is the protobuf package: "lf.a2a.v1".
	Package    string       `json:"package,omitempty"`
	Messages   []*Message   `json:"messages,omitempty"`
	Enums      []*Enum      `json:"enums,omitempty"`
	Choices    []*Choice    `json:"choices,omitempty"` // of a schema
	Operations []*Operation `json:"operations,omitempty"`
	Errors     []*ErrorCode `json:"errors,omitempty"` // of a schema
	// Descriptor is a proto with what it imports, a serialized FileDescriptorSet without comments.
	Descriptor []byte `json:"-"`
	// Envelope are the members of JSON-RPC's own messages, of a schema.
	Envelope []*EnvelopeMember `json:"envelope,omitempty"`
}

// Message is one message type.
type Message struct {
	// Name is unique in the document: "Task"; of a nested message "Task.Step"; of another package's its full name. A schema
	// names what it declares in place by where it is: "Task.step". Enums and choices are named alike.
	Name string `json:"name"`
	// Comment is plain text, may span lines and may hold anything.
	Comment    string   `json:"comment,omitempty"`
	Pos        diag.Pos `json:"pos,omitzero"`
	Deprecated bool     `json:"deprecated,omitempty"`
	// Fields are all fields in the order of declaration, members of unions included.
	Fields []*Field `json:"fields,omitempty"`
	Unions []*Union `json:"unions,omitempty"` // of a proto
	// Extra is the type of members that are not listed, when a schema says that there may be such; nil otherwise.
	Extra *Type `json:"extra,omitempty"`
}

// Field is one field of a message.
type Field struct {
	Name    string   `json:"name"`             // "context_id"; in a schema the same as JSON
	JSON    string   `json:"json"`             // "contextId"
	Number  int32    `json:"number,omitempty"` // 0 when the syntax has no numbers
	Comment string   `json:"comment,omitempty"`
	Pos     diag.Pos `json:"pos,omitzero"`
	Type    Type     `json:"type"`
	// Required: the field must be there. Optional: it tells "not set" from its zero value although it is a scalar or enum.
	Required bool `json:"required,omitempty"`
	Optional bool `json:"optional,omitempty"`
	// Nullable: a schema lets the field be null.
	Nullable   bool `json:"nullable,omitempty"`
	Deprecated bool `json:"deprecated,omitempty"`
	// Expanded: the elements of a list in a proto stand one by one although they could be packed into one field. Always: protobuf
	// has the field even when it is zero (a required field of proto2).
	Expanded bool `json:"expanded,omitempty"`
	Always   bool `json:"always,omitempty"`
	// Const is the only value of the field and Default its value when it is absent, as compact JSON: `"task"`, `false`,
	// `["text"]`. Both are empty when the definition names none; protos have no constants. The type of a constant is that of its value.
	Const   string `json:"const,omitempty"`
	Default string `json:"default,omitempty"`
	// Union is the name of the union the field is a member of; empty for an ordinary field.
	Union string `json:"union,omitempty"`
}

// Union is a group of fields of which at most one is set.
type Union struct {
	Name    string   `json:"name"` // "content"
	Comment string   `json:"comment,omitempty"`
	Pos     diag.Pos `json:"pos,omitzero"`
}

// Kind is the kind of a field's type.
type Kind string

// The kinds. A type that is not listed here is an error of the reader.
const (
	String    Kind = "string"
	Bool      Kind = "bool"
	Int32     Kind = "int32"
	Int64     Kind = "int64"
	Uint32    Kind = "uint32"
	Uint64    Kind = "uint64"
	Float     Kind = "float"
	Double    Kind = "double"
	Bytes     Kind = "bytes"
	Timestamp Kind = "timestamp" // a point in time
	Duration  Kind = "duration"
	Struct    Kind = "struct"    // a JSON object
	Value     Kind = "value"     // any JSON value
	ListValue Kind = "listvalue" // a JSON array of any values
	NullValue Kind = "nullvalue" // null
	FieldMask Kind = "fieldmask" // paths of fields
	Any       Kind = "any"       // a message of any type, which it names
	Empty     Kind = "empty"     // nothing, as an operation's request or response (null in JSON)
	MessageOf Kind = "message"
	EnumOf    Kind = "enum"
	ChoiceOf  Kind = "choice"
	List      Kind = "list"
	Map       Kind = "map"
)

// Form is how protobuf writes a value where it has several ways. JSON is the same in all of them.
type Form string

// The forms. The plain one is empty.
const (
	ZigZag    Form = "zigzag"    // of an integer: sint32, sint64
	Fixed     Form = "fixed"     // of an integer: fixed32, sfixed64, …
	Group     Form = "group"     // of a message: between two tags, without a length
	Unchecked Form = "unchecked" // of a string: its bytes need not be UTF-8
)

// Type is the type of a field, of an element, or of an operation's request or response.
type Type struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`           // of the message, enum or choice, as in the document
	Elem *Type  `json:"elem,omitempty"` // of a list or map
	// Key is the type of a map's keys; nil: strings.
	Key  *Type `json:"key,omitempty"`
	Form Form  `json:"form,omitempty"` // of a proto
	// Wrapped: the scalar is the only field of a message, such as google.protobuf.StringValue, which JSON does not show.
	Wrapped bool `json:"wrapped,omitempty"`
}

// String renders the type for people: "Task", "list of Part", "map of string", "map of int32 to Task", "sint32".
func (t Type) String() string {
	switch {
	case t.Key != nil:
		return string(t.Kind) + " of " + t.Key.String() + " to " + t.Elem.String()
	case t.Elem != nil:
		return string(t.Kind) + " of " + t.Elem.String()
	case t.Form == Group:
		return "group " + Type{Kind: t.Kind, Name: t.Name, Wrapped: t.Wrapped}.String()
	case t.Wrapped:
		name := strings.ToUpper(string(t.Kind[:1])) + string(t.Kind[1:])
		return strings.Replace(name, "Uint", "UInt", 1) + "Value"
	case t.Name != "":
		return t.Name
	case t.Form == ZigZag:
		return "s" + string(t.Kind)
	case t.Form == Fixed:
		return map[Kind]string{Int32: "sfixed32", Int64: "sfixed64", Uint32: "fixed32", Uint64: "fixed64"}[t.Kind]
	case t.Form == Unchecked:
		return string(t.Kind) + " of any bytes"
	default:
		return string(t.Kind)
	}
}

// Enum is one enum type.
type Enum struct {
	Name       string   `json:"name"`
	Comment    string   `json:"comment,omitempty"`
	Pos        diag.Pos `json:"pos,omitzero"`
	Deprecated bool     `json:"deprecated,omitempty"`
	// Closed: a proto says that a value which is not listed is none.
	Closed bool         `json:"closed,omitempty"`
	Values []*EnumValue `json:"values,omitempty"` // in the order of declaration
}

// Choice is a value of one of several types (anyOf in a schema). Example: Part is TextPart, FilePart or DataPart.
type Choice struct {
	Name    string   `json:"name"`
	Comment string   `json:"comment,omitempty"`
	Pos     diag.Pos `json:"pos,omitzero"`
	// Types are the alternatives in the order of declaration: at least two, mostly messages.
	Types []Type `json:"types"`
	// Tag is the field whose constants tell the alternatives apart ("kind"); empty when there is none and their required
	// fields do.
	Tag string `json:"tag,omitempty"`
	// Nullable: null is an alternative too.
	Nullable bool `json:"nullable,omitempty"`
}

// ErrorCode is one error that a schema defines. Example: TaskNotFoundError, -32001, "Task not found".
type ErrorCode struct {
	Name    string   `json:"name"`
	Code    int32    `json:"code"`
	Message string   `json:"message,omitempty"`
	Comment string   `json:"comment,omitempty"`
	Pos     diag.Pos `json:"pos,omitzero"`
}

// EnumValue is one value of an enum.
type EnumValue struct {
	Name string `json:"name"` // "TASK_STATE_WORKING", in a schema the JSON value itself: "working"
	// Number is 0 for the unspecified value; of a schema, which has no numbers, it is the value's place, counted from 1.
	Number     int32    `json:"number"`
	Comment    string   `json:"comment,omitempty"`
	Pos        diag.Pos `json:"pos,omitzero"`
	Deprecated bool     `json:"deprecated,omitempty"`
}

// Operation is one rpc.
type Operation struct {
	Name       string   `json:"name"`           // "SendMessage"; of a schema its request definition without "Request"
	RPC        string   `json:"rpc,omitempty"`  // JSON-RPC method when the definition says it, as schemas do: "message/send"
	GRPC       string   `json:"grpc,omitempty"` // "/lf.a2a.v1.A2AService/SendMessage"; empty in a schema
	Comment    string   `json:"comment,omitempty"`
	Pos        diag.Pos `json:"pos,omitzero"`
	Deprecated bool     `json:"deprecated,omitempty"`
	Request    Type     `json:"request"`
	Response   Type     `json:"response"`
	Stream     bool     `json:"stream,omitempty"` // the response is a sequence
	// RequestStream: the request is a sequence, which no binding that is spoken here can carry.
	RequestStream bool `json:"requestStream,omitempty"`
	// Foreign is what the operation takes or answers that is no message of the definition, such as google.protobuf.Struct; its Request
	// or Response is then empty, and it is not carried out either.
	Foreign string  `json:"foreign,omitempty"`
	HTTP    []Route `json:"http,omitempty"`
}

// Route is one HTTP binding of an operation.
type Route struct {
	Verb string `json:"verb"`           // "POST"
	Path string `json:"path"`           // "/tasks/{id=*}:cancel"
	Body string `json:"body,omitempty"` // "*": the whole request; a field's name: that field; empty: none
}
