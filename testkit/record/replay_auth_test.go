package record_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2agen/a2agen/a2a/a2aclient"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/testkit/record"
)

// withToken is an agent whose only token is "second-token".
func withToken(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	body := `{"name":"w","description":"d","version":"1","capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"supportedInterfaces":[{"url":"https://w.test/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"securitySchemes":{"corp":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},"securityRequirements":[{"schemes":{"corp":{"list":[]}}}],
		"skills":[{"id":"chat","name":"Chat","description":"d","tags":["t"]}]}`
	status := http.StatusOK
	switch {
	case r.Method == http.MethodGet:
	case r.Header.Get("Authorization") == "Bearer second-token":
		body = `{"jsonrpc":"2.0","id":2,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello, second-token"}]}}}`
	default:
		status = http.StatusUnauthorized
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// tokens is a source whose first token is not accepted.
type tokens struct{}

func (tokens) Token(_ context.Context, need rpc.TokenNeed) (string, error) {
	if need.Rejected == "" {
		return "first-token", nil
	}
	return "second-token", nil
}

// TestARecordingNeedsNoCredentials: a test that was recorded with some makes the same requests without, also where a token was renewed.
func TestARecordingNeedsNoCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "quote.jsonl")
		talk := func(opts ...rpc.Option) string {
			return try(t, func(t *trial) {
				replay := record.Replay(t, file, record.Over(transport(withToken)))
				c, err := a2aclient.New(t.Context(), "https://w.test", append(opts, replay)...)
				if err != nil {
					t.Fatal(err)
				}
				result, err := chat.Call(t.Context(), c.RPC(), "hello")
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(result.Text(), "hello, ") {
					t.Errorf("said %s", result.Text())
				}
			})
		}
		if err := os.Setenv(record.Env, "true"); err != nil {
			t.Fatal(err)
		}
		said := talk(rpc.WithToken("corp", tokens{}))
		if err := os.Unsetenv(record.Env); err != nil || said != "" {
			t.Fatal(said, err)
		}
		if written := text(t, file); strings.Contains(written, "-token") || strings.Count(written, `"type":"request"`) != 3 {
			t.Errorf("written:\n%s", written)
		}
		noSecret := func() (rpc.TokenSource, error) { return nil, errors.New("A2A_CLIENT_CORP_SECRET is not set") }
		for name, opts := range map[string][]rpc.Option{
			"none": nil, "those of the recording": {rpc.WithToken("corp", tokens{})}, "a source that needs secrets": {rpc.WithTokensOf("corp", noSecret)},
		} {
			if said := talk(opts...); said != "" {
				t.Errorf("%s: %s", name, said)
			}
		}
	})
}
