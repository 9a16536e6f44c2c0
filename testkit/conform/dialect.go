package conform

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// op is an operation, whatever a version calls it.
type op string

const (
	opSend       op = "send"
	opStream     op = "stream"
	opGet        op = "get"
	opList       op = "list"
	opCancel     op = "cancel"
	opSubscribe  op = "subscribe"
	opPushCreate op = "push create"
	opPushGet    op = "push get"
	opPushList   op = "push list"
	opPushDelete op = "push delete"
	opCard       op = "extended card"
)

// opNames are the names that definitions give to the operations.
var opNames = map[op][]string{
	opSend:       {"SendMessage", "SendTask"},
	opStream:     {"SendStreamingMessage", "SendTaskStreaming"},
	opGet:        {"GetTask"},
	opList:       {"ListTasks"},
	opCancel:     {"CancelTask"},
	opSubscribe:  {"SubscribeToTask", "TaskResubscription", "TaskSubscription"},
	opPushCreate: {"CreateTaskPushNotificationConfig", "SetTaskPushNotificationConfig", "SetTaskPushNotification"},
	opPushGet:    {"GetTaskPushNotificationConfig", "GetTaskPushNotification"},
	opPushList:   {"ListTaskPushNotificationConfigs", "ListTaskPushNotificationConfig"},
	opPushDelete: {"DeleteTaskPushNotificationConfig"},
	opCard:       {"GetExtendedAgentCard", "GetAuthenticatedExtendedCard", "GetAgentCard"},
}

// dialect is how one version is written over one binding: its definition, and what the requests and results of the operations
// look like in it.
type dialect struct {
	def    *definition
	tenant string // of the interface; "" for none
}

func (d *dialect) operation(o op) *operation { return d.def.operation(opNames[o]) }

// version returns that of the definition.
func (d *dialect) version() string { return d.def.version }

// legacyProto: the ProtoJSON of 0.2 and 0.3, where tasks have resource names and messages have content.
func (d *dialect) legacyProto() bool { return d.def.proto && d.def.version != "1.0" }

// message is what a request to send is made of.
type message struct {
	step          *Step
	task, context string
	id            string // of the message, in 0.1 of the task
	history       *int
	immediate     bool // do not wait for the end
	stream        bool // the answer
	// change has the last word on the parameters.
	change func(params object)
}

// send makes the parameters of sending and streaming.
func (d *dialect) send(m message) object {
	m.id = cmp.Or(m.id, freshID())
	parts := "parts"
	if d.legacyProto() {
		parts = "content"
	}
	msg := object{"role": "user", parts: d.parts(m.step)}
	if m.step.Metadata != nil {
		msg["metadata"] = m.step.Metadata
	}
	config, params := object{}, object{d.def.sendMember(): msg}
	if m.history != nil {
		config["historyLength"] = *m.history
	}
	if d.version() == "0.1" { // where a client makes the id of the task, and the configuration is among the parameters
		maps.Copy(params, config)
		params["id"] = cmp.Or(m.task, m.id)
		put(params, "sessionId", m.context)
	} else {
		msg["messageId"] = m.id
		put(msg, "taskId", m.task)
		put(msg, "contextId", m.context)
		if d.def.proto {
			msg["role"] = "ROLE_USER"
		} else {
			msg["kind"] = "message"
		}
		switch {
		case d.version() != "1.0":
			config["blocking"] = !m.immediate
		case m.immediate:
			config["returnImmediately"] = true
		}
		if d.version() == "0.2" { // required within a configuration
			config["acceptedOutputModes"] = []any{"text/plain", "application/json"}
		}
		if len(config) > 0 {
			params["configuration"] = config
		}
		put(params, "tenant", d.tenant)
	}
	if m.change != nil {
		m.change(params)
	}
	return params
}

// sendMember is the name of the message in a request: the proto of 0.2 has another (T50).
func (d *definition) sendMember() string {
	if t := d.named("SendMessageRequest"); t != nil && t.field("request") != nil {
		return "request"
	}
	return "message"
}

func (d *dialect) parts(s *Step) (parts []any) {
	tag := map[string]string{"0.1": "type", "0.2": "kind", "0.3": "kind"}[d.version()]
	if d.def.proto {
		tag = ""
	}
	if s.Text != "" || s.Data == nil {
		part := object{"text": s.Text}
		put(part, tag, "text")
		parts = append(parts, part)
	}
	if s.Data == nil {
		return parts
	}
	part := object{"data": s.Data}
	if d.legacyProto() {
		part = object{"data": object{"data": s.Data}}
	}
	put(part, tag, "data")
	return append(parts, part)
}

// ofTask makes the parameters of an operation on a task.
func (d *dialect) ofTask(id string) object {
	if d.legacyProto() {
		return object{"name": "tasks/" + id}
	}
	return object{"id": id}
}

// put sets a member that has a value.
func put(o object, name, value string) {
	if name != "" && value != "" {
		o[name] = value
	}
}

// event is what a result or an element of a stream is: a task, a message or an update.
type event struct {
	kind  eventKind
	value object
	d     *dialect
}

type eventKind string

const (
	isTask     eventKind = "task"
	isMessage  eventKind = "message"
	isStatus   eventKind = "status update"
	isArtifact eventKind = "artifact update"
)

// event reads a result of an operation. ok is false if it is none of these.
func (d *dialect) event(o op, result any) (e event, ok bool) {
	e = event{d: d}
	value, _ := result.(object)
	switch {
	case o == opGet || o == opCancel || o == opSend && d.version() == "0.1":
		e.kind, e.value = isTask, value
	case d.def.proto:
		e.kind, e.value = wrapped(value)
	case d.version() == "0.1":
		if e.value = value; value["artifact"] != nil {
			e.kind = isArtifact
		} else if value["status"] != nil {
			e.kind = isStatus
		}
	default:
		kinds := map[string]eventKind{"task": isTask, "message": isMessage, "status-update": isStatus, "artifact-update": isArtifact}
		e.kind, e.value = kinds[text(value, "kind")], value
	}
	return e, e.kind != "" && e.value != nil
}

// wrapped takes the wrapper off a task, a message or an update. Of several the first counts.
func wrapped(value object) (eventKind, object) {
	for _, w := range []struct {
		name string
		kind eventKind
	}{{"task", isTask}, {"message", isMessage}, {"msg", isMessage}, {"statusUpdate", isStatus}, {"artifactUpdate", isArtifact}} {
		if inner, ok := value[w.name].(object); ok {
			return w.kind, inner
		}
	}
	return "", nil
}

// task returns the id of the task that an event is about.
func (e event) task() string {
	if e.kind == isTask || e.d.version() == "0.1" {
		return text(e.value, "id")
	}
	return text(e.value, "taskId")
}

// context returns the id of the conversation.
func (e event) context() string {
	if e.d.version() == "0.1" {
		return text(e.value, "sessionId")
	}
	return text(e.value, "contextId")
}

// state returns the state of a task or status update in the words of 0.3: "input-required".
func (e event) state() string { return stateName(text(e.value, "status", "state")) }

func stateName(wire string) string {
	s := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(wire, "TASK_STATE_")), "_", "-")
	return strings.Replace(s, "cancelled", "canceled", 1)
}

// ended reports whether a state is final, waits whether it is up to the client.
func ended(state string) bool {
	return slices.Contains([]string{"completed", "failed", "canceled", "rejected"}, state)
}

func waits(state string) bool { return state == "input-required" || state == "auth-required" }

// describe names an event and its state.
func (e event) describe() string {
	if s := e.state(); s != "" {
		return fmt.Sprintf("a %s in the state %s", e.kind, s)
	}
	return "a " + string(e.kind)
}

// history returns the messages of a task, artifacts what it has made.
func (e event) history() []object   { return objects(e.value["history"]) }
func (e event) artifacts() []object { return objects(e.value["artifacts"]) }

// statusMessage returns the message of a status; nil if there is none. The proto of 0.3 calls it update.
func (e event) statusMessage() object {
	if m, ok := member(e.value, "status", "message").(object); ok {
		return m
	}
	return asObject(member(e.value, "status", "update"))
}

// holds writes artifacts so that they can be compared: the id of each, its texts as one, however they came, and its other
// parts.
func holds(artifacts []object) string {
	var b strings.Builder
	for _, a := range artifacts {
		fmt.Fprintf(&b, "%q: ", text(a, "artifactId"))
		for _, part := range objects(a["parts"]) {
			if s, ok := part["text"].(string); ok {
				b.WriteString(s)
			} else {
				b.Write(encode(plain(part)))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// words are the texts in parts of messages and artifacts, in order.
func words(holders ...object) string {
	var b strings.Builder
	for _, h := range holders {
		for _, name := range []string{"parts", "content"} {
			for _, part := range objects(h[name]) {
				b.WriteString(text(part, "text"))
			}
		}
	}
	return b.String()
}
