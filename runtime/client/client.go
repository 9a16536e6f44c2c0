package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// bindingJSONRPC is the protocolBinding of the interfaces this client speaks (A2A 1.0 §5.8).
const bindingJSONRPC = "JSONRPC"

// Client calls one agent through one interface of its card. It is safe for concurrent use.
type Client struct {
	protocol *runtime.Protocol
	version  *runtime.Version
	card     runtime.Card
	info     runtime.CardInfo
	iface    runtime.Interface
	warnings []string
	nextID   atomic.Int64

	http                  *http.Client
	ownHTTP               bool
	header                http.Header
	extensions            []string
	idle                  time.Duration
	reattach              int
	maxResponse, maxEvent int // bytes
	maxEvents             int
	endpoint              string
}

// New fetches the agent's card (see [FetchCard] for what url may be) and returns a client of the first interface that it speaks.
func New(ctx context.Context, p *runtime.Protocol, url string, opts ...Option) (*Client, error) {
	c := configure(p, opts)
	card, err := c.fetchCard(ctx, url)
	if err == nil {
		err = c.use(card)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// FromCard returns a client of the first interface of the card that it speaks, without any request.
func FromCard(p *runtime.Protocol, card runtime.Card, opts ...Option) (*Client, error) {
	c := configure(p, opts)
	if err := c.use(card); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func configure(p *runtime.Protocol, opts []Option) *Client {
	c := &Client{
		protocol: p, header: http.Header{}, idle: DefaultIdleTimeout, reattach: DefaultReattach,
		maxResponse: DefaultMaxResponse, maxEvent: DefaultMaxEvent, maxEvents: DefaultMaxEvents,
	}
	for _, o := range opts {
		o(c)
	}
	if c.http == nil {
		c.http, c.ownHTTP = newHTTPClient(), true
	}
	c.http = c.guarded(c.http)
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
	if c.ownHTTP {
		c.http.CloseIdleConnections()
	}
}

// Card returns the agent's card.
func (c *Client) Card() runtime.Card { return c.card }

// Warnings says what was wrong with the card that [New] fetched and was overlooked, because calls can do without: an odd security
// scheme, no capabilities, … There are none for a card that is as it should be.
func (c *Client) Warnings() []string { return slices.Clone(c.warnings) }

// Interface returns the interface in use.
func (c *Client) Interface() runtime.Interface { return c.iface }

// Tenant returns the tenant that every request must name, "" when it must name none (R125).
func (c *Client) Tenant() string { return c.iface.Tenant }

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

// use selects the first interface whose binding and version this client speaks (R125).
func (c *Client) use(card runtime.Card) error {
	c.card, c.info = card, card.CardInfo()
	var offers []string
	for _, i := range c.info.Interfaces {
		v := c.speaks(i)
		if v != nil {
			c.iface, c.version = i, v
			if c.endpoint != "" {
				c.iface.URL = c.endpoint
			}
			return checkURL(c.iface.URL)
		}
		offers = append(offers, i.Binding+" "+i.Version+" at "+i.URL)
	}
	name := printable([]byte(c.info.Name))
	if len(offers) == 0 {
		return fmt.Errorf("the card of agent %q declares no supportedInterfaces: it was made for another protocol version than %s", name, c.spoken())
	}
	return fmt.Errorf("agent %q has no interface that this client speaks (%s %s); it offers %s", name, bindingJSONRPC, c.spoken(), printable([]byte(strings.Join(offers, ", "))))
}

// speaks returns the version to use on the interface, or nil. Only Major.Minor of a version counts (A2A 1.0 §3.6).
func (c *Client) speaks(i runtime.Interface) *runtime.Version {
	if !strings.EqualFold(i.Binding, bindingJSONRPC) {
		return nil
	}
	for _, v := range c.protocol.Versions {
		if majorMinor(v.Name) == majorMinor(i.Version) {
			return v
		}
	}
	return nil
}

func (c *Client) spoken() string {
	var names []string
	for _, v := range c.protocol.Versions {
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

// majorMinor cuts a patch number off a version.
func majorMinor(v string) string {
	parts := strings.SplitN(strings.TrimSpace(v), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// checkURL refuses what cannot be called over HTTP.
func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return fmt.Errorf("the agent's URL: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("the agent's URL %q is not an absolute http or https URL", s)
	}
	return nil
}

// Method names an operation: by its role, whatever a version calls it, or by its JSON-RPC name when the runtime knows no role for it.
type Method struct {
	Role runtime.Role
	RPC  string
}

// operation finds the method in the version in use.
func (c *Client) operation(m Method) (*runtime.Operation, error) {
	for _, op := range c.version.Operations {
		if m.Role != runtime.RoleOther && op.Role == m.Role || m.Role == runtime.RoleOther && op.RPC == m.RPC {
			return op, nil
		}
	}
	return nil, runtime.ErrUnsupportedOperation.With("protocol version %s has no operation %s", c.version.Name, m.RPC)
}
