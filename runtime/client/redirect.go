package client

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxRedirects is how many redirects of one request are followed.
const maxRedirects = 5

// network is what requests go over: the HTTP client, what each request has, and the hosts to which it may go.
type network struct {
	http        *http.Client
	ownHTTP     bool
	header      http.Header // of every request
	idle        time.Duration
	certificate func(*tls.CertificateRequestInfo) (*tls.Certificate, error)
	from        string // where New got the card; "" for FromCard
	atHTTPS     bool   // the card was
	oneHost     bool
	host        string // at which it stays with oneHost
	secrets     bool   // credentials were given: they go over https, except to this machine
}

// startAt notes where the card is got.
func (n *network) startAt(url string) {
	n.from, n.atHTTPS, n.host = url, strings.HasPrefix(strings.ToLower(url), "https:"), cmp.Or(n.host, hostOf(url))
}

// guarded returns the HTTP client with our rules for redirects before its own: for calls, or for the fetch of a card.
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

// Unwrap returns why.
func (e *redirectError) Unwrap() error { return e.error }

// checkRedirect refuses redirects to another host, because what was meant for one (the message, credentials in headers) is not for the
// other. Only a card may be fetched by https instead of http, and then without the headers of [DefaultHeader].
func (n *network) checkRedirect(req *http.Request, via []*http.Request, card bool) error {
	first, last := via[0], via[len(via)-1]
	switch {
	case n.oneHost:
		return fmt.Errorf("a redirect is not followed with credentials: if it is right, use %s", printable([]byte(req.URL.Redacted())))
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case first.Method != req.Method:
		return fmt.Errorf("a redirect to %s would turn %s into %s", req.URL.Redacted(), first.Method, req.Method)
	case !sameOrigin(last.URL, req.URL) && (!card || !upgrade(last.URL, req.URL)):
		return fmt.Errorf("a redirect to another host is not followed: if it is right, use %s", printable([]byte(req.URL.Redacted())))
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
