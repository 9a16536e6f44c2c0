package origin

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Environment variables: further host names, separated by commas, under which clients on the agent's own machine reach
// it, and the agent's public base URL.
const (
	EnvHosts = "A2A_HOSTS"
	EnvURL   = "A2A_PUBLIC_URL"
)

// anyHost in place of a name lets all names in.
const anyHost = "*"

// names are the names in hosts, of which some may be empty or no names.
func names(hosts []string) map[string]bool {
	names := map[string]bool{}
	for _, h := range hosts {
		if h = strings.TrimSpace(h); h == anyHost {
			names[anyHost] = true
		} else if name, ok := HostName(h); ok {
			names[name] = true
		}
	}
	return names
}

// AllowHost refuses requests under a name that [Policy.CheckHost] refuses, and reports whether the request may go on.
func (p *Policy) AllowHost(w http.ResponseWriter, r *http.Request) bool {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	err := p.CheckHost(r.Host, addr)
	switch {
	case err == nil:
		return true
	case errors.Is(err, ErrNoHost):
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		http.Error(w, err.Error(), http.StatusForbidden)
	}
	return false
}

// ErrNoHost refuses what cannot be a host.
var ErrNoHost = errors.New("the Host header names no host")

// CheckHost returns why a request that came to an address under the name of a host is refused: [ErrNoHost], or an error
// that helps to add the name. A web page whose own name was pointed to a loopback address (DNS rebinding) could use the
// agent of its reader: there the name must be one of the machine's or of the agent's. Behind trusted forwarded headers
// the proxy has checked. No name at all is HTTP/1.0, which browsers do not speak. local is nil if it is not known.
func (p *Policy) CheckHost(host string, local net.Addr) error {
	if host == "" {
		return nil
	}
	name, ok := HostName(host)
	if !ok {
		return ErrNoHost
	}
	addr, _ := local.(*net.TCPAddr)
	if addr == nil || !addr.IP.IsLoopback() || p.forwarded || isLoopback(name) || p.names[name] || p.names[anyHost] {
		return nil
	}
	return unknownHost(name)
}

// unknownHost is a host name that the agent does not know. Its error is shown to people.
type unknownHost string

func (name unknownHost) Error() string {
	return "This agent was reached on its own machine under the name " + string(name) + ", which it does not know: a web page may be behind it.\n" +
		"If the name is right, set " + EnvURL + " (WithURL) to the agent's public URL, or add the name to " + EnvHosts + " (WithHosts)."
}

// isLoopback reports whether a name means the machine itself.
func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// HostName returns the name in a Host value, in lower case and without port, brackets and final dot. It is false for
// what cannot stand in a URL.
func HostName(host string) (name string, ok bool) {
	name, port, cut := host, "", false
	if inside, bracket := strings.CutPrefix(host, "["); bracket {
		if name, port, cut = strings.Cut(inside, "]"); !cut {
			return "", false
		}
		ip, err := netip.ParseAddr(name)
		if err != nil || !ip.Is6() || ip.Zone() != "" || port != "" && port[0] != ':' {
			return "", false
		}
		name, port = ip.String(), strings.TrimPrefix(port, ":")
	} else {
		name, port, _ = strings.Cut(host, ":")
		name = strings.TrimSuffix(strings.ToLower(name), ".")
		if name == "" || len(name) > 253 || !plainName(name) {
			return "", false
		}
	}
	if len(port) > 5 || strings.Trim(port, "0123456789") != "" {
		return "", false
	}
	return name, true
}

// plainName reports whether a name is of the letters of host names throughout.
func plainName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return true
}
