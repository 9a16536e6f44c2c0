package card

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/runtime/auth"
)

// TestAKindOfSchemeIsARow: a row of what agent.yaml says, beside that of package auth, is all that a card needs of a new
// kind; and a row of what init writes makes it a choice for a new agent.
func TestAKindOfSchemeIsARow(t *testing.T) {
	kinds, declared, fresh := auth.Kinds, *securityScheme, FreshSchemes
	t.Cleanup(func() { auth.Kinds, *securityScheme, FreshSchemes = kinds, declared, fresh })
	auth.Kinds = append(slices.Clip(kinds), auth.KindInfo{Kind: auth.APIKey + 1, Key: "ticketSecurityScheme", Type: "ticket"})
	ticket := &shape.Object{Name: "ticket scheme", Fields: []*shape.Field{{Key: "name", Type: name, Required: true, Doc: "Where it is."}}}
	*securityScheme = *schemeObject(append(slices.Clip(schemeKinds), schemeKind{
		"ticketSecurityScheme", "A ticket.", ticket, map[string]string{"ticketName": "{name: …}"}, map[string][]ir.VerifierKind{"": {ir.Keys}},
	}))
	FreshSchemes = append(slices.Clip(fresh), FreshScheme{Name: "ticket", Card: "{ticketSecurityScheme: {name: X-Ticket}}"})

	text := Fresh("a", "d", nil, []string{"talk"}, "ticket")
	c, list := Read("agent.yaml", text, noFiles)
	if list.HasErrors() || c.Schemes()[0].Kind != "ticketSecurityScheme" || len(c.Demands()) != 1 {
		t.Errorf("%v\n%s", list, text)
	}
	if !strings.Contains(string(JSONSchema()), "ticketSecurityScheme") {
		t.Error("editors do not complete it")
	}
	if names := FreshSchemeNames(); names[len(names)-1] != "ticket" {
		t.Error(names)
	}
	imported, list := Import("card.json", []byte(`{"name":"N","description":"d","version":"1","url":"https://x.example","protocolVersion":"0.3.0",
		"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[],
		"securitySchemes":{"t":{"type":"ticket","name":"X-Ticket"}},"security":[{"t":[]}]}`))
	if imported == nil || imported.Schemes()[0].Kind != "ticketSecurityScheme" {
		t.Errorf("a card of 0.3: %v", list)
	}
}
