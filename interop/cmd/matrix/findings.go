package main

// What more than one peer does.
const (
	openCard  = "the agent of this table asks nobody for credentials, and so everybody gets its extended card: its author's doing, not the SDK's"
	cutStream = "it begins a stream of events with the status 200 and breaks it off, where the error TaskNotFound is due (0.3 §8.2)"
	asText    = "its JSON over 0.3 has the media type text/plain, where §3.2.1 demands application/json"
	noVersion = "it does not look at A2A-Version: a version that nobody speaks is answered as if it were 1.0 (§3.6.2)"
)

// findings are what agents made with official SDKs do not keep, each read in the specification. Other implementations are not held to
// the advice (SHOULD) here.
var findings = []finding{
	{"a2a-go 2.4.0", "1.0", "send.ended-task", "a message to a task that has ended is answered InvalidParams, where §3.1.1 has UnsupportedOperation"},
	{"a2a-go 2.4.0", "1.0", "send.no-history", "SendMessage does not heed historyLength: with 0 the whole history comes (§3.2.4)"},
	{"a2a-go 2.4.0", "1.0", "subscribe.ended", "a subscription to a task that has ended is answered TaskNotFound, where §3.1.6 has UnsupportedOperation"},
	{"a2a-go 2.4.0", "1.0", "version.", noVersion},
	{"a2a-go 2.4.0", "1.0", "answer.types", "an empty list has `tasks: null` over JSON-RPC and HTTP+JSON, where ProtoJSON has a list (§5.5)"},
	{"a2a-go 2.4.0", "0.3 JSONRPC", "answer.media-type", asText},
	{"a2a-go 2.4.0", "", "extended.card", openCard},

	{"a2a-go 0.3.15", "0.3 JSONRPC", "answer.media-type", asText},
	{"a2a-go 0.3.15", "", "extended.card", openCard},

	{"@a2a-js/sdk 1.3.0", "1.0", "list.after", "statusTimestampAfter leaves out the task of that very time, which the proto includes"},
	{"@a2a-js/sdk 1.3.0", "1.0", "version.patch", "the version 1.0.7 is refused, although patch numbers do not count (§3.6)"},
	{"@a2a-js/sdk 1.3.0", "1.0", "jsonrpc.invalid-request", "a request without a method is answered -32602, where JSON-RPC has -32600"},
	{"@a2a-js/sdk 1.3.0", "", "jsonrpc.params", "an object in the place of a task's id is looked up as \"[object Object]\", or fails as an internal error, and is no invalid parameter (§3.3.2)"},
	{"@a2a-js/sdk 1.3.0", "1.0", "answer.", "messages without parts, with an empty part or of a role that there is not are taken, and handed out in the history (§5.7)"},
	{"@a2a-js/sdk 1.3.0", "", "extended.card", openCard},

	{"@a2a-js/sdk 0.3.14", "0.3", "input.no-message", "a request without a message is an internal error: \"Cannot read properties of undefined\" (0.3 §8.1)"},
	{"@a2a-js/sdk 0.3.14", "0.3 JSONRPC", "jsonrpc.params", "an object in the place of a task's id is looked up as \"[object Object]\", and is no invalid parameter (0.3 §8.1)"},
	{"@a2a-js/sdk 0.3.14", "0.3 HTTP+JSON", "stream.unknown-task", "a stream about an unknown task is an internal error: \"Bug: toJson serializer and body must be provided\" (0.3 §8.2)"},
	{"@a2a-js/sdk 0.3.14", "0.3 HTTP+JSON", "subscribe.unknown", "a subscription to an unknown task is an internal error (0.3 §8.2)"},
	{"@a2a-js/sdk 0.3.14", "", "extended.card", openCard},

	{"a2a-sdk 1.3.0 (Python)", "1.0 HTTP+JSON", "answer.", "a path whose id has an escaped slash is answered by its web framework, as text and without an error of A2A (§11.5, §11.6)"},
	{"a2a-sdk 1.3.0 (Python)", "1.0 GRPC", "version.", noVersion},
	{"a2a-sdk 1.3.0 (Python)", "0.3 HTTP+JSON", "stream.unknown-task", cutStream},
	{"a2a-sdk 1.3.0 (Python)", "0.3 HTTP+JSON", "subscribe.unknown", cutStream},
	{"a2a-sdk 1.3.0 (Python)", "", "extended.card", openCard},

	{"a2a-sdk 0.3.26 (Python)", "0.3 HTTP+JSON", "stream.unknown-task", cutStream},
	{"a2a-sdk 0.3.26 (Python)", "0.3 HTTP+JSON", "subscribe.unknown", cutStream},
	{"a2a-sdk 0.3.26 (Python)", "0.3 JSONRPC", "answer.id", "the answer to what is no JSON has no id, where JSON-RPC has null (0.3 §6.11.2)"},
	{"a2a-sdk 0.3.26 (Python)", "0.3", "input.no-message", "a request without a message is an unknown exception over HTTP+JSON, and an internal error over gRPC (0.3 §8.1)"},
	{"a2a-sdk 0.3.26 (Python)", "0.3 HTTP+JSON", "rest.parse-error", "a body that is no JSON is answered with the status 500"},
	{"a2a-sdk 0.3.26 (Python)", "", "extended.card", openCard},
}
