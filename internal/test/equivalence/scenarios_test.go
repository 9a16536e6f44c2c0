package equivalence

import "strings"

// scenarios are what every speaker asks. Their names are keys of lawful_test.go.
var scenarios = []scenario{
	// Answers (R7, R24, R25, R51).
	{name: "a message is answered by a message", script: `send "hello"`},
	{name: "a message is answered by a task", script: `
		send "answer me"
		get {"id":"$task"}
		list`},
	{name: "a skill completes with a message", script: `
		send "finish"
		get {"id":"$task"}`},
	{name: "a skill fails, breaks, panics and declines", script: `
		send "fail"
		send "break"
		send "panic"
		send "dance"`},
	{name: "a skill answers with an error of the protocol", script: `send "refuse"`},
	{name: "an answer at once", script: `
		send "wait $me" {"configuration":{"returnImmediately":true}}
		until working
		get {"id":"$task"}
		release
		until completed
		get {"id":"$task"}`},
	{name: "output modes", script: `send "answer me" {"configuration":{"acceptedOutputModes":["text/plain"]}}`},
	{name: "output modes that the agent does not have", script: `send "answer me" {"configuration":{"acceptedOutputModes":["video/mp4"]}}`},
	{name: "metadata of a request", script: `send "answer me" {"metadata":{"a":{"b":[1,null,"x"]}}}`},

	// Streams (R9, R10, R16, R17, R66, R171, R310).
	{name: "a stream of steps", script: `stream "steps"`},
	{name: "a stream of chunks", script: `stream "chunks"`},
	{name: "a stream of a message", script: `stream "hello"`},
	{name: "a stream of a failure", script: `stream "fail"`},
	{name: "a stream that asks", script: `
		stream "book"
		stream "Monday" {"message":{"taskId":"$task"}}`},
	{name: "a subscription", script: `
		send "wait $me" {"configuration":{"returnImmediately":true}}
		until working
		s = subscribe {"id":"$task"}
		s next 1
		release
		s rest`},
	{name: "two subscriptions and a client that leaves", script: `
		first = stream "wait $me"
		first next 2
		second = subscribe {"id":"$task"}
		third = subscribe {"id":"$task"}
		second next 1
		first close
		third next 1
		release
		second rest
		third rest
		get {"id":"$task"}`},
	{name: "a stream is taken up again", script: `
		s = stream "wait $me"
		s next 2
		s close
		s resume
		release
		s rest`},
	{name: "a stream is taken up again behind an event", script: `
		s = stream "wait $me"
		s next 1
		until working
		s close
		s resume
		release
		s rest`},
	{name: "a subscription to what waits for its client", script: `
		send "book"
		s = subscribe {"id":"$task"}
		s next 1
		send "Monday" {"message":{"taskId":"$task"}}
		s rest`},
	{name: "a subscription to what has ended", script: `
		send "answer me"
		subscribe {"id":"$task"}`},

	// Several turns (R60, R61, R62, R110, R111, R115).
	{name: "input is required", script: `
		send "book"
		get {"id":"$task"}
		send "Monday" {"message":{"taskId":"$task"}}
		get {"id":"$task"}`},
	{name: "an authorization is required", script: `
		send "pay"
		send "mine" {"message":{"taskId":"$task","contextId":"$context"}}`},
	{name: "an authorization is granted elsewhere", script: `
		send "authorize $me"
		grant mine
		until completed
		get {"id":"$task"}`},
	{name: "a task that has ended takes no message", script: `
		send "answer me"
		send "more" {"message":{"taskId":"$task"}}
		stream "more" {"message":{"taskId":"$task"}}`},
	{name: "a message for another conversation", script: `
		send "book"
		send "Monday" {"message":{"taskId":"$task","contextId":"elsewhere"}}
		get {"id":"$task"}`},
	{name: "a message for no task", script: `send "Monday" {"message":{"taskId":"none"}}`},
	{name: "tasks of one conversation", script: `
		send "answer 1" {"message":{"contextId":"trip"}}
		send "answer 2" {"message":{"contextId":"trip","referenceTaskIds":["$task1"]}}
		list {"contextId":"trip"}
		list {"contextId":"other"}`},
	{name: "a message while the agent works", script: `
		send "wait $me" {"configuration":{"returnImmediately":true}}
		until working
		send "Monday" {"message":{"taskId":"$task"},"configuration":{"returnImmediately":true}}
		release
		until completed
		get {"id":"$task"}`},

	// Parts.
	{name: "parts of every kind", script: `
		send "echo" {"message":{"parts":[{"text":"echo"},{"text":""},{"text":"x\n\u00e9\ud83d\ude00"},
			{"raw":"AAECAw==","filename":"a.bin","mediaType":"application/octet-stream"},{"raw":""},
			{"url":"https://example.com/a?b=c&d","filename":"a.png","mediaType":"image/png"},
			{"data":{"a":[1,2.5,null,true,"x"],"b":{}},"mediaType":"application/json"}]}}`},
	{name: "metadata of parts and messages", script: `
		send "echo" {"message":{"parts":[{"text":"echo","metadata":{"lang":"en"}},{"data":{"a":1},"metadata":{"n":[1]}}],
			"metadata":{"trace":"x"},"extensions":["https://example.com/x"]}}
		get {"id":"$task"}`},
	{name: "media types of texts", script: `send "echo" {"message":{"parts":[{"text":"echo","mediaType":"text/plain"},{"text":"# x","mediaType":"text/markdown","filename":"x.md"}]}}`},
	{name: "data that is no object", script: `send "echo" {"message":{"parts":[{"text":"echo"},{"data":[1,2]},{"data":"x"},{"data":0},{"data":null}]}}`},
	{name: "numbers that are large", script: `send "echo" {"message":{"parts":[{"text":"echo"},{"data":{"n":9007199254740993,"x":1e300}}]}}`},
	{name: "a file of 100 kB", script: `send "echo" {"message":{"parts":[{"text":"echo"},{"raw":"` + strings.Repeat("QUJD", 25_000) + `"}]}}`},

	// What is asked for in part (R12, R13, R14, R15, R26, R300, R308, R309).
	{name: "lengths of a history", script: `
		send "book" {"configuration":{"historyLength":0}}
		send "Monday" {"message":{"taskId":"$task"},"configuration":{"historyLength":1}}
		get {"id":"$task","historyLength":0}
		get {"id":"$task","historyLength":1}
		get {"id":"$task","historyLength":2}
		get {"id":"$task","historyLength":2147483647}`},
	{name: "lengths of a history that are none", script: `
		send "answer me" {"configuration":{"historyLength":-1}}
		send "answer me"
		get {"id":"$task","historyLength":-1}`},
	{name: "lists by what is in them", script: `
		send "answer 1" {"message":{"contextId":"a"}}
		send "book" {"message":{"contextId":"b"}}
		send "fail" {"message":{"contextId":"b"}}
		list {"status":"TASK_STATE_COMPLETED"}
		list {"status":"TASK_STATE_INPUT_REQUIRED","contextId":"b"}
		list {"status":"TASK_STATE_CANCELED"}
		list {"contextId":"b","includeArtifacts":true,"historyLength":1}
		list {"includeArtifacts":true}
		list {"includeArtifacts":false,"historyLength":0}
		list {"statusTimestampAfter":"$time"}
		list {"statusTimestampAfter":"2099-01-02T03:04:05.678Z"}
		list {"statusTimestampAfter":"2020-01-02T03:04:05+02:00"}`},
	{name: "pages", script: `
		send "answer 1"
		send "answer 2"
		send "answer 3"
		list {"pageSize":2}
		list {"pageSize":2,"pageToken":"$page"}
		list {"pageSize":100}
		list {"pageSize":0}`},
	{name: "pages that are none", script: `
		list {"pageSize":101}
		list {"pageSize":-1}
		list {"pageToken":"x"}
		list {"historyLength":-1}
		send "answer 1"
		send "answer 2"
		list {"pageSize":1}
		list {"pageSize":1,"status":"TASK_STATE_WORKING","pageToken":"$page"}`},
	{name: "requests that are none", script: `
		raw list {"status":"NOPE"}
		raw list {"includeArtifacts":"yes"}
		raw list {"pageSize":1,"page_size":2}
		raw list {"pageSize":99999999999}
		raw list {"statusTimestampAfter":"yesterday"}
		raw get {"id":"x","historyLength":"y"}`},
	{name: "requests with what nobody knows", script: `
		raw list {"nope":1,"page_size":"7","status":3}
		raw get {"id":"x","nope":"y"}
		raw cancel {"id":"x","nope":{"a":[]}}`},
	{name: "pages by their size in bytes", agent: "small", script: `
		send "large"
		send "large"
		list {"includeArtifacts":true}
		list {"includeArtifacts":true,"pageToken":"$page"}
		list`},

	// Ends.
	{name: "a task is canceled", script: `
		send "wait $me" {"configuration":{"returnImmediately":true}}
		until working
		cancel {"id":"$task","metadata":{"why":"rain"}}
		get {"id":"$task"}
		cancel {"id":"$task"}`},
	{name: "a task is canceled while it is followed", script: `
		s = stream "wait $me"
		s next 2
		cancel {"id":"$task"}
		s rest`},
	{name: "a handler does not hear of the end", script: `
		send "stubborn $me" {"configuration":{"returnImmediately":true}}
		until working
		cancel {"id":"$task"}
		release
		get {"id":"$task"}
		cancel {"id":"$task"}`},
	{name: "what waits for its client is canceled", script: `
		send "book"
		cancel {"id":"$task"}
		send "Monday" {"message":{"taskId":"$task"}}`},
	{name: "what has ended is not canceled", script: `
		send "answer me"
		cancel {"id":"$task"}`},
	{name: "what is not there", script: `
		get {"id":"none"}
		cancel {"id":"none"}
		subscribe {"id":"none"}
		push-create {"taskId":"none","id":"c","url":"$hook"}
		push-get {"taskId":"none","id":"c"}
		push-list {"taskId":"none"}
		push-delete {"taskId":"none","id":"c"}`},
	{name: "ids that must be escaped", script: `
		get {"id":"a/b:cancel ?x=%2F&é"}
		cancel {"id":"a/b:cancel"}
		subscribe {"id":":"}
		push-list {"taskId":"a/b"}
		push-get {"taskId":"a/b","id":"c:d/e"}`},
	{name: "an id that is too long", script: `get {"id":"` + strings.Repeat("x", 2000) + `"}`},
	{name: "no id", script: `
		raw get {}
		raw cancel {}
		raw subscribe {}
		raw push-list {}`},

	// Push notifications (R18, R19, R20, R21, T18).
	{name: "push configurations", script: `
		send "wait $me" {"configuration":{"returnImmediately":true}}
		push-create {"taskId":"$task","id":"one","url":"$hook","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}
		push-create {"taskId":"$task","id":"two","url":"$hook"}
		push-create {"taskId":"$task","id":"two","url":"$hook?again"}
		push-get {"taskId":"$task","id":"one"}
		push-get {"taskId":"$task","id":"three"}
		push-list {"taskId":"$task"}
		push-delete {"taskId":"$task","id":"one"}
		push-delete {"taskId":"$task","id":"one"}
		push-list {"taskId":"$task"}
		release`},
	{name: "pages of push configurations", script: `
		send "book"
		push-create {"taskId":"$task","id":"one","url":"$hook"}
		push-create {"taskId":"$task","id":"two","url":"$hook"}
		push-list {"taskId":"$task","pageSize":1}
		push-list {"taskId":"$task","pageSize":1,"pageToken":"$page"}
		push-list {"taskId":"$task","pageSize":101}
		push-list {"taskId":"$task","pageToken":"%"}`},
	{name: "a push configuration gets an id", script: `
		send "book"
		push-create {"taskId":"$task","url":"$hook"}
		push-list {"taskId":"$task"}`},
	{name: "a push configuration comes with a message", script: `
		send "book" {"configuration":{"taskPushNotificationConfig":{"id":"mine","url":"$hook","token":"t"}}}
		push-list {"taskId":"$task"}
		push-get {"taskId":"$task","id":"mine"}`},
	{name: "push configurations that are none", script: `
		send "book"
		push-create {"taskId":"$task","id":"c","url":"ftp://example.com"}
		push-create {"taskId":"$task","id":"c","url":"http://10.0.0.1/x"}
		raw push-create {"taskId":"$task","id":"c"}
		send "book" {"configuration":{"taskPushNotificationConfig":{"url":"nowhere"}}}
		push-list {"taskId":"$task"}`},
	{name: "more push configurations than there may be", agent: "small", script: `
		send "book"
		push-create {"taskId":"$task","id":"one","url":"$hook"}
		push-create {"taskId":"$task","id":"two","url":"$hook"}
		push-create {"taskId":"$task","id":"three","url":"$hook"}`},

	// What the card does not declare (R45, R46, R47, R48, R49), and versions (R70, R72, R73).
	{name: "capabilities that are not declared", agent: "bare", script: `
		stream "answer me"
		subscribe {"id":"none"}
		push-create {"taskId":"none","id":"c","url":"$hook"}
		push-get {"taskId":"none","id":"c"}
		push-list {"taskId":"none"}
		push-delete {"taskId":"none","id":"c"}
		send "book" {"configuration":{"taskPushNotificationConfig":{"id":"mine","url":"$hook"}}}
		list`},
	{name: "no extended card", agent: "bare", script: `card`},
	{name: "an extended card that is declared alone", agent: "extended", script: `card`},
	{name: "an extended card", agent: "whole", script: `
		card
		send "answer me" {"message":{"metadata":{"skillId":"vault"}}}
		param Authorization:
		card`},
	{name: "extensions are echoed", script: `
		param A2A-Extensions: https://example.com/y, https://example.com/unknown,https://example.com/x
		send "answer me"
		get {"id":"$task"}
		stream "hello"
		get {"id":"none"}`},
	{name: "an extension is required", agent: "extending", script: `
		send "hello"
		stream "hello"
		get {"id":"none"}
		list
		param A2A-Extensions: https://example.com/must
		send "hello"
		list`},
	{name: "an extension is asked for by the frame", agent: "extending values", script: `
		send "trace"
		param A2A-Extensions: https://example.com/trace
		send "trace"
		stream "trace"
		get {"id":"$task"}`},
	{name: "an extension is asked for by a value", agent: "extending values", script: `
		send "trace" {"message":{"metadata":{"https://example.com/trace":{"n":7}}}}
		stream "trace" {"message":{"metadata":{"https://example.com/trace":{"n":8}}}}`},
	{name: "a value of an extension does not fit", agent: "extending values", script: `
		send "trace" {"message":{"metadata":{"https://example.com/trace":{"n":"seven"}}}}
		stream "trace" {"message":{"metadata":{"https://example.com/trace":[]}}}
		list`},
	{name: "messages that follow need not ask again", agent: "extending values", script: `
		param A2A-Extensions: https://example.com/trace
		send "book"
		param A2A-Extensions:
		send "trace" {"message":{"taskId":"$task"}}
		get {"id":"$task"}`},
	{name: "versions that are not spoken", script: `
		param A2A-Version: 9.0
		send "hello"
		get {"id":"none"}
		stream "hello"`},
	{name: "a version with a patch number", script: `
		param A2A-Version: $version.7
		send "hello"`},
	{name: "no version", script: `
		param A2A-Version:
		send "hello"
		stream "hello"
		get {"id":"none"}
		list`},
	{name: "no version where it has to be said", agent: "strict", script: `
		param A2A-Version:
		send "hello"`},
	{name: "a caller who is not known", script: `
		param Authorization:
		send "hello"
		stream "hello"
		get {"id":"none"}
		push-delete {"taskId":"none","id":"c"}`},

	// What the card demands: of the agent, and of its skill. Each operation, as each caller who may not do it.
	{name: "without a credential", agent: "guarded", script: "param Authorization:\n" + everything + anew},
	{name: "with a credential that is no good", agent: "guarded", script: "param Authorization: Bearer $me.expired\n" + everything + anew},
	{name: "with a credential of another kind", agent: "guarded", script: "param Authorization: Basic YTpi\n" + everything + anew},
	{name: "with a credential that nobody can check", agent: "guarded", script: "param Authorization: Bearer $me.unsure\n" + everything + anew},
	{name: "without the skill's scope", agent: "guarded", script: `
		send "book"
		push-create {"taskId":"$task","id":"one","url":"$hook"}
		param Authorization: Bearer $me.weak` + everything + anew},
	{name: "by somebody else", agent: "guarded", script: `
		send "book"
		push-create {"taskId":"$task","id":"one","url":"$hook"}
		param Authorization: Bearer $me.other` + everything + `
		param Authorization: Bearer $me
		get {"id":"$task"}
		push-list {"taskId":"$task"}`},
	{name: "with all that is demanded", agent: "guarded", script: `
		send "book"
		get {"id":"$task"}
		list
		send "Monday" {"message":{"taskId":"$task"}}`},
	{name: "for a tenant of others", agent: "guarded", script: `
		param Authorization: Bearer $me.tenant
		send "book" {"tenant":"acme"}
		get {"tenant":"acme","id":"$task"}
		get {"tenant":"other","id":"$task"}
		get {"id":"$task"}
		list {"tenant":"other"}`},

	// Tenants.
	{name: "tenants", script: `
		send "book" {"tenant":"acme"}
		get {"tenant":"acme","id":"$task"}
		get {"id":"$task"}
		get {"tenant":"other","id":"$task"}
		list {"tenant":"acme"}
		list {"tenant":"other"}
		s = subscribe {"tenant":"acme","id":"$task"}
		s next 1
		s close
		push-create {"tenant":"acme","taskId":"$task","id":"c","url":"$hook"}
		push-get {"tenant":"acme","taskId":"$task","id":"c"}
		push-list {"tenant":"acme","taskId":"$task"}
		push-delete {"tenant":"acme","taskId":"$task","id":"c"}
		stream "Monday" {"tenant":"acme","message":{"taskId":"$task"}}
		cancel {"tenant":"acme","id":"$task"}`},
	{name: "a tenant beside the request", script: `
		param A2A-Tenant: acme
		send "book"
		get {"id":"$task"}
		get {"id":"$task","tenant":"acme"}
		get {"id":"$task","tenant":"other"}
		send "book" {"tenant":"other"}
		push-create {"taskId":"$task","id":"c","url":"$hook"}
		list
		s = subscribe {"id":"$task"}
		s next 1
		param A2A-Tenant:
		get {"id":"$task"}
		push-list {"taskId":"$task"}`},
	{name: "tenants whose names must be escaped", script: `
		send "book" {"tenant":"a b/c:d?é"}
		get {"tenant":"a b/c:d?é","id":"$task"}
		list {"tenant":"a b/c:d?é"}`},
	{name: "tenants that the card declares", agent: "tenants", script: `
		send "hello" {"tenant":"acme"}
		send "hello" {"tenant":"b c/d"}
		send "hello"
		send "hello" {"tenant":"other"}
		list {"tenant":"other"}
		get {"tenant":"other","id":"none"}
		cancel {"tenant":"other","id":"none"}`},

	// Messages that are wrong, or come again.
	{name: "a message comes again", script: `
		param Idempotency-Key: k1
		send "book" {"message":{"messageId":"m"}}
		send "book" {"message":{"messageId":"m"}}
		send "pay" {"message":{"messageId":"m"}}
		stream "book" {"message":{"messageId":"m"},"configuration":{}}`},
	{name: "a message comes again by a key in its metadata", script: `
		send "book" {"message":{"messageId":"m","metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"idempotencyKey":"k2"}}}}
		send "book" {"message":{"messageId":"m","metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"idempotencyKey":"k2"}}}}
		send "pay" {"message":{"messageId":"m","metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"idempotencyKey":"k2"}}}}
		send "pay" {"message":{"messageId":"m","metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"idempotencyKey":7}}}}`},
	{name: "a skill that takes data", agent: "typed", script: `
		send {"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"day":"Monday","seats":2}}]}}
		stream {"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"day":"Monday"}}]}}
		send "Monday"
		send "Monday" {"configuration":{"acceptedOutputModes":["text/plain"]}}`},
	{name: "data that does not fit a skill", agent: "typed", script: `
		send {"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"seats":2}}],
			"metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"skill":"booking"}}}}
		stream {"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"seats":"two"}}]}}
		send "Monday" {"message":{"metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"skill":"none"}}}}`},
	{name: "messages without what they need", script: `
		raw send {"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}
		raw send {"message":{"role":"ROLE_USER","parts":[{"text":"hello"}]}}
		send {"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello"}]}}
		raw send {}
		list`},
	{name: "a message that is too large", agent: "small", script: `
		send "` + strings.Repeat("x", 80<<10) + `"
		list`},

	// Operations of the agent's own.
	{name: "an operation of its own", script: `
		Inspect {"id":"a/b","flag":true,"small":-5,"large":"-9007199254740993","bare":7,"huge":"18446744073709551615","zigzag":-3,"fixed":"9",
			"single":1.5,"ratio":-0.25,"raw":"_-8=","taste":"TASTE_SOUR","at":"2026-01-02T03:04:05.600Z","within":"1.500s",
			"nested":{"text":"a,b&c=d","count":"3","isDone":true,"labels":["x","y,z"],"more":{"text":"é"}},
			"maybeZero":0,"labels":["a","b c",""],"counts":["1","-2"],"flags":[true,false],"tastes":["TASTE_SWEET","TASTE_SOUR"],"times":0}
		Inspect {"id":"x"}
		Inspect {"id":"x","tenant":"acme","nested":{"text":"in a body"}}`},
	{name: "a stream of its own", script: `
		Watch {"id":"x","times":3,"labels":["a","b"]}
		Watch {"id":"x"}
		Watch {"id":"x","times":2,"failure":-32001}
		Watch {"id":"x","failure":-32004}`},
	{name: "an operation of its own that nobody carries out", script: `Abandoned {"id":"x"}`},
	{name: "every error", script: everyError()},
	{name: "every error, classed as 1.0.0 does", agent: "former", script: everyError()},
}

// everyError asks for each error of the protocol, and for one that is none.
func everyError() string {
	var b strings.Builder
	for _, code := range []string{"-32700", "-32600", "-32601", "-32602", "-32603", "-32001", "-32002", "-32003", "-32004", "-32005",
		"-32006", "-32007", "-32008", "-32009", "7", "503"} {
		b.WriteString(`Inspect {"id":"x","failure":` + code + "}\n")
	}
	return b.String()
}

// everything is each operation once, on a task if there is one.
const everything = `
		get {"id":"$task"}
		list
		push-create {"taskId":"$task","id":"two","url":"$hook"}
		push-get {"taskId":"$task","id":"one"}
		push-list {"taskId":"$task"}
		push-delete {"taskId":"$task","id":"one"}
		subscribe {"id":"$task"}
		cancel {"id":"$task"}`

// anew is a message to the task, and for a new one.
const anew = `
		send "Monday" {"message":{"taskId":"$task"}}
		send "book"
		stream "book"`
