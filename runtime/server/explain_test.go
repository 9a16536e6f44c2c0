package server

import (
	"bytes"
	"testing"

	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// TestWhatOnlyTheAgentKnowsIsALine of JSON.
func TestWhatOnlyTheAgentKnowsIsALine(t *testing.T) {
	var out bytes.Buffer
	teller[*engine.Choice](ChoiceLine, &out)(&engine.Choice{Message: "m", Rule: "only", Skill: "talk"})
	teller[engine.OtherCall](CallLine, &out)(engine.OtherCall{Task: "t", Agent: "http://a", Skill: "s", Message: "k"})
	want := `a2agen: chosen {"message":"m","rule":"only","skill":"talk","candidates":null}
a2agen: calls {"task":"t","agent":"http://a","skill":"s","message":"k"}
`
	if out.String() != want {
		t.Error(out.String())
	}
}
