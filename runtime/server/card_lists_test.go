package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
)

// listed reads a card as a2a-go 2.4.0 does, which fails on the specified form.
func listed(card string) string {
	var c struct {
		SecurityRequirements []struct{ Schemes map[string][]string }
		Skills               []struct {
			SecurityRequirements []struct{ Schemes map[string][]string }
		}
	}
	if err := json.Unmarshal([]byte(card), &c); err != nil {
		return err.Error()
	}
	return fmt.Sprint(c)
}

// TestCardsHaveRequirementsAsListsWhereThatIsAsked: the public card and the extended one, in every version and binding with a card of
// 1.0; what is demanded stays the same.
func TestCardsHaveRequirementsAsListsWhereThatIsAsked(t *testing.T) {
	declared := strings.NewReplacer(
		`"securitySchemes":{`, `"securityRequirements":[{"schemes":{"key":{},"token":{"list":["read","a<b"]}}},{}],"securitySchemes":{"token":{"httpAuthSecurityScheme":{"scheme":"bearer"}},`,
		`"id":"open",`, `"id":"open","securityRequirements":[{"schemes":{"token":{"list":["gold"]}}}],`)
	const lists = `{[{map[key:[] token:[read a<b]]} {map[]}] [{[{map[token:[gold]]}]}`
	known := auth.Keys(auth.Key{Caller: "ann", SHA256: auth.HashKey("secret"), Scopes: []string{"read", "a<b", "gold"}})
	verifiers := server.WithAuth(auth.Verifiers{"key": known, "token": known})
	for _, opts := range [][]server.Option{{server.WithCompat(server.Compat{RequirementLists: true})}, nil} {
		a := extendedAgentOf(t, nil, declared, append(opts, verifiers)...)
		cards := map[string]string{}
		for name, ask := range a.asks() {
			_, cards[name] = ask("Authorization: Bearer secret", "Who: secret")
		}
		_, _, cards["1.0, the public one"] = cardOf(t, a, server.CardPath, "")
		for name, card := range cards {
			var reply struct{ Result json.RawMessage }
			if err := json.Unmarshal([]byte(card), &reply); err != nil {
				t.Fatal(err)
			}
			if reply.Result != nil {
				card = string(reply.Result)
			}
			if got := listed(card); strings.HasPrefix(name, "1.0") && strings.HasPrefix(got, lists) != (opts != nil) || !strings.Contains(card, `"a<b"`) {
				t.Errorf("%s: %s\n%s", name, got, card)
			}
		}
		if resp, _ := a.post(rpcBody("SendMessage", message("hi")), "Authorization: Bearer wrong"); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("a wrong token: %d", resp.StatusCode)
		}
	}
}
