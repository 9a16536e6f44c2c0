// Package origin decides by where a request comes from whether it is answered: from another machine, under a foreign
// host name, or from a web page of another origin.
package origin

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
)

// EnvAuth is the environment variable that says "none" of an agent which anybody may use.
const EnvAuth = "A2A_AUTH"

// Policy says which requests are answered. The zero value is not ready to use: see [New].
type Policy struct {
	open      bool // requests from other machines are answered, too
	forwarded bool // a proxy checks host names
	names     map[string]bool
	origins   []string
	cross     *http.CrossOriginProtection
	headers   func() []string // that carry credentials, beside Authorization
}

// New makes a policy that trusts web pages of some origins ("https://inspector.example.com"), knows the agent under
// host names, and leaves these to a proxy if forwarded. headers are those with API keys, which web pages may set.
func New(origins, hosts []string, forwarded bool, headers func() []string) (*Policy, error) {
	p := &Policy{
		forwarded: forwarded, names: names(hosts), origins: origins, cross: http.NewCrossOriginProtection(), headers: headers,
	}
	for _, o := range origins {
		if err := p.cross.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("origin: %w", err)
		}
	}
	return p, nil
}

// Open has requests from other machines answered. An agent that demands nothing of its callers answers on its own
// machine alone, unless its owner has said that anybody may use it: otherwise an open port would open the agent, too.
func (p *Policy) Open() { p.open = true }

// Withholds reports whether requests that come to an address are not answered.
func (p *Policy) Withholds(addr net.Addr) bool {
	if p.open {
		return false
	}
	tcp, ok := addr.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}

// ErrOpen is the error of listening on an address that the policy withholds.
func ErrOpen(addr net.Addr) error {
	return fmt.Errorf("%s can be reached from other machines, and the agent demands nothing of its callers: let agent.yaml "+
		"demand credentials and check them (server.WithAuth), or say that anybody may use it: \"auth: none\" in a2agen.yaml, "+
		"or %s=none", addr, EnvAuth)
}

// AllowAddr refuses requests to an address that the policy withholds, and reports whether the request may go on.
// Servers of the user's own come this way; the agent's own do not even listen.
func (p *Policy) AllowAddr(w http.ResponseWriter, r *http.Request) bool {
	if p.open {
		return true
	}
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if addr == nil || !p.Withholds(addr) {
		return true
	}
	http.Error(w, "This agent demands nothing of its callers, so that it answers on its own machine alone.\n"+
		"Whoever runs it can say otherwise: "+EnvAuth+"=none.", http.StatusForbidden)
	return false
}

// requestHeaders are those of requests that web pages may set, beside those with an API key.
var requestHeaders = []string{
	"Content-Type", "Authorization", "A2A-Version", "A2A-Extensions", "A2A-Tenant", "Idempotency-Key", "Last-Event-ID",
}

// ErrCross refuses a request that a web page of another origin has a browser send.
var ErrCross = errors.New("requests from pages of other origins are refused")

// Check returns [ErrCross] for a request that a web page of another origin has a browser send, unless the origin is
// trusted.
func (p *Policy) Check(r *http.Request) error {
	if p.cross.Check(r) != nil {
		return ErrCross
	}
	return nil
}

// Allow refuses requests that Check refuses, answers preflights of trusted origins, and reports whether the request may
// go on. Without it any web page could use an agent on its reader's own machine. methods are those of the path, for
// preflights; page says that the request is a browser's for a page to read.
func (p *Policy) Allow(w http.ResponseWriter, r *http.Request, methods string, page bool) bool {
	if r.Method != http.MethodOptions && len(r.Header["Sec-Fetch-Site"]) == 0 && len(r.Header["Origin"]) == 0 {
		return true // not from a browser
	}
	origin := r.Header.Get("Origin")
	trusted := slices.Contains(p.origins, origin)
	if trusted {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Add("Vary", "Origin")
		h.Set("Access-Control-Expose-Headers", "A2A-Extensions, WWW-Authenticate")
	}
	if r.Method == http.MethodOptions {
		if trusted {
			w.Header().Set("Access-Control-Allow-Methods", methods)
			w.Header().Set("Access-Control-Allow-Headers", strings.Join(slices.Concat(requestHeaders, p.headers()), ", "))
		}
		w.Header().Set("Allow", methods+", OPTIONS")
		w.WriteHeader(http.StatusNoContent)
		return false
	}
	checked := *r
	if !page { // whatever the method: a GET may hold a stream open
		checked.Method = http.MethodPost
	}
	if err := p.Check(&checked); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return false
	}
	return true
}
