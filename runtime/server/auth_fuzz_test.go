package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// FuzzNobodyComesIn: whatever a stranger sends without a good credential, no skill, router or store hears of it, and what
// is answered is what is for everybody, or a refusal.
func FuzzNobodyComesIn(f *testing.F) {
	send := rpcBody("SendMessage", message("run"))
	for _, header := range []string{
		"A2A-Version: 1.0", "Authorization: Bearer wrong", "Authorization: Bearer ann\nAuthorization: Bearer ann", "X-Api-Key: x\nA2A-Tenant: acme",
		"X-HTTP-Method-Override: POST\nX-Forwarded-Host: evil.example", "Accept: text/html", "Accept: text/event-stream\nLast-Event-ID: 1",
		"Idempotency-Key: k\nA2A-Extensions: x", "Authorization-Bin: Bearer ann\nProxy-Authorization: Bearer ann\nCookie: Authorization=ann", "Upgrade: h2c\nConnection: Upgrade",
		"A2A-Version: 0",
	} {
		for _, at := range []string{"POST /rpc", "POST /rpc/", "GET /rest/tasks", "POST /rest/message:send", "GET /rest/acme/tasks?access_token=ann", "DELETE /", "OPTIONS /rest/tasks"} {
			method, path, _ := strings.Cut(at, " ")
			f.Add(method, path, header, []byte(send))
		}
	}
	var heard atomic.Int64
	tasks := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
		if c.Key.Task != "" {
			heard.Add(1)
		}
		return faultstore.Fault{}
	})
	touch := func(context.Context, *server.Task) (string, error) { heard.Add(1); return "", nil }
	s, err := server.New(server.Config{
		Protocol: a2a.Protocol(), Card: readCard(f, authCard), Skills: []server.Skill{run("ask", touch), run("run", touch)},
	}, server.WithLogger(slog.New(slog.DiscardHandler)), guards(), webhooks.Send(), server.WithStore(tasks),
		server.WithRouter(func(context.Context, runtime.Message) (string, error) { heard.Add(1); return "run", nil }),
		server.OnRequest(func(context.Context, *a2a.ListTasksRequest) error { heard.Add(1); return nil }))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, method, path, header string, body []byte) {
		u, err := url.Parse("http://localhost/" + strings.TrimPrefix(path, "/"))
		if err != nil || u.Host != "localhost" {
			return
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
		r.Method, r.URL, r.Host = method, u, "localhost"
		for line := range strings.SplitSeq(header, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			r.Header.Add(name, value)
		}
		if given := r.Header["Authorization"]; len(given) == 1 {
			_, token, _ := strings.Cut(given[0], " ")
			if _, known := people[strings.TrimSpace(token)]; known || r.Header.Get("X-Api-Key") == aKey {
				return
			}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if heard.Load() > 0 {
			t.Fatalf("it was heard of: %d %s", w.Code, w.Body)
		}
		public := u.Path == server.CardPath || u.Path == server.HealthPath || method == http.MethodOptions || strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")
		unspoken := strings.Contains(w.Body.String(), runtime.ErrVersionNotSupported.Message) // which comes first
		if w.Code < 300 && !public && !unspoken {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
