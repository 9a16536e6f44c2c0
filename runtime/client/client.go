package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
)

// Client calls one agent through an interface of its card. It is safe for concurrent use.
type Client struct {
	protocol *runtime.Protocol
	version  *runtime.Version
	card     runtime.Card
	info     runtime.CardInfo
	links    []*link // of the version, the first one is the best
	atHTTPS  bool    // the card was
	warnings []string
	verifier CardVerifier          // nil: cards are not verified
	verified *runtime.VerifiedCard // what it said of the card
	keys     bool                  // the card promises that a message with an idempotency key is worked on once

	bindings []Binding
	prefer   []string

	observers             observing.Group
	http                  *http.Client
	ownHTTP               bool
	header                http.Header
	extensions            []string
	idle, quiet           time.Duration
	reattach              int
	policy                CallPolicy
	maxResponse, maxEvent int // bytes
	maxEvents             int
	endpoint              string
	oneHost               bool
	host                  string                // at which it stays with oneHost
	from                  string                // where New got the card; "" for FromCard
	fault                 error                 // of the options
	given                 map[string]credential // by the scheme's name
	env                   *environment          // nil: nothing is read from there
	certificate           func(*tls.CertificateRequestInfo) (*tls.Certificate, error)
	grants                map[string][]string // scopes that tasks may ask for, by the scheme's name
	anyway                bool                // calls that lack a credential are sent without
	authorizer            *authorizer         // nil: the card demands nothing
	cards                 *cards
}

// New fetches the agent's card (see [FetchCard] for what url may be) and returns a client of the best interface that it speaks: see [Prefer].
func New(ctx context.Context, p *runtime.Protocol, url string, opts ...Option) (*Client, error) {
	c := configure(p, opts)
	c.from, c.cards.base, c.atHTTPS, c.host = url, url, strings.HasPrefix(strings.ToLower(url), "https:"), cmp.Or(c.host, hostOf(url))
	if err := cmp.Or(c.fault, c.checkSafe()); err != nil {
		c.Close()
		return nil, err
	}
	card, err := c.fetchCard(ctx, url)
	c.cards.looked(0)
	if err == nil {
		err = c.selectLinks(card)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// FromCard returns a client of the best interface of the card that it speaks, without any request but for keys, with [VerifyCard].
func FromCard(p *runtime.Protocol, card runtime.Card, opts ...Option) (*Client, error) {
	c := configure(p, opts)
	card, err := c.verifyGiven(card)
	if err == nil {
		err = c.selectLinks(card)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func configure(p *runtime.Protocol, opts []Option) *Client {
	c := &Client{
		protocol: p, header: http.Header{}, idle: DefaultIdleTimeout, quiet: DefaultQuietTimeout, reattach: DefaultReattach,
		maxResponse: DefaultMaxResponse, maxEvent: DefaultMaxEvent, maxEvents: DefaultMaxEvents,
		bindings: []Binding{jsonRPC{}, httpJSON{}}, cards: new(cards),
	}
	for _, o := range opts {
		o(c)
	}
	if c.http == nil {
		c.http, c.ownHTTP = newHTTPClient(), true
	}
	if c.endpoint != "" {
		c.host = hostOf(c.endpoint)
	}
	c.oneHost, c.fault = c.oneHost || len(c.given) > 0, cmp.Or(c.fault, c.certify())
	return c
}

// newHTTPClient has no time limit of its own, because streams live long.
func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	t.MaxResponseHeaderBytes = maxHeader
	return &http.Client{Transport: t}
}

// Close lets go of idle connections. Calls under way are not touched; they end with their contexts.
func (c *Client) Close() {
	c.closeLinks()
	c.cards.close()
	if c.ownHTTP {
		c.http.CloseIdleConnections()
	}
}

func (c *Client) closeLinks() {
	for _, l := range c.links {
		l.conn.Close()
	}
}

// Card returns the agent's card: the newest one that the client follows.
func (c *Client) Card() runtime.Card { return c.newest().card }

// Warnings says what was wrong with the card that [New] fetched and was overlooked, because calls can do without: an odd security
// scheme, no capabilities, … There are none for a card that is as it should be. Later it says, too, how the card changed since: see [CardChange].
func (c *Client) Warnings() []string {
	c.cards.mu.Lock()
	defer c.cards.mu.Unlock()
	return slices.Concat(c.warnings, c.cards.warnings)
}

// Interface returns the interface in use: the best one that the client speaks, or the one that stands in for it while it
// cannot be reached.
func (c *Client) Interface() runtime.Interface { return c.newest().inOrder()[0].iface }

// Tenant returns the tenant that every request must name, "" when it must name none (R125).
func (c *Client) Tenant() string { return c.links[0].iface.Tenant }

// skillsURI returns the URI under which the card declares the skills extension, "" if it does not. Of two it is the present one.
func (c *Client) skillsURI() string {
	declared := ""
	for _, e := range c.info.Extensions {
		if e.URI == runtime.SkillsExtension || declared == "" && runtime.IsSkillsExtension(e.URI) {
			declared = e.URI
		}
	}
	return declared
}
