package auth

import "github.com/a2agen/a2agen/runtime/internal/security"

// What cards say of schemes and requirements; clients read them, too.
type (
	// Kind is what a scheme is.
	Kind = security.Kind
	// KindInfo is how cards write a kind of scheme.
	KindInfo = security.KindInfo
	// Scheme is a security scheme of a card.
	Scheme = security.Scheme
	// Need is one scheme with the scopes that it must grant.
	Need = security.Need
	// Requirement is satisfied if all its needs are. An empty one is satisfied by every request.
	Requirement = security.Requirement
	// Demands are what a card requires: one of the agent's requirements must be satisfied, if it has any, and for a skill
	// also one of the skill's.
	Demands = security.Demands
)

// The kinds, those first that say best who calls: of a requirement with several schemes the first one names the caller.
const (
	OpenIDConnect = security.OpenIDConnect
	OAuth2        = security.OAuth2
	HTTP          = security.HTTP // an Authorization header: bearer, basic, others
	MutualTLS     = security.MutualTLS
	APIKey        = security.APIKey
)

// Kinds are all kinds of schemes, with how cards write them.
var Kinds = security.Kinds

// ReadCard reads what a card of any version requires.
func ReadCard(card []byte) (*Demands, error) { return security.ReadCard(card) }

// ReadSchemes reads the security schemes of somebody else's card of any version, by name. Those with a fault are left out.
func ReadSchemes(card []byte) ([]Scheme, error) {
	d, _, err := security.Read(card)
	if err != nil {
		return nil, err
	}
	return d.Schemes, nil
}
