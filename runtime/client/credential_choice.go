package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/security"
)

// maxAlternatives limits the alternatives that are tried, of the agent's and of a skill's.
const maxAlternatives = 32

// credentials holds the credentials for the agent, from options and from the environment, and what its card demands.
type credentials struct {
	given  map[string]credential // by the scheme's name
	env    *environment          // nil: it is not read
	grants map[string][]string   // scopes that tasks may ask for, by the scheme's name
	anyway bool                  // calls that lack a credential are sent without
	none   bool                  // placeholders are sent instead
	fault  error                 // of a source that could not be opened

	schemes map[string]*scheme // of the card; nil if it demands nothing
	demands *security.Demands
}

// scheme is a security scheme of the card, with its credential.
type scheme struct {
	SchemeInfo
	kind  *credentialKind
	place place
	given *credential // nil without
	fault error       // why the credential is not used
	env   []string    // the environment variables that may hold it
}

// need is a scheme whose credential a request must have.
type need struct {
	name   string
	scheme *scheme // nil: the card does not declare it
	scopes []string
}

// secure finds the credentials for the schemes of a card. From then on requests have what the card demands.
func (g *credentials) secure(agent *agentCard, n *network) error {
	text, err := agent.protocol.Versions[0].AppendCard(nil, agent.card)
	if err != nil {
		agent.warn("the card's security cannot be read: %v", err)
		return nil
	}
	demands, faults, err := security.Read(text)
	if err != nil {
		agent.warn("%v", err)
		return nil
	}
	for _, fault := range faults {
		agent.warn("%v", fault)
	}
	if demands == nil {
		return nil
	}
	schemes := map[string]*scheme{}
	for i := range demands.Schemes {
		s := &scheme{SchemeInfo: schemeInfo(&demands.Schemes[i])}
		if s.kind = kindOf(&s.SchemeInfo); s.kind != nil {
			s.place, s.fault = s.kind.place(&s.SchemeInfo)
			schemes[s.Name] = s
		}
	}
	for _, name := range sortedKeys(schemes) {
		g.give(schemes[name])
	}
	for _, name := range sortedKeys(g.given) {
		if schemes[name] == nil {
			agent.warn("a credential was given for the security scheme %q, which the card does not declare", name)
		}
	}
	if len(demands.Agent) > 0 || len(demands.Skills) > 0 || len(g.grants) > 0 {
		g.schemes, g.demands = schemes, demands
	}
	if g.none {
		return nil
	}
	n.protect(len(g.given) > 0)
	return cmp.Or(g.certify(n), n.checkSafe())
}

// give gives a scheme its credential from an option, or else from the environment. A credential of another form is not used: a password must
// not be sent as an API key because the card has changed.
func (g *credentials) give(s *scheme) {
	given, ok := g.given[s.Name]
	if g.none { // a placeholder can be renewed if the credential can
		_, static := given.secret.(staticToken)
		s.given = &credential{form: s.kind.form, secret: placeholder{renews: !static}}
		return
	}
	s.env = g.env.variables(s)
	if !ok {
		read, err := g.env.read(s)
		s.fault = cmp.Or(s.fault, err)
		if read == nil {
			return
		}
		given = *read
		g.set(s.Name, given)
	}
	if s.given = &given; given.form != s.kind.form && s.fault == nil {
		s.fault = fmt.Errorf("what was given is for another kind of scheme; the card has %s now", s.title())
	}
}

func (a *agentCard) warn(format string, args ...any) {
	a.warnings = append(a.warnings, Printable(fmt.Sprintf(format, args...)))
}

// choose returns the needs of a request over a link: the first alternative of the agent, with the first one of the skill, for which there are
// all credentials. An alternative without needs comes last, wherever it stands: a credential that was given is used. A header that the user
// set counts, and is not replaced.
func (g *credentials) choose(l *link, cl *call) ([]need, error) {
	var first *CredentialError
	fewest := 0
	agents, skills := alternatives(g.demands.Agent), alternatives(g.demands.Skills[cl.skill])
	for _, agent := range agents {
		for _, skill := range skills {
			needs := g.join(agent, skill, cl.grant)
			missing, why := lacking(l, needs, cl.header)
			if why == nil {
				return needs, nil
			}
			if first == nil || missing < fewest {
				if first, fewest = why, missing; len(skill) > 0 &&
					!slices.ContainsFunc(agent, func(n security.Need) bool { return n.Scheme == why.Scheme.Name }) {
					first.Skill = cl.skill
				}
			}
		}
	}
	if _, others := ownCredentials(l); g.anyway || others { // the user's transport may add what the card demands
		return nil, nil
	}
	return nil, first
}

// alternatives returns requirements in the order in which they are tried; one without needs if there are none.
func alternatives(all []security.Requirement) []security.Requirement {
	if len(all) == 0 {
		return []security.Requirement{nil}
	}
	all = slices.Clone(all[:min(len(all), maxAlternatives)])
	slices.SortStableFunc(all, func(a, b security.Requirement) int {
		switch {
		case len(a) == 0 && len(b) > 0:
			return 1
		case len(a) > 0 && len(b) == 0:
			return -1
		}
		return 0
	})
	return all
}

// join returns the needs of two requirements, and of an authorization that the user grants a task. A scheme that is in several needs the
// scopes of each.
func (g *credentials) join(agent, skill, grant security.Requirement) (needs []need) {
	for _, r := range []security.Requirement{agent, skill, grant} {
		for _, n := range r {
			i := slices.IndexFunc(needs, func(have need) bool { return have.name == n.Scheme })
			if i < 0 {
				i = len(needs)
				needs = append(needs, need{name: n.Scheme, scheme: g.schemes[n.Scheme]})
			}
			for _, scope := range n.Scopes {
				if !slices.Contains(needs[i].scopes, scope) {
					needs[i].scopes = append(needs[i].scopes, scope)
				}
			}
		}
	}
	return needs
}

// lacking returns how many of the needs cannot be met over a link, and the error of the first one; nil if all can.
func lacking(l *link, needs []need, header http.Header) (missing int, first *CredentialError) {
	var taken []place
	for _, n := range needs {
		err := n.lacks(l, header)
		if err == nil && slices.Contains(taken, n.scheme.place) {
			err = n.error(errors.New("a request has room for one credential there, and the card demands two"))
		}
		if err == nil {
			taken = append(taken, n.scheme.place)
			continue
		}
		if missing++; first == nil {
			first = err
		}
	}
	return missing, first
}

// lacks returns the reason why the need cannot be met over a link; nil if it can.
func (n *need) lacks(l *link, header http.Header) *CredentialError {
	s := n.scheme
	certificate, _ := ownCredentials(l)
	switch {
	case s == nil:
		return &CredentialError{
			Scheme: SchemeInfo{Name: n.name}, Scopes: n.scopes, Err: errors.New("the card does not say what that is"),
		}
	case n.inHeader(header):
		return nil
	case s.place == placeConnection && s.given == nil && certificate:
		return nil
	case s.fault != nil:
		return n.error(s.fault)
	case s.given == nil:
		return n.error(nil)
	}
	if err := carries(l, s.place); err != nil {
		return n.error(err)
	}
	return nil
}

// inHeader reports whether a header that the user set has the credential.
func (n *need) inHeader(header http.Header) bool {
	if n.scheme == nil || n.scheme.fault != nil && n.scheme.place.in == "" {
		return false
	}
	switch p := n.scheme.place; p.in {
	case "header":
		return len(header[p.name]) > 0
	case "cookie":
		cookies, _ := http.ParseCookie(header.Get("Cookie")) // none in a malformed one
		return slices.ContainsFunc(cookies, func(c *http.Cookie) bool { return c.Name == p.name })
	}
	return false
}

// error is the error of a call that lacks the credential.
func (n *need) error(why error) *CredentialError {
	e := &CredentialError{Scheme: n.scheme.SchemeInfo, Scopes: n.scopes, Env: n.scheme.env, Err: why}
	if n.scheme.given == nil || why != nil {
		e.Option = fmt.Sprintf(n.scheme.kind.option, n.name)
	}
	return e
}

// secretOf gets the secret of a need. rejected is the one that the agent has just rejected; "" the first time.
func (n *need) secretOf(ctx context.Context, l *link, rejected string) (string, error) {
	secret, err := n.scheme.given.secret.Token(ctx, TokenNeed{
		Scheme: n.name, Scopes: n.scopes, Resource: l.iface.URL, Rejected: rejected, Card: n.scheme.SchemeInfo,
	})
	if err == nil {
		err = n.scheme.kind.check(&n.scheme.SchemeInfo, secret)
	}
	if err == nil && rejected != "" && secret == rejected {
		err = errRejectedToken
	}
	switch missing := (*CredentialError)(nil); {
	case err == nil:
		return secret, nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &missing):
		return "", err
	}
	return "", n.error(err)
}

// ownCredentials reports whether a link's connection may add a certificate, or other credentials, that the client does not see. Bindings of
// other packages may unless they report otherwise.
func ownCredentials(l *link) (certificate, others bool) {
	c, ok := l.conn.(interface {
		OwnCredentials() (certificate, others bool)
	})
	if !ok {
		return true, true
	}
	certificate, others = c.OwnCredentials()
	return certificate || others, others
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// certify presents the client certificate on connections, if there is one.
func (g *credentials) certify(n *network) error {
	var scheme string
	var given *credential
	for _, name := range sortedKeys(g.given) {
		one := g.given[name]
		if one.form != formCertificate {
			continue
		}
		if given != nil {
			return fmt.Errorf("client certificates were given for the security schemes %q and %q, and a connection has only one", scheme, name)
		}
		scheme, given = name, &one
	}
	if given == nil || n.certificate != nil {
		return nil
	}
	return n.show(given.certificate)
}

// AnswerAuth continues a task that waits for an authorization (auth-required) by the card's scheme of that name with the scheme's credential: a
// token with the scopes that the agent asks for. That happens once for the same scopes, and only if a credential was given for the scheme and
// each of the scopes is listed here; any other authorization is an [*InputRequiredError]. A URL that the agent names is never opened.
//
// The agent gets the token, and may use it for all that its scopes allow. List no scopes beyond those that the agent needs to work for you.
func AnswerAuth(scheme string, scopes ...string) Option {
	return func(c *Client) {
		g := &c.credentials
		if g.grants == nil {
			g.grants = map[string][]string{}
		}
		g.grants[scheme] = append(g.grants[scheme], scopes...)
	}
}

// maxGrants limits the authorizations of one call that are answered.
const maxGrants = 4

// answerAuth returns the call that continues a task which waits for an authorization that [AnswerAuth] allows; nil for any other result.
func (g *credentials) answerAuth(r *Result, err error, cl *call) *call {
	if err != nil || g.schemes == nil || r.State != runtime.StateAuthRequired || cl.grants >= maxGrants {
		return nil
	}
	auth := r.question().Auth
	allowed, ok := g.grants[auth.Scheme]
	s := g.schemes[auth.Scheme]
	if !ok || s == nil || s.given == nil || s.fault != nil {
		return nil
	}
	for _, scope := range auth.Scopes {
		if !slices.Contains(allowed, scope) {
			return nil
		}
	}
	for _, had := range cl.grant { // the agent got it already, and asks again
		if had.Scheme == auth.Scheme && !slices.ContainsFunc(auth.Scopes, func(s string) bool { return !slices.Contains(had.Scopes, s) }) {
			return nil
		}
	}
	next := &call{
		header: cl.header.Clone(), extensions: slices.Clone(cl.extensions), reattach: cl.reattach, policy: cl.policy, lenient: cl.lenient,
		notices: cl.notices, grants: cl.grants + 1, reqMetadata: cl.reqMetadata, data: cl.data,
		grant:   append(slices.Clone(cl.grant), security.Need{Scheme: auth.Scheme, Scopes: slices.Clone(auth.Scopes)}),
		message: runtime.MessageInfo{TaskID: r.TaskID, ContextID: r.ContextID},
	}
	next.data.Message = nil
	next.header.Del(headerKey) // the key of the first message
	return next
}

// authorizedParts are those of a message that only carries credentials: an object that changes nothing of the input.
func authorizedParts() []runtime.Part { return []runtime.Part{runtime.Data(map[string]any{})} }
