package generator

import (
	"maps"
	"slices"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/auth"
)

// credentials are the schemes of a published card for which its client has an option each, by name.
func credentials(published []byte) (list []*ir.Credential) {
	schemes, _ := auth.ReadSchemes(published) // one with a fault gets no option
	for _, s := range schemes {
		c := &ir.Credential{Scheme: s.Name, Kind: s.Kind.CardKey(), HTTP: s.HTTP, In: s.In, Key: s.Key, URL: s.URL}
		if a := s.About; a != nil {
			c.Description = a.Description
			for _, name := range slices.Sorted(maps.Keys(a.Flows)) {
				f := a.Flows[name]
				c.Flows = append(c.Flows, ir.OAuthFlow{Name: name, TokenURL: f.TokenURL, Scopes: f.Scopes})
			}
		}
		list = append(list, c)
	}
	return list
}

// GetsTokens reports whether a client of the agent of a card links what gets tokens by OAuth 2.
func GetsTokens(cardSource []byte) bool { return getsTokens(card.SchemesOf("", cardSource)) }

func getsTokens(schemes []card.Scheme) bool {
	return slices.ContainsFunc(schemes, func(s card.Scheme) bool { return s.Kind == card.OAuth2 || s.Kind == card.OpenIDConnect })
}

// GetTokens reports whether one of the clients links what gets tokens by OAuth 2.
func GetTokens(list []Reach) bool {
	return slices.ContainsFunc(list, func(r Reach) bool { return r.OAuth })
}
