package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// fuzzed03 is an agent of 1.0 and 0.3 that answers at once.
func fuzzed03(f *testing.F) *server.Server {
	p := a2amore.AllVersions()
	p.Versions = slices.DeleteFunc(p.Versions, func(v *runtime.Version) bool { return v.Name != "1.0" && v.Name != "0.3" })
	card, err := p.DecodeCard([]byte(formerCard))
	if err != nil {
		f.Fatal(err)
	}
	answer := run("desk", func(context.Context, *server.Task) (string, error) { return "x", nil })
	s, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{answer}}, server.WithLogger(slog.New(slog.DiscardHandler)), server.WithProxyIdentity(anybody), webhooks.Send())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	return s
}

// sendREST sends a request below the address of HTTP+JSON; nil if there is no such URL.
func sendREST(s *server.Server, method, path, version string, body []byte) *httptest.ResponseRecorder {
	u, err := url.Parse("http://localhost/rest" + path)
	if err != nil || u.Host != "localhost" {
		return nil
	}
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	r.Method, r.URL, r.Host = method, u, "localhost"
	if version != "" {
		r.Header.Set("A2A-Version", version)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// FuzzREST: whatever comes over HTTP+JSON, in 1.0 and 0.3, is answered in the shape of the binding, and nothing breaks.
func FuzzREST(f *testing.F) {
	s := fuzzed03(f)
	for _, seed := range []struct{ path, body string }{
		{"/v1/message:send", said("forecast")}, {"/message:send", `{"message":{"role":"user","parts":[{"kind":"data","data":{}}]}}`},
		{"/v1/tasks/x/pushNotificationConfigs?configId=c", `{"config":{"config":{}}}`}, {"/v1/task/x/pushNotificationConfigs", `{"name":"tasks/x"}`},
		{"/v1/tasks/a%2Fb:cancel", `{"name":"tasks/a/b"}`}, {"/v1/tasks/x:subscribe", ``}, {"/v1/tasks?status=working", ``},
		{"/message:stream", message("x")}, {"/t/tasks?pageSize=1&status=TASK_STATE_WORKING&includeArtifacts=true", ``},
		{"/tasks/x/pushNotificationConfigs", `{"url":"https://example.com","authentication":{"scheme":"Bearer"}}`}, {"/extendedAgentCard?tenant=t", ``},
		{"/inspections/x?nested.labels=a,b&flags=true&raw=_-8&nested.more.more.count=1&at=x&labels=", `{"count":"1"}`},
		{"/t/inspections/x:watch?times=3&%zz=1&lastUpdatedAfter=x", `{`},
	} {
		for _, version := range []string{"", "1.0", "0.3"} {
			f.Add("POST", seed.path, version, []byte(seed.body))
			f.Add("GET", seed.path, version, []byte(nil))
			f.Add("HEAD", seed.path, version, []byte(nil))
			f.Add("OPTIONS", seed.path, version, []byte(nil))
		}
	}
	f.Fuzz(func(t *testing.T, method, path, version string, body []byte) {
		w := sendREST(s, method, path, version, body)
		if w == nil {
			return
		}
		if b := bytes.TrimSpace(w.Body.Bytes()); w.Header().Get("Content-Type") == "application/json" && !json.Valid(b) {
			t.Errorf("%s %q: %d %q", method, path, w.Code, b)
		}
		if w.Code >= 500 && w.Code != http.StatusNotImplemented && w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s %q with %q: %d %s", method, path, body, w.Code, w.Body)
		}
	})
}
