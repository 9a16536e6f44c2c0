// Package ownhost has the HTTP client with which handlers call others: it follows redirects on the host that it was sent to
// and nowhere else, since credentials would go along.
package ownhost

import (
	"net/http"
	"sync"
)

var shared struct {
	once   sync.Once
	client *http.Client
}

// Client returns the client. All callers share it, and its connections.
func Client() *http.Client {
	shared.once.Do(func() {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxResponseHeaderBytes = 64 << 10
		shared.client = &http.Client{Transport: transport, CheckRedirect: Redirect}
	})
	return shared.client
}

// maxRedirects is how many redirects are followed.
const maxRedirects = 3

// Redirect stops at a redirect that leads elsewhere: credentials in headers and addresses would go there.
func Redirect(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > maxRedirects || req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}
