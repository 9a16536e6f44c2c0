package server

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// EnvURL is the environment variable with the agent's public base URL.
const EnvURL = "A2A_PUBLIC_URL"

// cards serves the agent's card. Its interface URLs are those under which the agent is reached: by option, by
// environment, by trusted forwarded headers, or by the request's Host.
type cards struct {
	card    runtime.Card
	shapes  []*cardShape          // by version
	paths   map[string]*cardShape // by where it is served
	fixed   string                // public base URL, "" when it depends on the request
	base    string                // path of fixed without a slash at the end
	control []string
	since   time.Time // when the agent began to have this card
	dated   []string  // since, as a header

	mu     sync.Mutex
	byBase map[cardKey]*cardBytes
}

// cardKey is a card's shape and its base URL.
type cardKey struct {
	shape *cardShape
	base  string
}

// cardBytes is the card under one base URL.
type cardBytes struct {
	body []byte
	etag string
}

// exposedCard are the headers that web pages may read.
var exposedCard = []string{"ETag, Last-Modified"}

// maxBases bounds how many rewritten cards are kept: the Host header is the client's to choose.
const maxBases = 64

// init prepares serving. It returns the path of the public base URL.
func (c *cards) init(s *Server, card runtime.Card) (base string, err error) {
	c.card, c.byBase = card, map[cardKey]*cardBytes{}
	for _, v := range s.engine.Versions() {
		c.shapes = append(c.shapes, &cardShape{v.Version})
	}
	shapes := s.cardShapes()
	c.since = s.core.Now().UTC().Truncate(time.Second)
	c.dated = []string{c.since.Format(http.TimeFormat)}
	c.control = []string{"public, max-age=" + strconv.Itoa(int(s.cardMaxAge.Seconds()))}
	c.fixed = s.url
	if c.fixed == "" {
		c.fixed = os.Getenv(EnvURL)
	}
	if c.fixed == "" {
		c.paths = shapes
		return "", c.try(s, "http://localhost")
	}
	u, err := url.Parse(c.fixed)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("server: public url %q is not of the form https://host/path", c.fixed)
	}
	c.fixed = strings.TrimRight(c.fixed, "/")
	c.base = strings.TrimRight(u.Path, "/")
	c.paths = maps.Clone(shapes)
	for at, shape := range shapes {
		c.paths[c.base+at] = shape
	}
	return c.base, c.try(s, c.fixed)
}

// cardAt is a card whose interfaces are those of the agent under a base URL.
func (s *Server) cardAt(card runtime.Card, base string) runtime.Card {
	return card.At(func(i runtime.Interface) string {
		at := runtime.Rebase(base, i)
		if s.grpcURL && i.Binding == runtime.BindingGRPC && !strings.Contains(at, "://") && at != i.URL {
			scheme, _, _ := strings.Cut(base, "://")
			at = scheme + "://" + at
		}
		return at
	})
}

// under returns the card in a shape for a base URL.
func (c *cards) under(s *Server, shape *cardShape, base string) (*cardBytes, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cardKey{shape, base}
	if b := c.byBase[key]; b != nil {
		return b, nil
	}
	body, err := shape.write(s.cardAt(c.card, base))
	if err != nil {
		return nil, fmt.Errorf("server: card: %w", err)
	}
	body = s.shown(body)
	sum := sha256.Sum256(body)
	b := &cardBytes{body: body, etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
	if len(c.byBase) >= maxBases {
		clear(c.byBase)
	}
	c.byBase[key] = b
	return b, nil
}

// serveCard answers GET and HEAD of the card, with an ETag and a time to live (R145–R147). It is public: any web page
// may read it. shape is what the path has for a client that names no version.
func (s *Server) serveCard(w http.ResponseWriter, r *http.Request, shape *cardShape) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		h.Set("Access-Control-Allow-Methods", "GET, HEAD")
		h.Set("Access-Control-Allow-Headers", "A2A-Version, A2A-Extensions, Content-Type, If-None-Match")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		h.Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "the card is read with GET", http.StatusMethodNotAllowed)
		return
	}
	if v := s.engine.Spoken(askedVersion(r)); v != nil {
		shape = s.card.shapes[v.Index]
	}
	b, err := s.card.under(s, shape, s.baseOf(r))
	if err != nil {
		s.logger.Error("card could not be encoded", "error", err)
		http.Error(w, "the card is not available", http.StatusInternalServerError)
		return
	}
	h["Content-Type"] = jsonType
	h["Cache-Control"] = s.card.control
	h["Etag"] = []string{b.etag}
	h["Last-Modified"] = s.card.dated
	h["Access-Control-Expose-Headers"] = exposedCard
	if len(s.engine.Versions()) > 1 {
		h.Add("Vary", "A2A-Version")
	}
	if s.forwarded && s.card.fixed == "" {
		h.Add("Vary", "X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Prefix, Forwarded")
	}
	if s.card.known(r.Header, b.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Length"] = []string{strconv.Itoa(len(b.body))}
	if r.Method == http.MethodGet {
		_, _ = w.Write(b.body)
	}
}

// known reports whether the client has the card already: by its tag or, without one, by its date.
func (c *cards) known(h http.Header, etag string) bool {
	if tags := h.Values("If-None-Match"); len(tags) > 0 {
		return matchesTag(tags, etag)
	}
	at, err := http.ParseTime(h.Get("If-Modified-Since"))
	return err == nil && !at.Before(c.since)
}

// matchesTag compares weakly, as RFC 9110 §13.1.2 asks for If-None-Match.
func matchesTag(headers []string, etag string) bool {
	for _, h := range headers {
		for tag := range strings.SplitSeq(h, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag || tag == "*" {
				return true
			}
		}
	}
	return false
}

// baseOf returns the base URL under which the client of r reaches the agent.
func (s *Server) baseOf(r *http.Request) string {
	if s.card.fixed != "" {
		return s.card.fixed
	}
	scheme, host, prefix := "http", r.Host, ""
	if r.TLS != nil {
		scheme = "https"
	}
	if s.forwarded {
		proto, h, p := forwardedBase(r.Header)
		if proto == "http" || proto == "https" {
			scheme = proto
		}
		if h != "" {
			host = h
		}
		prefix = p
	}
	if _, ok := hostName(host); !ok {
		host = "localhost"
	}
	return scheme + "://" + host + prefix
}

// forwardedBase reads what a proxy says of the original request: X-Forwarded-* or, without them, Forwarded (RFC 7239).
// The first proxy's word counts, because it saw the client.
func forwardedBase(h http.Header) (proto, host, prefix string) {
	first := func(name string) string {
		v, _, _ := strings.Cut(h.Get(name), ",")
		return strings.TrimSpace(v)
	}
	proto, host = strings.ToLower(first("X-Forwarded-Proto")), first("X-Forwarded-Host")
	if p := first("X-Forwarded-Prefix"); strings.HasPrefix(p, "/") && plainPath(p) {
		prefix = strings.TrimRight(path.Clean(p), "/")
	}
	for pair := range strings.SplitSeq(first("Forwarded"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		value = strings.Trim(value, `"`)
		switch {
		case strings.EqualFold(name, "proto") && proto == "":
			proto = strings.ToLower(value)
		case strings.EqualFold(name, "host") && host == "":
			host = value
		}
	}
	return proto, host, prefix
}

// plainPath reports whether a path can stand in a URL as it is.
func plainPath(p string) bool {
	u, err := url.Parse("http://localhost" + p)
	return err == nil && u.Host == "localhost" && u.EscapedPath() == p && !strings.Contains(p, "//")
}

// requestHeaders are those of requests that web pages may set, beside those with an API key.
var requestHeaders = []string{
	"Content-Type", "Authorization", "A2A-Version", "A2A-Extensions", "A2A-Tenant", "Idempotency-Key", "Last-Event-ID",
}

// otherOrigin is what is said to web pages.
const otherOrigin = "requests from pages of other origins are refused"

// allowOrigin refuses requests that a web page of another origin has a browser send, unless the origin is trusted, and
// answers preflights of the trusted ones. Without it any page could use an agent on its reader's own machine.
func (s *Server) allowOrigin(w http.ResponseWriter, r *http.Request, methods string) bool {
	if r.Method != http.MethodOptions && len(r.Header["Sec-Fetch-Site"]) == 0 && len(r.Header["Origin"]) == 0 {
		return true // not from a browser
	}
	origin := r.Header.Get("Origin")
	trusted := false
	for _, o := range s.origins {
		trusted = trusted || o == origin
	}
	if trusted {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Add("Vary", "Origin")
		h.Set("Access-Control-Expose-Headers", "A2A-Extensions, WWW-Authenticate")
	}
	if r.Method == http.MethodOptions {
		if trusted {
			w.Header().Set("Access-Control-Allow-Methods", methods)
			w.Header().Set("Access-Control-Allow-Headers", strings.Join(append(requestHeaders[:len(requestHeaders):len(requestHeaders)], s.guard.KeyHeaders()...), ", "))
		}
		w.Header().Set("Allow", methods+", OPTIONS")
		w.WriteHeader(http.StatusNoContent)
		return false
	}
	checked := *r
	if !wantsPage(r) { // whatever the method: a GET may hold a stream open
		checked.Method = http.MethodPost
	}
	if err := s.origin.Check(&checked); err != nil {
		http.Error(w, otherOrigin, http.StatusForbidden)
		return false
	}
	return true
}
