package runtime

import (
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Caller is who sent a request, as its credentials say.
type Caller struct {
	ID     string // the subject: a token's sub, the name of a key or a user, what a certificate names
	Issuer string // of a token; "" for other credentials
	Scheme string // by which it was checked, as the card names it
	Client string // the client that a token was issued to
	// Machine: the subject is that client, which acts for nobody else. A person may have the same ID.
	Machine bool
	Scopes  []string
	Claims  wire.Object // of a token; nil for other credentials
	Tenants []string    // for which it may act; nil: for any
	Tenant  string      // of the request
	Expires time.Time   // of the credential; zero: it does not
}

// Has reports whether the caller has all of the scopes.
func (c *Caller) Has(scopes ...string) bool {
	for _, s := range scopes {
		if !slices.Contains(c.Scopes, s) {
			return false
		}
	}
	return true
}

// MayActFor reports whether the caller may act for a tenant.
func (c *Caller) MayActFor(tenant string) bool {
	return c.Tenants == nil || slices.Contains(c.Tenants, tenant)
}

// The pieces of a principal are apart by a bar, which none of them has.
var (
	barless = strings.NewReplacer("%", "%25", "|", "%7C")
	barring = strings.NewReplacer("%25", "%", "%7C", "|")
)

// machine is the last piece of a principal that is a client.
const machine = "|client"

// Principal names the caller for good: whose tasks are whose goes by it. Subjects of two issuers, or of two schemes,
// are two callers. It is "" for nobody.
func (c *Caller) Principal() string {
	if c == nil || c.ID == "" {
		return ""
	}
	from := c.Issuer
	if from == "" {
		from = c.Scheme
	}
	p := barless.Replace(from) + "|" + barless.Replace(c.ID)
	if c.Machine {
		p += machine
	}
	return p
}

// CallerOf is what a principal says of its caller. Where it was checked is the Issuer if it looks like one.
func CallerOf(principal string) Caller {
	rest, isMachine := strings.CutSuffix(principal, machine)
	from, id, ok := strings.Cut(rest, "|")
	if !ok {
		return Caller{}
	}
	c := Caller{ID: barring.Replace(id), Machine: isMachine}
	if from = barring.Replace(from); strings.Contains(from, "://") {
		c.Issuer = from
	} else {
		c.Scheme = from
	}
	return c
}
