package client

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// avoidFor is how long an interface that could not be reached, or lost a request, is tried after the others.
const avoidFor = 30 * time.Second

// link is an interface that the client can call.
type link struct {
	iface runtime.Interface
	table *runtime.Table
	conn  Conn
	until atomic.Int64 // time in Unix nanoseconds to which it is tried after the others
}

// linkSet is the interfaces in use. They are all of one version.
type linkSet struct {
	all      []*link // the first one is the best
	version  *runtime.Version
	bindings []Binding // that the client speaks
	prefer   []string  // bindings, by name
	endpoint string    // to call instead of the interface's URL; "": that
	tenant   *string   // of the interfaces that may be called; nil: of the first one
}

// useCard takes a card: its credentials, and the interfaces to call.
func (c *Client) useCard(card runtime.Card) error {
	if !c.protocol.IsComplete() {
		return errors.New("the protocol is one for servers: give the client a2a.ClientProtocol()")
	}
	c.agent.card, c.agent.info = card, card.CardInfo()
	c.agent.keys = knowsKeys(c.agent.info.Extensions)
	if c.fault != nil {
		return c.fault
	}
	if err := c.credentials.secure(&c.agent, &c.network); err != nil {
		return err
	}
	return c.links.choose(&c.agent, &c.network, c.target)
}

// choose selects the interfaces to call, in order: the first one that this client speaks, as the card or [Prefer] orders
// them (R125), is called, and others of its version stand in for it where it cannot be reached. They have its tenant,
// because requests name that, and its protection: what is encrypted is never sent in clear text instead.
func (s *linkSet) choose(agent *agentCard, n *network, target func(url string) Target) error {
	list := slices.Clone(agent.info.Interfaces)
	if len(s.prefer) > 0 {
		list = slices.DeleteFunc(list, func(i runtime.Interface) bool { return s.rank(i.Binding) < 0 })
		slices.SortStableFunc(list, func(a, b runtime.Interface) int {
			return cmp.Compare(s.rank(a.Binding), s.rank(b.Binding))
		})
	}
	var failed error
	for _, i := range list {
		at := slices.IndexFunc(agent.protocol.Versions, func(v *runtime.Version) bool {
			return majorMinor(v.Name) == majorMinor(i.Version) // nothing else counts (A2A 1.0 §3.6)
		})
		if at < 0 || s.tenant != nil && i.Tenant != *s.tenant {
			continue
		}
		v := agent.protocol.Versions[at]
		if s.version != nil && v != s.version {
			continue
		}
		l, err := s.link(i, v, target)
		if l != nil {
			if err = n.keeps(l); err == nil && s.fits(l) {
				s.version, s.all = v, append(s.all, l)
			} else {
				l.conn.Close()
			}
		}
		failed = cmp.Or(failed, err)
	}
	if len(s.all) > 0 {
		return nil
	}
	return cmp.Or(failed, s.noInterface(agent))
}

// close closes the connections.
func (s *linkSet) close() {
	for _, l := range s.all {
		l.conn.Close()
	}
}

// interfaces are those that are called.
func (s *linkSet) interfaces() (all []runtime.Interface) {
	for _, l := range s.all {
		all = append(all, l.iface)
	}
	return all
}

// fits reports whether a link can stand in for those before it.
func (s *linkSet) fits(l *link) bool {
	if len(s.all) == 0 {
		return true
	}
	first := s.all[0]
	secure := slices.ContainsFunc(s.all, func(l *link) bool { return l.conn.Secure() })
	return s.endpoint == "" && l.iface.Tenant == first.iface.Tenant && (l.conn.Secure() || !secure)
}

// rank is the place of a binding among the preferred ones, -1 if it is none of them.
func (s *linkSet) rank(binding string) int {
	return slices.IndexFunc(s.prefer, func(name string) bool { return strings.EqualFold(name, binding) })
}

// link makes a link of an interface of the version, nil if the client does not speak that over its binding.
func (s *linkSet) link(i runtime.Interface, v *runtime.Version, target func(url string) Target) (*link, error) {
	n := slices.IndexFunc(s.bindings, func(b Binding) bool { return strings.EqualFold(b.Name(), i.Binding) })
	if n < 0 {
		return nil, nil
	}
	table := v.Over(s.bindings[n].Name())
	if table == nil {
		return nil, nil
	}
	if s.endpoint != "" {
		i.URL = s.endpoint
	}
	conn, err := s.bindings[n].Connect(target(i.URL))
	if err != nil {
		return nil, err
	}
	return &link{iface: i, table: table, conn: conn}, nil
}

// target is what a binding connects to, with the client's limits.
func (c *Client) target(url string) Target {
	return Target{
		URL: url, Secure: c.network.atHTTPS || c.agent.hasHTTPS(url), HTTP: c.network.guarded(false),
		Certificate: c.network.certificate, Idle: c.network.idle, MaxResponse: c.maxResponse, MaxEvent: c.maxEvent,
	}
}

// hasHTTPS reports whether the card has an interface at https on the host and port of an address without a scheme.
func (a *agentCard) hasHTTPS(address string) bool {
	host, _, _ := strings.Cut(address, "/")
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), "443")
	}
	return slices.ContainsFunc(a.info.Interfaces, func(i runtime.Interface) bool {
		u, err := url.Parse(i.URL)
		return err == nil && u.Scheme == "https" && strings.EqualFold(net.JoinHostPort(u.Hostname(), port(u)), host)
	})
}

// noInterface is the error of a card without an interface that this client speaks.
func (s *linkSet) noInterface(agent *agentCard) error {
	name := Printable(agent.info.Name)
	if len(agent.info.Interfaces) == 0 {
		return fmt.Errorf("the card of agent %q declares no supportedInterfaces: "+
			"it was made for another protocol version than %s", name, spoken(agent.protocol))
	}
	var speaks, offers []string // "JSONRPC 1.0", "JSONRPC 0.3", …
	for _, b := range s.bindings {
		if len(s.prefer) > 0 && s.rank(b.Name()) < 0 {
			continue
		}
		for _, v := range agent.protocol.Versions {
			if v.Over(b.Name()) != nil {
				speaks = append(speaks, b.Name()+" "+v.Name)
			}
		}
	}
	for _, i := range agent.info.Interfaces {
		offers = append(offers, i.Binding+" "+i.Version+" at "+i.URL)
	}
	return fmt.Errorf("agent %q has no interface that this client speaks (%s); it offers %s",
		name, cmp.Or(strings.Join(speaks, ", "), "none of "+strings.Join(s.prefer, ", ")), Printable(strings.Join(offers, ", ")))
}

// spoken lists versions.
func spoken(p *runtime.Protocol) string {
	var names []string
	for _, v := range p.Versions {
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

// majorMinor cuts a patch number off a version.
func majorMinor(v string) string {
	parts := strings.SplitN(strings.TrimSpace(v), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// webURL parses a URL that can be called over HTTP.
func webURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("the agent's URL: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("the agent's URL %q is not an absolute http or https URL", s)
	}
	return u, nil
}

// Method names an operation: by its role, which is the same in all versions, or by its JSON-RPC name if the runtime has no role for it.
type Method struct {
	Role runtime.Role
	RPC  string
}

// avoid moves a link behind the others for a while.
func (l *link) avoid() { l.until.Store(time.Now().Add(avoidFor).UnixNano()) }

// inOrder returns the links, last those that could not be reached recently.
func (s *linkSet) inOrder() []*link {
	now := time.Now().UnixNano()
	if s.all[0].until.Load() <= now {
		return s.all
	}
	links := slices.Clone(s.all)
	slices.SortStableFunc(links, func(a, b *link) int {
		return cmp.Compare(max(0, a.until.Load()-now), max(0, b.until.Load()-now))
	})
	return links
}

// operation finds the method; nil if the link does not have it.
func (l *link) operation(m Method) *runtime.Operation {
	for _, op := range l.table.Operations {
		if m.Role != runtime.RoleOther && op.Role == m.Role || m.Role == runtime.RoleOther && op.RPC == m.RPC {
			return op
		}
	}
	return nil
}

// name is the name of a method in the version in use.
func (s *linkSet) name(m Method) string {
	for _, l := range s.all {
		if op := l.operation(m); op != nil {
			return op.RPC
		}
	}
	return m.RPC
}
