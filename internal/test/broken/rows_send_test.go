package broken

import (
	"net/http"
	"strings"
)

var sendRows = []*row{
	{name: "state in lower case", over: inJSON, requirement: "R94", result: inTasks(func(_ *exchange, t map[string]any) {
		put(t, "completed", []string{"status", "state"})
	})},
	{name: "state with a double l", over: inJSON, requirement: "R94", ops: "CancelTask", result: set("TASK_STATE_CANCELLED", "status", "state")},
	{name: "state unspecified", requirement: "R94", ops: "GetTask", result: set("TASK_STATE_UNSPECIFIED", "status", "state")},
	{name: "role in lower case", over: inJSON, requirement: "R94", result: set("user", "history", "role")},
	{name: "task without an id", requirement: "R100", ops: "SendMessage", result: drop("id")},
	{name: "task without a status", requirement: "R100", ops: "GetTask", result: drop("status")},
	{name: "status without a state", over: inJSON, requirement: "R100", ops: "SendMessage", result: drop("status", "state")},
	{name: "artifact without an id", requirement: "R100", result: drop("artifacts", "artifactId")},
	{name: "artifact without parts", requirement: "R305", result: set([]any{}, "artifacts", "parts")},
	{name: "artifacts with one id", requirement: "R305", result: inTasks(func(_ *exchange, t map[string]any) {
		if list, _ := t["artifacts"].([]any); len(list) > 0 {
			t["artifacts"] = append(list, list[0])
		}
	})},
	{name: "message without an id", requirement: "R100", result: drop("history", "messageId")},
	{name: "part with two contents", over: inJSON, requirement: "R100", result: inTasks(func(_ *exchange, t map[string]any) {
		each(t, []string{"artifacts", "parts", "text"}, func(m map[string]any, _ string) { m["url"] = "https://example.com" })
	})},
	{name: "id that is a number", over: inJSON, requirement: "R240", result: set(7, "id")},
	{name: "members of 0.3", over: inJSON, requirement: "R240", result: inTasks(func(_ *exchange, t map[string]any) { t["kind"] = "task" })},
	{name: "members with underscores", over: inJSON, requirement: "R93", result: inTasks(func(_ *exchange, t map[string]any) {
		t["context_id"] = t["contextId"]
		delete(t, "contextId")
	})},
	{name: "time with an offset", over: inJSON, requirement: "R98", result: inTasks(func(_ *exchange, t map[string]any) {
		put(t, "2026-01-02T13:00:00.000+01:00", []string{"status", "timestamp"})
	})},
	{name: "time with nanoseconds", over: inJSON, requirement: "R96", result: set("2026-01-02T12:00:00.123456789Z", "status", "timestamp")},
	{name: "time as a number", over: inJSON, requirement: "R240", result: set(1767355200, "status", "timestamp")},
	{name: "neither task nor message", requirement: "R7", ops: "SendMessage", result: func(*proxy, *exchange, any) any {
		return map[string]any{}
	}},
	{name: "task and message at once", over: inJSON, requirement: "R7", ops: "SendMessage", result: func(_ *proxy, _ *exchange, result any) any {
		asMap(result)["message"] = map[string]any{"messageId": "m", "role": "ROLE_AGENT", "parts": []any{map[string]any{"text": "a"}}}
		return result
	}},
	{name: "task without its wrapper", over: inJSON, requirement: "R7", ops: "SendMessage", result: func(_ *proxy, _ *exchange, result any) any {
		if t := asMap(result)["task"]; t != nil {
			return t
		}
		return result
	}},
	{name: "every task has one id", requirement: "R57", ops: "SendMessage", result: set("the-task", "id")},
	{name: "no context id", requirement: "R51", ops: "SendMessage", result: drop("contextId")},
	{name: "another context id", requirement: "R52", ops: "SendMessage", result: inTasks(func(x *exchange, t map[string]any) {
		if x.sent()["contextId"] != nil && x.sent()["taskId"] == nil {
			t["contextId"] = "another"
		}
	})},
	{name: "it does not wait", requirement: "R24", ops: "SendMessage", result: func(_ *proxy, x *exchange, result any) any {
		if x.configuration()["returnImmediately"] == true {
			return result
		}
		for _, t := range wholeTasks(result) {
			put(t, "TASK_STATE_WORKING", []string{"status", "state"})
			delete(t, "artifacts")
		}
		return result
	}},
	{name: "returnImmediately waits", requirement: "R25", ops: "SendMessage", result: inTasks(func(x *exchange, t map[string]any) {
		if x.configuration()["returnImmediately"] == true {
			put(t, "TASK_STATE_COMPLETED", []string{"status", "state"})
		}
	})},
	{name: "history when none was asked for", requirement: "R26", ops: "GetTask", request: func(p *proxy, x *exchange) {
		if v, ok := x.asked("historyLength"); ok && toText(v) == "0" {
			unasked("historyLength")(p, x)
		}
	}},
	{name: "an empty history when none was asked for", over: inJSON, requirement: "R26", ops: "GetTask", result: inTasks(func(x *exchange, t map[string]any) {
		if v, ok := x.asked("historyLength"); ok && toText(v) == "0" {
			t["history"] = []any{}
		}
	})},
	{name: "more history than was asked for", requirement: "R300", ops: "GetTask", result: inTasks(func(x *exchange, t map[string]any) {
		if list, _ := t["history"].([]any); len(list) > 0 {
			for len(list) < 4 {
				list = append(list, list[0])
			}
			t["history"] = list
		}
	})},
	{name: "a message to an unknown task", requirement: "R60", ops: "SendMessage", instead: when(unknownTask, sentTask)},
	{name: "the context of another task", requirement: "R61", ops: "SendMessage", result: inTasks(func(x *exchange, t map[string]any) {
		if x.sent()["taskId"] != nil && x.sent()["contextId"] == nil {
			t["contextId"] = "another"
		}
	})},
	{name: "a context that is not the task's", requirement: "R62", ops: "SendMessage", request: func(_ *proxy, x *exchange) {
		if x.sent()["taskId"] != nil {
			delete(x.sent(), "contextId")
		}
	}},
	{name: "a message to a task that has ended", requirement: "Q29", ops: "SendMessage", instead: when(ended, sentTask)},
	{name: "a message without parts", requirement: "R35", ops: "SendMessage", instead: when(func(_ *proxy, x *exchange) bool {
		parts, _ := x.sent()["parts"].([]any)
		return x.sent() != nil && len(parts) == 0
	}, sentTask)},
	{name: "no message at all", requirement: "R35", ops: "SendMessage", instead: when(func(_ *proxy, x *exchange) bool {
		return x.sent() == nil
	}, sentTask)},
	{name: "a role that there is not", over: inJSON, requirement: "R35", ops: "SendMessage", instead: when(func(_ *proxy, x *exchange) bool {
		return x.sent() != nil && text(x.sent()["role"]) != "ROLE_USER"
	}, sentTask)},
	{name: "an unknown member is refused", over: inJSON, requirement: "R101", instead: when(func(_ *proxy, x *exchange) bool {
		return unlisted(x.params, paramNames) || unlisted(x.sent(), messageNames)
	}, func(*proxy, *exchange) any { return failure{"code": -32602, "message": "Invalid parameters"} })},
	{name: "a reply without its context", requirement: "R304", ops: "SendMessage", result: member("message", "contextId")},
	{name: "a reply by the user", requirement: "R304", ops: "SendMessage", result: func(_ *proxy, _ *exchange, result any) any {
		put(result, "ROLE_USER", []string{"message", "role"})
		return result
	}},
	{name: "a task that nobody asked for", requirement: "R58", ops: "GetTask", result: set("another", "id")},
	{name: "a task within a wrapper", over: inJSON, requirement: "R100", ops: "GetTask", result: func(_ *proxy, _ *exchange, result any) any {
		return map[string]any{"task": result}
	}},
	{name: "an unknown task is there", requirement: "R38", ops: "GetTask", instead: when(unknownTask, known)},
	{name: "the task is gone", requirement: "R58", ops: "GetTask", instead: func(*proxy, *exchange) any {
		return failure{"code": -32001, "message": "Task not found", "data": []any{errorInfo("TASK_NOT_FOUND")}}
	}},
}

var paramNames = strings.Fields("message configuration metadata tenant id taskId contextId status pageSize pageToken historyLength " +
	"statusTimestampAfter includeArtifacts url token authentication")

var messageNames = strings.Fields("messageId contextId taskId role parts metadata extensions referenceTaskIds")

var cancelRows = []*row{
	{name: "a task that has ended is canceled", requirement: "T17", ops: "CancelTask", instead: when(ended, known)},
	{name: "canceling twice has another error", over: overRPC, requirement: "T17", ops: "CancelTask", failure: func(_ *exchange, e map[string]any) {
		if toText(e["code"]) == "-32002" {
			e["code"] = -32603
			delete(e, "data")
		}
	}},
	{name: "an unknown task is canceled", requirement: "R38", ops: "CancelTask", instead: when(unknownTask, known)},
	{name: "canceling answers nothing", requirement: "R100", ops: "CancelTask", result: func(*proxy, *exchange, any) any {
		return map[string]any{}
	}},
}

// capabilityRows serve what the card does not declare, and more of the like.
var capabilityRows = []*row{
	{name: "streams that are not declared", over: everywhere, requirement: "R47", card: undeclared("streaming")},
	{name: "webhooks that are not declared", over: everywhere, requirement: "R46", card: undeclared("pushNotifications")},
	{name: "an extended card that is not declared", over: everywhere, requirement: "R48", ops: "GetExtendedAgentCard", instead: func(*proxy, *exchange) any {
		return map[string]any{"name": "Desk"}
	}},
	{name: "no extended card has another error", over: overRPC, requirement: "R48", ops: "GetExtendedAgentCard", failure: func(_ *exchange, e map[string]any) {
		e["code"] = -32601
		delete(e, "data")
	}},
	{name: "a required extension is not demanded", over: everywhere, requirement: "R49", card: func(card map[string]any) {
		asMap(card["capabilities"])["extensions"] = []any{map[string]any{"uri": "https://example.com/must", "required": true}}
	}},
	{name: "nobody has to say who they are", requirement: "R29", card: demandKey, header: "Authorization"},
	{name: "a refusal without a challenge", requirement: "R30", card: demandKey, header: "Authorization", response: func(x *exchange, r *http.Response) {
		if !isCard(x.request) && x.request.Header.Get("Authorization") == "" {
			r.StatusCode = http.StatusUnauthorized
		}
	}},
}

func demandKey(card map[string]any) {
	card["securitySchemes"] = map[string]any{"bearer": map[string]any{"httpAuthSecurityScheme": map[string]any{"scheme": "Bearer"}}}
	card["securityRequirements"] = []any{map[string]any{"schemes": map[string]any{"bearer": map[string]any{}}}}
}

func undeclared(name string) func(map[string]any) {
	return func(card map[string]any) { delete(asMap(card["capabilities"]), name) }
}

// unlisted reports whether an object has a member that is not among the names.
func unlisted(doc map[string]any, names []string) bool {
	for name := range doc {
		found := false
		for _, n := range names {
			found = found || n == name
		}
		if !found {
			return true
		}
	}
	return false
}
