package broken

import (
	"encoding/json"
	"slices"
)

// inList changes the answer of ListTasks.
func inList(f func(x *exchange, doc map[string]any)) func(*proxy, *exchange, any) any {
	return func(_ *proxy, x *exchange, result any) any {
		if doc := asMap(result); doc != nil {
			f(x, doc)
		}
		return result
	}
}

// found are the tasks of a list.
func found(doc map[string]any) []any {
	list, _ := doc["tasks"].([]any)
	return list
}

var listRows = []*row{
	{name: "artifacts that nobody asked for", requirement: "R12", ops: "ListTasks", request: func(_ *proxy, x *exchange) {
		x.ask("includeArtifacts", true)
	}},
	{name: "an empty list of artifacts that nobody asked for", over: inJSON, requirement: "R12", ops: "ListTasks", result: inTasks(func(x *exchange, t map[string]any) {
		if v, _ := x.asked("includeArtifacts"); toText(v) != "true" {
			t["artifacts"] = []any{}
		}
	})},
	{name: "no artifacts although asked for", requirement: "R12", ops: "ListTasks", request: unasked("includeArtifacts")},
	{name: "no token of the next page", over: inJSON, requirement: "R13", ops: "ListTasks", result: member("nextPageToken")},
	{name: "the last page has a token", requirement: "R13", ops: "ListTasks", result: inList(func(_ *exchange, doc map[string]any) {
		if text(doc["nextPageToken"]) == "" {
			doc["nextPageToken"] = "more"
		}
	})},
	{name: "the oldest first", requirement: "R15", ops: "ListTasks", result: inList(func(_ *exchange, doc map[string]any) { slices.Reverse(found(doc)) })},
	{name: "every page is the first", requirement: "R14", ops: "ListTasks", request: unasked("pageToken")},
	{name: "more than a page", requirement: "R308", ops: "ListTasks", request: unasked("pageSize")},
	{name: "a page of 0", requirement: "R308", ops: "ListTasks", request: func(p *proxy, x *exchange) {
		if v, ok := x.asked("pageSize"); ok && (toText(v) == "0" || toText(v) == "-1") {
			unasked("pageSize")(p, x)
		}
	}},
	{name: "a page of more than 100", requirement: "R308", ops: "ListTasks", request: func(p *proxy, x *exchange) {
		if v, ok := x.asked("pageSize"); ok && len(toText(v)) > 2 {
			unasked("pageSize")(p, x)
		}
	}},
	{name: "the size of the page is not told", over: inJSON, requirement: "R309", ops: "ListTasks", result: member("pageSize")},
	{name: "the size of another page", requirement: "R309", ops: "ListTasks", result: inList(func(_ *exchange, doc map[string]any) { doc["pageSize"] = 77 })},
	{name: "the total is that of the page", requirement: "R309", ops: "ListTasks", result: inList(func(_ *exchange, doc map[string]any) {
		doc["totalSize"] = len(found(doc))
	})},
	{name: "no total", over: inJSON, requirement: "R309", ops: "ListTasks", result: member("totalSize")},
	{name: "null in place of no tasks", over: inJSON, requirement: "R240", ops: "ListTasks", result: inList(func(_ *exchange, doc map[string]any) {
		if len(found(doc)) == 0 {
			doc["tasks"] = nil
		}
	})},
	{name: "tasks of every context", requirement: "R14", ops: "ListTasks", request: unasked("contextId")},
	{name: "tasks of every state", requirement: "R14", ops: "ListTasks", request: unasked("status")},
	{name: "tasks of every time", requirement: "R308", ops: "ListTasks", request: unasked("statusTimestampAfter")},
	{name: "a token that is none", requirement: "R35", ops: "ListTasks", request: func(p *proxy, x *exchange) {
		if v, ok := x.asked("pageToken"); ok && !p.remember.sawToken(toText(v)) {
			unasked("pageToken")(p, x)
		}
	}, result: func(p *proxy, _ *exchange, result any) any {
		p.remember.noteToken(text(asMap(result)["nextPageToken"]))
		return result
	}},
	{name: "the total as a text", over: inJSON, requirement: "R240", ops: "ListTasks", result: inList(func(_ *exchange, doc map[string]any) {
		if n, ok := doc["totalSize"].(json.Number); ok {
			doc["totalSize"] = "about " + n.String()
		}
	})},
}
