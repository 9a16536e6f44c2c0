package copies

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/dev/snippet"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// start has calls #1, of agent 0, #2, of agent 1, and #3, of agent 0 over gRPC.
func start(t *testing.T) *Copies {
	t.Helper()
	log := &traffic.Log{}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
	for i, kind := range []string{"application/json", "application/json", "application/grpc"} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`))
		r.Header.Set("Content-Type", kind)
		log.Record(i%2, echo).ServeHTTP(httptest.NewRecorder(), r)
	}
	agents := func() []status.Agent {
		return []status.Agent{{URL: "http://127.0.0.1:1"}, {Number: 1, URL: "http://127.0.0.1:2"}}
	}
	return &Copies{
		Traffic: log, Agents: agents,
		Card:    func(context.Context, int) ([]byte, error) { return []byte(`{"name":"a"}`), nil },
		Project: func(context.Context, int) (*snippet.Project, error) { return &snippet.Project{}, nil },
	}
}

func (c *Copies) get(h http.HandlerFunc, path string) (*http.Response, string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if rest, ok := strings.CutPrefix(r.URL.Path, "/api/calls/"); ok {
		r.SetPathValue("id", strings.TrimSuffix(rest, "/copy"))
	}
	h(w, r)
	return w.Result(), w.Body.String()
}

// TestCallsBecomeARecording with the card that clients begin with, also while the agent is down.
func TestCallsBecomeARecording(t *testing.T) {
	c := start(t)
	resp, said := c.get(c.Recording, "/api/recording?calls=1,3")
	if resp.StatusCode != 200 || !strings.HasPrefix(said, `{"type":"recording","format":1`) || !strings.Contains(said, `"body":{"name":"a"}`) ||
		!strings.Contains(said, `"operation":"GetTask"`) || !strings.HasPrefix(resp.Header.Get(leftHeader), "#3: ") {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, said)
	}
	c.Card = func(context.Context, int) ([]byte, error) { return nil, errors.New("down") }
	if resp, said := c.get(c.Recording, "/api/recording?calls=1"); resp.StatusCode != 200 || strings.Contains(said, "agent-card") {
		t.Errorf("%d %s", resp.StatusCode, said)
	}
}

// TestWhatCannotBeCopiedSaysWhy, with a status of HTTP that fits.
func TestWhatCannotBeCopiedSaysWhy(t *testing.T) {
	c := start(t)
	for calls, want := range map[string]struct {
		status int
		said   string
	}{
		"":     {400, "separated by commas"},
		"1,x":  {400, "separated by commas"},
		"9":    {404, "#9 is no longer kept"},
		"1,2":  {400, "of several agents"},
		"3":    {422, "gRPC"},
		"1,-1": {404, "no longer kept"},
	} {
		if resp, said := c.get(c.Recording, "/api/recording?calls="+calls); resp.StatusCode != want.status || !strings.Contains(said, want.said) {
			t.Errorf("%q: %d %s", calls, resp.StatusCode, said)
		}
	}
}

// TestACallIsCopied in the words that are asked for.
func TestACallIsCopied(t *testing.T) {
	c := start(t)
	for path, want := range map[string]struct {
		status int
		said   string
	}{
		"1/copy?as=curl": {200, "{\"text\":\"curl -sS http://127.0.0.1:1/ "},
		"1/copy?as=go":   {422, "no typed client"},
		"1/copy?as=test": {422, "no typed client"},
		"1/copy?as=x":    {422, "as curl, go or test"},
		"3/copy?as=curl": {422, "gRPC"},
		"9/copy?as=curl": {404, "no longer kept"},
		"x/copy?as=curl": {404, "no longer kept"},
	} {
		if resp, said := c.get(c.Copy, "/api/calls/"+path); resp.StatusCode != want.status || !strings.Contains(said, want.said) {
			t.Errorf("%q: %d %s", path, resp.StatusCode, said)
		}
	}
}
