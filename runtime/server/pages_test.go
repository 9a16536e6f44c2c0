package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// Pages of one's own are served beside the agent: nothing of the agent's is hidden by them, and who may ask for the agent at
// all may ask for them, without credentials.
func TestPagesOfOnesOwn(t *testing.T) {
	s, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: readCard(t, strings.Replace(authCard, `"pushNotifications":true,`, "", 1)), Skills: waiting()}, guards(), server.WithHosts("agent.test"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	page := func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, "mine ", r.PathValue("name")) }
	s.Handle("GET /pages/{name}", http.HandlerFunc(page))
	s.Handle("/", http.HandlerFunc(page))
	for _, c := range []struct {
		method, path, host string
		status             int
		own                bool
	}{
		{"GET", "/pages/callback?code=1", "agent.test", 200, true},
		{"GET", "/elsewhere", "agent.test", 200, true},
		{"POST", "/rpc", "agent.test", 401, false},
		{"GET", server.CardPath, "agent.test", 200, false},
		{"GET", server.HealthPath, "agent.test", 200, false},
		{"GET", "/pages/callback", "evil.example:8080", 403, false}, // a page whose name leads to loopback
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Body)
		if w.Code != c.status || strings.HasPrefix(string(body), "mine") != c.own {
			t.Errorf("%s %s at %s: %d %q", c.method, c.path, c.host, w.Code, body)
		}
	}
}

// A handle is in no log, whatever becomes of its task.
func TestAHandleIsNotLogged(t *testing.T) {
	var logged bytes.Buffer
	var handle string
	asks := run("x", func(_ context.Context, task *server.Task) (string, error) {
		var v string
		if ok, err := task.Call().Authorized(&v); ok {
			return "", fmt.Errorf("failed %w", err)
		}
		err := task.RequireAuth(server.AuthRequest{Prompt: "Please.", Visit: func(h string) string { handle = h; return "https://x.example/" + h }})
		if task.Text() == "twice" {
			_ = task.Reply(runtime.Text("no"))
		}
		task.Logger().Info("waits", "error", err)
		return "", err
	})
	a := start(t, testCard, []server.Skill{asks}, server.WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
	a.ok("SendMessage", message("twice"))
	a.ok("SendMessage", message("once"))
	for range 2 {
		_ = a.Redeem(t.Context(), handle, 7)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(logged.String(), handle) || !strings.Contains(logged.String(), "waits") {
		t.Errorf("the log is\n%s", logged.String())
	}
}
