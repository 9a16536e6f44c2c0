package authtest

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
)

// face is an interface of the agent.
type face struct {
	version *runtime.Version
	binding *runtime.Binding
	tenant  string
}

// dial makes a client of an interface. It sends nothing.
func (h *host) dial(f face, shown proof, more ...client.Option) (*client.Client, *wire, error) {
	only := *h.Protocol
	only.Versions = []*runtime.Version{f.version}
	var config *tls.Config // nil: in clear text
	if h.people.authority != nil {
		config = &tls.Config{RootCAs: h.people.authority.Pool()}
		if shown.certificate != nil {
			config.Certificates = []tls.Certificate{*shown.certificate}
		}
	}
	w := &wire{Transport: http.Transport{TLSClientConfig: config}, query: shown.query}
	opts := append([]client.Option{
		client.Prefer(f.binding.Name), client.Reattach(0), client.SendAnyway(), client.HTTPClient(&http.Client{Transport: w}),
	}, more...)
	if h.Bindings != nil {
		for _, b := range h.Bindings(config) {
			opts = append(opts, client.Use(b))
		}
	}
	for name, values := range shown.header {
		opts = append(opts, client.DefaultHeader(name, values[0]))
	}
	for _, e := range h.card.CardInfo().Extensions {
		if e.Required {
			opts = append(opts, client.DefaultExtensions(e.URI))
		}
	}
	place := func(i runtime.Interface) string { // where the agent serves an interface of its card in the test
		if b := runtime.BindingNamed(i.Binding); b != nil && b.HostPort {
			return h.addr
		}
		at := url.URL{Scheme: "http", Host: h.addr, Path: "/"}
		if u, err := url.Parse(i.URL); err == nil {
			at.Path = u.Path
		}
		if h.people.authority != nil {
			at.Scheme = "https"
		}
		return at.String()
	}
	c, err := client.FromCard(&only, h.card.At(place), opts...)
	return c, w, err
}

// wire sends requests over HTTP, with API keys in their query, and counts them.
type wire struct {
	http.Transport
	query url.Values
	sent  atomic.Int64
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.sent.Add(1)
	if len(w.query) > 0 {
		r = r.Clone(r.Context())
		all := r.URL.Query()
		maps.Copy(all, w.query)
		r.URL.RawQuery = all.Encode()
	}
	return w.Transport.RoundTrip(r)
}

// caller calls an interface with the credentials of a person.
type caller struct {
	*client.Client
	wire     *wire
	overHTTP bool
	who      string
	ctx      context.Context
}

// as returns a caller with the credentials of a person for a tenant, of the schemes that the way needs.
func (x *trial) as(words string, who person, tenant string) caller {
	x.t.Helper()
	shown, _ := x.people.shows(who, x.schemes)
	return x.showing(words, shown, tenant)
}

// named returns a caller for the tenant of the interface. words describe the person in reports.
func (x *trial) named(words string, who person) caller {
	x.t.Helper()
	return x.as(words, who, x.tenant)
}

// showing returns a caller with some credentials. The tenant is also in a header, for versions whose requests have
// none.
func (x *trial) showing(who string, shown proof, tenant string) caller {
	x.t.Helper()
	var opts []client.Option
	if tenant != "" {
		opts = append(opts, client.DefaultHeader("A2A-Tenant", tenant))
	}
	c, w, err := x.dial(x.face, shown, opts...)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() {
		c.Close()
		w.CloseIdleConnections()
	})
	return caller{Client: c, wire: w, overHTTP: x.binding.Client == "", who: who, ctx: x.t.Context()}
}

// patience is how long an answer may take.
const patience = 30 * time.Second

// errUnsent is the error of a request that cannot be encoded, because an operation of the agent's own needs more than
// is known here.
var errUnsent = errors.New("the request cannot be written")

// call makes a request. Of a stream it returns the first event.
func (c caller) call(a attempt) (result any, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	before := c.wire.sent.Load()
	defer func() {
		if c.overHTTP && c.wire.sent.Load() == before {
			err = errors.Join(errUnsent, err)
		}
	}()
	m := client.Method{Role: a.op.Role, RPC: a.op.RPC}
	if !a.op.Stream {
		return c.Call(ctx, m, a.request)
	}
	for event, err := range c.Stream(ctx, m, a.request) {
		return event, err
	}
	return nil, nil
}

// try returns the error of call.
func (c caller) try(a attempt) error {
	_, err := c.call(a)
	return err
}
