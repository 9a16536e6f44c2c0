package conform

// answerChecks have no function: every answer that comes is held to them, by inspect and by those who read it.
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
		Sentence: "A message of the agent has the role of the agent, in a status and in a history, too; one that is the answer has, in 1.0, its context."},
	{ID: "answer.artifact-ids", Requirements: []string{"R305"}, Section: "1.0 §4.1.7", Level: Must, Scope: OnAnswers,
		Sentence: "The artifacts of a task have different ids."},
}

var agentChecks = []*Check{
	{ID: "agent.same-task", Requirements: []string{"R88", "Q9"}, Section: "1.0 §5.1; 0.3 §3.4.1", Level: Must, Scope: OnAgent,
		Sentence: "A task that was made over one interface is the same over all others.", Needs: "more than one interface", run: func(t *trial) {
			var from *probe
			compared := 0
			for _, p := range t.probes {
				switch {
				case p.done == nil || p.givenUp != "":
				case from == nil || from.Tenant != p.Tenant:
					from = p
				default:
					compared++
					other := &trial{probe: p, result: t.result}
					want, where := *from.done, from.Interface
					x := other.onTask(opGet, want.task())
					got := other.taken(x)
					t.want(got.state() == want.state(), x, "over %s the task is %s, over %s %s", p.Interface, got.state(), where, want.state())
					a, b := got.artifacts(), want.artifacts()
					t.want(words(a...) == words(b...), x, "over %s the task has other artifacts than over %s", p.Interface, where)
					if p.version() != "0.1" && want.d.version() != "0.1" && len(a) == len(b) { // artifacts of 0.1 have no ids
						for i := range a {
							t.want(text(a[i], "artifactId") == text(b[i], "artifactId"), x, "over %s an artifact has another id than over %s", p.Interface, where)
						}
					}
				}
			}
			if compared == 0 {
				t.skip("there are no two interfaces over which a task could be made")
			}
		}},
}
