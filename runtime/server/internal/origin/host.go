package server

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
)

// EnvHosts is the environment variable with further host names, separated by commas, under which clients on the agent's
// own machine reach it.
const EnvHosts = "A2A_HOSTS"

// anyHost in place of a name lets all names in.
const anyHost = "*"

// addHosts takes note of the names under which requests on a loopback address are answered, beside those of the machine
// itself: the option's, the environment's, the public URL's and those that the card names.
func (s *Server) addHosts(cardHosts []string) {
	s.names = map[string]bool{}
	for _, h := range append(append(strings.Split(os.Getenv(EnvHosts), ","), s.hosts...), cardHosts...) {
		if h = strings.TrimSpace(h); h == anyHost {
			s.names[anyHost] = true
		} else if name, ok := hostName(h); ok {
			s.names[name] = true
		}
	}
}

// allowHost refuses requests under a name that is no host, or one that the agent does not know.
func (s *Server) allowHost(w http.ResponseWriter, r *http.Request) bool {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	known, err := s.knowsHost(r.Host, addr)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case !known:
		http.Error(w, unknownHost(r.Host), http.StatusForbidden)
	}
	return known
}

// errNoHost refuses what cannot be a host.
var errNoHost = errors.New("the Host header names no host")

// knowsHost reports whether the agent may be called under the name of a host. A web page whose own name was pointed to a
// loopback address (DNS rebinding) could use the agent of its reader: there the name has to be one of the machine's or of
// the agent's. Behind trusted forwarded headers the proxy has checked. No name at all is HTTP/1.0, which browsers do not
// speak.
func (s *Server) knowsHost(host string, local net.Addr) (bool, error) {
	if host == "" {
		return true, nil
	}
	name, ok := hostName(host)
	if !ok {
		return false, errNoHost
	}
	addr, _ := local.(*net.TCPAddr)
	return addr == nil || !addr.IP.IsLoopback() || s.forwarded || isLoopback(name) || s.names[name] || s.names[anyHost], nil
}

// unknownHost is what is said of a host that the agent does not know.
func unknownHost(host string) string {
	name, _ := hostName(host)
	return "This agent was reached on its own machine under the name " + name + ", which it does not know: a web page may be behind it.\n" +
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

// hostName returns the name in a Host value, in lower case and without port, brackets and final dot. It is false for
// what cannot stand in a URL.
func hostName(host string) (name string, ok bool) {
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
