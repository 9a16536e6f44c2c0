// Package authtest tests that an agent enforces what its card requires of callers. [Run] reads the requirements from the
// card, makes credentials for every security scheme, and tries each operation over each binding and version without
// credentials, with wrong ones, with another caller's and with the right ones.
//
// The handlers of the skills are not called: the test has one of its own in their place.
package authtest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net"
	"slices"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
)

// Agent is the agent to test.
type Agent struct {
	Protocol *runtime.Protocol
	Cards    []string // as JSON: the public one, and the extended one if there is one
	// ExtendedScopes are those that a caller needs for the extended card and the skills that only it lists.
	ExtendedScopes []string
	// Verifiers are those of the server for the card's schemes. They must take credentials from the environment. A scheme
	// without one is tested with a stand-in.
	Verifiers auth.Verifiers
	// NewServer makes the agent's server, with more options.
	NewServer func(opts ...server.Option) (*server.Server, error)
	// Bindings makes the bindings that a client needs beside those that it has itself, with TLS settings; nil: none.
	Bindings func(*tls.Config) []client.Binding
}

// Run tests the agent. It sets environment variables, so the test cannot be parallel.
func Run(t *testing.T, a Agent) {
	t.Helper()
	h := newHost(t, &a)
	var faces []face // one for each version and binding that it serves
	for _, v := range h.Protocol.Versions {
		for _, b := range runtime.Bindings {
			if c, _, err := h.dial(face{version: v, binding: b}, proof{}); err == nil {
				faces = append(faces, face{v, b, c.Interface().Tenant})
				c.Close()
			}
		}
	}
	for _, f := range faces {
		t.Run(f.binding.Name+" "+f.version.Name, func(t *testing.T) {
			ways := slices.DeleteFunc(slices.Clone(h.ways), func(w way) bool { return !h.people.canShow(w.schemes, f.binding) })
			for _, w := range ways {
				t.Run(w.String(), func(t *testing.T) { (&trial{host: h, face: f, way: w, t: t}).run() })
			}
			if len(ways) == 0 { // the binding has no place for the credentials: no caller is let in
				(&trial{host: h, face: f, way: h.ways[0], t: t}).tryAnonymous(unknown)
			}
		})
	}
}

// host is the running agent, and what is known of it.
type host struct {
	*Agent
	card    runtime.Card
	demands *auth.Demands
	ways    []way
	people  *people
	tenants []string // that its interfaces name; none: any will do
	addr    string   // host:port
}

// newHost reads the cards, makes the callers, and serves the agent until the test ends.
func newHost(t *testing.T, a *Agent) *host {
	t.Helper()
	h := &host{Agent: a}
	var err error
	if h.card, err = a.Protocol.DecodeCard([]byte(a.Cards[0])); err != nil {
		t.Fatal(err)
	}
	var public, hidden []string // ids of skills: of the public card, and of the extended card alone
	for i, text := range h.Cards {
		d, err := auth.ReadCard([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			h.demands = d
		} else {
			h.demands = h.demands.With(d)
		}
		var card struct{ Skills []struct{ ID string } }
		if err := json.Unmarshal([]byte(text), &card); err != nil {
			t.Fatal(err)
		}
		for _, s := range card.Skills {
			switch {
			case i == 0:
				public = append(public, s.ID)
			case !slices.Contains(public, s.ID):
				hidden = append(hidden, s.ID)
			}
		}
	}
	h.ways = waysInto(h.demands, public, hidden)
	for _, i := range h.card.CardInfo().Interfaces {
		if !slices.Contains(h.tenants, i.Tenant) {
			h.tenants = append(h.tenants, i.Tenant)
		}
	}
	if slices.Equal(h.tenants, []string{""}) {
		h.tenants = []string{"", "elsewhere"}
	}
	h.people = newPeople(t, h.demands, a, h.tenants)
	ask := func(_ context.Context, t *server.Task) error { return t.Ask("And then?") } // there is a task to try operations on
	srv, err := h.NewServer(server.InMemory(), server.WithLogger(slog.New(slog.DiscardHandler)),
		server.WithHandler(ask), server.WithPushTargets(pushHost), server.WithAuth(h.people.standIns))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return h
}
