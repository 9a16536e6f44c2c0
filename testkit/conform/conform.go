// Package conform holds any agent to what the specification of A2A asks for, over the wire: every interface that its card lists,
// in every version and binding. It knows no codec of this module: it reads and writes the JSON of the published definitions by a
// table of its own, so that a mistake of a codec is found too.
//
// It is safe for an agent in production: calls are made one after another, within a number of requests, a deadline each, and a
// bound on what is read.
package conform

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

// Config is the agent to check, and how.
type Config struct {
	// URL is where the agent is: its root, the URL of its card, or a URL below which /.well-known/agent-card.json is.
	URL string
	// Header is sent with every request. Its values are secret: reports have "…" for them.
	Header http.Header
	// Other has the credentials of a second caller, who may not see the tasks of the first. nil: that is not tried.
	Other http.Header
	// Contract has the messages that make the agent do more than answer a text; nil: those of its card.
	Contract *Contract
	// Only are checks to run: identifiers or their beginnings ("send", "list.order") or requirements ("R24"). Empty: all.
	Only []string
	// Timeout is how long a call may take, 10 seconds if 0.
	Timeout time.Duration
	// Requests is how many requests are made at most, 3000 if 0.
	Requests int
	// Hosts are others than that of URL on which interfaces may be. Interfaces on other hosts are not tried: a card could
	// lead requests and their credentials anywhere.
	Hosts []string
	// Webhook is the URL, http://HOST:PORT, under which an agent on another machine reaches this one: push notifications are
	// listened for at the port. Without it they are tried with agents on a loopback address alone.
	Webhook string
	// Dial connects to the agent, for https, too, without TLS; nil: over the network. Tests in one process have one.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is used for https; nil: the defaults.
	TLS *tls.Config
	// Progress is called with each result.
	Progress func(Result)
}

// Option sets something in the configuration of a [Test].
type Option func(*Config)

// WithHeader sends a header with every request.
func WithHeader(name, value string) Option {
	return func(c *Config) { c.Header = with(c.Header, name, value) }
}

// WithOther sends a header as a second caller, who may not see the tasks of the first.
func WithOther(name, value string) Option {
	return func(c *Config) { c.Other = with(c.Other, name, value) }
}

func with(h http.Header, name, value string) http.Header {
	if h = h.Clone(); h == nil {
		h = http.Header{}
	}
	h.Add(name, value)
	return h
}

// WithContract sets the messages that make the agent do more than answer a text.
func WithContract(contract Contract) Option { return func(c *Config) { c.Contract = &contract } }

// WithOnly runs some checks alone: see [Config.Only].
func WithOnly(checks ...string) Option { return func(c *Config) { c.Only = checks } }

// WithTimeout sets how long a call may take: see [Config.Timeout].
func WithTimeout(d time.Duration) Option { return func(c *Config) { c.Timeout = d } }

// WithDial connects to the agent by a function.
func WithDial(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(c *Config) { c.Dial = dial }
}

// DefaultRequests is how many requests are made at most unless [Config.Requests] is set.
const DefaultRequests = 3000

const defaultTimeout = 10 * time.Second

// Run checks an agent. It returns an error if there is nothing to check: nothing answers at the URL, or no agent does. What an
// agent does wrong is in the report.
func Run(ctx context.Context, c Config) (*Report, error) {
	for _, word := range c.Only {
		if !slices.ContainsFunc(checks(), func(c *Check) bool { return c.chosen([]string{word}) }) {
			return nil, fmt.Errorf("there is no check %q: name one, the beginning of several (\"send\"), or a requirement (\"R24\"); a2agen conform --list has them", word)
		}
	}
	r, err := newRunner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() {
		r.client.CloseIdleConnections()
		for _, c := range r.grpc {
			c.CloseIdleConnections()
		}
		if r.webhook != nil {
			r.webhook.close()
		}
	}()
	if err := r.readCard(); err != nil {
		return nil, err
	}
	r.tryOnce(OnCard)
	for _, p := range r.probes {
		p.try()
	}
	r.tryOnce(OnAgent)
	r.report.Requests = r.requests
	return r.report, r.ctx.Err()
}
