// Package ir is what emitters read: the protocol and the agent, fully resolved.
//
// It is plain data. Lowering decides every name, presence and layout; an emitter only prints. Nothing here knows
// protocol version numbers beyond carrying their names as strings. `a2agen check --explain model` prints it as JSON.
package ir

import (
	"encoding/json"
	"slices"
)

// Model is the whole input of emission.
type Model struct {
	Protocol *Protocol `json:"protocol"`
	// Agent is nil when only the protocol package is emitted.
	Agent *Agent `json:"agent,omitempty"`
	// Extensions are those of the protocol whose contracts are known: a package each, sorted by Package.
	Extensions []*Extension `json:"extensions,omitempty"`
}

// Protocol is one set of Go types (the hub) and the wires that read and write it.
type Protocol struct {
	// Types are the messages and enums of the hub, sorted by Name.
	Types []*Type `json:"types"`
	// Versions are the spoken protocol versions, newest first. The types are those of the first one.
	Versions []*Version `json:"versions"`
	// Whole is the first version with all that the types have beside what it says: what drafts of older versions brought
	// along. Nobody speaks it; tasks are kept in it. Nil when the first version says all.
	Whole *Version `json:"whole,omitempty"`
	// Bindings name the Go identifiers that the runtime's small interfaces need, by meaning.
	Bindings Bindings `json:"bindings"`
	// ClientMethods are the names of the client's methods: [ClientOwn], then those of the operations.
	ClientMethods []string `json:"clientMethods"`
}

// Written are the versions that there is code for: those that are spoken, and [Protocol.Whole].
func (p *Protocol) Written() []*Version {
	if p.Whole == nil {
		return p.Versions
	}
	return append(slices.Clone(p.Versions), p.Whole)
}

// Served are the versions that the agent speaks.
func (p *Protocol) Served() []*Version {
	return slices.DeleteFunc(slices.Clone(p.Versions), func(v *Version) bool { return v.ClientsOnly })
}

// Called are the operations that the client has a method for.
func (p *Protocol) Called() []*Operation {
	var ops []*Operation
	for _, v := range p.Versions {
		for _, op := range v.Operations {
			if op.Method != "" {
				ops = append(ops, op)
			}
		}
	}
	return ops
}

// TypeKind tells a message from an enum.
type TypeKind string

// The kinds of a hub type.
const (
	Message TypeKind = "message"
	Enum    TypeKind = "enum"
)

// Type is one emitted Go type. Example: name "Task", go "Task".
type Type struct {
	Name   string   `json:"name"`
	Go     string   `json:"go"`
	Doc    string   `json:"doc,omitempty"` // plain text, may span lines
	Kind   TypeKind `json:"kind"`
	Fields []*Field `json:"fields,omitempty"` // of a message, in Go struct order; a oneof is one field
	Values []*Value `json:"values,omitempty"` // of an enum, in number order
	// CaseOf lists the unions of which a pointer to this message is directly a case.
	CaseOf []*Union `json:"-"`
}

// Value is one enum value. The Go enum is a string type whose constant has the hub's wire name as value;
// the unspecified value is the empty string.
type Value struct {
	Name        string `json:"name"` // "TASK_STATE_WORKING"
	Go          string `json:"go"`   // "TaskStateWorking"
	Doc         string `json:"doc,omitempty"`
	Number      int32  `json:"number"`
	Unspecified bool   `json:"unspecified,omitempty"`
	// Alias is the value that this is only another name for: they have one number, and the constants are equal.
	Alias *Value `json:"-"`
}

// Presence says how a field tells "not set" from its zero value.
type Presence string

// The presences. Implicit fields are omitted from a wire at their zero value; explicit scalars are Go pointers;
// required fields are always written and must be there when read. Explicit fields whose Go type is nilable are no
// pointers.
const (
	Implicit Presence = "implicit"
	Explicit Presence = "explicit"
	Required Presence = "required"
)

// Field is one field of a Go struct: an ordinary field, or a oneof as a whole (Union set, Type.Kind "union").
type Field struct {
	Name       string   `json:"name"` // hub spec name in snake case: "context_id"; of a oneof: "content"
	Go         string   `json:"go"`   // "ContextID"
	Doc        string   `json:"doc,omitempty"`
	Type       TypeRef  `json:"type"`
	Presence   Presence `json:"presence"`
	Union      *Union   `json:"union,omitempty"`
	Deprecated bool     `json:"deprecated,omitempty"`
}

// Kind is the kind of a type reference.
type Kind string

// The kinds, with their Go types.
const (
	KindString    Kind = "string"    // string
	KindBool      Kind = "bool"      // bool
	KindInt32     Kind = "int32"     // int32
	KindInt64     Kind = "int64"     // int64; a JSON string on ProtoJSON wires
	KindUint32    Kind = "uint32"    // uint32
	KindUint64    Kind = "uint64"    // uint64; a JSON string on ProtoJSON wires
	KindFloat     Kind = "float"     // float32
	KindDouble    Kind = "double"    // float64
	KindBytes     Kind = "bytes"     // []byte; base64 on JSON wires
	KindTimestamp Kind = "timestamp" // time.Time; the zero value is "not set"
	KindDuration  Kind = "duration"  // wire.Duration
	KindStruct    Kind = "struct"    // wire.Object, a raw JSON object; empty is "not set"
	KindValue     Kind = "value"     // wire.Value, any raw JSON value; empty is "not set"
	KindMessage   Kind = "message"   // *Name
	KindEnum      Kind = "enum"      // Name
	KindList      Kind = "list"      // []Elem
	KindMap       Kind = "map"       // map[Key]Elem
	KindListValue Kind = "listvalue" // wire.Value, a raw JSON array; empty is "not set"
	KindNullValue Kind = "nullvalue" // wire.Null
	KindFieldMask Kind = "fieldmask" // wire.FieldMask; nil is "not set"
	KindAny       Kind = "any"       // *wire.Any
	KindUnion     Kind = "union"     // the union's sealed interface
	KindEmpty     Kind = "empty"     // google.protobuf.Empty, as an operation's result
)

// TypeRef is the type of a field, of an element or of a union case.
type TypeRef struct {
	Kind Kind     `json:"kind"`
	Name string   `json:"name,omitempty"` // spec name of the message or enum
	Type *Type    `json:"-"`              // resolved Name
	Elem *TypeRef `json:"elem,omitempty"` // of a list or map
	Key  *TypeRef `json:"key,omitempty"`  // of a map whose keys are not strings
}

// Nilable reports whether the Go type of a field tells "not set" by itself, without a pointer to it.
func (t TypeRef) Nilable() bool { return t.Kind == KindBytes || t.Kind == KindFieldMask }

// Form is how protobuf writes a value where it has several ways; the forms are those of the definition.
type Form string

// The forms.
const (
	ZigZag    Form = "zigzag"
	Fixed     Form = "fixed"
	Group     Form = "group"
	Unchecked Form = "unchecked"
)

// Union is a sealed interface. Example: PartContent with cases PartText, PartRaw, PartURL, PartData.
type Union struct {
	Go     string  `json:"go"`     // interface name
	Marker string  `json:"marker"` // unexported marker method: "isPartContent"
	Doc    string  `json:"doc,omitempty"`
	Cases  []*Case `json:"cases"`
	// Unknown is the Go name of the case that keeps a member this model does not know: "UnknownPartContent",
	// a struct {Name string; Value wire.Value}.
	Unknown string `json:"unknown"`
}

// Case is one member of a union.
type Case struct {
	Name string `json:"name"` // spec name in snake case: "status_update"
	// Go is "TaskStatusUpdateEvent" when Direct, else "PartText": a defined type over the scalar, or struct{Value *M}
	// around a message M that several cases of the union have.
	Go   string  `json:"go"`
	Doc  string  `json:"doc,omitempty"`
	Type TypeRef `json:"type"`
	// Direct: *Go itself is the case, because no other case of the union has that message type.
	Direct     bool `json:"direct,omitempty"`
	Deprecated bool `json:"deprecated,omitempty"`
}

// Version is one spoken version of the protocol.
type Version struct {
	Name       string       `json:"name"`    // "1.0"
	Package    string       `json:"package"` // "lf.a2a.v1"
	Wires      []*Wire      `json:"wires"`
	Operations []*Operation `json:"operations"`
	// ClientsOnly: clients of the package speak it, and the agent does not.
	ClientsOnly bool `json:"clientsOnly,omitempty"`
	// Rules are the members of the runtime's rules of a version that are set: "Final" true, "CardPath" "/…".
	Rules []Rule `json:"rules,omitempty"`
	// Descriptor is what the version's own definition says, a FileDescriptorSet, if that is a proto.
	Descriptor []byte `json:"-"`
}

// Rule is one member of the runtime's rules of a version. Text is empty when the member is a bool that is true.
type Rule struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// Encoding names the syntax of a wire.
type Encoding string

// The encodings.
const (
	JSON      Encoding = "json"
	ProtoJSON Encoding = "protojson" // of a version whose JSON is not that of its proto
	Proto     Encoding = "proto"
)

// Wire is how the hub types are read and written in one version and encoding: one codec.
type Wire struct {
	Name     string    `json:"name"`   // "1.0/json"
	Suffix   string    `json:"suffix"` // identifier suffix of the codec's functions: "V10JSON", "JSON" if there is no other
	File     string    `json:"file"`   // "codec_v1_0_json"
	Encoding Encoding  `json:"encoding"`
	Layouts  []*Layout `json:"layouts"` // by Type.Name, sorted
	// Operations are those of the version as the definition of this wire has them; the JSON wire's are the version's own.
	Operations []*Operation `json:"operations,omitempty"`
	// Descriptor is the definition of a protobuf wire, a FileDescriptorSet.
	Descriptor []byte `json:"-"`
	// Loose: the wire has its own idea of what is required, that of an older version which a table aligns. A value that
	// lacks something is written as good as it goes, and so is a union without a case that the wire has. Without it
	// both are refused, when written and when read.
	Loose bool `json:"loose,omitempty"`
}

// Layout is one type on one wire.
type Layout struct {
	Type   *Type          `json:"-"`
	Name   string         `json:"name"` // Type.Name
	Fields []*FieldLayout `json:"fields,omitempty"`
	Values []*ValueLayout `json:"values,omitempty"`

	// Variant tells this layout from the first one of the type on the same wire; it is part of function names.
	Variant string `json:"variant,omitempty"`
	// Consts are written before all other members and ignored on reading.
	Consts []Const `json:"consts,omitempty"`
	// Bare: the value is written as that of its only member, which has no name: a list, or an object that is a map.
	Bare bool `json:"bare,omitempty"`
	// OrBare: the value is written as an object with its only member, and read in both forms.
	OrBare bool `json:"orBare,omitempty"`
	// Tag names the constant member, such as "kind", by which the cases of the type's union are told apart: the type is
	// written as its case is. TagAliases are also read for it.
	Tag        string   `json:"tag,omitempty"`
	TagAliases []string `json:"tagAliases,omitempty"`
	// Hook names the runtime functions that write and read the whole type.
	Hook string `json:"hook,omitempty"`
	// Otherwise is what is written for a value of an enum that is in no table; empty: the value itself.
	Otherwise string `json:"otherwise,omitempty"`
}

// Const is a member that always has the same value. Example: kind, "task".
type Const struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// FieldLayout is one member on the wire: an ordinary field, or one case of a oneof (Case set).
type FieldLayout struct {
	Field   *Field   `json:"-"`
	Case    *Case    `json:"-"`
	Name    string   `json:"name"`              // written: "contextId"
	Aliases []string `json:"aliases,omitempty"` // also read: "context_id"
	Number  int32    `json:"number,omitempty"`
	// Form, KeyForm and Wrapped say how protobuf has the value (of a list or map: each), and the keys of a map.
	// Expanded: elements are not packed. Always: protobuf has the field when it is zero too.
	Form     Form `json:"form,omitempty"`
	KeyForm  Form `json:"keyForm,omitempty"`
	Wrapped  bool `json:"wrapped,omitempty"`
	Expanded bool `json:"expanded,omitempty"`
	Always   bool `json:"always,omitempty"`
	// Required: always written, and an error when missing on reading. MinItems applies to lists (Message.parts: 1).
	Required bool `json:"required,omitempty"`
	MinItems int  `json:"minItems,omitempty"`
	// Hook names a runtime function that replaces the plain codec of this member; empty for nearly all. Arg is given
	// to it.
	Hook string `json:"hook,omitempty"`
	Arg  string `json:"arg,omitempty"`

	// Lenient: a required member may be missing when read.
	Lenient bool `json:"lenient,omitempty"`
	// Default is the enum value that a missing member is read as.
	Default *Value `json:"default,omitempty"`
	// Into is the message field of the type whose message has Field: the member stands one level higher than the field.
	Into *Field `json:"-"`
	// With is the second field of a member that holds two.
	With *Field `json:"-"`
	// Nested: the member is an object that holds more members of the same value. Field is nil.
	Nested *Layout `json:"-"`
	// As is the layout of the message, or of the elements, where it is not the first one of its type.
	As *Layout `json:"-"`
	// Derived: the member is written by Hook from Field and ignored on reading.
	Derived bool `json:"derived,omitempty"`
	// Implicit: the wire does not tell the zero value of the field, which does, from its absence.
	Implicit bool `json:"implicit,omitempty"`
	// Fallback: the hook says what a missing member is read as.
	Fallback bool `json:"fallback,omitempty"`
	// Filled: a message that is missing is read as an empty object is, and one that is written as an empty object is
	// left out.
	Filled bool `json:"filled,omitempty"`
	// Written: a message that is missing is written as an empty object.
	Written bool `json:"written,omitempty"`
	// Tag is the value of the layout's tag for this case, and Shape are members by which it is known where there is
	// no tag. A case without a tag is only known by its shape.
	TagValue string   `json:"tagValue,omitempty"`
	Shape    []string `json:"shape,omitempty"`
	// Absent: the case cannot be written.
	Absent bool `json:"absent,omitempty"`
}

// ValueLayout is one enum value on the wire.
type ValueLayout struct {
	Value   *Value   `json:"-"`
	Name    string   `json:"name"` // written
	Aliases []string `json:"aliases,omitempty"`
	Number  int32    `json:"number"`
	// WriteOnly: the name reads as another value.
	WriteOnly bool `json:"writeOnly,omitempty"`
}

// Role is what an operation means to the runtime, in all versions.
type Role string

// The roles. An operation of a role the runtime does not know has RoleOther and answers UnsupportedOperation by
// default.
const (
	RoleSend         Role = "send"
	RoleStream       Role = "stream"
	RoleGet          Role = "get"
	RoleList         Role = "list"
	RoleCancel       Role = "cancel"
	RoleSubscribe    Role = "subscribe"
	RolePushCreate   Role = "pushCreate"
	RolePushGet      Role = "pushGet"
	RolePushList     Role = "pushList"
	RolePushDelete   Role = "pushDelete"
	RoleExtendedCard Role = "extendedCard"
	RoleOther        Role = "other"
)

// Operation is one rpc of a version.
type Operation struct {
	Role     Role    `json:"role"`
	Go       string  `json:"go"`               // "SendMessage"
	Method   string  `json:"method,omitempty"` // of the client; "" for one that it does not call
	RPC      string  `json:"rpc"`              // JSON-RPC method name
	GRPC     string  `json:"grpc,omitempty"`
	Doc      string  `json:"doc,omitempty"`
	Request  TypeRef `json:"request"`
	Response TypeRef `json:"response"`
	Stream   bool    `json:"stream,omitempty"`
	// RequestAs is the layout of the request where it is not the first one of its type.
	RequestAs *Layout `json:"-"`
	// Unserved: no binding can carry it, because its request is a sequence, or what it takes or answers is no message of the definition.
	// It is listed, and answered with UnsupportedOperation.
	Unserved bool    `json:"unserved,omitempty"`
	HTTP     []Route `json:"http,omitempty"`
	// Aliases are other JSON-RPC method names that are answered.
	Aliases []string `json:"aliases,omitempty"`
	// Null: an empty result is written as null, not as {}.
	Null bool `json:"null,omitempty"`
}

// Route is one HTTP binding of an operation. Example: POST /tasks/{id=*}:cancel, body "*".
type Route struct {
	Verb string `json:"verb"`
	Path string `json:"path"`
	Body string `json:"body,omitempty"`
}

// Bindings name what plays a part in the runtime's interfaces, by meaning. A nil type or a missing entry means that the
// protocol has no such thing; lowering has made sure of what the runtime cannot do without.
type Bindings struct {
	Task           *Type
	Message        *Type
	Part           *Type
	Artifact       *Type
	TaskStatus     *Type
	TaskState      *Type
	MessageRole    *Type
	StatusUpdate   *Type
	ArtifactUpdate *Type
	SendResult     *Type // SendMessageResponse
	StreamItem     *Type // StreamResponse
	AgentCard      *Type
	Interface      *Type // of the card
	Capabilities   *Type // of the card
	Extension      *Type // of the card's capabilities
	SendConfig     *Type // of a send request
	PushConfig     *Type // TaskPushNotificationConfig
	PushAuth       *Type // of a push configuration

	// Fields are fields by meaning: the 1.0 name behind the name of the thing above, or behind the role of the
	// operation whose request or response it is: "Task.context_id", "send.message", "list.page_size",
	// "listResult.tasks".
	Fields map[string]*Field
	// Members are those of Fields that are copied to and from the neutral form of their message, by its meaning.
	Members map[string][]Member
	// Cases are cases of the unions: "Part.text", "SendResult.task", "StreamItem.status_update".
	Cases map[string]*Case
	// Values are enum values: "TaskState.working", "MessageRole.user".
	Values map[string]*Value
}

// Member is a field with its place in the runtime's neutral form.
type Member struct {
	Meaning string // of the field: "Artifact.name"
	Is      string // what it is, in the words of package lower: "string", "int32", "[]Part"
	Name    string // of the runtime's member: "Name"
}

// MarshalJSON prints the Go name of each thing by its meaning.
func (b Bindings) MarshalJSON() ([]byte, error) {
	fields, cases, values := map[string]string{}, map[string]string{}, map[string]string{}
	for meaning, f := range b.Fields {
		fields[meaning] = f.Go
	}
	for meaning, c := range b.Cases {
		cases[meaning] = c.Go
	}
	for meaning, v := range b.Values {
		values[meaning] = v.Go
	}
	return json.Marshal(map[string]map[string]string{"fields": fields, "cases": cases, "values": values})
}
