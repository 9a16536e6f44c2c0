package webhooks

import (
	"fmt"
	"net/netip"
	"strings"
)

// targets are the addresses to which notifications go: those of the public internet, over https, and what is opened.
type targets struct {
	open []netip.Prefix
}

// parseTargets opens networks ("10.1.0.0/16") and addresses ("127.0.0.1"): notifications go there as well, to any port
// and over http, too.
func parseTargets(networks ...string) (targets, error) {
	var t targets
	for _, text := range networks {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := netip.ParsePrefix(text)
		if addr, single := netip.ParseAddr(text); single == nil && addr.Zone() == "" {
			p, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		if err != nil {
			return t, fmt.Errorf("%q is neither a network such as 10.1.0.0/16 nor an address", text)
		}
		t.open = append(t.open, p.Masked())
	}
	return t, nil
}

// closed are the IPv4 networks that are not public, by the registry of special addresses (RFC 6890), and a public
// address under which a cloud serves its own machines.
var closed = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
)

// global is the IPv6 network of public addresses; closed6 are networks in it that are not public, among them those that
// contain an IPv4 address (6to4, Teredo). Networks that translate to IPv4 (NAT64) or map it are outside.
var (
	global  = netip.MustParsePrefix("2000::/3")
	closed6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)

func prefixes(list ...string) (all []netip.Prefix) {
	for _, text := range list {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// public reports whether an address is one of the public internet.
func public(a netip.Addr) bool {
	if a.Is4() {
		return !within(closed, a)
	}
	return a.Is6() && a.Zone() == "" && global.Contains(a) && !within(closed6, a)
}

func within(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// refusal says why nothing is sent to an address over http or https; "" if it may be. Of the public ports below 1024
// only that of https is allowed.
func (t targets) refusal(a netip.Addr, port uint16, secure bool) string {
	switch {
	case within(t.open, a.Unmap()):
		return ""
	case !public(a):
		return "is not an address of the public internet"
	case !secure:
		return "must be https"
	case port < 1024 && port != 443:
		return "has a port that is not taken for a receiver's: 443, or 1024 and above"
	}
	return ""
}
