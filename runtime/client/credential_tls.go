package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
)

// certify has connections show the client certificate that was given, if one was.
func (g *credentials) certify(n *network) error {
	var scheme string
	var given *credential
	for _, name := range sortedKeys(g.given) {
		one := g.given[name]
		if one.form != formCertificate {
			continue
		}
		if given != nil {
			return fmt.Errorf("client certificates were given for the security schemes %q and %q, and a connection has only one", scheme, name)
		}
		scheme, given = name, &one
	}
	if given == nil || n.certificate != nil {
		return nil
	}
	return n.show(given.certificate)
}

// show has connections show a client certificate.
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

// safe reports whether credentials may go to an address: it is encrypted, or this machine.
func safe(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" || loopback(hostOf(address))
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// checkSafe reports a client with credentials whose card comes in clear text: whoever changes it on the way chooses what is sent.
func (n *network) checkSafe() error {
	if !n.secrets || n.from == "" || safe(n.from) {
		return nil
	}
	return fmt.Errorf("the card of %s comes in clear text, and credentials were given for the agent: use https", Printable(n.from))
}

// OwnCredentials reports what the HTTP client that the user gave may add to requests: a certificate, or anything.
func (c *webConn) OwnCredentials() (certificate, others bool) {
	h := c.target.HTTP
	transport, known := h.Transport.(*http.Transport)
	if h.Transport == nil {
		transport, known = http.DefaultTransport.(*http.Transport)
	}
	if !known {
		return true, true
	}
	config := transport.TLSClientConfig
	return config != nil && (len(config.Certificates) > 0 || config.GetClientCertificate != nil), h.Jar != nil
}
