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
		p.inspectStream(x)
	}
	for _, f := range x.failures() {
		p.inspectError(x, f)
	}
	if of != nil && x.status != 0 {
		p.inspectResult(x, of)
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

func (x *exchange) failures() (all []*failure) {
	if x.failure != nil {
		all = append(all, x.failure)
	}
	for _, s := range x.events {
		if s.failure != nil {
			all = append(all, s.failure)
		}
	}
	return all
}

func (p *probe) inspectStream(x *exchange) {
	x.check("answer.framing", len(x.framing) == 0, "%s", strings.Join(x.framing, "; "))
	x.check("answer.media-type", x.status == 200, "a stream of events has the status %d", x.status)
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

// inspectResult compares what came with its definition.
func (p *probe) inspectResult(x *exchange, of *operation) {
	var values []any
	for _, s := range x.events {
		if s.failure == nil && s.raw != nil {
			values = append(values, s.raw)
		}
	}
	if !x.isStream() && x.failure == nil && x.err == nil {
		values = append(values, x.result)
	}
	for _, v := range values {
		if x.op == opPushDelete { // what a deletion is answered with is up to the agent (T61)
			continue
		}
		p.inspectValue(x, of, v)
	}
}

// valueKinds are the checks that a value is held to by its definition.
var valueKinds = []problemKind{badType, badName, badEnum, badUnion, badTime, badDigits, missing, unknown}

func (p *probe) inspectValue(x *exchange, of *operation, v any) {
	problems := p.judge(x.op, of, v)
	for _, kind := range valueKinds {
		x.check(string(kind), true, "")
		for _, found := range problems {
			if found.kind == kind && !(kind == unknown && x.op == opCard) { // cards have the members of two versions (T68)
				x.problem(string(kind), "%s", found)
			}
		}
	}
	if e, ok := p.dialect.event(x.op, v); ok {
		p.inspectEvent(x, e)
	}
}

// judge compares a value with the definition. Over HTTP+JSON of 0.2 and 0.3 there are two: the text has the JSON of JSON-RPC, the
// proto another; either will do (T31).
func (p *probe) judge(o op, of *operation, v any) []problem {
	c := validator{def: p.dialect.def, zeros: p.Binding == bindingGRPC}
	c.value(of.response, v, "")
	if !p.dialect.legacyProto() || p.Binding != bindingHTTP || len(c.problems) == 0 {
		return c.problems
	}
	schema := definitionOf(p.version(), false)
	like := schema.operation(opNames[o])
	if like == nil {
		return c.problems
	}
	if found := schema.validate(like.response, unwrapped(v)); len(found) < len(c.problems) {
		return found
	}
	return c.problems
}

// unwrapped takes the wrapper off that both forms have over HTTP+JSON.
func unwrapped(v any) any {
	if _, inner := wrapped(asObject(v)); inner != nil {
		return inner
	}
	return v
}

func asObject(v any) object {
	o, _ := v.(object)
	return o
}

// inspectEvent holds tasks and messages to what no type says.
func (p *probe) inspectEvent(x *exchange, e event) {
	switch e.kind {
	case isTask:
		p.inspectArtifacts(x, e)
	case isMessage:
		role := text(e.value, "role")
		x.check("answer.agent-message", role == "ROLE_AGENT" || role == "agent", "a message of the agent has the role %q", role)
		if p.version() == "1.0" {
			x.check("answer.agent-message", e.context() != "", "a message of the agent has no contextId")
		}
	}
}

func (p *probe) inspectArtifacts(x *exchange, e event) {
	if p.version() == "0.1" {
		return
	}
	seen := map[string]bool{}
	for _, a := range objects(e.value["artifacts"]) {
		id := text(a, "artifactId")
		x.check("answer.artifact-ids", !seen[id], "two artifacts of a task have the id %q", clean(id, 60))
		seen[id] = true
	}
}

const (
	bindingJSONRPC = "JSONRPC"
	bindingHTTP    = "HTTP+JSON"
	bindingGRPC    = "GRPC"
)

var answerChecks = []*Check{
	{ID: "answer.json", Requirements: []string{"R239"}, Section: "1.0 §14.1.1, §5.5; 0.3 §3.2", Level: Must, Scope: OnAnswers, Bindings: overHTTP,
		Sentence: "Answers are JSON in UTF-8, without members twice."},
	{ID: "answer.media-type", Requirements: []string{"Q4", "Q33", "R153"}, Section: "1.0 §9.1, §11.1; 0.3 §3.2.1", Level: Must, Scope: OnAnswers, Bindings: overHTTP,
		Sentence: "Answers have a media type of JSON, and streams have text/event-stream."},
	{ID: "answer.envelope", Requirements: []string{"R153", "Q32"}, Section: "1.0 §9.3; 0.3 §6.11.2", Level: Must, Scope: OnAnswers, Bindings: overRPC,
		Sentence: "Answers are responses of JSON-RPC 2.0: jsonrpc is \"2.0\", and there is either a result or an error."},
	{ID: "answer.id", Requirements: []string{"R153", "Q32"}, Section: "1.0 §9.3; 0.3 §6.11.2", Level: Must, Scope: OnAnswers, Bindings: overRPC,
		Sentence: "An answer, and each event of a stream, has the id of its request, exactly as it was."},
	{ID: "answer.framing", Requirements: []string{"R8", "Q33"}, Section: "1.0 §9.4.2, §11.7; 0.3 §7", Level: Must, Scope: OnAnswers, Bindings: overHTTP,
		Sentence: "Streams are server-sent events, each of which has one JSON value as its data."},
	{ID: "answer.required", Requirements: []string{"R100", "R305"}, Section: "1.0 §5.7; 0.3 §6", Level: Must, Scope: OnAnswers,
		Sentence: "Required members are there, and parts are not empty."},
	{ID: "answer.types", Requirements: []string{"R240"}, Section: "1.0 §5.5, §14.1.1; 0.3 §6", Level: Must, Scope: OnAnswers,
		Sentence: "Members have the types of the definition, and are left out rather than null.",
		Differ:   "a2a-go 2.3 writes null for a list of tasks that is empty; the SDKs for JavaScript and Python write a list."},
	{ID: "answer.names", Requirements: []string{"R93"}, Section: "1.0 §5.5", Level: Must, Scope: OnAnswers,
		Sentence: "Members have camelCase names."},
	{ID: "answer.enums", Requirements: []string{"R94"}, Section: "1.0 §5.5; 0.3 §6", Level: Must, Scope: OnAnswers,
		Sentence: "Values of enums and constants are written as the definition has them."},
	{ID: "answer.unions", Requirements: []string{"R7", "R100"}, Section: "1.0 §4.1, §3.2; 0.3 §6", Level: Must, Scope: OnAnswers,
		Sentence: "Of members that exclude each other exactly one is set."},
	{ID: "answer.members", Requirements: []string{"R240"}, Section: "1.0 §4", Level: Should, Scope: OnAnswers, Versions: only10,
		Sentence: "Answers have no members that the definition does not have.",
		Differ:   "clients of the SDK for Python, and early ones for Java, refuse unknown members; the others ignore them."},
	{ID: "answer.times", Requirements: []string{"R95", "R97", "R98"}, Section: "1.0 §5.6.1", Level: Must, Scope: OnAnswers,
		Sentence: "Times are ISO 8601, in 1.0 with the offset Z."},
	{ID: "answer.milliseconds", Requirements: []string{"R96"}, Section: "1.0 §5.6.1", Level: Should, Scope: OnAnswers, Versions: only10, Bindings: overHTTP,
		Sentence: "Times have milliseconds."},
	{ID: "answer.error", Requirements: []string{"R42", "R28", "Q35"}, Section: "1.0 §3.3.2, §9.5, §11.6; 0.3 §8", Level: Must, Scope: OnAnswers, Bindings: overHTTP,
		Sentence: "Every error has a code and a message, in the form of its binding."},
	{ID: "answer.error-types", Requirements: []string{"R43", "R154", "R169"}, Section: "1.0 §3.3.2, §9.5, §11.6", Level: Must, Scope: OnAnswers, Versions: only10,
		Sentence: "Details of an error are a list of objects that have an @type."},
	{ID: "answer.error-info", Requirements: []string{"R160", "R170"}, Section: "1.0 §10.6, §11.6", Level: Must, Scope: OnAnswers, Versions: only10, Bindings: []string{bindingHTTP, bindingGRPC},
		Sentence: "An error of A2A carries an ErrorInfo with its reason and the domain a2a-protocol.org."},
	{ID: "answer.error-info-rpc", Requirements: []string{"R154"}, Section: "1.0 §9.5", Level: Should, Scope: OnAnswers, Versions: only10, Bindings: overRPC,
		Sentence: "Over JSON-RPC, too, an error of A2A carries an ErrorInfo.",
		Differ:   "1.0.0 demands what 1.0.1 recommends."},
	{ID: "answer.code", Requirements: []string{"R91"}, Section: "1.0 §5.4, §9.5", Level: Must, Scope: OnAnswers, Versions: only10, Bindings: overRPC,
		Sentence: "An error of A2A has the code that its reason stands for."},
	{ID: "answer.status", Requirements: []string{"R91"}, Section: "1.0 §5.4", Level: Must, Scope: OnAnswers, Versions: only10, Bindings: []string{bindingHTTP, bindingGRPC},
		Sentence: "Errors have the status of the specification's table; that of 1.0.0 will do, too.",
		Differ:   "1.0.0 and 1.0.1 have different tables and are both called 1.0; the SDK for Java keeps to the former."},
	{ID: "answer.grpc", Requirements: []string{"R42", "R160"}, Section: "1.0 §3.3.2, §10.6; 0.3 §3.2.2", Level: Must, Scope: OnAnswers, Bindings: overGRPC,
		Sentence: "Over gRPC, answers are messages of the proto and a call ends with a grpc-status; an error has a message, and details that are a google.rpc.Status of the same code."},
	{ID: "answer.agent-message", Requirements: []string{"R304"}, Section: "1.0 §4.1.4", Level: Must, Scope: OnAnswers,
		Sentence: "A message that the agent answers with has the role of the agent and, in 1.0, its context."},
	{ID: "answer.artifact-ids", Requirements: []string{"R305"}, Section: "1.0 §4.1.7", Level: Must, Scope: OnAnswers,
		Sentence: "The artifacts of a task have different ids."},
}

// What checks are for.
var (
	only10   = []string{"1.0"}
	overRPC  = []string{bindingJSONRPC}
	overREST = []string{bindingHTTP}
	overGRPC = []string{bindingGRPC}
	overHTTP = []string{bindingJSONRPC, bindingHTTP}
)
