package runtime

import (
	"net"
	"net/url"
	"strings"
)

// Rebase is the URL of an interface behind base, as its binding writes it: with base's scheme and host, and base's path
// before its own. One of HTTP+JSON has no slash at the end: clients put a path behind it, and readers of 0.3 want each
// URL for one binding. One of gRPC that is a path becomes host:port, the form that all official clients take (T70). A
// URL that is neither HTTP nor a path stays as it is; so does every URL if base is not an HTTP URL.
func Rebase(base string, i Interface) string {
	to, err := url.Parse(base)
	if err != nil || to.Host == "" || (to.Scheme != "http" && to.Scheme != "https") {
		return i.URL
	}
	from, err := url.Parse(i.URL)
	switch {
	case err != nil, from.Opaque != "", from.User != nil:
		return i.URL
	case from.Scheme != "" && from.Scheme != "http" && from.Scheme != "https":
		return i.URL
	case from.Scheme == "" && i.URL != "" && !strings.HasPrefix(i.URL, "/"):
		return i.URL
	case i.Binding == BindingGRPC && from.Scheme == "":
		return target(to)
	}
	rebased := to.Scheme + "://" + to.Host + strings.TrimSuffix(to.EscapedPath(), "/") + from.EscapedPath()
	if i.Binding == BindingHTTP {
		rebased = strings.TrimRight(rebased, "/")
	}
	if from.RawQuery != "" {
		rebased += "?" + from.RawQuery
	}
	return rebased
}

// target is what gRPC clients dial for an HTTP URL: its host and port.
func target(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
