package binding

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// Path is where the card is, and OldPath where agents before 0.3 have it (A2A 1.0 §8.2, R246, T52).
const (
	CardPath    = "/.well-known/agent-card.json"
	OldCardPath = "/.well-known/agent.json"
)

// Options say how a card is served.
type CardOptions struct {
	URL       string // public base URL; "": the request says it
	Forwarded bool   // trusted proxies say it
	GRPCURL   bool   // addresses of gRPC are URLs
	Lists     bool   // requirements have plain lists: see [RequirementLists]
	MaxAge    time.Duration
	Since     time.Time  // when the agent began to have this card
	Signer    CardSigner // nil: cards are not signed
	Decode    func(card []byte) (runtime.Card, error)
	Logger    *slog.Logger
}

// Cards serves the agent's card. Its interface URLs are those under which the agent is reached: the public URL, what
// trusted forwarded headers say, or the request's Host.
type Cards struct {
	CardOptions
	engine  *engine.Engine
	shapes  []*cardShape          // by version
	paths   map[string]*cardShape // by where it is served
	base    string                // path of the public URL without a slash at the end
	control []string              // Cache-Control
	dated   []string              // Last-Modified

	signed map[runtime.Card]runtime.Card // by the card without signatures; nil: there are none

	mu    sync.Mutex
	cache map[cacheKey]*cached
}

// cacheKey is a card's shape and its base URL.
type cacheKey struct {
	shape *cardShape
	base  string
}

// cached is the card under one base URL.
type cached struct {
	body []byte
	etag string
}

// exposedCard are the headers that web pages may read.
var exposedCard = []string{"ETag, Last-Modified"}

// maxBases bounds how many rewritten cards are kept: the Host header is the client's to choose.
const maxBases = 64

// New makes what serves the card of an engine. It fails on a public URL that is none, and on a card that cannot be
// written as every version has it.
func NewCards(e *engine.Engine, o CardOptions) (*Cards, error) {
	c := &Cards{CardOptions: o, engine: e, cache: map[cacheKey]*cached{}}
	for _, v := range e.Versions() {
		c.shapes = append(c.shapes, &cardShape{v})
	}
	shapes := c.shapesByPath()
	c.Since = c.Since.UTC().Truncate(time.Second)
	c.dated = []string{c.Since.Format(http.TimeFormat)}
	c.control = []string{"public, max-age=" + strconv.Itoa(int(c.MaxAge.Seconds()))}
	if c.URL == "" {
		c.paths = shapes
		if err := c.sign(); err != nil {
			return nil, err
		}
		return c, c.try("http://localhost")
	}
	u, err := url.Parse(c.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("public url %q is not of the form https://host/path", c.URL)
	}
	c.URL = strings.TrimRight(c.URL, "/")
	c.base = strings.TrimRight(u.Path, "/")
	c.paths = maps.Clone(shapes)
	for at, shape := range shapes {
		c.paths[c.base+at] = shape
	}
	if err := c.sign(); err != nil {
		return nil, err
	}
	return c, c.try(c.URL)
}

// Base is the path of the public URL, without a slash at the end; "" without one.
func (c *Cards) Base() string { return c.base }

// At returns the shape that a path has for clients that name no version; nil if the card is not there.
func (c *Cards) At(path string) *cardShape { return c.paths[path] }

// under is a card whose interfaces are those of the agent under a base URL.
func (c *Cards) under(base string, card runtime.Card) runtime.Card {
	return card.At(func(i runtime.Interface) string {
		at := runtime.Rebase(base, i)
		if c.GRPCURL && i.Binding == runtime.BindingGRPC && !strings.Contains(at, "://") && at != i.URL {
			scheme, _, _ := strings.Cut(base, "://")
			at = scheme + "://" + at
		}
		return at
	})
}

// Newest is the card in the shape of the newest version, for the client of r.
func (c *Cards) Newest(r *http.Request) ([]byte, error) {
	b, err := c.written(c.shapes[0], c.BaseOf(r))
	if err != nil {
		return nil, err
	}
	return b.body, nil
}

// written returns the card in a shape for a base URL.
func (c *Cards) written(shape *cardShape, base string) (*cached, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey{shape, base}
	if b := c.cache[key]; b != nil {
		return b, nil
	}
	plain := c.under(base, c.engine.Card())
	body, err := shape.write(func(v *engine.Version) runtime.Card {
		if signed := c.signed[c.engine.Card()]; signed != nil && !v.Unnamed {
			return signed
		}
		return plain
	})
	if err != nil {
		return nil, fmt.Errorf("card: %w", err)
	}
	body = c.Shown(body)
	sum := sha256.Sum256(body)
	b := &cached{body: body, etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
	if len(c.cache) >= maxBases {
		clear(c.cache)
	}
	c.cache[key] = b
	return b, nil
}

// Serve answers GET and HEAD of the card, with an ETag and a time to live (R145–R147). It is public: any web page may
// read it. shape is that of the path ([Cards.At]); asked is the version that the request names, "" if none.
func (c *Cards) Serve(w http.ResponseWriter, r *http.Request, shape *cardShape, asked string) {
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
	if v := c.engine.Spoken(asked); v != nil {
		shape = c.shapes[v.Index]
	}
	b, err := c.written(shape, c.BaseOf(r))
	if err != nil {
		c.Logger.Error("card could not be encoded", "error", err)
		http.Error(w, "the card is not available", http.StatusInternalServerError)
		return
	}
	h["Content-Type"] = []string{"application/json"}
	h["Cache-Control"] = c.control
	h["Etag"] = []string{b.etag}
	h["Last-Modified"] = c.dated
	h["Access-Control-Expose-Headers"] = exposedCard
	if len(c.engine.Versions()) > 1 {
		h.Add("Vary", "A2A-Version")
	}
	if c.Forwarded && c.URL == "" {
		h.Add("Vary", "X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Prefix, Forwarded")
	}
	if c.known(r.Header, b.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Length"] = []string{strconv.Itoa(len(b.body))}
	if r.Method == http.MethodGet {
		_, _ = w.Write(b.body)
	}
}

// known reports whether the client has this card already, by its tag or, without one, by its date.
func (c *Cards) known(h http.Header, etag string) bool {
	tags := h.Values("If-None-Match")
	for _, list := range tags { // compared weakly (RFC 9110 §13.1.2)
		for tag := range strings.SplitSeq(list, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag || tag == "*" {
				return true
			}
		}
	}
	if len(tags) > 0 {
		return false
	}
	at, err := http.ParseTime(h.Get("If-Modified-Since"))
	return err == nil && !at.Before(c.Since)
}

// BaseOf returns the base URL under which the client of r reaches the agent.
func (c *Cards) BaseOf(r *http.Request) string {
	if c.URL != "" {
		return c.URL
	}
	scheme, host, prefix := "http", r.Host, ""
	if r.TLS != nil {
		scheme = "https"
	}
	if c.Forwarded {
		proto, h, p := forwardedBase(r.Header)
		if proto == "http" || proto == "https" {
			scheme = proto
		}
		if h != "" {
			host = h
		}
		prefix = p
	}
	if _, ok := HostName(host); !ok {
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
