package card

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/a2agen/a2agen/runtime/server/internal/origin"
)

// BaseOf returns the base URL under which the client of r reaches the agent.
func (c *Cards) BaseOf(r *http.Request) string {
	if c.URL != "" {
		return c.URL
	}
	scheme, host, prefix := "http", r.Host, ""
	if r.TLS != nil {
		scheme = "https"
	}
	if c.Forwarded {
		proto, h, p := forwardedBase(r.Header)
		if proto == "http" || proto == "https" {
			scheme = proto
		}
		if h != "" {
			host = h
		}
		prefix = p
	}
	if _, ok := origin.HostName(host); !ok {
		host = "localhost"
	}
	return scheme + "://" + host + prefix
}

// forwardedBase reads what a proxy says of the original request: X-Forwarded-* or, without them, Forwarded (RFC 7239).
// The first proxy's word counts, because it saw the client.
func forwardedBase(h http.Header) (proto, host, prefix string) {
	first := func(name string) string {
		v, _, _ := strings.Cut(h.Get(name), ",")
		return strings.TrimSpace(v)
	}
	proto, host = strings.ToLower(first("X-Forwarded-Proto")), first("X-Forwarded-Host")
	if p := first("X-Forwarded-Prefix"); strings.HasPrefix(p, "/") && plainPath(p) {
		prefix = strings.TrimRight(path.Clean(p), "/")
	}
	for pair := range strings.SplitSeq(first("Forwarded"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		value = strings.Trim(value, `"`)
		switch {
		case strings.EqualFold(name, "proto") && proto == "":
			proto = strings.ToLower(value)
		case strings.EqualFold(name, "host") && host == "":
			host = value
		}
	}
	return proto, host, prefix
}

// plainPath reports whether a path can stand in a URL as it is.
func plainPath(p string) bool {
	u, err := url.Parse("http://localhost" + p)
	return err == nil && u.Host == "localhost" && u.EscapedPath() == p && !strings.Contains(p, "//")
}
