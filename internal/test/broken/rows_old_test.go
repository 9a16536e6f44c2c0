package broken

import (
	"encoding/json"
	"net/http"
	"strings"
)

// old is a row of 0.3.
func old(r *row) *row {
	r.version = "0.3"
	return r
}

var oldRows = []*row{
	old(&row{name: "0.3: state of 1.0", requirement: "R94", result: set("TASK_STATE_COMPLETED", "status", "state")}),
	old(&row{name: "0.3: role of 1.0", requirement: "R94", result: set("ROLE_USER", "history", "role")}),
	old(&row{name: "0.3: result in the wrapper of 1.0", requirement: "R7", ops: "SendMessage", result: func(_ *proxy, _ *exchange, result any) any {
		return map[string]any{"task": result}
	}}),
	old(&row{name: "0.3: task without its kind", requirement: "R100", ops: "SendMessage", result: drop("kind")}),
	old(&row{name: "0.3: part without its kind", requirement: "R100", result: drop("artifacts", "parts", "kind")}),
	old(&row{name: "0.3: task without its context", requirement: "R100", ops: "GetTask", result: drop("contextId")}),
	old(&row{name: "0.3: message without an id", requirement: "R100", result: drop("history", "messageId")}),
	old(&row{name: "0.3: update without final", requirement: "R100", ops: streams, result: func(_ *proxy, _ *exchange, result any) any {
		delete(asMap(result), "final")
		return result
	}}),
	old(&row{name: "0.3: the last update is not final", requirement: "T39", ops: "SendStreamingMessage", result: func(_ *proxy, _ *exchange, result any) any {
		put(result, false, []string{"final"})
		return result
	}}),
	old(&row{name: "0.3: a stream that goes on after the end", requirement: "R10", ops: "SendStreamingMessage", event: func(x *exchange, _ int, doc any) []any {
		if isLast(x, doc) {
			return []any{doc, twin(doc)}
		}
		return []any{doc}
	}}),
	old(&row{name: "0.3: a stream that stops before the end", requirement: "R10", ops: "SendStreamingMessage", event: withoutLast}),
	old(&row{name: "0.3: an unknown task has another error", requirement: "R38", ops: "GetTask", failure: func(_ *exchange, e map[string]any) { e["code"] = -32603 }}),
	old(&row{name: "0.3: an unknown task is there", requirement: "R38", ops: "GetTask", instead: when(unknownTask, known)}),
	old(&row{name: "0.3: a task that has ended is canceled", requirement: "T17", ops: "CancelTask", instead: when(ended, known)}),
	old(&row{name: "0.3: a task that has ended goes on", requirement: "Q29", ops: "SendMessage", instead: when(ended, known)}),
	old(&row{name: "0.3: the id as another type", requirement: "Q32", document: func(_ *exchange, doc map[string]any) {
		switch id := doc["id"].(type) {
		case string:
			doc["id"] = 1
		case json.Number:
			doc["id"] = id.String()
		}
	}}),
	old(&row{name: "0.3: answers as text", requirement: "Q4", response: func(_ *exchange, r *http.Response) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			r.Header.Set("Content-Type", "text/plain")
		}
	}}),
	old(&row{name: "0.3: an unknown method has another error", requirement: "Q35", failure: func(_ *exchange, e map[string]any) {
		if toText(e["code"]) == "-32601" {
			e["code"] = -32600
		}
	}}),
	old(&row{name: "0.3: card without a protocol version", requirement: "R100", card: noCard("protocolVersion")}),
	old(&row{name: "0.3: card with a transport of nobody", requirement: "Q25", card: setCard("SMTP", "preferredTransport")}),
	old(&row{name: "0.3: main interface is missing in the list", requirement: "Q26", over: []string{together}, card: func(card map[string]any) {
		list, _ := card["additionalInterfaces"].([]any)
		if len(list) > 0 {
			card["additionalInterfaces"] = list[1:]
		}
	}}),
	old(&row{name: "0.3 HTTP+JSON: state of JSON-RPC", requirement: "R94", over: overREST, result: set("completed", "status", "state")}),
	old(&row{name: "0.3 HTTP+JSON: task without an id", requirement: "R58", over: overREST, result: drop("id")}),
	old(&row{name: "0.3 HTTP+JSON: an unknown task is there", requirement: "R38", over: overREST, ops: "GetTask", instead: when(unknownTask, known)}),
	old(&row{name: "0.3 HTTP+JSON: a stream that stops before the end", requirement: "R10", over: overREST, ops: "SendStreamingMessage", event: withoutLast}),
	old(&row{name: "0.3 gRPC: an unknown task is an internal error", requirement: "R38", over: overGRPC, ops: "GetTask", trailer: code("5", "13")}),
	old(&row{name: "0.3 gRPC: task without an id", requirement: "R58", over: overGRPC, ops: "SendMessage", result: drop("id")}),
	old(&row{name: "0.3 gRPC: task without its context", requirement: "R51", over: overGRPC, ops: "SendMessage", result: drop("contextId")}),
	old(&row{name: "0.3 gRPC: state unspecified", requirement: "R58", over: overGRPC, ops: "GetTask", result: drop("status", "state")}),
	old(&row{name: "0.3 gRPC: a stream that stops before the end", requirement: "R10", over: overGRPC, ops: "SendStreamingMessage", event: withoutLast}),
}
