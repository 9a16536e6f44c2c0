// Package guard checks the credentials of requests by what a card demands, with the verifiers of package auth.
package guard

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/security"
)

// Options are what a [Guard] needs in addition to a card and verifiers.
type Options struct {
	Realm    string // in challenges
	URL      string // the agent's public one; "" if it is not fixed
	Metadata string // where the resource metadata of RFC 9728 are; "" if nowhere
	// Origins reports whether web pages of an origin may use cookies; nil: none of another origin may.
	Origins func(origin string) bool
	Getenv  func(name string) string
	Now     func() time.Time
}

// Guard checks requests.
type Guard struct {
	demands  *security.Demands
	schemes  []guarded // as Demands.Schemes
	ranked   []int     // their indexes, those first that say best who calls
	agent    []requirement
	skills   map[string][]requirement
	realm    string
	metadata string
	origins  func(string) bool
	urlKeys  []string // names of keys in a query
}

// guarded is a scheme with its verifier.
type guarded struct {
	security.Scheme
	verifier auth.Verifier
}

// requirement is a [Requirement] whose schemes are indexes.
type requirement []need

type need struct {
	scheme int
	scopes []string
}

// New returns a guard. It fails if a scheme of the card has no verifier, or one that cannot be prepared.
func New(d *security.Demands, vs auth.Verifiers, o Options) (*Guard, error) {
	g := &Guard{
		demands: d, skills: map[string][]requirement{}, realm: o.Realm, metadata: o.Metadata, origins: o.Origins,
	}
	if err := checkEnv(d); err != nil {
		return nil, err
	}
	for i, s := range d.Schemes {
		v := vs[s.Name]
		if v == nil {
			return nil, fmt.Errorf("the card declares the security scheme %q, which nothing verifies: give it an entry under "+
				"\"auth\" in a2agen.yaml, or a verifier by server.WithAuth", s.Name)
		}
		if p, ok := v.(auth.Preparer); ok {
			if err := p.Prepare(&auth.Setup{Scheme: s, URL: o.URL, Getenv: o.Getenv, Now: o.Now}); err != nil {
				return nil, fmt.Errorf("security scheme %q: %w", s.Name, err)
			}
		}
		if s.Kind == security.APIKey && s.In == "query" {
			g.urlKeys = append(g.urlKeys, s.Key)
		}
		if s.Kind == security.APIKey && s.In == "header" {
			s.Key = textproto.CanonicalMIMEHeaderKey(s.Key)
		}
		g.schemes = append(g.schemes, guarded{s, v})
		g.ranked = append(g.ranked, i)
	}
	for name := range vs {
		if d.Index(name) < 0 {
			return nil, fmt.Errorf("there is a verifier for %q, which is none of the card's security schemes", name)
		}
	}
	slices.SortStableFunc(g.ranked, func(a, b int) int { return g.schemes[a].Rank() - g.schemes[b].Rank() })
	g.agent = g.requirements(d.Agent)
	for id, rs := range d.Skills {
		g.skills[id] = g.requirements(rs)
	}
	return g, nil
}

func (g *Guard) requirements(rs []security.Requirement) (out []requirement) {
	for _, r := range rs {
		all := requirement{}
		for _, n := range r {
			all = append(all, need{g.demands.Index(n.Scheme), n.Scopes})
		}
		out = append(out, all)
	}
	return out
}

// Demands returns what the guard checks.
func (g *Guard) Demands() *security.Demands { return g.demands }

// GuardsSkills reports whether some skill has requirements of its own.
func (g *Guard) GuardsSkills() bool { return len(g.skills) > 0 }

// KeyHeaders returns the names of the headers that hold API keys. A nil guard has none.
func (g *Guard) KeyHeaders() (names []string) {
	if g == nil {
		return nil
	}
	for i := range g.schemes {
		if s := &g.schemes[i]; s.Kind == security.APIKey && s.In == "header" {
			names = append(names, s.Key)
		}
	}
	return names
}

// Issuers returns the issuers of accepted tokens, as far as verifiers name them.
func (g *Guard) Issuers() (issuers []string) {
	for i := range g.schemes {
		if v, ok := g.schemes[i].verifier.(interface{ Issuer() string }); ok {
			issuers = union(issuers, []string{v.Issuer()})
		}
	}
	return issuers
}

// Certificates reports whether a scheme is that of client certificates, and returns the accepted authorities if its
// verifier names them.
func (g *Guard) Certificates() (wanted bool, of *x509.CertPool) {
	for i := range g.schemes {
		if g.schemes[i].Kind != security.MutualTLS {
			continue
		}
		wanted = true
		if v, ok := g.schemes[i].verifier.(interface{ ClientCAs() *x509.CertPool }); ok {
			of = v.ClientCAs()
		}
	}
	return wanted, of
}

// Tokens reports whether a scheme uses bearer tokens.
func (g *Guard) Tokens() bool {
	return slices.ContainsFunc(g.schemes, func(s guarded) bool { return s.Tokens() })
}

// Scopes returns all scopes that the public card's requirements name, of schemes with tokens, sorted.
func (g *Guard) Scopes() (scopes []string) {
	add := func(rs []requirement) {
		for _, r := range rs {
			for _, n := range r {
				if g.schemes[n.scheme].Tokens() {
					scopes = union(scopes, n.scopes)
				}
			}
		}
	}
	add(g.agent)
	for id, rs := range g.skills {
		if !g.demands.Hidden[id] {
			add(rs)
		}
	}
	slices.Sort(scopes)
	return scopes
}

// Grant is a request that is let in.
type Grant struct {
	Caller  *auth.Caller  // nil: anonymous
	Request *http.Request // without API keys in its URL, which nothing behind the guard may see
	// Until is the earliest expiry of the credentials that were needed so far; zero: none expires.
	Until time.Time

	g    *Guard
	r    *http.Request
	few  [4]found    // by scheme
	many []found     // in place of few, for more schemes
	held requirement // the agent's requirement that is satisfied
}

// found is the result of checking a scheme.
type found struct {
	done   bool
	caller *auth.Caller
	err    error
}

// Check lets a request in that satisfies what the agent requires, or returns why not. It reads the header only.
func (g *Guard) Check(r *http.Request) (*Grant, *Denial) {
	t := &Grant{g: g, r: r}
	if len(g.schemes) > len(t.few) {
		t.many = make([]found, len(g.schemes))
	}
	if denial := t.admit(); denial != nil {
		return nil, denial
	}
	t.Request = g.redact(r)
	return t, nil
}

// admit finds the first of the agent's requirements that is satisfied, and the caller.
func (t *Grant) admit() *Denial {
	open := len(t.g.agent) == 0
	for _, req := range t.g.agent {
		if open = open || len(req) == 0; len(req) > 0 && t.meets(req) == met {
			t.held, t.Caller = req, t.together(req)
			return nil
		}
	}
	if !open {
		return t.deny(t.g.agent)
	}
	return t.identify()
}

// together returns the caller of a requirement that is satisfied. The first credential names the caller; the rights
// are those that all of them have: the earliest expiry, and the tenants of each.
func (t *Grant) together(req requirement) *auth.Caller {
	first := t.needed(req)
	if len(req) == 1 {
		return first
	}
	caller := *first
	caller.Expires = t.Until
	for _, n := range req[1:] {
		other := t.look(n.scheme).caller
		if caller.Tenants == nil {
			caller.Tenants = other.Tenants
			continue
		}
		caller.Tenants = slices.DeleteFunc(slices.Clone(caller.Tenants), func(tenant string) bool { return !other.MayActFor(tenant) })
	}
	return &caller
}

// needed records the earliest expiry of the credentials of a requirement, and returns the caller whom the first one
// names.
func (t *Grant) needed(req requirement) *auth.Caller {
	for _, n := range req {
		if e := t.look(n.scheme).caller.Expires; !e.IsZero() && (t.Until.IsZero() || e.Before(t.Until)) {
			t.Until = e
		}
	}
	return t.look(req[0].scheme).caller
}

// actFor reports whether all credentials of a satisfied requirement are for a tenant.
func (t *Grant) actFor(req requirement, tenant string) bool {
	return !slices.ContainsFunc(req, func(n need) bool { return !t.look(n.scheme).caller.MayActFor(tenant) })
}

// Unidentified rejects an anonymous caller, for what only authenticated callers may have. Any of the schemes would
// do.
func (g *Guard) Unidentified(reason error) *Denial {
	d := &Denial{Status: http.StatusUnauthorized, reason: reason.Error()}
	for _, i := range g.ranked {
		d.Challenges = union(d.Challenges, []string{g.challenge(&g.schemes[i].Scheme, nil, "")})
	}
	return d
}

// identify finds the caller where the agent requires nothing: the first valid credential names the caller (decision
// 039). A request with wrong credentials only is rejected, so that nobody is anonymous by mistake.
func (t *Grant) identify() *Denial {
	var wrong []requirement
	for _, i := range t.g.ranked {
		switch f := t.look(i); {
		case f.err == nil:
			t.Caller = t.needed(requirement{{scheme: i}})
			return nil
		case !errors.Is(f.err, auth.ErrNone):
			wrong = append(wrong, requirement{{scheme: i}})
		}
	}
	if wrong == nil {
		return nil
	}
	return t.deny(wrong)
}

// Skill returns why the caller may not use a skill for a tenant; nil if the caller may.
func (t *Grant) Skill(id, tenant string) *Denial {
	rs := t.g.skills[id]
	if len(rs) == 0 {
		return nil
	}
	for _, req := range rs {
		if len(req) == 0 {
			return nil
		}
		if t.meets(req) == met && t.actFor(req, tenant) {
			t.needed(req)
			return nil
		}
	}
	return t.deny(rs)
}

// The outcomes of checking a requirement, the worst last.
type outcome uint8

const (
	met    outcome = iota
	scoped         // but for scopes
	unsure         // perhaps
	unmet
)

// Lacks rejects a caller for missing scopes.
func (t *Grant) Lacks(scopes []string) *Denial {
	return t.deny([]requirement{{{scheme: t.g.demands.Index(t.Caller.Scheme), scopes: scopes}}})
}

// meets checks all needs of a requirement, and returns the worst outcome.
func (t *Grant) meets(req requirement) outcome {
	worst := met
	for _, n := range req {
		f := t.look(n.scheme)
		how := met
		switch u := (*auth.Unavailable)(nil); {
		case errors.As(f.err, &u):
			how = unsure
		case f.err != nil:
			how = unmet
		case !f.caller.Has(n.scopes...):
			how = scoped
		}
		worst = max(worst, how)
	}
	return worst
}

// of returns the result of a scheme, which may not be there yet.
func (t *Grant) of(i int) *found {
	if t.many != nil {
		return &t.many[i]
	}
	return &t.few[i]
}

// look checks a scheme's credential, once for each request.
func (t *Grant) look(i int) *found {
	f, s := t.of(i), &t.g.schemes[i]
	if f.done {
		return f
	}
	f.done = true
	c, err := t.g.credential(&s.Scheme, t.r)
	if err != nil {
		f.err = err
		return f
	}
	caller, err := s.verifier.Verify(t.r.Context(), c)
	switch {
	case err != nil:
		f.err = err
	case caller.ID == "":
		f.err = fmt.Errorf("%w: it names nobody", auth.ErrWrong)
	default:
		caller.Scheme = s.Name
		f.caller = &caller
	}
	return f
}

// deny returns why none of the requirements is satisfied, with a challenge for each that would be.
func (t *Grant) deny(rs []requirement) *Denial {
	best := unmet
	for _, req := range rs {
		if len(req) > 0 {
			best = min(best, t.meets(req))
		}
	}
	d := &Denial{Status: http.StatusUnauthorized}
	switch best {
	case met, scoped: // met, but for another tenant
		d.Status = http.StatusForbidden
	case unsure:
		d.Status = http.StatusServiceUnavailable
	}
	var reasons []string
	for _, req := range rs {
		if best == scoped && t.meets(req) != scoped {
			continue // these scopes are what is missing
		}
		for _, n := range req {
			t.explain(d, n, best)
			reasons = append(reasons, t.reason(n))
		}
	}
	d.reason = strings.Join(reasons, "; ")
	return d
}

// explain adds the challenge of a need.
func (t *Grant) explain(d *Denial, n need, best outcome) {
	f, s, failure := t.look(n.scheme), &t.g.schemes[n.scheme], ""
	switch u := (*auth.Unavailable)(nil); {
	case best == unsure:
		if errors.As(f.err, &u) {
			d.RetryAfter = max(d.RetryAfter, u.After)
		}
		return
	case f.err == nil && best == scoped:
		failure = "insufficient_scope"
	case errors.Is(f.err, security.ErrMalformed):
		failure = "invalid_request"
	case f.err != nil && !errors.Is(f.err, auth.ErrNone):
		failure = "invalid_token"
	}
	scopes := n.scopes
	for _, held := range t.held {
		if held.scheme == n.scheme {
			scopes = union(held.scopes, scopes)
		}
	}
	if c := t.g.challenge(&s.Scheme, scopes, failure); !slices.Contains(d.Challenges, c) {
		d.Challenges = append(d.Challenges, c)
	}
}

// reason says for the log what is wrong with a need.
func (t *Grant) reason(n need) string {
	f, name := t.look(n.scheme), t.g.schemes[n.scheme].Name
	switch {
	case f.err != nil:
		return fmt.Sprintf("%s: %v", name, f.err)
	case !f.caller.Has(n.scopes...):
		return fmt.Sprintf("%s: %s does not have the scopes %q", name, f.caller.Principal(), n.scopes)
	}
	return name + ": good"
}

// redact removes the API keys from a request's URL.
func (g *Guard) redact(r *http.Request) *http.Request {
	if len(g.urlKeys) == 0 || r.URL.RawQuery == "" {
		return r
	}
	clean, u := *r, *r.URL
	u.RawQuery = g.withoutKeys(u.RawQuery)
	clean.URL, clean.RequestURI = &u, u.RequestURI()
	return &clean
}

// withoutKeys removes API keys from a query. It also removes names that cannot be decoded, which may be keys.
func (g *Guard) withoutKeys(query string) string {
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err == nil && !slices.Contains(g.urlKeys, name) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// checkEnv rejects schemes that would share an environment variable.
func checkEnv(d *security.Demands) error {
	names := make([]string, len(d.Schemes))
	for i, s := range d.Schemes {
		names[i] = s.Name
	}
	if first, second, variable := auth.SharedEnv(names); variable != "" {
		return fmt.Errorf("%s belongs to both security schemes %q and %q: name one of them otherwise", variable, first, second)
	}
	return nil
}
