// Package faultproxy is the reverse proxy of "a2agen dev --to": it goes before an agent in any language, serves the
// agent's card with its own addresses, and passes requests on over each HTTP binding and gRPC. What goes wrong on the
// way is an injector's of package fault.
package faultproxy

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/testkit/fault"
)

// Limits.
const (
	maxCard    = 1 << 20          // bytes of a card that is changed
	maxOrigins = 32               // hosts that a card names
	startTime  = 10 * time.Second // for the first card
	dialTime   = 10 * time.Second
)

// Proxy is a proxy before an agent.
type Proxy struct {
	base  *url.URL // of the agent, or of its card
	name  string   // of the agent, as its first card had it
	warn  func(string)
	plain http.RoundTripper // HTTP/1, and HTTP/2 over TLS
	clear http.RoundTripper // HTTP/2 without TLS

	mu      sync.Mutex
	origins []*url.URL // that paths below /~N go to; the first is that of base
	grpc    *url.URL   // nil: the card has no interface over gRPC
	warned  map[string]bool
}

// New fetches the card of the agent at base, which is its URL or that of its card, and returns a proxy before it. warn
// is told, once each, what does not go through the proxy as it would go to the agent.
func New(ctx context.Context, base string, warn func(string)) (*Proxy, error) {
	p, err := newProxy(base, warn)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return p, p.start(ctx)
}

// Name returns the agent's name, as its card says it.
func (p *Proxy) Name() string { return p.name }

func newProxy(base string, warn func(string)) (*Proxy, error) {
	u, err := url.Parse(base)
	if err == nil && u.User != nil {
		return nil, fmt.Errorf("%s is no URL of an agent: callers bring their credentials, in a header", u.Redacted())
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no URL of an agent: write one such as http://localhost:8080", base)
	}
	dialer := &net.Dialer{Timeout: dialTime}
	plain := &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true}
	clear := &http.Transport{DialContext: dialer.DialContext, Protocols: new(http.Protocols), DisableCompression: true}
	clear.Protocols.SetUnencryptedHTTP2(true)
	return &Proxy{
		base: u, warn: warn, plain: plain, clear: clear, origins: []*url.URL{originOf(u)}, warned: map[string]bool{},
	}, nil
}

// originOf is the scheme and host of a URL.
func originOf(u *url.URL) *url.URL { return &url.URL{Scheme: u.Scheme, Host: u.Host} }

// URL returns the agent's URL as the proxy has it, which listens at an address.
func (p *Proxy) URL(address string) string {
	return "http://" + address + strings.TrimRight(p.base.EscapedPath(), "/")
}

// tell warns once.
func (p *Proxy) tell(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.mu.Lock()
	known := p.warned[text] || len(p.warned) > 100
	p.warned[text] = true
	p.mu.Unlock()
	if !known {
		p.warn(text)
	}
}

// seen is what the proxy knows of a request.
type seen struct {
	operation, binding string
	host               string // by which the caller knows the proxy
}

type seenKey struct{}

// Handler passes requests on to the agent.
func (p *Proxy) Handler() http.Handler {
	pass := &httputil.ReverseProxy{
		Rewrite: p.route, Transport: p, FlushInterval: -1, ModifyResponse: p.localize, ErrorHandler: p.unanswered,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &seen{host: r.Host}
		s.operation, s.binding = fault.Called(r)
		if s.binding == runtime.BindingGRPC && p.grpcTarget() == nil {
			http.Error(w, "the agent's card has no interface over gRPC", http.StatusNotFound)
			return
		}
		pass.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), seenKey{}, s)))
	})
}

func seenOf(r *http.Request) *seen { return r.Context().Value(seenKey{}).(*seen) }

func (p *Proxy) grpcTarget() *url.URL {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.grpc
}

// route finds where a request goes.
func (p *Proxy) route(r *httputil.ProxyRequest) {
	s := seenOf(r.In)
	target, path := p.target(s.binding, r.Out.URL.EscapedPath())
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, target.Host
	if plain, err := url.PathUnescape(path); err == nil {
		r.Out.URL.Path, r.Out.URL.RawPath = plain, path
	}
	if s.isCard() {
		r.Out.Header.Del("Accept-Encoding")
	}
}

// target returns the origin for a path, and the path there.
func (p *Proxy) target(binding, path string) (*url.URL, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if binding == runtime.BindingGRPC {
		return p.grpc, path
	}
	if rest, ok := strings.CutPrefix(path, elsewhere); ok {
		number, after, _ := strings.Cut(rest, "/")
		if n, err := strconv.Atoi(number); err == nil && n > 0 && n < len(p.origins) {
			return p.origins[n], "/" + after
		}
	}
	return p.origins[0], path
}

// elsewhere begins the paths of interfaces that are not at the agent's own host.
const elsewhere = "/~"

// RoundTrip sends a request to the agent, with HTTP/2 for gRPC.
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	if seenOf(r).binding == runtime.BindingGRPC && r.URL.Scheme == "http" {
		return p.clear.RoundTrip(r)
	}
	return p.plain.RoundTrip(r)
}

// unanswered says why there is no answer, or breaks the connection if the caller left.
func (p *Proxy) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	p.tell("the agent gave no answer: %v", err)
	http.Error(w, "a2agen: the agent behind this proxy gave no answer", http.StatusBadGateway)
}
