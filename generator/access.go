package generator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
)

// openAlthough says that the agent is for everybody, although its card demands credentials. Schemes that nobody has to
// bring are no contradiction: callers say by them who they are, and what they bring is checked.
func openAlthough(c *config.Config, agent *card.Card) diag.List {
	demands := slices.DeleteFunc(agent.Demands(), func(d card.Demand) bool { return d.Open() })
	if len(demands) == 0 {
		return nil
	}
	return diag.List{{
		Code: "contradiction", Severity: diag.Error, Pos: c.Open,
		Message: "the agent is for everybody, but its card demands credentials", Hint: "leave one of the two out",
		Related: []diag.Related{{Pos: demands[0].Pos, Message: "demanded here"}},
	}}
}

// verify says how generated code checks the schemes that a card declares: as a2agen.yaml says, or by what the environment of the
// agent says. A scheme that it cannot check is reported: the server starts when its author has given it a verifier.
func verify(c *config.Config, schemes []card.Scheme) (verifiers []*ir.Verifier, list diag.List) {
	for _, entry := range c.Auth {
		i := slices.IndexFunc(schemes, func(s card.Scheme) bool { return s.Name == entry.Scheme })
		if i < 0 {
			list.Errorf(entry.Pos, "unknown-scheme", knownSchemes(entry.Scheme, schemes), "the card declares no security scheme %q", entry.Scheme)
			continue
		}
		if !entry.Own {
			list.Add(append(unfit(entry, schemes[i]), placeholders(entry, schemes[i])...)...)
		}
	}
	list.Add(shared(schemes)...)
	for _, s := range schemes {
		v := &ir.Verifier{Scheme: s.Name}
		if i := slices.IndexFunc(c.Auth, func(e config.Verifier) bool { return e.Scheme == s.Name }); i >= 0 {
			if v = &c.Auth[i].Verifier; c.Auth[i].Own {
				continue
			}
		} else if kinds := s.Verifiers(); s.Kind != card.HTTPAuth || len(kinds) == 1 {
			v.Kind = kinds[0]
		} else {
			list.Add(diag.Diagnostic{
				Code: "not-verified", Severity: diag.Warning, Pos: s.Pos,
				Message: fmt.Sprintf("generated code cannot check the scheme %q, and the server does not start until something does", s.Name),
				Hint:    fmt.Sprintf("say under auth in a2agen.yaml whose tokens are good, or \"%s: own\" for a verifier of yours in main.go: server.WithAuth(auth.Verifiers{%q: …})", s.Name, s.Name),
			})
			continue
		}
		verifiers = append(verifiers, v)
	}
	slices.SortFunc(verifiers, func(a, b *ir.Verifier) int { return cmp.Compare(a.Scheme, b.Scheme) })
	return verifiers, list
}

// placeholders reports what init has written in the place of an issuer or an audience that it cannot know.
func placeholders(entry config.Verifier, s card.Scheme) (list diag.List) {
	hint := "put yours there, or leave it out for what the environment says"
	if s.Kind == card.OpenIDConnect {
		hint = "put the agent's own address there, and the provider's into openIdConnectUrl of agent.yaml"
	}
	for _, v := range append([]string{entry.Issuer}, entry.Audience...) {
		if v == card.PlaceholderIssuer || v == card.PlaceholderAudience {
			list.Warnf(entry.Pos, "placeholder", hint, "%s is a placeholder: until it is replaced, nobody's token is good", v)
		}
	}
	return list
}

// shared reports two schemes that the agent's environment could not tell apart.
func shared(schemes []card.Scheme) (list diag.List) {
	names := schemeNames(schemes)
	first, second, variable := auth.SharedEnv(names)
	if variable == "" {
		return nil
	}
	list.Add(diag.Diagnostic{
		Code: "same-variable", Severity: diag.Error, Pos: schemes[slices.Index(names, second)].Pos, Hint: "name one of them otherwise",
		Message: fmt.Sprintf("the environment variable %s belongs to both schemes %q and %q", variable, first, second),
		Related: []diag.Related{{Pos: schemes[slices.Index(names, first)].Pos, Message: "first here"}},
	})
	return list
}

func schemeNames(schemes []card.Scheme) []string {
	names := make([]string, len(schemes))
	for i, s := range schemes {
		names[i] = s.Name
	}
	return names
}

// knownSchemes is the remedy for an entry of a scheme that is not there.
func knownSchemes(name string, schemes []card.Scheme) string {
	if hint := suggest.Key(name, schemeNames(schemes)); hint != "" {
		return hint
	}
	return "declare it under securitySchemes in agent.yaml, or remove the entry"
}

// unfit reports an entry that is not for a scheme of that kind, or lacks what the scheme does not say.
func unfit(entry config.Verifier, s card.Scheme) (list diag.List) {
	kinds := s.Verifiers()
	at := []diag.Related{{Pos: s.Pos, Message: "declared here"}}
	switch {
	case !slices.Contains(kinds, entry.Kind):
		var keys []string
		for _, k := range kinds {
			keys = append(keys, entryKeys[k])
		}
		list.Add(diag.Diagnostic{
			Code: "other-kind", Severity: diag.Error, Pos: entry.Pos, Related: at,
			Message: fmt.Sprintf("the entry says %s, which is not how the scheme %q is checked", entryKeys[entry.Kind], s.Name),
			Hint:    "write " + strings.Join(slices.Compact(keys), " or "),
		})
	case entry.Kind.Tokens() && entry.Issuer == "" && !s.Issuer:
		list.Add(diag.Diagnostic{
			Code: "no-issuer", Severity: diag.Error, Pos: entry.Pos, Related: at,
			Message: fmt.Sprintf("nobody says who makes the tokens of the scheme %q", s.Name),
			Hint:    "add issuer: the URL that tokens have as iss",
		})
	}
	return list
}

// entryKeys are what an entry has that is of a kind.
var entryKeys = map[ir.VerifierKind]string{
	ir.Keys: "keys", ir.Passwords: "passwords", ir.Certificates: "ca, proxies or callers", ir.JWT: "issuer and audience", ir.Introspection: "issuer and audience",
}

// unreachable reports demands that no caller can meet over a binding, because it has no place for an API key in a query or
// a cookie.
func unreachable(agent *card.Card, bindings []string) (list diag.List) {
	schemes := agent.Schemes()
	for _, b := range runtime.Bindings {
		if !slices.Contains(bindings, b.Name) {
			continue
		}
		impossible := func(name string) bool {
			return slices.ContainsFunc(schemes, func(s card.Scheme) bool {
				return s.Name == name && s.Kind == card.APIKey && !slices.Contains(b.Keys, s.In)
			})
		}
		for _, d := range agent.Demands() {
			if !slices.ContainsFunc(d.Alternatives, func(names []string) bool { return !slices.ContainsFunc(names, impossible) }) {
				list.Errorf(d.Pos, "not-over-"+strings.ToLower(b.Name),
					"add an alternative with a key in a header or a token, or take "+b.Name+" out of bindings in a2agen.yaml",
					"nobody can meet this over %s, which has no place for an API key in a query or a cookie", b.Title)
			}
		}
	}
	return list
}

// TakesTokens reports whether the agent of a card checks tokens of an issuer.
func TakesTokens(c *config.Config, cardSource []byte) bool {
	agent := &ir.Agent{}
	agent.Verifiers, _ = verify(c, card.SchemesOf("", cardSource))
	return agent.Tokens()
}
