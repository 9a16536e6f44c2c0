package binding

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/a2awires"
)

// TestProtoSchemesLeaveRequirementsAsTheyAre: the two forms of 0.3 have one name for requirements, and no client reads
// both in one.
func TestProtoSchemesLeaveRequirementsAsTheyAre(t *testing.T) {
	p := a2awires.Protocol()
	card, err := p.DecodeCard([]byte(`{"name":"Desk","description":"d","version":"1","supportedInterfaces":[{"url":"https://x/rest","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"}],
		"capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"securityRequirements":[{"schemes":{"oauth":{"list":["read"]},"key":{}}}],
		"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}},
			"oauth":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"https://x/token","scopes":{"read":"Reads."}}}}}},
		"skills":[{"id":"s","name":"S","description":"s","tags":[],"securityRequirements":[{"schemes":{"key":{}}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range p.Versions {
		if v.Name != "0.3" {
			continue
		}
		plain, err := v.AppendCard(nil, card)
		if err != nil {
			t.Fatal(err)
		}
		body, err := withProtoSchemes(v, card, plain)
		if err != nil {
			t.Fatal(err)
		}
		var was, is map[string]any
		if err := json.Unmarshal(plain, &was); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(body, &is); err != nil {
			t.Fatal(err)
		}
		flow := map[string]any{"tokenUrl": "https://x/token", "scopes": map[string]any{"read": "Reads."}}
		want := map[string]any{
			"key": map[string]any{"type": "apiKey", "in": "header", "name": "X-Key", "apiKeySecurityScheme": map[string]any{"location": "header", "name": "X-Key"}},
			"oauth": map[string]any{"type": "oauth2", "flows": map[string]any{"clientCredentials": flow},
				"oauth2SecurityScheme": map[string]any{"flows": map[string]any{"clientCredentials": flow}}},
		}
		if d := cmp.Diff(want, is["securitySchemes"]); d != "" {
			t.Error(d)
		}
		was["securitySchemes"], is["securitySchemes"] = nil, nil
		if d := cmp.Diff(was, is); d != "" {
			t.Errorf("something else changed: %s", d)
		}
		return
	}
	t.Fatal("0.3 is not there")
}
