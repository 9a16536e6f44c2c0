package server

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// TestAnErrorInAStream is an event called error for clients of 0.3, which know it by that, and one of data for others.
func TestAnErrorInAStream(t *testing.T) {
	s := hosted(t, nil, Limits{})
	defer func() { _ = s.Close() }()
	for name, tt := range map[string]struct {
		rules runtime.Rules
		want  string
	}{
		"1.0": {runtime.Rules{}, `data: {"error":{"code":404,`},
		"0.3": {runtime.Rules{PlainErrors: true}, "event: error\n" + `data: {"code":-32001,"message":"Task not found",`},
	} {
		w := httptest.NewRecorder()
		q := &restRequest{exchange: s.exchange(w, httptest.NewRequest("GET", "/", nil), runtime.BindingHTTP)}
		q.Version, q.Op = &engine.Version{Version: &runtime.Version{Rules: tt.rules}}, &runtime.Operation{}
		events := q.events(q)
		events.failure(runtime.ErrTaskNotFound)
		if got := w.Body.String(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
