package server

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime/sse"
)

// bindingsCard has 1.0 and 0.3 over HTTP+JSON at one address.
const bindingsCard = `{"name":"Test","description":"d","version":"1","supportedInterfaces":[{"url":"/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
	{"url":"/","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"}],"capabilities":{"streaming":true,"pushNotifications":true},
	"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// Whatever a stranger sends over HTTP+JSON gets one of the documented statuses, and JSON.
func FuzzHTTPJSON(f *testing.F) {
	p := a2awires.Protocol()
	card, err := p.DecodeCard([]byte(bindingsCard))
	if err != nil {
		f.Fatal(err)
	}
	skill := Skill{ID: "x", Name: "x", Run: func(context.Context, *Task, any) ([]byte, error) { return []byte("done"), nil }}
	s, err := New(Config{Protocol: p, Card: card, Skills: []Skill{skill}}, WithLogger(slog.New(slog.DiscardHandler)), WithLimits(Limits{Body: 64 << 10}))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	const send = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`
	f.Add("POST", "/message:send", "", "1.0", []byte(send))
	f.Add("POST", "/t/message:stream", "tenant=t", "", []byte(send))
	f.Add("POST", "/v1/message:send", "", "", []byte(`{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}}`))
	f.Add("GET", "/tasks", "pageSize=1&status=3&includeArtifacts=true&lastUpdatedAfter=x&%zz=1", "1.0", []byte(nil))
	f.Add("GET", "/v1/tasks/x%2Fy:subscribe", "historyLength=-1", "0.3", []byte(nil))
	f.Add("DELETE", "/tasks/x/pushNotificationConfigs/y", "", "9", []byte("{"))
	f.Add("HEAD", "/inspections/x", "nested.labels=a,b&flags=true&raw=_-8&nested.more.more.count=1&at=x", "1.0", []byte(nil))
	f.Add("PUT", "/t/inspections/x/nested", "labels=&labels=a", "1.0", []byte(`{"count":"1"}`))
	f.Add("OPTIONS", "/tasks/x", "", "", []byte(nil))
	statuses := []int{200, 204, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 501, 503}
	f.Fuzz(func(t *testing.T, method, path, query, version string, body []byte) {
		u, err := url.Parse("http://localhost" + path)
		if err != nil || !strings.HasPrefix(u.Path, "/") || method == "" {
			return // net/http lets nothing of that in
		}
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Method, r.URL, r.Host = method, u, "localhost"
		r.URL.RawQuery = query
		r.Header.Set("A2A-Version", version)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r.WithContext(t.Context()))
		if !slices.Contains(statuses, w.Code) {
			t.Fatalf("%s %s?%s: status %d: %s", method, path, query, w.Code, w.Body)
		}
		if w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("no JSON: %q", w.Body)
		}
	})
}

// Whatever a stranger sends gets one of the documented statuses, and a body that is what its type says.
func FuzzHandler(f *testing.F) {
	send := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}`
	for _, body := range []string{
		send, listTasks, sendStream, `{"jsonrpc":"2.0","id":"\ud800","method":"GetTask","params":{"id":"x"}}`, `[]`, `{"jsonrpc":"2.0","method":"Nope","params":{"x":tru}}`, "{\"id\":\"\xff\"}", ``,
		`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":1e9,"pageToken":"x"}}`, `{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`,
	} {
		f.Add("POST", "/", "Content-Type: application/json\nA2A-Version: 1.0", []byte(body))
	}
	f.Add("GET", "/", "Accept: text/html\nHost: a.example", []byte{})
	f.Add("GET", CardPath, "If-None-Match: *\nX-Forwarded-Host: %", []byte{})
	f.Add("OPTIONS", "/", "Origin: https://x\nSec-Fetch-Site: cross-site", []byte{})
	f.Add("HEAD", "/nowhere", "Host: %", []byte{})
	f.Add("POST", "/", "Content-Type: text/plain\nA2A-Version: 9", []byte(send))
	f.Add("POST", "/", "A2A-Version: 1.0\nA2A-Extensions: a,,b\nAccept: text/event-stream\nLast-Event-ID: -1", []byte(sendStream))
	s := hostedFuzz(f)
	statuses := []int{200, 204, 304, 400, 401, 403, 404, 405, 408, 413, 415, 503}
	f.Fuzz(func(t *testing.T, method, path, header string, body []byte) {
		r := &http.Request{Method: method, URL: &url.URL{Path: path}, Host: "localhost", Header: http.Header{}, Body: http.NoBody, ContentLength: int64(len(body))}
		r = r.WithContext(t.Context())
		r.Body = httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body)).Body
		for line := range strings.SplitSeq(header, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			if name == "Host" {
				r.Host = value
			} else {
				r.Header.Add(name, value)
			}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if !slices.Contains(statuses, w.Code) {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		switch w.Header().Get("Content-Type") {
		case "application/json":
			if w.Code == http.StatusOK && method != http.MethodHead && !json.Valid(w.Body.Bytes()) {
				t.Fatalf("no JSON: %q", w.Body)
			}
		case sse.ContentType:
			for line := range strings.SplitSeq(w.Body.String(), "\n") {
				if data, ok := strings.CutPrefix(line, "data: "); ok && !json.Valid([]byte(data)) {
					t.Fatalf("no JSON in an event: %q", line)
				}
			}
		}
	})
}
