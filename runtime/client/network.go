package client

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// maxRedirects is how many redirects of one request are followed.
const maxRedirects = 5

// network sends requests: the HTTP client, the headers of each request, and the hosts to which it may go.
type network struct {
	http        *http.Client
	ownHTTP     bool
	header      http.Header // of every request
	idle        time.Duration
	certificate func(*tls.CertificateRequestInfo) (*tls.Certificate, error)
	from        string // where New got the card; "" for FromCard
	atHTTPS     bool   // the card came over https
	oneHost     bool   // requests go to host alone
	host        string
	secrets     bool // credentials were given: they go over https, except to this machine
}

// guarded returns the HTTP client with the rules for redirects of calls, or of the fetch of a card, before its own.
func (n *network) guarded(card bool) *http.Client {
	h := n.http
	g := *h
	g.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		err := n.checkRedirect(req, via, card)
		if err == nil && h.CheckRedirect != nil {
			err = h.CheckRedirect(req, via)
		}
		if err == nil || err == http.ErrUseLastResponse {
			return err
		}
		return &redirectError{err}
	}
	return &g
}

// redirectError is the error of a redirect that is not followed.
type redirectError struct{ error }

// Unwrap returns the reason.
func (e *redirectError) Unwrap() error { return e.error }

// checkRedirect refuses redirects to another host, because the message and the credentials in headers are not for that. Only a card may be
// fetched by https instead of http, and then without the headers of [DefaultHeader].
func (n *network) checkRedirect(req *http.Request, via []*http.Request, card bool) error {
	first, last := via[0], via[len(via)-1]
	switch {
	case n.oneHost:
		return fmt.Errorf("a redirect is not followed with credentials: if it is right, use %s", Printable(req.URL.Redacted()))
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case first.Method != req.Method:
		return fmt.Errorf("a redirect to %s would turn %s into %s", req.URL.Redacted(), first.Method, req.Method)
	case !sameOrigin(last.URL, req.URL) && (!card || !upgrade(last.URL, req.URL)):
		return fmt.Errorf("a redirect to another host is not followed: if it is right, use %s", Printable(req.URL.Redacted()))
	case sameOrigin(first.URL, req.URL):
		return nil
	}
	for name := range n.header {
		req.Header.Del(name)
	}
	return nil
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// upgrade reports whether b is what a is, by https instead of http, each at its usual port.
func upgrade(a, b *url.URL) bool {
	return a.Scheme == "http" && b.Scheme == "https" && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == "80" && port(b) == "443"
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// show presents a client certificate on connections.
func (n *network) show(certificate func() (*tls.Certificate, error)) error {
	base := n.http.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	transport, ok := base.(*http.Transport)
	if !ok {
		return errors.New("a client certificate cannot be given to a transport of your own: put it there (rpc.HTTPClient)")
	}
	n.certificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate() }
	transport = transport.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{}
	}
	transport.TLSClientConfig.GetClientCertificate = n.certificate
	n.closeIdle() // they have no certificate
	own := *n.http
	own.Transport = transport
	n.http, n.ownHTTP = &own, true
	return nil
}

// closeIdle closes idle connections, unless the HTTP client is the user's.
func (n *network) closeIdle() {
	if n.ownHTTP {
		n.http.CloseIdleConnections()
	}
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// checkSafe reports a client with credentials whose card comes in clear text, where it could be changed on the way so that credentials go
// elsewhere.
func (n *network) checkSafe() error {
	u, err := url.Parse(n.from)
	if !n.secrets || n.from == "" || err == nil && u.Scheme == "https" || loopback(hostOf(n.from)) {
		return nil
	}
	return fmt.Errorf("the card of %s comes in clear text, and credentials were given for the agent: use https", Printable(n.from))
}

// OneHost sends requests to one host alone: that of the URL that [New] was given, for [FromCard] that of the first
// interface. Interfaces at other hosts are not called, nor is one in clear text of a card at https, and no
// redirect is followed. It is for credentials that are meant for that host alone.
func OneHost() Option { return func(c *Client) { c.network.oneHost = true } }

// protect keeps requests at one host, and encrypted, if credentials were given.
func (n *network) protect(given bool) {
	if given {
		n.oneHost, n.secrets = true, true
	}
}

// keeps returns an error if a client with [OneHost] must not use a link: it is to another host, or in clear text though the card came over
// https or credentials go there.
func (n *network) keeps(l *link) error {
	if !n.oneHost {
		return nil
	}
	host, shown := hostOf(l.iface.URL), Printable(l.iface.URL)
	n.host = cmp.Or(n.host, host)
	switch {
	case host != n.host:
		return fmt.Errorf("the card sends calls to %s, and what is sent is for %s alone: "+
			"if it is right, use the URL of the agent there (in Go, or rpc.Endpoint)", shown, n.host)
	case !l.conn.Secure() && n.atHTTPS:
		return fmt.Errorf("the card sends calls to %s in clear text, and is at https itself", shown)
	case !l.conn.Secure() && n.secrets && !loopback(host):
		return fmt.Errorf("calls go to %s in clear text, and credentials go there: use https", shown)
	}
	return nil
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
