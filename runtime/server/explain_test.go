package server

import (
	"bytes"
	"testing"

	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// TestChoicesAreToldToWhoAsks as lines of JSON, and to nobody else.
func TestChoicesAreToldToWhoAsks(t *testing.T) {
	if tellChoices("", nil) != nil {
		t.Error("choices are made up for nobody")
	}
	var out bytes.Buffer
	tellChoices("1", &out)(&engine.Choice{Message: "m", Rule: "only", Skill: "talk"})
	if want := `a2agen: chosen {"message":"m","rule":"only","skill":"talk","candidates":null}` + "\n"; out.String() != want {
		t.Error(out.String())
	}
}
