package otel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/otel"
	"github.com/a2agen/a2agen/runtime/server"
)

// secret is in everything that is nobody's business here. What schemes have of secrets is tried where all schemes are, in
// internal/test/equivalence.
const secret = "s3cret"

// TestContentsAndSecretsAreNotReported: not what messages say, nor what handlers and receivers answer, nor tokens, credentials and
// URLs.
func TestContentsAndSecretsAreNotReported(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, http.StatusInternalServerError) }))
	t.Cleanup(receiver.Close)
	for _, w := range ways() {
		t.Run(w.binding+"/"+w.version, func(t *testing.T) {
			c := newCollector()
			here := []otel.Option{otel.Agent("near"), otel.Callers()}
			who := func(r *http.Request) (string, error) { return "ann", nil }
			url := host(t, w, func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
				err := t.Progress(secret)
				return nil, errors.Join(err, errors.New(secret))
			}, server.WithObserver(c.observer(here...)), server.WithProxyIdentity(who))
			agent := dial(t, w, url, client.WithObserver(c.observer(here...)), client.DefaultHeader("Authorization", "Bearer "+secret))
			push := runtime.PushConfig{URL: receiver.URL + "/" + secret + "?key=" + secret, Token: secret, Scheme: "Bearer", Credentials: secret}
			_, err := chat.Call(t.Context(), agent, client.Say(secret), client.WithPushConfig(push), client.WithMetadata("key", secret),
				client.WithRequestMetadata("key", secret), client.IdempotencyKey(secret))
			if err == nil {
				t.Error("the handler's error is no error")
			}
			spans := c.wait(t, "client SendMessage near", "server SendMessage near", "internal run chat near", "client deliver near")
			if got := told(spans["client deliver near"][0].Attributes)["error.type"]; got != "FAILED" {
				t.Errorf("the delivery ends %q", got)
			}
			if got := told(spans["server SendMessage near"][0].Attributes)["user.id"]; !strings.HasSuffix(got, "ann") {
				t.Errorf("the call is of %q", got)
			}
			if all := fmt.Sprintf("%+v %v", c.spans.GetSpans(), c.series(t, "")); strings.Contains(all, secret) {
				t.Error(all)
			}
		})
	}
}
