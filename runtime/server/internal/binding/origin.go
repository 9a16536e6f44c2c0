package binding

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
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
func NewPolicy(origins, hosts []string, forwarded bool, headers func() []string) (*Policy, error) {
	p := &Policy{
		forwarded: forwarded, names: map[string]bool{}, origins: origins, cross: http.NewCrossOriginProtection(), headers: headers,
	}
	for _, h := range hosts { // of which some may be empty or no names
		if h = strings.TrimSpace(h); h == anyHost {
			p.names[anyHost] = true
		} else if name, ok := HostName(h); ok {
			p.names[name] = true
		}
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

// requestHeaders are those of requests that web pages may set, beside those with an API key.
var requestHeaders = []string{
	"Content-Type", "Authorization", "A2A-Version", "A2A-Extensions", "A2A-Tenant", "Idempotency-Key", "Idempotency-Age",
	"Last-Event-ID",
}

// errCross refuses a request that a web page of another origin has a browser send.
var errCross = errors.New("requests from pages of other origins are refused")

// Check returns [errCross] for a request that a web page of another origin has a browser send, unless the origin is
// trusted.
func (p *Policy) Check(r *http.Request) error {
	if p.cross.Check(r) != nil {
		return errCross
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

// Environment variables: further host names, separated by commas, under which clients on the agent's own machine reach
// it, and the agent's public base URL.
const (
	EnvHosts = "A2A_HOSTS"
	EnvURL   = "A2A_PUBLIC_URL"
)

// anyHost in place of a name lets all names in.
const anyHost = "*"

// AllowTarget refuses requests to an address that the policy withholds, or under a name that [Policy.CheckHost] refuses,
// and reports whether the request may go on. Servers of the user's own come this way; the agent's own do not even
// listen on such an address.
func (p *Policy) AllowTarget(w http.ResponseWriter, r *http.Request) bool {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if addr != nil && p.Withholds(addr) {
		http.Error(w, "This agent demands nothing of its callers, so that it answers on its own machine alone.\n"+
			"Whoever runs it can say otherwise: "+EnvAuth+"=none.", http.StatusForbidden)
		return false
	}
	err := p.CheckHost(r.Host, addr)
	switch {
	case err == nil:
		return true
	case errors.Is(err, ErrNoHost):
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		http.Error(w, err.Error(), http.StatusForbidden)
	}
	return false
}

// ErrNoHost refuses what cannot be a host.
var ErrNoHost = errors.New("the Host header names no host")

// CheckHost returns why a request that came to an address under the name of a host is refused: [ErrNoHost], or an error
// that helps to add the name. A web page whose own name was pointed to a loopback address (DNS rebinding) could use the
// agent of its reader: there the name must be one of the machine's or of the agent's. Behind trusted forwarded headers
// the proxy has checked. No name at all is HTTP/1.0, which browsers do not speak. local is nil if it is not known.
func (p *Policy) CheckHost(host string, local net.Addr) error {
	if host == "" {
		return nil
	}
	name, ok := HostName(host)
	if !ok {
		return ErrNoHost
	}
	addr, _ := local.(*net.TCPAddr)
	if addr == nil || !addr.IP.IsLoopback() || p.forwarded || isLoopback(name) || p.names[name] || p.names[anyHost] {
		return nil
	}
	return unknownHost(name)
}

// unknownHost is a host name that the agent does not know. Its error is shown to people.
type unknownHost string

func (name unknownHost) Error() string {
	return "This agent was reached on its own machine under the name " + string(name) + ", which it does not know: a web page may be behind it.\n" +
		"If the name is right, set " + EnvURL + " (WithURL) to the agent's public URL, or add the name to " + EnvHosts + " (WithHosts)."
}

// isLoopback reports whether a name means the machine itself.
func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// HostName returns the name in a Host value, in lower case and without port, brackets and final dot. It is false for
// what cannot stand in a URL.
func HostName(host string) (name string, ok bool) {
	name, port, cut := host, "", false
	if inside, bracket := strings.CutPrefix(host, "["); bracket {
		if name, port, cut = strings.Cut(inside, "]"); !cut {
			return "", false
		}
		ip, err := netip.ParseAddr(name)
		if err != nil || !ip.Is6() || ip.Zone() != "" || port != "" && port[0] != ':' {
			return "", false
		}
		name, port = ip.String(), strings.TrimPrefix(port, ":")
	} else {
		name, port, _ = strings.Cut(host, ":")
		name = strings.TrimSuffix(strings.ToLower(name), ".")
		if name == "" || len(name) > 253 || strings.Trim(name, hostLetters) != "" {
			return "", false
		}
	}
	if len(port) > 5 || strings.Trim(port, "0123456789") != "" {
		return "", false
	}
	return name, true
}

// hostLetters are the characters of host names.
const hostLetters = "abcdefghijklmnopqrstuvwxyz0123456789-._"
