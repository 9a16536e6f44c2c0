package binding

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// An error that ends a stream is in the form of its version: clients of 0.3 know it by the event's name and its code.
func TestAnErrorOfAStreamIsInTheFormOfItsVersion(t *testing.T) {
	for name, tt := range map[string]struct {
		rules runtime.Rules
		want  string
	}{
		"1.0": {runtime.Rules{}, `{"error":{"code":404,`},
		"0.3": {runtime.Rules{PlainErrors: true}, "event: error\n" + `{"code":-32001,"message":"Task not found",`},
	} {
		q := new(restRequest)
		q.Agent, q.Version = new(Agent), &engine.Version{Version: &runtime.Version{Rules: tt.rules}, Unnamed: tt.rules.PlainErrors}
		if got := q.ErrorEvent() + string(q.AppendError(nil, runtime.ErrTaskNotFound)); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
