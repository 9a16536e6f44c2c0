package keyset

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// mostBytes of a document.
const mostBytes = 256 << 10

// CheckURL refuses an address that is not of the form https://host/path. plain lets http addresses of other hosts than
// this one in.
func CheckURL(text string, plain bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return err
	case u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%s is no https URL", u.Redacted())
	case u.Scheme == "http" && !plain && !loopback(u.Hostname()):
		return fmt.Errorf("what %s says would come by http from another host: use https", u.Redacted())
	}
	return nil
}

// loopback reports whether a host is this one.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// NoRedirects is a copy of a client, or one of its own for nil, that follows no redirects.
func NoRedirects(c *http.Client) *http.Client {
	client := http.Client{}
	if c != nil {
		client = *c
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// Status is the error of an answer that is none.
type Status int

func (s Status) Error() string { return fmt.Sprintf("HTTP %d", int(s)) }

// Get fetches a document. An answer without one is a [Status].
func Get(ctx context.Context, c *http.Client, address, accept string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	return Do(c, req)
}

// Do sends a request for a document.
func Do(c *http.Client, req *http.Request) ([]byte, error) {
	resp, err := c.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch %s: %w", req.URL.Redacted(), Status(resp.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("fetch %s: %w", req.URL.Redacted(), err)
	case len(body) > mostBytes:
		return nil, fmt.Errorf("%s is more than %d bytes", req.URL.Redacted(), mostBytes)
	}
	return body, nil
}
