package lower

import (
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime"
)

// roleOf returns what an operation means to the runtime. One that it does not know is answered with UnsupportedOperation.
func roleOf(rpc string) ir.Role { return ir.Role(runtime.RoleOf(rpc).Info().Name) }

// minItems are the lists that must not be empty. The text asks it of every required list and then shows empty ones;
// these are the lists that mean nothing when empty (A2A 1.0 §5.7, T20).
var minItems = map[string]int{
	"Message.parts":                  1,
	"Artifact.parts":                 1,
	"AgentCard.supported_interfaces": 1,
}

// valueAliases are other spellings of enum values that are read: the 0.3 protobuf definition doubled the L (T43).
var valueAliases = map[string][]string{
	"TASK_STATE_CANCELED": {"TASK_STATE_CANCELLED"},
}

// bareToo are messages of one list that are also read as the list itself: the official Go servers write the scopes of
// a security requirement so.
var bareToo = map[string]string{"StringList": "list"}

// orBare reports whether a message is read as the value of its only field too.
func orBare(l *ir.Layout) bool {
	return len(l.Fields) == 1 && l.Fields[0].Case == nil && l.Fields[0].Field.Name == bareToo[l.Name] && l.Fields[0].Field.Type.Kind == ir.KindList
}

// need says whether the runtime needs a field.
type need uint8

const (
	optional need = iota
	needed
	later // it came after 1.0: one of the name that has another type is another field
)

// field is a field that the runtime's interfaces look for in a message.
type field struct {
	name string // 1.0 name, which is also its meaning
	is   string // "string", "bool", "int32", "int64", "strings", "object", "time", "union", or the meaning of a type; "[]" before it for a list of it
	need need
	// member is what the runtime calls it in the neutral form of the message, which is copied both ways; "" for what emitted
	// code treats otherwise.
	member string
}

// part is a message that the runtime's interfaces need.
type part struct {
	meaning string
	fields  []field
	// methods are emitted on the type, so that no field can have their names.
	methods []string
}

// parts are all of them, except requests. A type is found through the field of an earlier one that refers to it, else
// by name.
var parts = []part{
	{"Task", []field{
		{"id", "string", needed, ""}, {"context_id", "string", needed, ""}, {"status", "TaskStatus", needed, ""},
		{"artifacts", "[]Artifact", needed, ""}, {"history", "[]Message", needed, ""}, {"metadata", "object", optional, ""},
		{"generation", "int64", later, ""},
	}, []string{"EventInfo", "TaskInfo", "Apply", "AddMessage", "StatusMessage", "ArtifactList", "View"}},
	{"TaskStatus", []field{{"state", "TaskState", needed, ""}, {"message", "Message", needed, ""}, {"timestamp", "time", needed, ""}}, nil},
	{"Message", []field{
		{"message_id", "string", needed, "ID"}, {"context_id", "string", needed, "ContextID"}, {"task_id", "string", needed, "TaskID"}, {"role", "MessageRole", needed, ""},
		{"parts", "[]Part", needed, ""}, {"metadata", "object", needed, "Metadata"}, {"extensions", "strings", optional, "Extensions"}, {"reference_task_ids", "strings", optional, "References"},
	}, []string{"EventInfo", "MessageInfo", "Contents", "Bind", "Text"}},
	{"Part", []field{
		{"content", "union", needed, ""}, {"metadata", "object", optional, "Metadata"}, {"filename", "string", optional, "Filename"}, {"media_type", "string", optional, "MediaType"},
	}, nil},
	{"Artifact", []field{
		{"artifact_id", "string", needed, "ID"}, {"name", "string", optional, "Name"}, {"description", "string", optional, "Description"}, {"parts", "[]Part", needed, "Parts"},
		{"metadata", "object", optional, "Metadata"}, {"extensions", "strings", optional, "Extensions"},
	}, []string{"Text"}},
	{"StatusUpdate", []field{
		{"task_id", "string", needed, ""}, {"context_id", "string", needed, ""}, {"status", "TaskStatus", needed, ""}, {"generation", "int64", later, ""},
	}, []string{"EventInfo", "StatusMessage"}},
	{"ArtifactUpdate", []field{
		{"task_id", "string", needed, ""}, {"context_id", "string", needed, ""}, {"artifact", "Artifact", needed, ""},
		{"append", "bool", needed, "Append"}, {"last_chunk", "bool", needed, "LastChunk"},
		{"generation", "int64", later, ""},
	}, []string{"EventInfo", "ArtifactUpdate"}},
	{"SendResult", []field{{"payload", "union", needed, ""}}, nil},
	{"StreamItem", []field{{"payload", "union", needed, ""}}, nil},
	{"AgentCard", []field{
		{"name", "string", needed, ""}, {"version", "string", needed, ""}, {"capabilities", "Capabilities", needed, ""}, {"supported_interfaces", "[]Interface", needed, ""},
		{"default_input_modes", "strings", needed, ""}, {"default_output_modes", "strings", needed, ""},
	}, []string{"CardInfo", "At"}},
	{"Interface", []field{
		{"url", "string", needed, "URL"}, {"protocol_binding", "string", needed, "Binding"}, {"tenant", "string", optional, "Tenant"}, {"protocol_version", "string", needed, "Version"},
	}, nil},
	{"Capabilities", []field{
		{"streaming", "bool", needed, ""}, {"push_notifications", "bool", optional, ""}, {"extended_agent_card", "bool", optional, ""}, {"extensions", "[]Extension", needed, ""},
	}, nil},
	{"Extension", []field{{"uri", "string", needed, "URI"}, {"required", "bool", optional, "Required"}, {"params", "object", needed, "Params"}}, nil},
	{"SendConfig", []field{
		{"accepted_output_modes", "strings", optional, "AcceptedOutputModes"}, {"history_length", "int32", optional, "HistoryLength"}, {"return_immediately", "bool", optional, "ReturnImmediately"},
		{"task_push_notification_config", "message", optional, ""}, {"if_generation_match", "int64", later, "IfGenerationMatch"},
	}, nil},
	{"PushConfig", []field{
		{"tenant", "string", optional, ""}, {"id", "string", optional, ""}, {"task_id", "string", optional, ""}, {"url", "string", optional, ""}, {"token", "string", optional, ""},
		{"authentication", "PushAuth", optional, ""},
	}, nil},
	{"PushAuth", []field{{"scheme", "string", optional, "Scheme"}, {"credentials", "string", optional, "Credentials"}}, nil},
}

// dispensable are the types that an agent can do without.
var dispensable = []string{"SendConfig", "PushConfig", "PushAuth"}

// requestFields returns the fields of requests and, with the suffix Result, of responses that have a neutral form, by role.
func requestFields() []part {
	list := slices.Clone(listsAndPushes)
	for _, role := range runtime.Roles {
		switch role.Request.(type) {
		case *runtime.SendRequest:
			list = append(list, part{role.Name, sendFields, nil})
		case *runtime.TaskRequest:
			list = append(list, part{role.Name, taskFields, nil})
		}
	}
	return list
}

var (
	sendFields = []field{
		{"tenant", "string", optional, "Tenant"}, {"message", "Message", needed, ""}, {"configuration", "SendConfig", optional, ""}, {"metadata", "object", optional, "Metadata"},
	}
	taskFields = []field{
		{"tenant", "string", optional, "Tenant"}, {"id", "string", needed, "ID"}, {"history_length", "int32", optional, "HistoryLength"}, {"metadata", "object", optional, "Metadata"},
		{"current_generation", "int64", later, "CurrentGeneration"},
	}
)

// listsAndPushes are the fields of requests and responses that are of one role alone.
var listsAndPushes = []part{
	{"list", []field{
		{"tenant", "string", optional, "Tenant"}, {"context_id", "string", optional, "ContextID"}, {"status", "TaskState", optional, "State"}, {"page_size", "int32", optional, "PageSize"}, {"page_token", "string", needed, "PageToken"},
		{"history_length", "int32", optional, "HistoryLength"}, {"status_timestamp_after", "time", optional, "After"}, {"include_artifacts", "bool", optional, "IncludeArtifacts"},
	}, nil},
	{"listResult", []field{
		{"tasks", "[]Task", needed, ""}, {"next_page_token", "string", needed, ""}, {"page_size", "int32", optional, ""}, {"total_size", "int32", optional, ""},
	}, nil},
	{"pushGet", []field{{"tenant", "string", optional, ""}, {"task_id", "string", optional, ""}, {"id", "string", optional, ""}}, nil},
	{"pushList", []field{
		{"tenant", "string", optional, ""}, {"task_id", "string", optional, ""}, {"page_size", "int32", optional, ""}, {"page_token", "string", optional, ""},
	}, nil},
	{"pushListResult", []field{{"configs", "[]PushConfig", optional, ""}, {"next_page_token", "string", optional, ""}}, nil},
	{"pushDelete", []field{{"tenant", "string", optional, ""}, {"task_id", "string", optional, ""}, {"id", "string", optional, ""}}, nil},
}

// typeNames are the 1.0 names of parts that have another name in this table.
var typeNames = map[string]string{
	"MessageRole": "Role", "StatusUpdate": "TaskStatusUpdateEvent", "ArtifactUpdate": "TaskArtifactUpdateEvent",
	"Interface": "AgentInterface", "Capabilities": "AgentCapabilities", "Extension": "AgentExtension", "SendConfig": "SendMessageConfiguration",
	"PushConfig": "TaskPushNotificationConfig", "PushAuth": "AuthenticationInfo",
}

// cases are the union cases that the runtime's interfaces look for: union, case, kind or the meaning of its type.
var cases = []struct{ union, name, is string }{
	{"Part", "text", "string"}, {"Part", "raw", "bytes"}, {"Part", "url", "string"}, {"Part", "data", "value"},
	{"SendResult", "task", "Task"}, {"SendResult", "message", "Message"},
	{"StreamItem", "task", "Task"}, {"StreamItem", "message", "Message"},
	{"StreamItem", "status_update", "StatusUpdate"}, {"StreamItem", "artifact_update", "ArtifactUpdate"},
}

// values are the enum values that the runtime knows: enum, the runtime's name, the 1.0 name.
var values = []struct{ enum, meaning, name string }{
	{"TaskState", "submitted", "TASK_STATE_SUBMITTED"}, {"TaskState", "working", "TASK_STATE_WORKING"},
	{"TaskState", "completed", "TASK_STATE_COMPLETED"}, {"TaskState", "failed", "TASK_STATE_FAILED"},
	{"TaskState", "canceled", "TASK_STATE_CANCELED"}, {"TaskState", "input-required", "TASK_STATE_INPUT_REQUIRED"},
	{"TaskState", "rejected", "TASK_STATE_REJECTED"}, {"TaskState", "auth-required", "TASK_STATE_AUTH_REQUIRED"},
	{"MessageRole", "user", "ROLE_USER"}, {"MessageRole", "agent", "ROLE_AGENT"},
}
