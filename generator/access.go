package generator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
)

// openAlthough says that the agent is for everybody, although its card demands credentials.
func openAlthough(c *config.Config, agent *card.Card) diag.List {
	demand := agent.Demand()
	if demand.Line == 0 {
		return nil
	}
	return diag.List{{
		Code: "contradiction", Severity: diag.Error, Pos: c.Open,
		Message: "the agent is for everybody, but its card demands credentials", Hint: "leave one of the two out",
		Related: []diag.Related{{Pos: demand, Message: "demanded here"}},
	}}
}

// verify says how generated code checks the schemes that a card declares. A scheme that it cannot check is reported: the server
// starts when its author has given it a verifier.
func verify(schemes []card.Scheme) (verifiers []*ir.Verifier, list diag.List) {
	for _, s := range schemes {
		kind := verifierOf(s)
		if kind == "" {
			list.Add(diag.Diagnostic{
				Code: "not-verified", Severity: diag.Warning, Pos: s.Pos,
				Message: fmt.Sprintf("generated code cannot check the scheme %q, and the server does not start until something does", s.Name),
				Hint:    fmt.Sprintf("give it a verifier in main.go: server.WithAuth(auth.Verifiers{%q: …})", s.Name),
			})
			continue
		}
		verifiers = append(verifiers, &ir.Verifier{Scheme: s.Name, Kind: kind})
	}
	slices.SortFunc(verifiers, func(a, b *ir.Verifier) int { return cmp.Compare(a.Scheme, b.Scheme) })
	return verifiers, list
}

// verifierOf is what checks a scheme of which nobody says how; "" when that is not to be guessed.
func verifierOf(s card.Scheme) ir.VerifierKind {
	switch {
	case s.Kind == card.APIKey:
		return ir.Keys
	case s.Kind == card.HTTPAuth && s.HTTP == "basic":
		return ir.Passwords
	case s.Kind == card.MutualTLS:
		return ir.Certificates
	case s.Kind == card.OAuth2, s.Kind == card.OpenIDConnect:
		return ir.JWT
	}
	return ""
}

// TakesTokens reports whether the agent of a card checks tokens of an issuer.
func TakesTokens(cardSource []byte) bool {
	agent := &ir.Agent{}
	agent.Verifiers, _ = verify(card.SchemesOf("", cardSource))
	return agent.Tokens()
}
