package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/guard"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// Environment variables about who may call: EnvAuth says "none" of an agent which anybody may use, see [WithoutAuth];
// EnvHosts has further host names, separated by commas, under which clients on the agent's own machine reach it; EnvURL
// is the agent's public base URL.
const (
	EnvAuth  = binding.EnvAuth
	EnvHosts = binding.EnvHosts
	EnvURL   = binding.EnvURL
)

// exampleIssuers are the issuers, by scheme, whose hosts are reserved for examples (RFC 2606): the generated ones were
// never replaced.
func exampleIssuers(verifiers auth.Verifiers) map[string]string {
	found := map[string]string{}
	for scheme, v := range verifiers {
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

// WithAuth checks what the card demands of callers: its security schemes by these verifiers, one for each, and its
// security requirements, those of a skill on top of the agent's. Given more than once, the verifiers add up, and of two
// for one scheme the later counts.
func WithAuth(v auth.Verifiers) Option {
	return func(o *options) {
		if o.access.Verifiers == nil {
			o.access.Verifiers = auth.Verifiers{}
		}
		o.newGuard, o.curl = (*Server).initGuard, guard.Curl
		for name, verifier := range v {
			o.access.Verifiers[name] = verifier
		}
	}
}

// WithProxyIdentity trusts the proxy in front of the agent, which has to be the only way to it: f says who calls, by
// what the proxy has written into the request, and what the card demands is not checked here. Tasks of one principal do
// not exist for another. An error answers 401, its text goes to the log. f is asked before the body is read, which it
// has to leave alone.
func WithProxyIdentity(f func(*http.Request) (principal string, err error)) Option {
	return func(o *options) { o.access.Proxied, o.curl = f, guard.Curl }
}

// WithoutAuth lets an agent that demands nothing of its callers answer everybody who reaches it. Without it such an
// agent answers on loopback addresses alone. The environment's A2A_AUTH=none says the same.
func WithoutAuth() Option { return func(o *options) { o.open = true } }

// WithStreamGrace sets how long a stream goes on when the credential of its caller has expired; the default is a
// minute.
func WithStreamGrace(d time.Duration) Option { return func(o *options) { o.access.Grace = d } }

// CallerFrom returns who sent the request that is being served: in the context of a skill's handler, of a hook and of
// an operation of the agent's own. It is zero for nobody who is known. For a handler that runs again after a crash it
// is what names the caller, without scopes and claims.
func CallerFrom(ctx context.Context) runtime.Caller {
	if c := engine.CallerFrom(ctx); c != nil {
		return *c
	}
	return runtime.Caller{}
}

// protect makes what checks callers.
func (s *Server) protect(cfg Config) (err error) {
	a := &s.access
	a.Extended = cfg.ExtendedScopes
	if a.Demands, err = s.demands(cfg.Extended); err != nil {
		return err
	}
	if file := os.Getenv(auth.EnvClientCA); file != "" {
		a.AsksCertificates = true
		if a.Authorities, err = auth.ReadAuthorities(file); err != nil {
			return err
		}
	}
	if s.open || a.Proxied != nil || os.Getenv(EnvAuth) == "none" {
		s.policy.Open()
	}
	demanded := a.Demands.Demanded()
	switch {
	case a.Proxied != nil:
		return nil
	case a.Verifiers == nil && len(demanded) > 0:
		return fmt.Errorf("the card demands the security scheme %q, and nothing checks it: see server.WithAuth", demanded[0])
	case a.Verifiers == nil:
		return nil
	}
	return s.newGuard(s)
}

// initGuard makes what checks callers by verifiers. [WithAuth] alone refers to it, so that no other agent links it.
func (s *Server) initGuard() error {
	a := &s.access
	g, err := guard.New(a.Demands, a.Verifiers, guard.Options{
		Realm: s.engine.Info().Name, URL: s.cards.URL, Metadata: s.cards.ResourceURL(),
		Origins: func(o string) bool { return slices.Contains(s.origins, o) },
		Getenv:  os.Getenv, Now: s.core.Now,
	})
	if err != nil {
		return err
	}
	a.Guard = binding.NewGuard(g)
	if a.Demands.Any() {
		s.policy.Open()
	}
	if asks, authorities := g.Certificates(); asks {
		a.AsksCertificates, a.Authorities = true, cmp.Or(authorities, a.Authorities)
	}
	s.resource, err = binding.NewResource(s.cards, g)
	return err
}

// keyHeaders are the names of the headers that hold API keys, and of those that the endpoint of another protocol has.
func (s *Server) keyHeaders() []string {
	if s.access.Guard == nil {
		return s.endpoint.headers
	}
	return slices.Concat(s.access.Guard.KeyHeaders, s.endpoint.headers)
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
