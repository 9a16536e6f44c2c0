package token

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/wire"
)

// claims are the claims of a token.
type claims struct {
	issuer, subject, client    string
	audience, scopes           []string
	expires, notBefore, issued float64 // seconds; 0: not said
	confirmed                  bool    // it is bound to something
	certificate                string  // namely to one of this SHA-256; "": to something else
	other                      string  // what it is, if it is no access token
	active                     bool    // of an introspection
	all                        wire.Object
}

// readClaims reads claims strictly: no name twice, numbers as numbers.
func readClaims(payload []byte) (*claims, error) {
	c, err := wire.Decode(payload, readMembers)
	if err == nil {
		c.all = payload
	}
	return c, err
}

func readMembers(r *wire.Reader, c *claims) {
	var seen wire.Seen
	var azp string
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		read, bit := c.member(string(key), &azp)
		switch {
		case read == nil:
			r.Unknown(key)
		case r.Field(&seen, bit):
			read(r)
		}
	}
	if c.client == "" {
		c.client = azp
	}
}

// Claims that say of what kind a token is, as some issuers write it, and those that ID tokens alone have; with their bits.
var (
	kindClaims = map[string]uint{"typ": 12, "token_use": 13, "token_type": 14}
	idClaims   = map[string]uint{"nonce": 15, "at_hash": 16, "c_hash": 17, "s_hash": 18}
)

// member returns the reader of a claim, and its bit; nil for one that is ignored.
func (c *claims) member(name string, azp *string) (read func(*wire.Reader), bit uint) {
	text := func(to *string) func(*wire.Reader) { return func(r *wire.Reader) { *to = r.String() } }
	number := func(to *float64) func(*wire.Reader) { return func(r *wire.Reader) { *to = r.Number() } }
	switch name {
	case "iss":
		return text(&c.issuer), 0
	case "sub":
		return text(&c.subject), 1
	case "aud":
		return func(r *wire.Reader) { c.audience = textOrList(r) }, 2
	case "exp":
		return number(&c.expires), 3
	case "nbf":
		return number(&c.notBefore), 4
	case "iat":
		return number(&c.issued), 5
	case "client_id":
		return text(&c.client), 6
	case "azp":
		return text(azp), 7
	case "scope":
		return c.readScopes, 8
	case "scp":
		return c.readScopes, 9
	case "cnf":
		return c.readConfirmation, 10
	case "active":
		return func(r *wire.Reader) { c.active = r.Bool() }, 11
	}
	if bit, ok := kindClaims[name]; ok {
		return c.readKind, bit
	}
	if bit, ok := idClaims[name]; ok {
		return c.readIDToken, bit
	}
	return nil, 0
}

// textOrList reads a text, or a list of texts.
func textOrList(r *wire.Reader) []string {
	if r.Kind() == wire.KindArray {
		return r.Strings()
	}
	return []string{r.String()}
}

// readScopes reads scopes: in one text with blanks between them, and no other space (RFC 6749 §3.3), or a list of them.
func (c *claims) readScopes(r *wire.Reader) {
	if r.Kind() == wire.KindArray {
		c.scopes = append(c.scopes, r.Strings()...)
		return
	}
	for scope := range strings.SplitSeq(r.String(), " ") {
		if scope != "" {
			c.scopes = append(c.scopes, scope)
		}
	}
}

// readKind reads the kind of a token as some issuers write it: Keycloak ("typ") and Cognito ("token_use").
func (c *claims) readKind(r *wire.Reader) {
	switch strings.ToLower(r.String()) {
	case "id":
		c.other = "an ID token"
	case "refresh", "offline":
		c.other = "a refresh token"
	}
}

// readIDToken reads claims that only ID tokens have.
func (c *claims) readIDToken(r *wire.Reader) {
	c.other = "an ID token"
	r.Skip()
}

// readConfirmation reads the key to which a token is bound (RFC 7800). A certificate can be proven (RFC 8705).
func (c *claims) readConfirmation(r *wire.Reader) {
	c.confirmed = true
	n := 0
	var seen wire.Seen
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		n++
		if string(key) != "x5t#S256" {
			r.Unknown(key)
		} else if r.Field(&seen, 0) {
			c.certificate = r.String()
		}
	}
	if n != 1 {
		c.certificate = ""
	}
}

// caller returns the caller whom the claims name.
func (c *claims) caller(t *terms) auth.Caller {
	caller := auth.Caller{
		ID: c.subject, Issuer: t.issuer, Client: c.client, Machine: c.subject == c.client, Scopes: c.scopes, Claims: c.all,
		Expires: time.UnixMilli(int64(c.expires * 1000)),
	}
	if t.tenants != "" {
		caller.Tenants = c.list(t.tenants)
	}
	return caller
}

// list returns a claim that is a text or a list of texts; empty for any other.
func (c *claims) list(name string) []string {
	v, _ := c.all.Get(name)
	if kind := v.Kind(); kind != wire.KindString && kind != wire.KindArray {
		return []string{}
	}
	list, err := wire.Decode(v, func(r *wire.Reader, to *[]string) { *to = textOrList(r) })
	if err != nil {
		return []string{}
	}
	return *list
}

// proven reports whether the request proves the key to which the token is bound: the certificate of the connection.
func (e *entry) proven(r *http.Request) bool {
	if e.bound == "" {
		return true
	}
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return false
	}
	sum := sha256.Sum256(r.TLS.PeerCertificates[0].Raw)
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(e.bound)) == 1
}
