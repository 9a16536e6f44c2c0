package runtime

import "slices"

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
