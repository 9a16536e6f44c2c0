package remote

import (
	"fmt"
	"net/netip"
	"syscall"
)

// PrivateAddressError is the refusal to connect to an address that is not public.
type PrivateAddressError struct{ Addr netip.Addr }

// Error names the address and the remedy.
func (e *PrivateAddressError) Error() string {
	return fmt.Sprintf("%s is a private or local address; allow it with --allow-private-network", e.Addr)
}

// refusePrivate is a net.Dialer.Control: it sees the address about to be connected to, after DNS, so that no name can
// point the connection elsewhere.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("unexpected address %q", address)
	}
	if !public(ap.Addr()) {
		return &PrivateAddressError{Addr: ap.Addr()}
	}
	return nil
}

// special are the address blocks that are not, or not reliably, the public internet: the IANA special-purpose
// registries, multicast and reserved space. Loopback counts as private.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

// Translated IPv4: the address is what stands in the last four bytes (RFC 6052).
var (
	nat64    = netip.MustParsePrefix("64:ff9b::/96")
	unicast6 = netip.MustParsePrefix("2000::/3") // all that is global unicast in IPv6
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// public reports whether an address belongs to the public internet.
func public(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !a.IsValid() || a.Is6() && !unicast6.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
