package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/server"
)

// former starts an agent of 1.0 and 0.3 over JSON-RPC and HTTP+JSON, with push notifications to itself.
func former(t *testing.T, opts ...server.Option) *agent {
	t.Helper()
	return polyglotCard(t, []string{"1.0", "0.3"}, formerCard, opts...)
}

// formerCard is a card of both bindings for 1.0 and 0.3.
const formerCard = `{"name":"Desk","description":"for tests","version":"1.0.0","supportedInterfaces":[
		{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
		{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.3"},{"url":"/rest","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"}],
		"capabilities":{"streaming":true,"pushNotifications":true,"extendedAgentCard":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}},"securityRequirements":[{"schemes":{"key":{}}}],
		"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"]}]}`

// unversioned is what clients of 0.3 send: no version.
const unversioned = "A2A-Version: "

// said is a body as 0.3's proto has it.
func said(text string) string {
	return `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"` + text + `"}]}}`
}

// TestHTTPJSONOf03 speaks ProtoJSON below /v1 (T31, T34, T35), without a version.
func TestHTTPJSONOf03(t *testing.T) {
	a := former(t)
	_, first := a.answer("POST", "/v1/message:send", said("forecast"), unversioned)
	id := str(first, "task", "id")
	if str(first, "task", "status", "state") != "TASK_STATE_COMPLETED" || str(first, "task", "history", 0, "role") != "ROLE_USER" ||
		str(first, "task", "history", 0, "content", 0, "text") != "forecast" || str(first, "task", "artifacts", 0, "parts", 0, "text") != "Dry." {
		t.Fatalf("the answer is %v", first)
	}
	if _, got := a.answer("POST", "/v1/message:send", said("hello"), unversioned); str(got, "message", "content", 0, "text") != "Good morning." {
		t.Errorf("the message is %v", got)
	}
	for _, path := range []string{"/v1/tasks/" + id, "/v1/tasks/" + id + "?historyLength=1", "/v1/tasks/" + id + "?history_length=1"} {
		if _, got := a.answer("GET", path, "", unversioned); str(got, "id") != id || str(got, "status", "state") != "TASK_STATE_COMPLETED" {
			t.Errorf("%s: %v", path, got)
		}
	}
	_, asked := a.answer("POST", "/v1/message:send", said("book"), unversioned)
	booking := str(asked, "task", "id")
	if _, got := a.answer("POST", "/v1/tasks/"+booking+":cancel", `{"name":"tasks/`+booking+`"}`, unversioned); str(got, "status", "state") != "TASK_STATE_CANCELLED" {
		t.Errorf("canceled: %v", got)
	}
	if got := a.list("/v1/tasks"); len(got) != 2 {
		t.Errorf("the tasks are %v", got)
	}
	if got := a.list("/v1/tasks?status=TASK_STATE_COMPLETED&pageSize=1"); len(got) != 1 || str(got[0], "id") != id {
		t.Errorf("the tasks that are completed are %v", got)
	}
}

// list gets a JSON array.
func (a *agent) list(path string) (list []map[string]any) {
	a.t.Helper()
	resp := a.rest("GET", path, "", unversioned)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || json.Unmarshal(b, &list) != nil {
		a.t.Errorf("%s: %s, %s, %v", path, resp.Status, b, err)
	}
	return list
}

// TestStreamsOverHTTPJSONOf03 have the items of its proto, under both verbs, and end with a final one.
func TestStreamsOverHTTPJSONOf03(t *testing.T) {
	a := former(t)
	next := a.restEvents("POST", "/v1/message:stream", said("forecast"), unversioned)
	var kinds []string
	for {
		_, item, ok := next()
		if !ok {
			break
		}
		for kind, value := range item {
			if final := at(map[string]any{"v": value}, "v", "final"); final != nil {
				kind += " final"
			}
			kinds = append(kinds, kind)
		}
	}
	if got := strings.Join(kinds, ", "); !strings.HasPrefix(got, "task") || !strings.HasSuffix(got, "statusUpdate final") || !strings.Contains(got, "artifactUpdate") {
		t.Errorf("the items are %s", got)
	}
	_, asked := a.answer("POST", "/v1/message:send", said("book"), unversioned)
	for _, verb := range []string{"GET", "POST"} {
		next := a.restEvents(verb, "/v1/tasks/"+str(asked, "task", "id")+":subscribe", "", unversioned)
		if _, item, _ := next(); str(item, "task", "status", "state") != "TASK_STATE_INPUT_REQUIRED" {
			t.Errorf("%s :subscribe begins with %v", verb, item)
		}
	}
}

// TestPushConfigsOverHTTPJSONOf03 come in the shapes that official clients send (T31, T33).
func TestPushConfigsOverHTTPJSONOf03(t *testing.T) {
	a := former(t)
	_, asked := a.answer("POST", "/v1/message:send", said("book"), unversioned)
	id := str(asked, "task", "id")
	in := "/v1/tasks/" + id + "/pushNotificationConfigs"
	config := `{"name":"tasks/` + id + `/pushNotificationConfigs/c","pushNotificationConfig":{"id":"c","url":"https://93.184.216.34/hook"}}`
	for name, tt := range map[string]struct{ path, body string }{
		"the proto's":             {in, config},
		"under its own path":      {"/v1/task/" + id + "/pushNotificationConfigs", config},
		"Python's":                {in, `{"parent":"tasks/` + id + `","configId":"c","config":` + config + `}`},
		"the text's":              {in, `{"config":{"taskId":"` + id + `","pushNotificationConfig":{"id":"c","url":"https://93.184.216.34/hook"}}}`},
		"the text's, without":     {in, `{"taskId":"` + id + `","pushNotificationConfig":{"id":"c","url":"https://93.184.216.34/hook"}}`},
		"with an id in the query": {in + "?configId=c", `{"pushNotificationConfig":{"url":"https://93.184.216.34/hook"}}`},
	} {
		resp, got := a.answer("POST", tt.path, tt.body, unversioned)
		if resp.StatusCode != http.StatusOK || str(got, "name") != "tasks/"+id+"/pushNotificationConfigs/c" ||
			str(got, "pushNotificationConfig", "url") != "https://93.184.216.34/hook" {
			t.Errorf("%s: %s %v", name, resp.Status, got)
		}
	}
	if _, got := a.answer("GET", in+"/c", "", unversioned); str(got, "pushNotificationConfig", "id") != "c" {
		t.Errorf("the config is %v", got)
	}
	if _, got := a.answer("GET", in, "", unversioned); str(got, "configs", 0, "name") != "tasks/"+id+"/pushNotificationConfigs/c" {
		t.Errorf("the configs are %v", got)
	}
	if resp, got := a.answer("DELETE", in+"/c", "", unversioned); resp.StatusCode != http.StatusOK || len(got) != 0 {
		t.Errorf("deleted: %s %v", resp.Status, got)
	}
	if _, got := a.answer("GET", in, "", unversioned); at(got, "configs") != nil {
		t.Errorf("left over is %v", got)
	}
}

// T31: the words of 0.3's text are taken where those of its proto are, and the paths of clients that leave /v1 out.
func TestTheTextOf03IsTakenOverHTTPJSON(t *testing.T) {
	a := former(t)
	for name, tt := range map[string]struct{ path, body, header, want string }{
		"kind, parts and role": {"/v1/message:send", `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"forecast"}]}}`, unversioned, "Dry."},
		"the key of 0.2.6":     {"/v1/message:send", `{"request":{"messageId":"m","role":"ROLE_USER","content":[{"text":"forecast"}]}}`, unversioned, "Dry."},
		"snake_case":           {"/v1/message:send", `{"message":{"message_id":"m","role":"user","parts":[{"kind":"text","text":"forecast"}]}}`, unversioned, "Dry."},
		"without /v1":          {"/message:send", `{"message":{"message_id":"m","role":"user","parts":[{"kind":"text","text":"forecast"}]}}`, "A2A-Version: 0.3", "Dry."},
		"with /v1, by name":    {"/v1/message:send", said("forecast"), "A2A-Version: 0.3", "Dry."},
		"with a patch number":  {"/v1/message:send", said("forecast"), "A2A-Version: 0.3.0", "Dry."},
		"a configuration": {"/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"forecast"}]},
			"configuration":{"blocking":true,"acceptedOutputModes":["text/plain"],"pushNotificationConfig":{"id":"c","url":"https://93.184.216.34/hook"}}}`, unversioned, "Dry."},
	} {
		resp, got := a.answer("POST", tt.path, tt.body, tt.header)
		if text := str(got, "task", "artifacts", 0, "parts", 0, "text"); text != tt.want {
			t.Errorf("%s: %s %v", name, resp.Status, got)
		}
	}
	if _, got := a.answer("POST", "/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"wait"}]},"configuration":{}}`, unversioned); str(got, "task", "id") == "" {
		t.Errorf("who does not want to wait gets %v", got)
	}
}

// TestTheVersionOfAPath: the path says it, unless the request does. To 1.0 "v1" is a tenant.
func TestTheVersionOfAPath(t *testing.T) {
	a := former(t)
	for _, tt := range []struct{ path, body, header, want string }{
		{"/message:send", message("forecast"), unversioned, "1.0"},
		{"/message:send", message("forecast"), "A2A-Version: 1.0", "1.0"},
		{"/v1/message:send", message("forecast"), "A2A-Version: 1.0", "1.0"},
		{"/v1/message:send", said("forecast"), unversioned, "0.3"},
	} {
		resp, got := a.answer("POST", tt.path, tt.body, tt.header)
		version := ""
		if str(got, "task", "history", 0, "parts", 0, "text") != "" {
			version = "1.0"
		} else if str(got, "task", "history", 0, "content", 0, "text") != "" {
			version = "0.3"
		}
		if version != tt.want {
			t.Errorf("%s with %q: %s %v", tt.path, tt.header, resp.Status, got)
		}
	}
	strict := former(t, server.WithCompat(server.Compat{StrictVersion: true}))
	if resp, got := strict.answer("POST", "/message:send", message("forecast"), unversioned); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a strict agent takes no version for another one than 0.3: %s %v", resp.Status, got)
	}
}

// TestErrorsOverHTTPJSONOf03 have the status of its official servers, and what each of its clients reads: the code of
// JSON-RPC, or what 1.0 has.
func TestErrorsOverHTTPJSONOf03(t *testing.T) {
	a := former(t)
	_, done := a.answer("POST", "/v1/message:send", said("forecast"), unversioned)
	id := str(done, "task", "id")
	for _, tt := range []struct {
		name, method, path, body string
		status, code             int
		reason                   string
	}{
		{"no task", "GET", "/v1/tasks/none", "", 404, -32001, "TASK_NOT_FOUND"},
		{"no task to follow", "GET", "/v1/tasks/none:subscribe", "", 404, -32001, "TASK_NOT_FOUND"},
		{"an ended task", "POST", "/v1/tasks/" + id + ":cancel", "", 409, -32002, "TASK_NOT_CANCELABLE"},
		{"no message", "POST", "/v1/message:send", "{}", 422, -32602, "INVALID_PARAMS"},
		{"no message to stream", "POST", "/v1/message:stream", "{}", 422, -32602, "INVALID_PARAMS"},
		{"no JSON", "POST", "/v1/message:send", "{", 400, -32700, "PARSE_ERROR"},
		{"no number", "GET", "/v1/tasks/x?historyLength=y", "", 422, -32602, "INVALID_PARAMS"},
		{"no such verb", "PUT", "/v1/tasks/x", "", 405, -32601, "METHOD_NOT_FOUND"},
	} {
		resp, got := a.answer(tt.method, tt.path, tt.body, unversioned)
		if resp.StatusCode != tt.status || at(got, "code") != float64(tt.code) || str(got, "message") == "" ||
			at(got, "error", "code") != float64(tt.status) || str(got, "error", "details", 0, "reason") != tt.reason {
			t.Errorf("%s: %s %v", tt.name, resp.Status, got)
		}
	}
}

// TestTheCardOverHTTPJSONOf03 is in the JSON of 0.3's schema, with its security schemes also as the proto has them, which
// clients of JavaScript demand.
func TestTheCardOverHTTPJSONOf03(t *testing.T) {
	a := extendedAgent(t, server.WithProxyIdentity(caller))
	resp, got := a.answer("GET", "/v1/card", "", unversioned, "Who: alice")
	if str(got, "name") != "Desk" || str(got, "securitySchemes", "key", "type") != "apiKey" ||
		str(got, "securitySchemes", "key", "in") != "header" || str(got, "securitySchemes", "key", "name") != "Who" {
		t.Errorf("%s %v", resp.Status, got)
	}
	if scheme := at(got, "securitySchemes", "key", "apiKeySecurityScheme"); scheme == nil ||
		str(got, "securitySchemes", "key", "apiKeySecurityScheme", "location") != "header" ||
		str(got, "securitySchemes", "key", "apiKeySecurityScheme", "name") != "Who" {
		t.Errorf("the proto's form of the scheme is %v", scheme)
	}
}

// TestAnAgentOf10TakesNoPathOf03ForATenant answers what clients of 0.3 send with the version that it would be (R72,
// R73).
func TestAnAgentOf10TakesNoPathOf03ForATenant(t *testing.T) {
	a := start(t, restCard, []server.Skill{echo()})
	for _, tt := range []struct{ method, path, body string }{
		{"POST", "/v1/message:send", said("x")}, {"POST", "/v1/message:stream", said("x")}, {"GET", "/v1/tasks/x", ""},
		{"POST", "/v1/tasks/x:cancel", ""}, {"GET", "/v1/tasks", ""},
	} {
		resp, got := a.answer(tt.method, tt.path, tt.body, unversioned)
		if resp.StatusCode != http.StatusBadRequest || str(got, "error", "details", 0, "reason") != "VERSION_NOT_SUPPORTED" {
			t.Errorf("%s %s: %s %v", tt.method, tt.path, resp.Status, got)
		}
	}
	if resp, _ := a.answer("GET", "/v1/tasks", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("a tenant of a request that names its version: %s", resp.Status)
	}
	of := strings.Replace(restCard, `"url":"http://localhost/rest",`, `"url":"http://localhost/rest","tenant":"v1",`, 1)
	if resp, got := start(t, of, []server.Skill{echo()}).answer("GET", "/v1/tasks", "", unversioned); resp.StatusCode != http.StatusOK {
		t.Errorf("a tenant that is declared: %s %v", resp.Status, got)
	}
}
