package caller

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/dev/identity"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// TestACallIsMadeAsSomebody over each binding: with the credential, which the record has not, and without the name.
func TestACallIsMadeAsSomebody(t *testing.T) {
	locked := strings.Replace(card, `"capabilities"`, `"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}},"securityRequirements":[{"schemes":{"k":{"list":[]}}}],"capabilities"`, 1)
	who := &identity.Set{Card: func(context.Context, int) ([]byte, error) { return []byte(locked), nil }}
	r := httptest.NewRequest(http.MethodPut, "/", strings.NewReader(`{"credentials":{"k":{"secret":"k3y-of-zoe"}}}`))
	r.SetPathValue("agent", "0")
	r.SetPathValue("name", "Zoë")
	w := httptest.NewRecorder()
	if who.Change(w, r); w.Code != http.StatusNoContent {
		t.Fatal(w.Body)
	}
	for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
		a := start(t)
		a.calls.As = who.Options
		a.calls.Agent = func(context.Context, int) (string, []byte, error) { return a.URL, []byte(locked), nil }
		call := Call{Binding: binding, Version: "1.0", Operation: "SendMessage", Request: json.RawMessage(hi), Header: http.Header{identity.Header: {"Zo%C3%AB"}}}
		id, err := a.calls.Start(t.Context(), 0, call)
		if err != nil {
			t.Fatal(err)
		}
		if s := a.ended(t, id); s.Caller != "page as Zoë" || s.State != traffic.Done {
			t.Errorf("%+v", s)
		}
		if x, _ := a.log.Get(id); x.RequestHeader.Get("X-Key") != "[masked]" {
			t.Errorf("%v", x.RequestHeader)
		}
		if h := <-a.got; h.Get("X-Key") != "k3y-of-zoe" || h.Get(identity.Header) != "" {
			t.Errorf("%v", h)
		}
		call.Header = http.Header{"a2agen-dev-as": {"somebody"}}
		if _, err := a.calls.Start(t.Context(), 0, call); err == nil || !strings.Contains(err.Error(), `no identity "somebody"`) {
			t.Error(err)
		}
	}
}
