package conform

import (
	"slices"
	"strings"
)

// inspect holds an answer to the checks of answers. of is nil if the answer is to no operation.
func (p *probe) inspect(x *exchange, of *operation) {
	if x.status != 0 && x.err == nil {
		p.silent = 0
	}
	if x.isStream() {
		x.check("answer.framing", len(x.framing) == 0, "%s", strings.Join(x.framing, "; "))
		x.check("answer.media-type", x.status == 200, "a stream of events has the status %d", x.status)
	}
	for _, f := range x.failures() {
		p.inspectError(x, f)
	}
	if of != nil && x.status != 0 && x.op != opPushDelete { // what a deletion is answered with is up to the agent (T61)
		for _, s := range x.events {
			if s.failure == nil && s.raw != nil {
				p.inspectValue(x, of, s.raw)
			}
		}
		if !x.isStream() && x.failure == nil && x.err == nil {
			p.inspectValue(x, of, x.result)
		}
	}
	for id, problems := range x.problems {
		p.note(id, x, problems...)
	}
}

// note counts an answer for a check, with what is wrong.
func (p *probe) note(id string, x *exchange, problems ...string) {
	i := slices.IndexFunc(answerChecks, func(c *Check) bool { return c.ID == id })
	if i < 0 {
		panic("no check of answers: " + id)
	}
	c := answerChecks[i]
	if !c.applies(p.version(), p.Binding) {
		return
	}
	if p.answers[id] == nil {
		p.answers[id] = c.result(p.on())
	}
	for _, problem := range problems {
		p.answers[id].fail(p.runner, x, problem)
	}
}

// inspectError holds an error to A2A 1.0 §3.3.2 and to what its binding adds.
func (p *probe) inspectError(x *exchange, f *failure) {
	if p.version() != "1.0" || f.refused() {
		return
	}
	x.check("answer.error-types", f.typed, "the details of an error must be a list of objects, each with an @type")
	i := slices.IndexFunc(a2aErrors, func(k errorKind) bool { return k.reason == f.reason || f.code != 0 && f.code == k.code })
	if i < 0 {
		return
	}
	kind := a2aErrors[i]
	id := "answer.error-info"
	if p.Binding == bindingJSONRPC {
		id = "answer.error-info-rpc"
	}
	info := f.detail(errorInfoType)
	x.check(id, info != nil && text(info, "reason") == kind.reason && text(info, "domain") == "a2a-protocol.org",
		"%s must have an ErrorInfo with the reason %s and the domain a2a-protocol.org", kind.name, kind.reason)
	if p.Binding == bindingJSONRPC && f.code != 0 {
		x.check("answer.code", f.code == kind.code, "%s has the code %d, not %d", kind.name, kind.code, f.code)
	}
	if f.http != 0 {
		x.check("answer.status", slices.Contains(kind.http, f.http) && slices.Contains(kind.status, f.status),
			"%s has the status %d %s, not %d %s", kind.name, kind.http[0], kind.status[0], f.http, f.status)
	}
	if f.http == 0 && f.code == 0 {
		x.check("answer.status", slices.Contains(kind.status, f.status), "%s has the status %s, not %s", kind.name, kind.status[0], f.status)
	}
}

// problemKinds are the checks that a value is held to by its definition.
var problemKinds = []problemKind{badType, badName, badEnum, badUnion, badTime, badDigits, missing, unknown}

// inspectValue holds a result, or what an event has, to its definition, and tasks and messages to what no type says. Over
// HTTP+JSON of 0.2 and 0.3 there are two definitions: the text has the JSON of JSON-RPC, the proto another; either will do (T31).
func (p *probe) inspectValue(x *exchange, of *operation, v any) {
	problems := p.dialect.def.validate(of.response, v)
	if p.dialect.legacyProto() && p.Binding == bindingHTTP && len(problems) > 0 {
		inner := v
		if _, o := wrapped(asObject(v)); o != nil { // both forms have the wrapper
			inner = o
		}
		schema := definitionOf(p.version(), false)
		if like := schema.operation(opNames[x.op]); like != nil {
			if found := schema.validate(like.response, inner); len(found) < len(problems) {
				problems = found
			}
		}
	}
	for _, kind := range problemKinds {
		x.check(string(kind), true, "")
	}
	for _, found := range problems {
		x.check(string(found.kind), found.kind == unknown && x.op == opCard, "%s", found) // cards have the members of two versions (T68)
	}
	e, ok := p.dialect.event(x.op, v)
	if !ok {
		return
	}
	role := func(m object, want string) {
		got := strings.ToLower(strings.TrimPrefix(text(m, "role"), "ROLE_"))
		x.check("answer.agent-message", got == want, "a message of the %s has the role %q", want, clean(text(m, "role"), 60))
	}
	if said := e.statusMessage(); said != nil {
		role(said, "agent")
	}
	switch e.kind {
	case isTask:
		seen := map[string]bool{}
		for _, a := range e.artifacts() {
			if p.version() == "0.1" { // where they have none
				break
			}
			id := text(a, "artifactId")
			x.check("answer.artifact-ids", !seen[id], "two artifacts of a task have the id %q", clean(id, 60))
			seen[id] = true
		}
		ours := func(m object) bool { return strings.HasPrefix(text(m, "messageId"), idPrefix) }
		for _, m := range e.history() {
			switch {
			case ours(m):
				role(m, "user")
			case slices.ContainsFunc(e.history(), ours): // the agent keeps the ids of messages, so that this one is its own
				role(m, "agent")
			}
		}
	case isMessage:
		role(e.value, "agent")
		if p.version() == "1.0" {
			x.check("answer.agent-message", e.context() != "", "a message of the agent has no contextId")
		}
	}
}

func asObject(v any) object {
	o, _ := v.(object)
	return o
}

const (
	bindingJSONRPC = "JSONRPC"
	bindingHTTP    = "HTTP+JSON"
	bindingGRPC    = "GRPC"
)

// What checks are for.
var (
	only10   = []string{"1.0"}
	overRPC  = []string{bindingJSONRPC}
	overREST = []string{bindingHTTP}
	overGRPC = []string{bindingGRPC}
	overHTTP = []string{bindingJSONRPC, bindingHTTP}
)
