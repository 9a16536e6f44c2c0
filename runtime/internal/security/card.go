// Package security reads what a card demands of callers: its security schemes and requirements.
package security

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// ErrMalformed: a credential does not have the syntax of its scheme, or there are two.
var ErrMalformed = errors.New("the credential is malformed")

// Malformed returns an [ErrMalformed] that says why.
func Malformed(how string) error { return fmt.Errorf("%w: %s", ErrMalformed, how) }

// Scheme is a security scheme of a card.
type Scheme struct {
	Name string // in the card
	Kind Kind
	In   string // where an API key is, of [runtime.KeyPlaces]
	Key  string // the name of that header, parameter or cookie
	HTTP string // the name of the HTTP authentication scheme, in lower case
	URL  string // where OpenID Connect or OAuth 2 describes itself

	About *About // what else the card says of it, which is for those who get credentials; nil for nothing
}

// About is what a card says of a scheme for those who get credentials of it.
type About struct {
	Description  string
	BearerFormat string
	Flows        map[string]Flow // of OAuth 2, by their keys in cards: "clientCredentials"
}

// Flow is a flow of OAuth 2, as cards have it.
type Flow struct {
	AuthorizationURL, DeviceAuthorizationURL, TokenURL, RefreshURL string
	Scopes                                                         map[string]string
	PKCERequired                                                   bool
}

// Tokens reports whether the scheme's credential is a bearer token.
func (s *Scheme) Tokens() bool {
	return s.Kind == OpenIDConnect || s.Kind == OAuth2 || s.Kind == HTTP && s.HTTP == Bearer
}

// Rank orders schemes by how well they identify a caller, the best first.
func (s *Scheme) Rank() int {
	if s.Tokens() {
		return 0
	}
	return 1 + int(s.Kind)
}

// Need is one scheme with the scopes that it must grant.
type Need struct {
	Scheme string
	Scopes []string
}

// Requirement is satisfied if all its needs are. An empty one is satisfied by every request.
type Requirement []Need

// Demands are what a card requires: one of the agent's requirements must be satisfied, if it has any, and for a skill
// also one of the skill's.
type Demands struct {
	Schemes []Scheme // by name
	Agent   []Requirement
	Skills  map[string][]Requirement // by id
	Hidden  map[string]bool          // those of Skills that are for few to know, by id
}

// Any reports whether callers need credentials, be it for one skill only. An empty requirement makes its alternatives
// optional.
func (d *Demands) Any() bool {
	demanded := func(rs []Requirement) bool {
		return len(rs) > 0 && !slices.ContainsFunc(rs, func(r Requirement) bool { return len(r) == 0 })
	}
	return demanded(d.Agent) || slices.ContainsFunc(slices.Collect(maps.Values(d.Skills)), demanded)
}

// Needed returns the schemes whose credentials a message needs, by the first alternative of the agent and of the
// skill (unless that is ""); none where there is an empty requirement.
func (d *Demands) Needed(skill string) (schemes []Scheme) {
	for _, rs := range [][]Requirement{d.Agent, d.Skills[skill]} {
		if len(rs) == 0 || slices.ContainsFunc(rs, func(r Requirement) bool { return len(r) == 0 }) {
			continue
		}
		for _, n := range rs[0] {
			if s := d.Schemes[d.Index(n.Scheme)]; !slices.Contains(schemes, s) {
				schemes = append(schemes, s)
			}
		}
	}
	return schemes
}

// Demanded returns the schemes that requirements name, sorted, including alternatives of an empty one.
func (d *Demands) Demanded() (names []string) {
	for _, r := range slices.Concat(append(slices.Collect(maps.Values(d.Skills)), d.Agent)...) {
		for _, n := range r {
			names = append(names, n.Scheme)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// With adds the skills and schemes of an extended card.
func (d *Demands) With(extended *Demands) *Demands {
	all := &Demands{
		Schemes: slices.Clone(d.Schemes), Agent: d.Agent, Skills: maps.Clone(d.Skills), Hidden: map[string]bool{},
	}
	for _, s := range extended.Schemes {
		if d.Index(s.Name) < 0 {
			all.Schemes = append(all.Schemes, s)
		}
	}
	for id, rs := range extended.Skills {
		all.Hidden[id] = d.Skills[id] == nil
		all.Skills[id] = rs
	}
	return all
}

// cardRequirements are requirements as cards write them: since 1.0, and before.
type cardRequirements struct {
	SecurityRequirements []struct {
		Schemes map[string]struct{ List []string }
	}
	Security []map[string][]string
}

// CardScheme is what cards of any version say of a scheme. Since 1.0 it stands under the key of the kind.
type CardScheme struct {
	Type, In, Location, Name, Scheme    string
	OpenIDConnectURL, OAuth2MetadataURL string
	About
}

// ReadCard reads what a card of any version requires. A fault in it is an error.
func ReadCard(card []byte) (*Demands, error) {
	d, faults, err := Read(card)
	if err == nil && len(faults) > 0 {
		err = faults[0]
	}
	if err != nil {
		return nil, err
	}
	return d, d.check()
}

// Read is [ReadCard] for somebody else's card: a scheme with a fault is left out, and requirements may name such.
func Read(card []byte) (d *Demands, faults []error, err error) {
	var c struct {
		cardRequirements
		SecuritySchemes map[string]json.RawMessage
		Authentication  struct{ Schemes []string } // 0.1
		Skills          []struct {
			ID string
			cardRequirements
		}
	}
	if err := json.Unmarshal(card, &c); err != nil {
		return nil, nil, fmt.Errorf("read the card's security: %w", err)
	}
	d = &Demands{Skills: map[string][]Requirement{}}
	for _, name := range slices.Sorted(maps.Keys(c.SecuritySchemes)) {
		s, err := readScheme(name, c.SecuritySchemes[name])
		if err != nil {
			faults = append(faults, err)
			continue
		}
		d.Schemes = append(d.Schemes, s)
	}
	if d.Agent = d.requirements(&c.cardRequirements); len(d.Schemes) == 0 {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(c.Authentication.Schemes))) {
			d.Schemes = append(d.Schemes, Scheme{Name: name, Kind: HTTP, HTTP: strings.ToLower(name)})
			d.Agent = append(d.Agent, Requirement{{Scheme: name}})
		}
	}
	for _, skill := range c.Skills {
		if rs := d.requirements(&skill.cardRequirements); len(rs) > 0 {
			d.Skills[skill.ID] = rs
		}
	}
	return d, faults, nil
}

// readScheme reads a scheme: under the key of its kind, or by its type.
func readScheme(name string, written json.RawMessage) (Scheme, error) {
	s := Scheme{Name: name}
	kind, text, err := kindOf(written)
	if err != nil {
		return s, fmt.Errorf("read the card's security scheme %q: %w", name, err)
	}
	if kind == nil {
		return s, fmt.Errorf("the card's security scheme %q is of no known kind", name)
	}
	s.Kind = kind.Kind
	kind.Read(&s, &text)
	if a := &text.About; a.Description != "" || a.BearerFormat != "" || len(a.Flows) > 0 {
		s.About = a
	}
	if s.Kind == APIKey && (s.Key == "" || !slices.Contains(runtime.KeyPlaces, s.In)) {
		return s, fmt.Errorf("the card's security scheme %q does not say where its key is", name)
	}
	return s, nil
}

// kindOf finds the kind of a scheme and reads what the card says of it; nil if it is of no known kind.
func kindOf(written json.RawMessage) (kind *KindInfo, text CardScheme, err error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(written, &keys); err != nil {
		return nil, text, err
	}
	for i := range Kinds {
		if body := keys[Kinds[i].Key]; body != nil && string(body) != "null" {
			err := json.Unmarshal(body, &text)
			return &Kinds[i], text, err
		}
	}
	if err := json.Unmarshal(written, &text); err != nil {
		return nil, text, err
	}
	for i := range Kinds {
		if Kinds[i].Type == text.Type {
			return &Kinds[i], text, nil
		}
	}
	return nil, text, nil
}

// requirements reads requirements. The first need of each is the one that names the caller.
func (d *Demands) requirements(c *cardRequirements) (all []Requirement) {
	for _, written := range c.SecurityRequirements {
		r := Requirement{}
		for _, name := range slices.SortedFunc(maps.Keys(written.Schemes), d.compare) {
			r = append(r, Need{name, written.Schemes[name].List})
		}
		all = append(all, r)
	}
	if len(c.SecurityRequirements) == 0 {
		for _, written := range c.Security {
			r := Requirement{}
			for _, name := range slices.SortedFunc(maps.Keys(written), d.compare) {
				r = append(r, Need{name, written[name]})
			}
			all = append(all, r)
		}
	}
	return all
}

// compare orders the schemes of a requirement: first the one that identifies a caller best.
func (d *Demands) compare(a, b string) int {
	return cmp.Or(d.rank(a)-d.rank(b), strings.Compare(a, b))
}

func (d *Demands) rank(name string) int {
	if i := d.Index(name); i >= 0 {
		return d.Schemes[i].Rank()
	}
	return -1
}

// Index returns the index of a scheme by its name; -1 if there is none.
func (d *Demands) Index(name string) int {
	return slices.IndexFunc(d.Schemes, func(s Scheme) bool { return s.Name == name })
}

// check rejects requirements of schemes that the card does not declare.
func (d *Demands) check() error {
	known := func(of string, rs []Requirement) error {
		for _, r := range rs {
			for _, n := range r {
				if d.Index(n.Scheme) < 0 {
					return fmt.Errorf("%s demands %q, which is none of the card's security schemes", of, n.Scheme)
				}
			}
		}
		return nil
	}
	if err := known("the card", d.Agent); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(d.Skills)) {
		if err := known("the skill "+id, d.Skills[id]); err != nil {
			return err
		}
	}
	return nil
}
