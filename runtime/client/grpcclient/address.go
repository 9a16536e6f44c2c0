package grpcclient

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/a2agen/a2agen/runtime/client"
)

// address is the address of an agent: a target of grpc-go, and whether connections are encrypted.
type address struct {
	target string
	secure bool
}

// address reads the URL of an interface. Cards have "host:port" (A2A 1.0 §10), a name as grpc-go resolves it
// ("dns:///host:port"), or a URL: encrypted with https and grpcs, in clear text with http and grpc. gRPC has no
// paths: that of a URL is ignored.
func (b *binding) address(t client.Target) (address, error) {
	open := !b.clear && (b.tls != nil || t.Secure)
	scheme, rest, found := strings.Cut(t.URL, ":")
	switch {
	case found && strings.HasPrefix(rest, "//") && scheme != "dns":
		return fromURL(t.URL)
	case scheme == "dns" && found && !isPort(rest):
		host := rest[strings.LastIndexByte(rest, '/')+1:]
		_, port, _ := net.SplitHostPort(host)
		return address{t.URL, open || port == "443" && !b.clear}, check(t.URL, host)
	}
	host, _, _ := strings.Cut(t.URL, "/")
	_, port, err := net.SplitHostPort(host)
	open = open || port == "443" && !b.clear
	if err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), usualPort(open))
	}
	return address{"dns:///" + host, open}, check(t.URL, host)
}

func isPort(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func usualPort(secure bool) string {
	if secure {
		return "443"
	}
	return "80"
}

// fromURL reads an address whose scheme shows whether it is encrypted.
func fromURL(s string) (address, error) {
	u, err := url.Parse(s)
	if err != nil {
		return address{}, fmt.Errorf("the agent's gRPC address: %w", err)
	}
	var secure bool
	switch u.Scheme {
	case "https", "grpcs":
		secure = true
	case "http", "grpc":
	default:
		return address{}, refuse(s)
	}
	host := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), usualPort(secure)))
	if u.User != nil || u.Hostname() == "" {
		return address{}, refuse(s)
	}
	return address{"dns:///" + host, secure}, check(s, host)
}

// check returns an error for an address with an invalid host or port.
func check(s, hostport string) error {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = hostport, "1"
	}
	if host == "" || !isPort(port) || strings.ContainsAny(host, " \t\r\n@?#%/\\") {
		return refuse(s)
	}
	return nil
}

func refuse(s string) error {
	return fmt.Errorf("the agent's gRPC address %q is neither host:port nor a URL with https, http, grpcs, grpc or dns", s)
}
