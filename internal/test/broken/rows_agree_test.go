package broken

import (
	"context"
	"crypto/rand"
	"io"
	"strings"
)

const answers = "SendMessage GetTask SendStreamingMessage SubscribeToTask CancelTask ListTasks"

// part returns an event's part of some kind, such as its artifactUpdate; nil if it is of another.
func part(x *exchange, doc any, kind string) map[string]any { return asMap(inner(x, doc)[kind]) }

// messagesOf are the messages of a task, a status update or an answer.
func messagesOf(result any) (all []map[string]any) {
	doc := asMap(result)
	for _, holder := range []map[string]any{doc, asMap(doc["task"]), asMap(doc["statusUpdate"])} {
		all = append(all, elements(holder["history"])...)
		for _, m := range []map[string]any{asMap(holder["message"]), asMap(asMap(holder["status"])["message"])} {
			if m["role"] != nil {
				all = append(all, m)
			}
		}
	}
	return all
}

// role gives messages that had one role another.
func role(from, to string) func(*proxy, *exchange, any) any {
	return func(_ *proxy, _ *exchange, result any) any {
		for _, m := range messagesOf(result) {
			if m["role"] == from {
				m["role"] = to
			}
		}
		return result
	}
}

// artifactsOf are the artifacts of tasks and of an update.
func artifactsOf(result any) (all []map[string]any) {
	for _, t := range append(wholeTasks(result), elements(asMap(result)["tasks"])...) {
		all = append(all, elements(t["artifacts"])...)
	}
	if a := asMap(asMap(asMap(result)["artifactUpdate"])["artifact"]); a != nil {
		all = append(all, a)
	}
	return all
}

// inArtifacts changes every artifact.
func inArtifacts(f func(x *exchange, artifact map[string]any)) func(*proxy, *exchange, any) any {
	return func(_ *proxy, x *exchange, result any) any {
		for _, a := range artifactsOf(result) {
			f(x, a)
		}
		return result
	}
}

// events replaces the n-th event of a kind by others; every is -1.
func events(kind string, n int, f func(x *exchange, doc any) []any) func(*exchange, int, any) []any {
	return func(x *exchange, _ int, doc any) []any {
		if part(x, doc, kind) == nil {
			return []any{doc}
		}
		x.ofKind++
		if n >= 0 && x.ofKind-1 != n {
			return []any{doc}
		}
		return f(x, doc)
	}
}

func twice(_ *exchange, doc any) []any { return []any{doc, twin(doc)} }
func nothing(_ *exchange, _ any) []any { return nil }
func change(f func(m map[string]any), kind string) func(*exchange, any) []any {
	return func(x *exchange, doc any) []any {
		f(part(x, doc, kind))
		return []any{doc}
	}
}

// openEnded is a body that does not end before its reader has had enough.
type openEnded struct {
	io.ReadCloser
	ctx context.Context
}

func neverEnds(ctx context.Context, from io.ReadCloser) io.ReadCloser { return &openEnded{from, ctx} }

func (o *openEnded) Read(b []byte) (int, error) {
	n, err := o.ReadCloser.Read(b)
	if n == 0 && err != nil {
		<-o.ctx.Done()
	}
	return n, err
}

// refuses answers as if the agent did not have an operation.
func refuses(*proxy, *exchange) any {
	return failure{"code": -32004, "message": "This operation is not supported", "data": []any{errorInfo("UNSUPPORTED_OPERATION")}}
}

// agreeRows break what a client sees from more than one answer.
var agreeRows = []*row{
	{name: "artifacts with another id in each answer", requirement: "R58", ops: answers, result: inArtifacts(func(_ *exchange, a map[string]any) {
		a["artifactId"] = rand.Text()
	})},
	{name: "artifacts with another id in the stream", requirement: "R66", ops: streams, result: inArtifacts(func(_ *exchange, a map[string]any) {
		a["artifactId"] = text(a["artifactId"]) + " of the stream"
	})},
	{name: "artifacts with another id in the list", requirement: "R12", ops: "ListTasks", result: inArtifacts(func(_ *exchange, a map[string]any) { a["artifactId"] = "another" })},
	{name: "artifacts with another id over another binding", requirement: "R88", over: []string{together}, ops: "GetTask", result: inArtifacts(func(x *exchange, a map[string]any) {
		a["artifactId"] = text(a["artifactId"]) + " over " + x.binding
	})},
	{name: "another text when the task is read", requirement: "R58", ops: "GetTask", result: inArtifacts(func(_ *exchange, a map[string]any) {
		put(a, "something else", []string{"parts", "text"})
	})},
	{name: "no artifacts when the task is read", requirement: "R58", ops: "GetTask", result: drop("artifacts")},
	{name: "one artifact more when the task is read", requirement: "R58", ops: "GetTask", result: inTasks(func(_ *exchange, t map[string]any) {
		if list, _ := t["artifacts"].([]any); len(list) > 0 {
			more := asMap(twin(list[0]))
			more["artifactId"] = "one more"
			t["artifacts"] = append(list, more)
		}
	})},
	{name: "a task that has ended goes on", requirement: "R58", ops: "GetTask", result: set("TASK_STATE_WORKING", "status", "state")},
	{name: "a task that was completed has failed", requirement: "R58", ops: "GetTask", result: inTasks(func(_ *exchange, t map[string]any) {
		if text(asMap(t["status"])["state"]) == "TASK_STATE_COMPLETED" {
			put(t, "TASK_STATE_FAILED", []string{"status", "state"})
		}
	})},
	{name: "another context when the task is read", requirement: "R58", ops: "GetTask", result: set("another", "contextId")},
	{name: "another message in the status when the task is read", requirement: "R58", ops: "GetTask", result: inTasks(func(_ *exchange, t map[string]any) {
		parts := []any{map[string]any{"text": "a"}}
		asMap(t["status"])["message"] = map[string]any{"messageId": "another", "role": "ROLE_AGENT", "parts": parts}
	})},
	{name: "the id of a task that is not there", requirement: "R58", ops: "SendMessage", result: inTasks(func(_ *exchange, t map[string]any) { t["id"] = "x" + text(t["id"]) })},
	{name: "canceling answers with another task", requirement: "R28", ops: "CancelTask", result: set("another", "id")},
	{name: "a subscription to another task", requirement: "R17", ops: "SubscribeToTask", result: set("another", "id")},
	{name: "messages of the agent by the user", requirement: "R304", result: role("ROLE_AGENT", "ROLE_USER")},
	{name: "messages of the user by the agent", requirement: "R304", result: role("ROLE_USER", "ROLE_AGENT")},
	{name: "the history backwards", requirement: "R300", ops: "GetTask", result: inTasks(func(_ *exchange, t map[string]any) {
		if list, _ := t["history"].([]any); len(list) > 1 {
			t["history"] = []any{list[len(list)-1], list[0]}
		}
	})},
	{name: "a chunk twice", requirement: "R66", ops: streams, event: events("artifactUpdate", 1, twice)},
	{name: "a chunk is lost", requirement: "R66", ops: streams, event: events("artifactUpdate", 1, nothing)},
	{name: "the first chunk is lost", requirement: "R66", ops: streams, event: events("artifactUpdate", 0, nothing)},
	{name: "the artifact is lost", requirement: "R66", ops: streams, event: events("artifactUpdate", -1, nothing)},
	{name: "two chunks in the other order", requirement: "R66", ops: streams, event: func(x *exchange, _ int, doc any) []any {
		if part(x, doc, "artifactUpdate") == nil {
			return []any{doc}
		}
		if x.ofKind++; x.ofKind == 2 {
			x.held = doc
			return nil
		} else if x.ofKind == 3 {
			return []any{doc, x.held}
		}
		return []any{doc}
	}},
	{name: "chunks that replace one another", requirement: "R66", ops: streams, event: events("artifactUpdate", -1, change(func(u map[string]any) { delete(u, "append") }, "artifactUpdate"))},
	{name: "the first chunk is appended", requirement: "R66", ops: streams, event: events("artifactUpdate", 0, change(func(u map[string]any) { u["append"] = true }, "artifactUpdate"))},
	{name: "every chunk is another artifact", requirement: "R66", ops: streams, result: func(_ *proxy, _ *exchange, result any) any {
		if u := asMap(asMap(result)["artifactUpdate"]); u != nil {
			asMap(u["artifact"])["artifactId"] = rand.Text()
		}
		return result
	}},
	{name: "a chunk of another task", requirement: "R66", ops: streams, result: inUpdates("artifactUpdate", func(u map[string]any) { u["taskId"] = "another" })},
	{name: "a chunk of another context", requirement: "R66", ops: streams, result: inUpdates("artifactUpdate", func(u map[string]any) { u["contextId"] = "another" })},
	{name: "the artifact comes after the end", requirement: "R10", ops: streams, event: func(x *exchange, n int, doc any) []any {
		switch {
		case part(x, doc, "artifactUpdate") != nil:
			x.held = doc
			return nil
		case isLast(x, doc) && x.held != nil:
			return []any{doc, x.held}
		}
		return []any{doc}
	}},
	{name: "a status with a message twice", requirement: "R66", ops: streams, event: events("statusUpdate", 0, twice)},
	{name: "statuses in the other order", requirement: "R66", ops: streams, result: func(_ *proxy, _ *exchange, result any) any {
		if u := asMap(asMap(result)["statusUpdate"]); u != nil && !strings.HasSuffix(text(asMap(u["status"])["state"]), "ED") {
			put(u, "2001-02-03T04:05:06.000Z", []string{"status", "timestamp"})
		}
		return result
	}},
	{name: "the stream ends as another state", requirement: "R66", ops: "SendStreamingMessage", result: inUpdates("statusUpdate", func(u map[string]any) {
		if text(asMap(u["status"])["state"]) == "TASK_STATE_COMPLETED" {
			put(u, "TASK_STATE_FAILED", []string{"status", "state"})
		}
	})},
	{name: "a stream that does not end", requirement: "R10", ops: "SendStreamingMessage", body: neverEnds},
	{name: "a subscription that does not end", requirement: "R16", ops: "SubscribeToTask", body: neverEnds},
	{name: "heartbeats that are events", requirement: "R8", over: inJSON, ops: streams, line: func(data string) string { return "data: \n\ndata: " + data + "\n\n" }},
	{name: "heartbeats that are no comments", requirement: "R8", over: inJSON, ops: streams, line: func(data string) string { return "heartbeat\ndata: " + data + "\n\n" }},
	{name: "events that are not apart", requirement: "R8", over: inJSON, ops: streams, line: func(data string) string { return "data: " + data + "\n" }},
	{name: "streaming that is declared and not there", requirement: "R8", ops: streams, instead: refuses},
	{name: "a streamed message is answered at once", requirement: "R8", over: inJSON, ops: "SendStreamingMessage", instead: sentTask},
	{name: "push notifications that are declared and not there", requirement: "R18", over: overRPC, webhook: true,
		ops: "CreateTaskPushNotificationConfig", instead: refuses},
	{name: "an extended card that is declared and not there", requirement: "R204", header: "Authorization", card: func(card map[string]any) {
		asMap(card["capabilities"])["extendedAgentCard"] = true
	}},
}

// harmlessRows change what a client cannot tell from what the agent may do, or what no requirement is about.
var harmlessRows = []*row{
	{name: "an update in the middle before another of another kind", harmless: "an agent may make them in either order, and the task is the same", ops: streams,
		event: func(x *exchange, _ int, doc any) []any {
			if u := part(x, doc, "statusUpdate"); u != nil && !isLast(x, doc) && x.held == nil {
				x.held = doc
				return nil
			}
			if x.held != nil && (part(x, doc, "artifactUpdate") != nil || isLast(x, doc)) {
				held := x.held
				x.held = nil
				if isLast(x, doc) {
					return []any{held, doc}
				}
				return []any{doc, held}
			}
			return []any{doc}
		}},
	{name: "a whole artifact twice", harmless: "the second replaces the first", ops: streams, event: events("artifactUpdate", 0, twice)},
	{name: "a status without a message twice", harmless: "an agent may say twice that it works", ops: streams, event: func(x *exchange, _ int, doc any) []any {
		if u := part(x, doc, "statusUpdate"); u != nil && !isLast(x, doc) {
			delete(asMap(u["status"]), "message")
			return []any{doc, twin(doc)}
		}
		return []any{doc}
	}},
	{name: "a status in the middle is lost", harmless: "only the agent knows that it was", ops: "SendStreamingMessage", event: func(x *exchange, n int, doc any) []any {
		if part(x, doc, "statusUpdate") != nil && !isLast(x, doc) {
			return nil
		}
		return []any{doc}
	}},
	{name: "no chunk is the last", harmless: "lastChunk may be left out", ops: streams, result: inUpdates("artifactUpdate", func(u map[string]any) { delete(u, "lastChunk") })},
	{name: "no status has a time", harmless: "timestamp may be left out", ops: "SendMessage SendStreamingMessage SubscribeToTask GetTask CancelTask", result: func(p *proxy, x *exchange, result any) any {
		delete(asMap(asMap(asMap(result)["statusUpdate"])["status"]), "timestamp")
		return drop("status", "timestamp")(p, x, result)
	}},
	{name: "no task has a history", harmless: "an agent may return fewer messages than are asked for", ops: answers, result: drop("history")},
	{name: "heartbeats that are comments", harmless: "readers of server-sent events skip them", over: inJSON, ops: streams, line: func(data string) string { return ": heartbeat\n\ndata: " + data + "\n\n" }},
	{name: "events with a type and an id", harmless: "readers of server-sent events may use them", over: inJSON, ops: streams, line: func(data string) string {
		return "event: message\nid: 1\nretry: 1000\ndata: " + data + "\n\n"
	}},
	{name: "lines that end with CR LF", harmless: "server-sent events may have them", over: inJSON, ops: streams, line: func(data string) string { return "data: " + data + "\r\n\r\n" }},
	{name: "the task again at the end of a stream", harmless: "§11.7 allows it", ops: "SendStreamingMessage", event: func(x *exchange, n int, doc any) []any {
		if n == 0 {
			x.held = twin(doc)
		}
		if !isLast(x, doc) || part(x, x.held, "task") == nil {
			return []any{doc}
		}
		part(x, x.held, "task")["status"] = part(x, doc, "statusUpdate")["status"]
		return []any{doc, x.held}
	}},
}
