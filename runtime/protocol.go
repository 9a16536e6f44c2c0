// Package runtime is the boundary between generated protocol code and the hand-written agent runtime.
//
// A generated protocol package hands over one [Protocol] value: constructors, and for every spoken version a table of
// operations with their codecs. The runtime never imports a generated type; it sees protocol values through the few
// small interfaces of this package. A change of the protocol therefore needs a regenerate, not a new runtime.
package runtime

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime/wire"
)

// SupportsGen1 is referred to by generated code of the first generation, so that code and runtime which do not fit
// together fail to compile instead of misbehaving.
const SupportsGen1 = true

// State is the life-cycle state of a task, whatever a version calls it (A2A 1.0 §4.1.3).
type State uint8

// The states.
const (
	StateUnspecified State = iota
	StateSubmitted
	StateWorking
	StateCompleted
	StateFailed
	StateCanceled
	StateInputRequired
	StateRejected
	StateAuthRequired
)

// Terminal reports whether the task has ended for good.
func (s State) Terminal() bool {
	return s == StateCompleted || s == StateFailed || s == StateCanceled || s == StateRejected
}

// Interrupted reports whether the task waits for its client.
func (s State) Interrupted() bool { return s == StateInputRequired || s == StateAuthRequired }

var stateNames = [...]string{"unspecified", "submitted", "working", "completed", "failed", "canceled", "input-required", "rejected", "auth-required"}

// String returns the state's name in lower case with hyphens.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// Protocol is what one generated protocol package hands over.
type Protocol struct {
	// Versions are the spoken versions, newest first.
	Versions []*Version
	// Whole is the first version with all that the types have beside what it says: what drafts of older versions brought
	// along. Nobody speaks it; stores write what they keep in it. Nil when the first version says all.
	Whole *Version
	// NewTask makes a submitted task without history or artifacts.
	NewTask func(id, contextID string, at time.Time) Task
	// NewMessage makes an agent's message (or a user's, if data.User).
	NewMessage func(data MessageData) Message
	// NewStatus makes a status update for a task. message may be nil.
	NewStatus func(taskID, contextID string, state State, message Message, at time.Time) Event
	// NewArtifact makes an artifact update for a task.
	NewArtifact func(taskID, contextID string, data ArtifactData) Event
	// NewTaskPage makes the result of a list operation. next is "" on the last page.
	NewTaskPage func(tasks []Task, next string, pageSize, total int) any
	// DecodeCard reads an agent card: as the newest wire has it or, when older versions are spoken too, as the one by
	// whose shape it is written.
	DecodeCard func(src []byte) (Card, error)
	// Card returns what the runtime sees of a generated card, an *a2a.AgentCard; nil for anything else.
	Card func(generated any) Card
	// NewSend makes the generated request of the send and stream operations (client side). data.Source is not looked at;
	// what is zero stays unset.
	NewSend func(data SendRequest) any
	// NewTaskRequest makes the generated request of a role whose requests are of one task ([Role.OfTask]; client side); nil
	// for another role.
	// A field of data that the request does not have is ignored.
	NewTaskRequest func(role Role, data TaskRequest) any
	// NewPushConfig makes a push configuration of a task: the result of creating or getting one, and the request to create
	// one. Nil if the protocol has none.
	NewPushConfig func(tenant, taskID string, config PushConfig) any
	// NewPushPage makes the result of listing them. next is "" on the last page.
	NewPushPage func(tenant, taskID string, configs []PushConfig, next string) any
}

// NameOf is what the newest version calls an operation.
func (p *Protocol) NameOf(op *Operation) string {
	if op.Role != RoleOther {
		for _, v := range p.Versions {
			for _, o := range v.Operations {
				if o.Role == op.Role {
					return o.RPC
				}
			}
		}
	}
	return op.RPC
}

// Version is one spoken protocol version. Its own table is that of its JSON-RPC dialect.
type Version struct {
	Name string // "1.0"
	Table
	// AppendCard appends an agent card as JSON.
	AppendCard func(dst []byte, c Card) ([]byte, error)
	// ReadCard reads an agent card as this version has it.
	ReadCard func(src []byte) (Card, error)
	// Rules are how the version behaves otherwise than 1.0 where that is not a matter of its shapes.
	Rules Rules
	// Wires are the encodings of the version beside the JSON of its operations, as far as the package was generated
	// with them ("encodings" in a2agen.yaml).
	Wires []*Wire
}

// Table is a version in one encoding: its operations with their codecs, and the codec of events.
type Table struct {
	Operations []*Operation
	// AppendEvent appends a stream item (task, message, status or artifact update): as a JSON-RPC result, for example.
	AppendEvent func(dst []byte, e Event) ([]byte, error)
	// ReadEvent reads a stream item. One of a kind that the package does not know is [ErrUnknownEvent].
	ReadEvent func(src []byte) (Event, error)
}

// Wire is a version in another encoding: what travels over gRPC, or in JSON that follows the proto where the version's
// JSON-RPC does not.
type Wire struct {
	Encoding string // EncodingProto or EncodingProtoJSON
	Table
	// Append appends a pointer to a generated message, or what the runtime sees of one, as one document.
	Append func(dst []byte, v any) ([]byte, error)
	// Read reads one document into a pointer to an empty generated message. A failure of the document is a *wire.Error.
	Read func(src []byte, v any) error
	// Descriptor is the definition with what it imports, a google.protobuf.FileDescriptorSet without comments and
	// options. Only protobuf has it.
	Descriptor string
}

// The encodings of wires.
const (
	EncodingProto     = "proto"
	EncodingProtoJSON = "protojson"
)

// Rules are differences of behaviour from 1.0, which has the zero value.
type Rules struct {
	// Final: a stream ends with the first status update that AppendEvent marks final, which is one to a state that is
	// terminal or interrupted. A subscription does not have to begin with the task (0.1 to 0.3).
	Final bool
	// PushTask: a push notification carries the whole task as Append of RoleGet writes it, not a stream item (0.1 to
	// 0.3).
	PushTask bool
	// PlainErrors: errors have a code and a message but no details, and no codes that the version does not have: those from
	// -32008 on are -32603 (0.1 to 0.3).
	PlainErrors bool
	// ClientIDs: the client chooses the id of a new task, which comes as the task id of the message; an id that is not
	// known is a new task. A message that answers must be bound to that id, because AppendEvent and Append write it as
	// a completed task (0.1).
	ClientIDs bool
	// NoHistory: a history length of 0 is no wish, so that the server decides, as for none (0.1 and 0.2).
	NoHistory bool
	// UpdatesOnly: streams have status and artifact updates only. AppendEvent writes a task or message as a status
	// update, without the artifacts and the history, which have to be sent otherwise (0.1).
	UpdatesOnly bool
	// PublicCard: the operation of RoleExtendedCard answers the public card, without authentication (0.1).
	PublicCard bool
	// Places: artifacts have no ids but a place in their task, which AppendEvent and Append write for an id that is
	// such a number: what is written comes from [Protocol.Placed] (0.1).
	Places bool
	// CardPath is the well-known path of the card: "/.well-known/agent.json" before 0.3. Empty is 1.0's.
	CardPath string
	// Generations: tasks and their updates say their generations, a request for a task can wait for the next one, and a
	// message can name the one that its task must have (the draft of 1.1).
	Generations bool
	// ExtendedPath is where an identified caller reads the extended card with GET, beside the agent's interface, in a version
	// without an operation for it (0.2).
	ExtendedPath string
}

// Operation is one row of a version's route table.
type Operation struct {
	Role Role
	RPC  string // JSON-RPC method name: "SendMessage"
	GRPC string // full gRPC method: "/lf.a2a.v1.A2AService/SendMessage"
	HTTP []Route
	// Query are the fields that are not written as a JSON string when a request comes in a URL; a codec reads all others
	// from one.
	Query []QueryField
	// Stream: the result is a sequence of events.
	Stream bool
	// Decode reads request parameters. It returns the neutral form of the role ([RoleInfo.Request]), and the generated
	// request itself of a role without one. A failure is a *wire.Error.
	Decode func(src []byte) (any, error)
	// Append appends a result: for send a Message or Task, for get and cancel a Task, for list what NewTaskPage made, for
	// push configurations what NewPushConfig and NewPushPage made, otherwise the generated response.
	Append func(dst []byte, result any) ([]byte, error)
	// AppendRequest and Read are the client's side: the generated request out, the generated result in
	// (for send, a Task or a Message).
	AppendRequest func(dst []byte, request any) ([]byte, error)
	Read          func(src []byte) (any, error)
}

// Route is one HTTP binding of an operation: a path template of google.api.http, and which field of the request the
// body is; "*" is the whole request, "" is none.
type Route struct{ Verb, Path, Body string }

// QueryField is a field of a request that stands otherwise in JSON than as one text, which is how a query has it. Name
// is its JSON name, behind those of the fields that it is in: "filter.done".
type QueryField struct {
	Name string
	JSON bool // the text is JSON already: a bool, for example
	List bool // the name may come several times
}

// Event is one item of a stream: a status or artifact update, and also a Task or a Message.
type Event interface {
	Seen
	EventInfo() EventInfo
}

// Seen is what the runtime sees of a generated value. It has methods that users of the value have no need of; its type
// is not exported, therefore, and what goes to users is the value itself.
type Seen interface {
	// Generated returns the value: an *a2a.Task, for example.
	Generated() any
}

// EventKind tells what an event is.
type EventKind uint8

// The kinds of event.
const (
	EventTask EventKind = iota + 1
	EventMessage
	EventStatus
	EventArtifact
)

// EventInfo is what the runtime needs to know of an event. State is set for a status update and a task, Generation for
// what has one, as far as it is known.
type EventInfo struct {
	Kind              EventKind
	TaskID, ContextID string
	State             State
	Generation        int64
}

// Task is a generated task, as the engine sees it. It is not safe for concurrent use; the engine holds the task's lock.
type Task interface {
	Event
	TaskInfo() TaskInfo
	// Fits says why an event cannot be applied; nil: it can, also after others that fit.
	Fits(e Event) error
	// Apply changes the task in place by a status or artifact update that fits. A replaced status's message moves to the
	// history; appended parts go to the artifact of the same id, an unknown id starts a new artifact
	// (A2A 1.0 §4.2.2). The event is not retained for writing: it may be encoded later, concurrently.
	Apply(e Event) error
	// AddMessage appends a message to the history.
	AddMessage(m Message)
	// StatusMessage returns the message of the current status, an untyped nil without one.
	StatusMessage() Message
	// HistoryList returns the messages of the history, oldest first. They are shared, not copied.
	HistoryList() []Message
	// ArtifactList returns the artifacts in neutral form, in order. Byte slices are shared, not copied.
	ArtifactList() []ArtifactData
	// View returns a copy that stays as it is while the task goes on changing: with at most *history most recent
	// messages (nil: all, 0: none, R300), and with or without artifacts. Messages and parts are shared.
	View(history *int, artifacts bool) Task
}

// StatusUpdate is a status update, as a client sees it (EventStatus).
type StatusUpdate interface {
	Event
	// StatusMessage returns the message of the new status, an untyped nil without one.
	StatusMessage() Message
}

// ArtifactUpdate is an artifact update, as a client sees it (EventArtifact).
type ArtifactUpdate interface {
	Event
	// ArtifactUpdate returns the update in neutral form. Byte slices are shared, not copied.
	ArtifactUpdate() ArtifactData
}

// TaskInfo is what the engine needs to know of a task.
type TaskInfo struct {
	ID, ContextID string
	State         State
	At            time.Time // status timestamp
	Artifacts     int       // number of artifacts
	History       int       // number of messages
}

// Message is a generated message, as the engine sees it.
type Message interface {
	Event
	MessageInfo() MessageInfo
	// Contents returns the parts in neutral form. Byte slices are shared, not copied.
	Contents() []Part
	// Bind sets the context and task the message belongs to.
	Bind(contextID, taskID string)
}

// MessageInfo is a message without its parts.
type MessageInfo struct {
	ID, ContextID, TaskID string
	User                  bool // sent by the client, else by the agent
	Metadata              wire.Object
	Extensions            []string
	References            []string // ids of related tasks
}

// MessageData describes a message to make. Handlers give one to Task.Say.
type MessageData struct {
	MessageInfo
	Parts []Part
}

// MessageOf returns a message of these parts.
func MessageOf(parts ...Part) MessageData { return MessageData{Parts: parts} }

// ArtifactData describes an artifact update to make (A2A 1.0 §4.2.2). Handlers give one to Task.Emit and
// Task.Stream.
type ArtifactData struct {
	ID, Name, Description string
	Parts                 []Part
	Metadata              wire.Object
	Extensions            []string
	Append, LastChunk     bool
}

// PartKind tells what a part holds.
type PartKind uint8

// The kinds of part.
const (
	PartUnknown PartKind = iota
	PartText
	PartRaw
	PartURL
	PartData
	// PartOther is a kind that only a definition of the user's own has: its content is in the generated part alone.
	PartOther
)

// Part is a part in neutral form: one of Text, Raw, URL and Data as Kind says, or none of them.
type Part struct {
	Kind      PartKind
	Text      string
	Raw       []byte
	URL       string
	Data      wire.Value
	Filename  string
	MediaType string
	Metadata  wire.Object
}

// Card is a generated agent card, as the server and the client see it.
type Card interface {
	Seen
	CardInfo() CardInfo
	// At returns a copy whose interfaces have the URLs that place gives them; [Rebase] is how.
	At(place func(Interface) string) Card
}

// CardInfo is what the runtime needs to know of a card.
type CardInfo struct {
	Name, Version               string
	Streaming, Push, Extended   bool
	Interfaces                  []Interface
	Extensions                  []Extension
	DefaultInput, DefaultOutput []string // media types
}

// Interface is one declared interface of an agent, in order of preference.
type Interface struct{ URL, Binding, Tenant, Version string }

// Extension is one declared extension.
type Extension struct {
	URI      string
	Required bool
	Params   wire.Object
}

// SendRequest is the neutral form of a message being sent (A2A 1.0 §3.2.1).
type SendRequest struct {
	Tenant              string
	Message             Message
	AcceptedOutputModes []string
	HistoryLength       *int // nil: no limit (R300)
	ReturnImmediately   bool
	IfGenerationMatch   *int64      // generation that the task must have for the message to be taken on; nil: any
	Push                *PushConfig // for the task that the message leads to; nil: none
	Metadata            wire.Object
	Source              any // the generated request
}

// TaskRequest is the neutral form of a request for one task.
type TaskRequest struct {
	Tenant, ID    string
	HistoryLength *int
	Metadata      wire.Object
	// CurrentGeneration is that of the task as the client has it: the answer waits for a later one. Nil: it does not wait.
	CurrentGeneration *int64
	Source            any
}

// ListRequest is the neutral form of a request for many tasks (A2A 1.0 §3.1.4).
type ListRequest struct {
	Tenant, ContextID string
	State             State // StateUnspecified: any
	PageSize          *int
	PageToken         string
	HistoryLength     *int
	After             time.Time // zero: any; inclusive
	IncludeArtifacts  bool
	Source            any
}

// PushRequest is the neutral form of the requests for push configurations of a task: Config is the one to create, or has
// the id of the one to get or delete (A2A 1.0 §3.1.7 to §3.1.10).
type PushRequest struct {
	Tenant, TaskID string
	Config         PushConfig
	PageSize       *int
	PageToken      string
	Source         any
}

// IsComplete reports whether all operations have their codecs. A generated ServerProtocol has what servers without push
// notifications need, and no more.
func (p *Protocol) IsComplete() bool {
	return !slices.ContainsFunc(p.Versions, func(v *Version) bool {
		return slices.ContainsFunc(v.Operations, func(op *Operation) bool { return op.Decode == nil || op.Read == nil })
	})
}

// ErrUnknownEvent says that a stream item is of a kind that came with a later version of the protocol. Readers skip it.
var ErrUnknownEvent = errors.New("an event of a kind that is not known")

// Generated is the generated value, such as an *a2a.Task, of which v is what the runtime sees. Any other v is that value
// already.
func Generated(v any) any {
	if x, ok := v.(Seen); ok {
		return x.Generated()
	}
	return v
}

// Unexpected is the error of encoding v where what is wanted.
func Unexpected(v any, what string) error {
	return fmt.Errorf("encode %s: got a %T", what, Generated(v))
}

// The generation of a task is the number of its latest event: 1 when the task is made, and one more with each event. It is
// the version of the task in the store, whatever protocol its clients speak; those of the draft of 1.1 see it. What else
// the draft says of it: package engine waits for one (GetTask), package run compares it with the one that a message
// names, and package client notices events that are missing.

// Numbered is a task, or an update of one, that has a field for its generation.
type Numbered interface {
	Event
	// WithGeneration returns a copy with that generation. All else is shared.
	WithGeneration(n int64) Event
}

// WithGeneration returns an event with its generation, as a copy if its protocol has generations: others may read the
// event itself.
func WithGeneration[E Event](e E, n int64) E {
	if x, ok := any(e).(Numbered); ok {
		return x.WithGeneration(n).(E)
	}
	return e
}

// Role is what an operation means, whatever a version calls it.
type Role uint8

// The roles. RoleOther is an operation that the runtime does not know: it answers UnsupportedOperation unless the agent
// carries it out.
const (
	RoleOther Role = iota
	RoleSend
	RoleStream
	RoleGet
	RoleList
	RoleCancel
	RoleSubscribe
	RolePushCreate
	RolePushGet
	RolePushList
	RolePushDelete
	RoleExtendedCard
)

// What a card has to offer for an operation: keys of its capabilities (A2A 1.0 §3.3.4).
const (
	NeedsStreaming    = "streaming"
	NeedsPush         = "pushNotifications"
	NeedsExtendedCard = "extendedAgentCard"
)

// RoleInfo is what is known of a role. It is a row of [Roles], which the generator, the engine, the client and the tests
// range over.
type RoleInfo struct {
	Name string // in the generator's model; the constant is "Role" and this, capitalized: "pushGet"
	RPC  string // what 1.0 calls the operation: "GetTaskPushNotificationConfig"
	// Request is the neutral form of the request, as a nil pointer: (*TaskRequest)(nil). Nil is none, so that the operation
	// takes the generated request.
	Request any
	Needs   string // NeedsStreaming, …; "" for an operation that every agent has
	Waits   bool   // its answer may wait for a handler's work
	Ends    bool   // it ends or deletes what it names
	Reads   bool   // it changes nothing, so that it may be made again
}

// Roles are all roles, at the index that is the role's number. Only tests change it.
var Roles = []RoleInfo{
	RoleOther:        {Name: "other", Waits: true},
	RoleSend:         {Name: "send", RPC: "SendMessage", Request: (*SendRequest)(nil), Waits: true},
	RoleStream:       {Name: "stream", RPC: "SendStreamingMessage", Request: (*SendRequest)(nil), Needs: NeedsStreaming},
	RoleGet:          {Name: "get", RPC: "GetTask", Request: (*TaskRequest)(nil), Reads: true},
	RoleList:         {Name: "list", RPC: "ListTasks", Request: (*ListRequest)(nil), Reads: true},
	RoleCancel:       {Name: "cancel", RPC: "CancelTask", Request: (*TaskRequest)(nil), Ends: true},
	RoleSubscribe:    {Name: "subscribe", RPC: "SubscribeToTask", Request: (*TaskRequest)(nil), Needs: NeedsStreaming},
	RolePushCreate:   {Name: "pushCreate", RPC: "CreateTaskPushNotificationConfig", Request: (*PushRequest)(nil), Needs: NeedsPush},
	RolePushGet:      {Name: "pushGet", RPC: "GetTaskPushNotificationConfig", Request: (*PushRequest)(nil), Needs: NeedsPush, Reads: true},
	RolePushList:     {Name: "pushList", RPC: "ListTaskPushNotificationConfigs", Request: (*PushRequest)(nil), Needs: NeedsPush, Reads: true},
	RolePushDelete:   {Name: "pushDelete", RPC: "DeleteTaskPushNotificationConfig", Request: (*PushRequest)(nil), Needs: NeedsPush, Ends: true},
	RoleExtendedCard: {Name: "extendedCard", RPC: "GetExtendedAgentCard", Needs: NeedsExtendedCard, Reads: true},
}

// Info returns what is known of a role; of one that is not in [Roles], what is known of RoleOther.
func (r Role) Info() *RoleInfo {
	if int(r) < len(Roles) {
		return &Roles[r]
	}
	return &Roles[RoleOther]
}

// Sends reports whether an operation of the role sends a message.
func (r Role) Sends() bool {
	_, ok := r.Info().Request.(*SendRequest)
	return ok
}

// OfTask reports whether an operation of the role is about one task by its id, and nothing more: its request is a
// [TaskRequest].
func (r Role) OfTask() bool {
	_, ok := r.Info().Request.(*TaskRequest)
	return ok
}

// OfPush reports whether an operation of the role is about push configurations: its request is a [PushRequest].
func (r Role) OfPush() bool {
	_, ok := r.Info().Request.(*PushRequest)
	return ok
}

// RoleNamed returns the role of a name in the generator's model; RoleOther for a name that is none.
func RoleNamed(name string) Role {
	return roleAt(slices.IndexFunc(Roles, func(i RoleInfo) bool { return i.Name == name }))
}

// RoleOf returns the role of the operation that 1.0 calls rpc; RoleOther for one that the runtime does not know.
func RoleOf(rpc string) Role {
	return roleAt(slices.IndexFunc(Roles, func(i RoleInfo) bool { return i.RPC == rpc && rpc != "" }))
}

func roleAt(i int) Role { return Role(max(i, int(RoleOther))) }
