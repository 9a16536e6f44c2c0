package client

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	ext "github.com/a2agen/a2agen/runtime/gen/extension"
	"github.com/a2agen/a2agen/runtime/internal/observing"
)

// Client calls one agent through an interface of its card. It is safe for concurrent use.
type Client struct {
	protocol    *runtime.Protocol
	agent       agentCard   // its card
	cards       *cards      // newer cards
	network     network     // that requests are sent by
	credentials credentials // for the agent
	links       linkSet     // the interfaces in use

	observers             observing.Group
	extensions            []string
	extended              []*ext.Contract // extensions with operations of their own
	called                string          // by the user; "": see identity
	quiet                 time.Duration
	reattach              int
	policy                CallPolicy
	maxResponse, maxEvent int // bytes
	maxEvents             int
	fault                 error // of the options
}

// New fetches the agent's card (see [FetchCard] for what url may be) and returns a client of the best interface that it speaks: see [Prefer].
func New(ctx context.Context, p *runtime.Protocol, url string, opts ...Option) (*Client, error) {
	c := configure(p, opts)
	c.cards.base = url
	c.network.from, c.network.atHTTPS = url, strings.HasPrefix(strings.ToLower(url), "https:")
	c.network.host = cmp.Or(c.network.host, hostOf(url))
	if err := cmp.Or(c.fault, c.network.checkSafe()); err != nil {
		c.Close()
		return nil, err
	}
	card, err := c.agent.fetch(ctx, &c.network, url, c.cards)
	c.cards.checked(0)
	if err == nil {
		err = c.useCard(card)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// FromCard returns a client of the best interface of the card that it speaks. It makes no request, except for keys with [VerifyCard].
func FromCard(p *runtime.Protocol, card runtime.Card, opts ...Option) (*Client, error) {
	c := configure(p, opts)
	card, err := c.agent.verifyGiven(card)
	if err == nil {
		err = c.useCard(card)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func configure(p *runtime.Protocol, opts []Option) *Client {
	c := &Client{
		protocol: p, agent: agentCard{protocol: p}, cards: new(cards),
		network: network{header: http.Header{}, idle: DefaultIdleTimeout},
		links:   linkSet{bindings: []Binding{jsonRPC{}, httpJSON{}}},
		quiet:   DefaultQuietTimeout, reattach: defaultReattach,
		maxResponse: defaultMaxResponse, maxEvent: defaultMaxEvent, maxEvents: defaultMaxEvents,
	}
	for _, o := range opts {
		o(c)
	}
	if c.network.http == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost, t.MaxResponseHeaderBytes = 32, maxHeader
		c.network.http, c.network.ownHTTP = &http.Client{Transport: t}, true // without a time limit, because streams live long
	}
	if c.links.endpoint != "" {
		c.network.host = hostOf(c.links.endpoint)
	}
	if !c.credentials.none {
		c.network.protect(len(c.credentials.given) > 0)
		c.fault = cmp.Or(c.fault, c.credentials.fault, c.credentials.certify(&c.network))
	}
	return c
}

// Close closes idle connections. Calls under way go on; they end with their contexts.
func (c *Client) Close() {
	c.links.close()
	c.cards.close()
	c.network.closeIdle()
}

// Card returns the agent's card: the newest one that the client uses.
func (c *Client) Card() runtime.Card { return c.cards.newest(c).agent.card }

// Warnings returns the faults of the card that [New] fetched which do not prevent calls, such as an invalid security
// scheme or missing capabilities, and later the changes of the card: see [CardChange].
func (c *Client) Warnings() []string {
	c.cards.mu.Lock()
	defer c.cards.mu.Unlock()
	return slices.Concat(c.agent.warnings, c.cards.warnings)
}

// Interface returns the interface in use: the best one that the client speaks, or the one that takes its place while it
// cannot be reached.
func (c *Client) Interface() runtime.Interface { return c.cards.newest(c).links.inOrder()[0].iface }

// Tenant returns the tenant that every request must name, "" when it must name none (R125).
func (c *Client) Tenant() string { return c.links.all[0].iface.Tenant }

// skillsURI returns the URI under which the card declares the skills extension, "" if it does not. Of two it is the present one.
func (a *agentCard) skillsURI() string {
	declared := ""
	for _, e := range a.info.Extensions {
		if e.URI == runtime.SkillsExtension || declared == "" && runtime.IsSkillsExtension(e.URI) {
			declared = e.URI
		}
	}
	return declared
}
