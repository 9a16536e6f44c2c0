package broken

import (
	"maps"
	"net/http"
	"time"
)

const pushOps = "CreateTaskPushNotificationConfig GetTaskPushNotificationConfig ListTaskPushNotificationConfigs"

// hooks are the configurations in a result.
func hooks(result any) []map[string]any {
	doc := asMap(result)
	if list := elements(doc["configs"]); list != nil {
		return list
	}
	return []map[string]any{doc}
}

// inHooks changes every configuration in a result.
func inHooks(f func(config map[string]any)) func(*proxy, *exchange, any) any {
	return func(_ *proxy, _ *exchange, result any) any {
		for _, c := range hooks(result) {
			f(c)
		}
		return result
	}
}

// deliveries changes each push notification, or drops it.
func deliveries(f func(r *http.Request, body map[string]any) bool) *row {
	return &row{hook: f, timeout: 3 * time.Second}
}

var pushRows = []*row{
	{name: "a webhook without an id", requirement: "R19", ops: pushOps, result: inHooks(func(c map[string]any) { delete(c, "id") })},
	{name: "a webhook without its URL", requirement: "R100", ops: pushOps, result: inHooks(func(c map[string]any) { delete(c, "url") })},
	{name: "a webhook with another URL", requirement: "R19", ops: "GetTaskPushNotificationConfig", result: inHooks(func(c map[string]any) {
		c["url"] = "https://example.com/another"
	})},
	{name: "a webhook with another id", requirement: "R19", ops: "GetTaskPushNotificationConfig", result: inHooks(func(c map[string]any) { c["id"] = "another" })},
	{name: "no webhooks in the list", requirement: "R20", ops: "ListTaskPushNotificationConfigs", result: func(*proxy, *exchange, any) any {
		return map[string]any{"configs": []any{}}
	}},
	{name: "a webhook that is missing is there", requirement: "R19", ops: "GetTaskPushNotificationConfig", instead: func(_ *proxy, x *exchange) any {
		return map[string]any{"taskId": x.params["taskId"], "id": x.params["id"], "url": "https://example.com/hook"}
	}},
	{name: "a webhook is never deleted", requirement: "R21", ops: "DeleteTaskPushNotificationConfig", request: func(_ *proxy, x *exchange) {
		x.params["id"] = "another"
	}},
	{name: "deleting twice fails", requirement: "R21", ops: "DeleteTaskPushNotificationConfig", instead: func(p *proxy, x *exchange) any {
		if p.remember.twice(toText(x.params["id"])) {
			return failure{"code": -32001, "message": "Task not found", "data": []any{errorInfo("TASK_NOT_FOUND")}}
		}
		return nil
	}},
	{name: "a webhook of an unknown task", requirement: "R38", ops: "CreateTaskPushNotificationConfig", instead: when(unknownTask, func(_ *proxy, x *exchange) any {
		return x.params
	})},
	named("nothing is delivered", "R84", deliveries(func(*http.Request, map[string]any) bool { return false })),
	named("deliveries without the token", "R79", deliveries(func(r *http.Request, _ map[string]any) bool {
		r.Header.Del("X-A2A-Notification-Token")
		r.Header.Del("A2A-Notification-Token")
		return true
	})),
	named("deliveries without credentials", "R79", deliveries(func(r *http.Request, _ map[string]any) bool {
		r.Header.Del("Authorization")
		return true
	})),
	named("deliveries of another shape", "R18", deliveries(func(_ *http.Request, body map[string]any) bool {
		event := maps.Clone(body)
		clear(body)
		body["jsonrpc"], body["result"] = "2.0", event
		return true
	})),
	named("deliveries as text", "R18", deliveries(func(r *http.Request, _ map[string]any) bool {
		r.Header.Set("Content-Type", "text/plain")
		return true
	})),
}
