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
func (c *Client) certify() error {
	var scheme string
	var given *credential
	for _, name := range sortedKeys(c.given) {
		one := c.given[name]
		if one.form != formCertificate {
			continue
		}
		if given != nil {
			return fmt.Errorf("client certificates were given for the security schemes %q and %q, and a connection has only one", scheme, name)
		}
		scheme, given = name, &one
	}
	if given == nil || c.certificate != nil {
		return nil
	}
	base := c.http.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	transport, ok := base.(*http.Transport)
	if !ok {
		return errors.New("a client certificate cannot be given to a transport of your own: put it there (rpc.HTTPClient)")
	}
	c.certificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return given.certificate() }
	transport = transport.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{}
	}
	transport.TLSClientConfig.GetClientCertificate = c.certificate
	if c.ownHTTP {
		c.http.CloseIdleConnections() // they have no certificate
	}
	own := *c.http
	own.Transport = transport
	c.http, c.ownHTTP = &own, true
	return nil
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
func (c *Client) checkSafe() error {
	if len(c.given) == 0 || c.from == "" || safe(c.from) {
		return nil
	}
	return fmt.Errorf("the card of %s comes in clear text, and credentials were given for the agent: use https", Printable(c.from))
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
