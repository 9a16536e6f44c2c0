package server

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// EnvAuth is the environment variable that says "none" of an agent which anybody may use: see [WithoutAuth].
const EnvAuth = "A2A_AUTH"

// access is what options say of who may come in.
type access struct {
	verifiers auth.Verifiers // nil: what the card demands is not checked
	proxied   func(*http.Request) (string, error)
	open      bool
	demands   *auth.Demands // of the cards
	extended  []string      // scopes of who may see the extended card
	grace     time.Duration // how long streams outlive their callers' credentials

	asksCertificates bool           // clients are asked for one
	authorities      *x509.CertPool // whose certificates pass; nil: whatever TLS is shown
}

// identifies reports whether anybody finds out who callers are.
func (a *access) identifies() bool { return a.proxied != nil || len(a.verifiers) > 0 }

// examples are the issuers, by scheme, whose hosts are reserved for examples (RFC 2606): who generated the agent has not put the real one there.
func (a *access) examples() map[string]string {
	found := map[string]string{}
	for scheme, v := range a.verifiers {
		named, ok := v.(interface{ Issuer() string })
		if !ok {
			continue
		}
		u, err := url.Parse(named.Issuer())
		if err != nil {
			continue
		}
		host := "." + strings.ToLower(u.Hostname())
		if slices.ContainsFunc([]string{".example", ".example.com", ".example.net", ".example.org"}, func(end string) bool { return strings.HasSuffix(host, end) }) {
			found[scheme] = named.Issuer()
		}
	}
	return found
}

// WithAuth has what the card demands of callers checked: its security schemes by these verifiers, one for each, and its
// security requirements, those of a skill on top of the agent's. Given more than once, the verifiers add up, and of two
// for one scheme the later counts.
func WithAuth(v auth.Verifiers) Option {
	return func(o *options) {
		if o.access.verifiers == nil {
			o.access.verifiers = auth.Verifiers{}
		}
		for name, verifier := range v {
			o.access.verifiers[name] = verifier
		}
	}
}

// WithProxyIdentity trusts the proxy in front of the agent, which has to be the only way to it: f says who calls, by
// what the proxy has written into the request, and what the card demands is not checked here. Tasks of one principal do
// not exist for another. An error answers 401, its text goes to the log. f is asked before the body is read, which it
// has to leave alone.
func WithProxyIdentity(f func(*http.Request) (principal string, err error)) Option {
	return func(o *options) { o.access.proxied = f }
}

// WithoutAuth lets an agent that demands nothing of its callers answer everybody who reaches it. Without it such an
// agent answers on loopback addresses alone. The environment's A2A_AUTH=none says the same.
func WithoutAuth() Option { return func(o *options) { o.access.open = true } }

// WithStreamGrace sets how long a stream goes on when the credential of its caller has expired; the default is a
// minute.
func WithStreamGrace(d time.Duration) Option { return func(o *options) { o.access.grace = d } }

// CallerFrom returns who sent the request that is being served: in the context of a skill's handler, of a hook and of
// an operation of the agent's own. It is zero for nobody who is known. For a handler that runs again after a crash it
// is what names the caller, without scopes and claims.
func CallerFrom(ctx context.Context) runtime.Caller {
	if c := engine.CallerFrom(ctx); c != nil {
		return *c
	}
	return runtime.Caller{}
}

// proxyScheme is the scheme of callers that a proxy names.
const proxyScheme = "proxy"

// protect makes what checks callers.
func (s *Server) protect(extended runtime.Card) error {
	demands, err := s.demands(extended)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.access.demands = demands
	if file := os.Getenv(auth.EnvClientCA); file != "" {
		s.access.asksCertificates = true
		if s.access.authorities, err = auth.ReadAuthorities(file); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	s.access.open = s.access.open || os.Getenv(EnvAuth) == "none"
	demanded := demands.Demanded()
	switch {
	case s.access.proxied != nil:
		s.access.open = true
		return nil
	case s.access.verifiers == nil && len(demanded) > 0:
		return fmt.Errorf("server: the card demands the security scheme %q, and nothing checks it: see server.WithAuth", demanded[0])
	case s.access.verifiers == nil:
		return nil
	}
	s.guard, err = auth.New(demands, s.access.verifiers, auth.Options{
		Realm: s.engine.Info().Name, URL: s.card.fixed, Metadata: s.metadataURL(),
		Origins: func(o string) bool { return slices.Contains(s.origins, o) },
		Getenv:  os.Getenv, Now: s.core.Now,
	})
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.access.open = s.access.open || demands.Any()
	if asks, authorities := s.guard.Certificates(); asks {
		s.access.asksCertificates, s.access.authorities = true, cmp.Or(authorities, s.access.authorities)
	}
	return s.describeResource()
}

// demands are what the card demands, as the newest version has it. What the skills demand that only the extended one
// has stands there.
func (s *Server) demands(extended runtime.Card) (*auth.Demands, error) {
	read := func(card runtime.Card) (*auth.Demands, error) {
		text, err := s.engine.Versions()[0].AppendCard(nil, card)
		if err != nil {
			return nil, err
		}
		return auth.ReadCard(text)
	}
	demands, err := read(s.engine.Card())
	if err != nil || extended == nil {
		return demands, err
	}
	more, err := read(extended)
	if err != nil {
		return nil, err
	}
	return demands.With(more), nil
}

// authenticate finds the caller, and what the caller may do.
func (c *Call) authenticate(r *http.Request) *auth.Denial {
	if proxied := c.s.access.proxied; proxied != nil {
		id, err := proxied(r)
		if err != nil {
			return auth.Deny(err)
		}
		if id != "" {
			c.Caller, c.Barred = &runtime.Caller{ID: id, Scheme: proxyScheme}, nil
		}
		return nil
	}
	grant, denial := c.s.guard.Check(r)
	if denial != nil {
		return denial
	}
	c.grant, c.Caller = grant, grant.Caller
	switch {
	case c.Caller == nil:
	case c.Caller.Has(c.s.access.extended...):
		c.Barred = nil
	default:
		c.Barred = errUnscoped
	}
	if c.s.guard.GuardsSkills() {
		c.Permit = c.permit
	}
	return nil
}

// permit says why the caller may not use a skill.
func (c *Call) permit(skill string) error {
	if denial := c.grant.Skill(skill, c.ActsFor()); denial != nil {
		return &barred{denial, skill}
	}
	c.limit.by(c.grant.Until)
	return nil
}

// barred is a denial with the skill that it is about.
type barred struct {
	*auth.Denial
	skill string
}

// Unwrap returns the denial.
func (b *barred) Unwrap() error { return b.Denial }

// errUnscoped: the caller does not have the scopes of the extended card.
var errUnscoped = errors.New("the caller does not have the scopes of the extended card")

// unidentified refuses a caller whom nobody knows, for what is only for those who say who they are.
func (s *Server) unidentified(reason error) *auth.Denial {
	if s.guard == nil {
		return auth.Deny(reason)
	}
	return s.guard.Unidentified(reason)
}

// LimitStream has a stream end when a credential has expired that its caller needs for it: the call's Context does. It
// returns what lets go of the limit when the call has been answered.
func (c *Call) LimitStream() (release func()) {
	if !c.Op.Stream || c.grant == nil || c.grant.Until.IsZero() && c.Permit == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancelCause(c.Context)
	c.Context, c.limit = ctx, &limit{access: &c.s.access, now: c.s.core.Now, cancel: cancel}
	c.limit.by(c.grant.Until)
	return c.limit.release
}

// errExpired ends a stream.
var errExpired = runtime.ErrUnauthenticated.With("the credential has expired")

// limit ends a stream in time.
type limit struct {
	access *access
	now    func() time.Time
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	at    time.Time   // of the first credential that expires
	timer *time.Timer // nil: none does
}

// by has the stream end a while after a time, unless it ends earlier. Zero is never, and nil limits nothing.
func (l *limit) by(at time.Time) {
	if l == nil || at.IsZero() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && !at.Before(l.at) {
		return
	}
	l.stop()
	l.at, l.timer = at, time.AfterFunc(at.Sub(l.now())+l.access.grace, func() { l.cancel(errExpired) })
}

// stop forgets when the stream ends. The caller holds mu.
func (l *limit) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *limit) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	l.cancel(nil)
}
