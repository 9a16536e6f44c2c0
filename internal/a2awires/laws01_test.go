package a2awires

import (
	"reflect"

	"github.com/a2agen/a2agen/runtime/gen/legacy"
)

// lose01 takes out of x what only 0.1 loses, before what is in x is looked at; the function it returns comes after.
func lose01(x any) (after func()) {
	after = func() {}
	switch x := x.(type) {
	case *SendMessageRequest:
		task, context := x.Message.TaskID, x.Message.ContextID // they stand in the request
		loseConfiguration01(x)
		return func() { x.Message.TaskID, x.Message.ContextID = task, context }
	case *Message:
		*x = Message{Role: x.Role, Parts: x.Parts, Metadata: x.Metadata}
	case *SendMessageResponse:
		if m, ok := x.Payload.(*Message); ok {
			x.Payload = &Task{ID: m.TaskID, ContextID: m.ContextID, Status: &TaskStatus{State: TaskStateCompleted, Message: m}}
		}
	case *StreamResponse:
		switch p := x.Payload.(type) {
		case *Task:
			x.Payload = &TaskStatusUpdateEvent{TaskID: p.ID, Status: p.Status, Metadata: p.Metadata}
		case *Message:
			x.Payload = &TaskStatusUpdateEvent{TaskID: p.TaskID, Status: &TaskStatus{State: TaskStateCompleted, Message: p}}
		}
	case *TaskStatusUpdateEvent:
		x.ContextID = ""
	case *TaskArtifactUpdateEvent:
		x.ContextID = ""
	case *Artifact:
		x.Extensions = nil
		index, err := legacy.Index.Append(nil, x.ArtifactID)
		if err != nil {
			panic(err)
		}
		x.ArtifactID = string(index)
	case *TaskStatus:
		switch x.State {
		case TaskStateRejected:
			x.State = TaskStateFailed
		case TaskStateAuthRequired:
			x.State = TaskStateInputRequired
		}
	case *TaskPushNotificationConfig:
		x.ID = ""
	case *GetTaskPushNotificationConfigRequest:
		x.ID = ""
	case *AgentCapabilities:
		x.Extensions, x.ExtendedAgentCard = nil, nil
	case *AgentSkill:
		x.SecurityRequirements = nil
	case *AgentCard:
		loseCard01(x)
	}
	return after
}

func loseConfiguration01(x *SendMessageRequest) {
	if x.Configuration == nil {
		return
	}
	x.Configuration.ReturnImmediately = false
	if reflect.DeepEqual(x.Configuration, &SendMessageConfiguration{}) {
		x.Configuration = nil
	}
}

func loseCard01(x *AgentCard) {
	x.SecurityRequirements, x.Signatures, x.IconURL = nil, nil, nil
	x.SupportedInterfaces = []*AgentInterface{{URL: x.SupportedInterfaces[0].URL, ProtocolBinding: "JSONRPC", ProtocolVersion: "0.1"}}
	names := map[string]*SecurityScheme{}
	for _, s := range x.SecuritySchemes {
		name := ""
		switch s := s.Scheme.(type) {
		case *HTTPAuthSecurityScheme:
			name = s.Scheme
		case *APIKeySecurityScheme:
			name = "apiKey"
		case *OAuth2SecurityScheme:
			name = "oauth2"
		case *OpenIDConnectSecurityScheme:
			name = "openIdConnect"
		case *MutualTLSSecurityScheme:
			name = "mutualTLS"
		}
		if name != "" {
			names[name] = &SecurityScheme{Scheme: &HTTPAuthSecurityScheme{Scheme: name}}
		}
	}
	x.SecuritySchemes = names
}
