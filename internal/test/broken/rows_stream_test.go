package broken

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
)

const streams = "SendStreamingMessage SubscribeToTask"

// withoutFirst leaves the first event out.
func withoutFirst(_ *exchange, n int, doc any) []any {
	if n == 0 {
		return nil
	}
	return []any{doc}
}

// withoutLast leaves the event out that ends the task.
func withoutLast(x *exchange, _ int, doc any) []any {
	if isLast(x, doc) {
		return nil
	}
	return []any{doc}
}

// inner is the result of an event.
func inner(x *exchange, doc any) map[string]any {
	if x.envelope != nil {
		return asMap(asMap(doc)["result"])
	}
	return asMap(doc)
}

// isLast reports whether an event ends its task.
func isLast(x *exchange, doc any) bool {
	update := asMap(inner(x, doc)["statusUpdate"])
	if kind := text(inner(x, doc)["kind"]); kind == "status-update" {
		update = inner(x, doc)
	}
	state := strings.ToLower(text(asMap(update["status"])["state"]))
	return slices.ContainsFunc([]string{"completed", "canceled", "cancelled"}, func(end string) bool { return strings.HasSuffix(state, end) })
}

// twin is a copy of an event that can be changed.
func twin(doc any) any { return decode([]byte(jsonText(doc))) }

var streamRows = []*row{
	{name: "a stream that begins with an update", requirement: "R10", ops: "SendStreamingMessage", event: withoutFirst},
	{name: "a stream that goes on after the end", requirement: "R10", ops: "SendStreamingMessage", event: func(x *exchange, _ int, doc any) []any {
		if isLast(x, doc) {
			return []any{doc, twin(doc)}
		}
		return []any{doc}
	}},
	{name: "a stream that stops before the end", requirement: "R10", ops: "SendStreamingMessage", event: withoutLast},
	{name: "a stream of nothing", requirement: "R8", ops: "SendStreamingMessage", event: func(*exchange, int, any) []any { return nil }},
	{name: "events in another order", requirement: "R66", ops: "SendStreamingMessage", event: swapped},
	{name: "a message with an update behind it", requirement: "R9", ops: "SendStreamingMessage", event: func(x *exchange, _ int, doc any) []any {
		if inner(x, doc)["message"] != nil {
			return []any{doc, twin(doc)}
		}
		return []any{doc}
	}},
	{name: "an event of two things", over: inJSON, requirement: "R7", ops: streams, result: func(_ *proxy, _ *exchange, result any) any {
		if m := asMap(result); m["statusUpdate"] != nil {
			m["artifactUpdate"] = map[string]any{"taskId": "t", "contextId": "c", "artifact": map[string]any{"artifactId": "a", "parts": []any{map[string]any{"text": "a"}}}}
		}
		return result
	}},
	{name: "an update of another task", requirement: "R66", ops: streams, result: inUpdates("statusUpdate", func(u map[string]any) { u["taskId"] = "another" })},
	{name: "an update of another context", requirement: "R66", ops: streams, result: inUpdates("statusUpdate", func(u map[string]any) { u["contextId"] = "another" })},
	{name: "an update without its task", requirement: "R100", ops: streams, result: inUpdates("statusUpdate", func(u map[string]any) { delete(u, "taskId") })},
	{name: "an update without its context", requirement: "R100", ops: streams, result: inUpdates("artifactUpdate", func(u map[string]any) { delete(u, "contextId") })},
	{name: "an update with final", over: inJSON, requirement: "R240", ops: streams, result: inUpdates("statusUpdate", func(u map[string]any) { u["final"] = true })},
	{name: "an update in lower case", over: inJSON, requirement: "R94", ops: streams, result: inUpdates("statusUpdate", func(u map[string]any) {
		put(u, "working", []string{"status", "state"})
	})},
	{name: "events without data", requirement: "R8", ops: streams, over: inJSON, line: func(data string) string { return data + "\n\n" }},
	{name: "a stream as JSON", over: inJSON, requirement: "R8", ops: streams, response: func(_ *exchange, r *http.Response) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
			r.Header.Set("Content-Type", "application/json")
		}
	}},
	{name: "events with another id", over: overRPC, requirement: "R153", ops: streams, document: func(_ *exchange, doc map[string]any) { doc["id"] = "another" }},
	{name: "events that have no envelope", over: overRPC, requirement: "R153", ops: streams, event: func(x *exchange, _ int, doc any) []any {
		return []any{inner(x, doc)}
	}},
	{name: "a subscription that begins with an update", requirement: "R17", ops: "SubscribeToTask", result: func(_ *proxy, _ *exchange, result any) any {
		if task := asMap(asMap(result)["task"]); task != nil {
			return map[string]any{"statusUpdate": map[string]any{"taskId": task["id"], "contextId": task["contextId"], "status": task["status"]}}
		}
		return result
	}},
	{name: "a subscription to a task that has ended", requirement: "R310", ops: "SubscribeToTask", instead: when(ended, func(p *proxy, x *exchange) any {
		return map[string]any{"task": known(p, x)}
	})},
	{name: "a subscription to an unknown task", requirement: "R38", ops: "SubscribeToTask", instead: when(unknownTask, func(p *proxy, x *exchange) any {
		return map[string]any{"task": known(p, x)}
	})},
	{name: "a subscription that stops before the end", requirement: "R16", ops: "SubscribeToTask", event: withoutLast},
	{name: "a subscription that misses an event", requirement: "R68", ops: "SubscribeToTask", event: func(_ *exchange, n int, doc any) []any {
		if n == 1 {
			return nil
		}
		return []any{doc}
	}},
	{name: "a message to an unknown task, streamed", requirement: "R60", ops: "SendStreamingMessage", instead: when(unknownTask, func(p *proxy, x *exchange) any {
		return map[string]any{"task": known(p, x)}
	})},
	{name: "everything at the end", requirement: "R11", ops: "SendStreamingMessage", body: func(_ context.Context, from io.ReadCloser) io.ReadCloser {
		return &late{from, nil}
	}},
}

// swapped has the events after the first in pairs the other way round.
func swapped(x *exchange, n int, doc any) []any {
	switch before := x.held; {
	case n == 0 || before == nil && isLast(x, doc):
		return []any{doc}
	case before != nil:
		x.held = nil
		return []any{doc, before}
	}
	x.held = doc
	return nil
}

// late is a body that is read to its end before any of it is there.
type late struct {
	io.ReadCloser
	whole *strings.Reader
}

func (l *late) Read(b []byte) (int, error) {
	if l.whole == nil {
		all, err := io.ReadAll(l.ReadCloser)
		if err != nil {
			return 0, err
		}
		l.whole = strings.NewReader(string(all))
	}
	return l.whole.Read(b)
}
