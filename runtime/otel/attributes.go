package otel

import (
	"net"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
)

// Attributes that are ours. Those of others are from the semantic conventions of OpenTelemetry.
const (
	agentName    = attribute.Key("gen_ai.agent.name")
	conversation = attribute.Key("gen_ai.conversation.id") // what A2A calls a context
	errorType    = attribute.Key("error.type")
	rpcMethod    = attribute.Key("rpc.method")
	rpcSystem    = attribute.Key("rpc.system.name")
	serverName   = attribute.Key("server.address")
	serverPort   = attribute.Key("server.port")
	userID       = attribute.Key("user.id")

	attempt   = attribute.Key("a2a.attempt")
	binding   = attribute.Key("a2a.binding")
	operation = attribute.Key("a2a.operation")
	outcome   = attribute.Key("a2a.outcome")
	scheme    = attribute.Key("a2a.security_scheme")
	skill     = attribute.Key("a2a.skill.id")
	state     = attribute.Key("a2a.task.state")
	stream    = attribute.Key("a2a.stream")
	task      = attribute.Key("a2a.task.id")
	tenant    = attribute.Key("a2a.tenant")
	version   = attribute.Key("a2a.protocol.version")
)

// systemOf returns the name that the conventions have for a binding; "" for one that is no RPC to them, as HTTP+JSON.
func systemOf(binding string) string {
	if b := runtime.BindingNamed(binding); b != nil {
		return b.System
	}
	return ""
}

// list is a list of attributes, in which what is empty has no place.
type list []attribute.KeyValue

func (l *list) text(key attribute.Key, value string) {
	if value != "" {
		*l = append(*l, key.String(short(value)))
	}
}

// number adds a number that counts from 1.
func (l *list) number(key attribute.Key, value int) {
	if value > 0 {
		*l = append(*l, key.Int(value))
	}
}

// maxText is how long the text of an attribute may be: a peer chooses some of them.
const maxText = 256 // bytes

func short(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "")
}

// attributes are what is known of an activity, for its span.
func (o *observer) attributes(a *observe.Activity) []attribute.KeyValue {
	l := make(list, 0, 16)
	l.text(agentName, o.agent)
	l.text(operation, a.Operation)
	l.text(binding, a.Binding)
	l.text(version, a.Version)
	if a.Stream {
		l = append(l, stream.Bool(true))
	}
	if system := systemOf(a.Binding); system != "" {
		l.text(rpcSystem, system)
		l.text(rpcMethod, a.Operation)
	}
	l.text(skill, a.Skill)
	l.text(task, a.Task)
	l.text(conversation, a.Context)
	l.number(attempt, a.Attempt)
	l.text(state, stateName(a.State))
	l.text(errorType, a.Reason)
	l.peer(a.Peer)
	l.text(tenant, a.Tenant)
	o.caller(&l, a.Caller)
	return l
}

// peer adds the host and port of who is called.
func (l *list) peer(peer string) {
	host, port, err := net.SplitHostPort(peer)
	if err != nil {
		host = peer
	}
	l.text(serverName, host)
	n, _ := strconv.Atoi(port)
	l.number(serverPort, n)
}

// caller adds how a caller came in, and who it is only where that is wanted.
func (o *observer) caller(l *list, c *runtime.Caller) {
	if c == nil {
		return
	}
	l.text(scheme, c.Scheme)
	if o.callers {
		l.text(userID, c.Principal())
	}
}

func stateName(s runtime.State) string {
	if s == runtime.StateUnspecified {
		return ""
	}
	return s.String()
}

// spanName is the operation or skill, of which there are few, and never an id.
func spanName(a *observe.Activity) string {
	switch {
	case a.Kind == observe.Run && a.Skill != "":
		return "run " + a.Skill
	case a.Kind == observe.Deliver:
		return "deliver"
	case a.Operation != "":
		return a.Operation
	}
	return kinds[a.Kind].name
}
