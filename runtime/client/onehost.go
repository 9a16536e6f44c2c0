package client

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// OneHost keeps what is sent at one host: that of the URL that [New] was given, for [FromCard] that of the first
// interface. Interfaces that the card has elsewhere are not called, nor is one in clear text of a card at https, and no
// redirect is followed. It is for credentials that are meant for that host alone.
func OneHost() Option { return func(c *Client) { c.network.oneHost = true } }

// protect keeps requests at one host, and encrypted, if credentials were given.
func (n *network) protect(given bool) {
	if given {
		n.oneHost, n.secrets = true, true
	}
}

// otherHost reports whether a client with [OneHost] must not use a link: it is to another host, or in clear text though
// the card came over https.
func (n *network) otherHost(l *link) bool {
	if !n.oneHost {
		return false
	}
	host := hostOf(l.iface.URL)
	if n.host == "" {
		n.host = host
	}
	return host != n.host || !l.conn.Secure() && (n.atHTTPS || n.secrets && !loopback(host))
}

// errOtherHost is the error of a card with interfaces on other hosts alone.
func (n *network) errOtherHost(url string) error {
	if hostOf(url) == n.host {
		if n.atHTTPS {
			return fmt.Errorf("the card sends calls to %s in clear text, and is at https itself", printable([]byte(url)))
		}
		return fmt.Errorf("calls go to %s in clear text, and credentials go there: use https", printable([]byte(url)))
	}
	return fmt.Errorf("the card sends calls to %s, and what is sent is for %s alone: "+
		"if it is right, use the URL of the agent there (in Go, or rpc.Endpoint)", printable([]byte(url)), n.host)
}

// hostOf is the host of a URL, or of an address without a scheme. What names a resolver of its own is no host.
func hostOf(address string) string {
	if scheme, _, found := strings.Cut(address, "://"); found {
		u, err := url.Parse(address)
		if err != nil || !slices.Contains([]string{"http", "https", "grpc", "grpcs"}, strings.ToLower(scheme)) {
			return address
		}
		return strings.ToLower(u.Hostname())
	}
	address, _, _ = strings.Cut(address, "/")
	if host, port, err := net.SplitHostPort(address); err == nil && strings.Trim(port, "0123456789") == "" {
		address = host
	}
	return strings.ToLower(strings.Trim(address, "[]"))
}
