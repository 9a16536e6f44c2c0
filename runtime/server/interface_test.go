package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/server"
)

// R124: a card that offers what the server cannot serve fails at the start, with the way out.
func TestACardThatOffersWhatIsNotServedFailsAtTheStart(t *testing.T) {
	for _, test := range []struct{ entry, want string }{
		{`{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"0.9"}`, `list it under "protocol"`},
		{`{"url":"/","protocolBinding":"GRPC","protocolVersion":"1.0"}`, `list it under "bindings"`},
		{`{"url":"https://example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"0.9"}`, ""},
		{`{"url":"grpc.example.com:443","protocolBinding":"GRPC","protocolVersion":"1.0"}`, ""},
		{`{"url":"/","protocolBinding":"https://example.com/own","protocolVersion":"1.0"}`, ""},
	} {
		card := strings.Replace(testCard, `{"url":"http://localhost/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}`, test.entry, 1)
		s, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: readCard(t, card), Skills: []server.Skill{echo()}}, server.WithLogger(slog.New(slog.DiscardHandler)))
		switch {
		case err == nil && test.want == "":
			_ = s.Close()
		case err == nil || test.want == "" || !strings.Contains(err.Error(), test.want):
			t.Errorf("%s: %v", test.entry, err)
		}
	}
}

func TestAServerWithoutRESTIsNotMadeForACardThatOffersIt(t *testing.T) {
	for entry, want := range map[string]string{
		`{"url":"/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}`:                             "server.New, not NewWithoutREST",
		`{"url":"https://elsewhere.example/a2a","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}`: "",
	} {
		card := strings.Replace(testCard, `{"url":"http://localhost/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}`, entry, 1)
		cfg := server.Config{Protocol: a2a.Protocol(), Card: readCard(t, card), Skills: []server.Skill{echo()}}
		s, err := server.NewWithoutREST(cfg, server.WithLogger(slog.New(slog.DiscardHandler)))
		if err == nil != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", entry, err)
		}
		if err != nil {
			continue
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/a2a/tasks", nil))
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: a server without HTTP+JSON answers it with %d", entry, w.Code)
		}
		_ = s.Close()
	}
}
