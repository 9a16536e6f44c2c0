package server_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// startBoth serves 1.0 and 0.3 over HTTP+JSON at one address, and returns what sends a request without A2A-Version.
func startBoth(t *testing.T) func(method, path, body string) (int, map[string]any) {
	t.Helper()
	p := a2awires.Protocol()
	card, err := p.DecodeCard([]byte(`{"name":"Desk","description":"for tests","version":"1.0.0","supportedInterfaces":[
		{"url":"/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},{"url":"/","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"}],
		"capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{run("desk", desk)}},
		server.WithLogger(slog.New(slog.DiscardHandler)), webhooks.Send())
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() { _ = s.Close(); h.Close() })
	return func(method, path, body string) (int, map[string]any) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		resp, err := h.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		var answer map[string]any
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, answer
	}
}

// TestPathsSayTheVersion: clients of 0.3 send no A2A-Version, and their /v1/ is no tenant of 1.0.
func TestPathsSayTheVersion(t *testing.T) {
	call := startBoth(t)
	for _, tc := range []struct{ path, parts, role string }{
		{"/v1/message:send", "content", "ROLE_AGENT"},
		{"/message:send", "parts", "ROLE_AGENT"},
		{"/acme/message:send", "parts", "ROLE_AGENT"},
	} {
		status, answer := call("POST", tc.path, `{"message":{"messageId":"m","role":"ROLE_USER","`+tc.parts+`":[{"text":"hello"}]}}`)
		m, _ := answer["message"].(map[string]any)
		if status != http.StatusOK || m[tc.parts] == nil {
			t.Errorf("%s: %d %v", tc.path, status, answer)
		}
	}
}

// TestErrorsOf03OverHTTPJSONAreKnownToEveryClient: each official client looks for something else in them.
func TestErrorsOf03OverHTTPJSONAreKnownToEveryClient(t *testing.T) {
	status, answer := startBoth(t)("GET", "/v1/tasks/nobody", "")
	inner, _ := answer["error"].(map[string]any)
	details, _ := inner["details"].([]any)
	if len(details) == 0 {
		t.Fatalf("%d %v", status, answer)
	}
	info, _ := details[0].(map[string]any)
	for what, ok := range map[string]bool{
		"status":             status == http.StatusNotFound,
		"code (JavaScript)":  answer["code"] == float64(-32001) && answer["message"] == "Task not found",
		"type (Python)":      answer["type"] == "TaskNotFoundError",
		"error (Go)":         inner["status"] == "NOT_FOUND" && inner["code"] == float64(404),
		"reason and domain":  info["reason"] == "TASK_NOT_FOUND" && info["domain"] == "a2a-protocol.org",
		"type of the detail": info["@type"] == "type.googleapis.com/google.rpc.ErrorInfo",
	} {
		if !ok {
			t.Errorf("%s: %v", what, answer)
		}
	}
}

// TestAWebhookOf03MayComeInTheWholeRequest: the definition's body is one field of it, and clients send either.
func TestAWebhookOf03MayComeInTheWholeRequest(t *testing.T) {
	call := startBoth(t)
	_, sent := call("POST", "/v1/message:send", `{"request":{"messageId":"m","role":"ROLE_USER","content":[{"text":"book"}]}}`)
	task, _ := sent["task"].(map[string]any)
	id, _ := task["id"].(string)
	for name, body := range map[string]string{
		"definition": `{"name":"tasks/ID/pushNotificationConfigs/NAME","pushNotificationConfig":{"id":"NAME","url":"https://me.example/hook"}}`,
		"python":     `{"parent":"tasks/ID","config_id":"NAME","config":{"name":"tasks/ID/pushNotificationConfigs/NAME","push_notification_config":{"id":"NAME","url":"https://me.example/hook"}}}`,
		"go":         `{"parent":"tasks/ID","configId":"NAME","config":{"name":"tasks/ID/pushNotificationConfigs/NAME","pushNotificationConfig":{"id":"NAME","url":"https://me.example/hook"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			status, made := call("POST", "/v1/tasks/"+id+"/pushNotificationConfigs", strings.NewReplacer("ID", id, "NAME", name).Replace(body))
			config, _ := made["pushNotificationConfig"].(map[string]any)
			if status != http.StatusOK || config["id"] != name || made["name"] != "tasks/"+id+"/pushNotificationConfigs/"+name {
				t.Errorf("%d %v", status, made)
			}
		})
	}
	if status, answer := call("POST", "/v1/tasks/"+id+"/pushNotificationConfigs", `{"parent":"tasks/other","config":{"pushNotificationConfig":{"url":"https://me.example/hook"}}}`); status == http.StatusOK {
		t.Errorf("a body for another task than the path's: %v", answer)
	}
}
