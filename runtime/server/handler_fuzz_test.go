package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/sse"
)

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
