package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/security"
)

// credentialKind is a kind of credentials, and how requests carry them: a row of credentialKinds.
type credentialKind struct {
	kind   SchemeKind
	http   string // of kind HTTP, the name of the scheme in lower case; "" is any
	form   form   // of the credential
	title  string // for errors: "a bearer token"
	option string // that sets it, with the name of the scheme for %q
	// suffixes are those of the environment variables that set it, "" for none. Of several in one text all are needed.
	suffixes []string
	// place returns its place in a request, which has room for one. An error is a card with an impossible place.
	place func(s *SchemeInfo) (place, error)
	// check returns an error for a malformed secret, which is not in the error.
	check func(s *SchemeInfo, secret string) error
	// put adds the secret to a request.
	put func(s *SchemeInfo, r *Request, secret string)
}

// place is a place in a request: a header of a name, a parameter in the query, a cookie, or the connection itself.
type place struct{ in, name string }

var (
	placeAuthorization = place{"header", "Authorization"}
	placeConnection    = place{"connection", ""}
)

// credentialKinds are found by kind and HTTP scheme, the first one that fits.
var credentialKinds = []*credentialKind{
	{
		kind: SchemeOpenIDConnect, form: formToken, title: "a token of OpenID Connect", option: "rpc.WithToken(%q, source)",
		suffixes: []string{"", EnvFile, EnvIssuer}, place: inAuthorization, check: checkToken, put: putBearer,
	},
	{
		kind: SchemeOAuth2, form: formToken, title: "a token of OAuth 2", option: "rpc.WithToken(%q, source)",
		suffixes: []string{"", EnvFile, EnvIssuer, EnvTokenURL}, place: inAuthorization, check: checkToken, put: putBearer,
	},
	{
		kind: SchemeHTTP, http: security.Bearer, form: formToken, title: "a bearer token", option: "rpc.WithToken(%q, source)",
		suffixes: []string{"", EnvFile}, place: inAuthorization, check: checkToken, put: putBearer,
	},
	{
		kind: SchemeHTTP, http: security.Basic, form: formBasic, title: "a user and password", option: `rpc.WithBasic(%q, user, password)`,
		suffixes: []string{"", EnvFile}, place: inAuthorization,
		check: func(_ *SchemeInfo, secret string) error { // RFC 7617 §2
			user, _, ok := strings.Cut(secret, ":")
			control := func(r rune) bool { return r < ' ' || r == 0x7f }
			if !ok || user == "" || !utf8.ValidString(secret) || strings.ContainsFunc(secret, control) {
				return errors.New("it is not user:password, with a user that has no colon and is not empty")
			}
			return nil
		},
		put: func(_ *SchemeInfo, r *Request, secret string) {
			r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(secret)))
		},
	},
	{
		kind: SchemeHTTP, form: formAuthorization, title: "HTTP authentication", option: `rpc.WithAuthorization(%q, value)`,
		suffixes: []string{"", EnvFile}, place: inAuthorization, check: checkVisible,
		put: func(s *SchemeInfo, r *Request, secret string) { r.Header.Set("Authorization", s.HTTP+" "+secret) },
	},
	{
		kind: SchemeMutualTLS, form: formCertificate, title: "a client certificate", option: `rpc.WithCertificate(%q, certificate)`,
		suffixes: []string{EnvCert + " " + EnvKey},
		place:    func(*SchemeInfo) (place, error) { return placeConnection, nil },
	},
	{
		kind: SchemeAPIKey, form: formKey, title: "an API key", option: `rpc.WithAPIKey(%q, key)`,
		suffixes: []string{"", EnvFile},
		place:    placeOfKey, put: putKey,
		check: func(s *SchemeInfo, secret string) error {
			if s.In == "cookie" && strings.ContainsAny(secret, " \",;\\") { // RFC 6265 §4.1.1
				return errors.New("it has characters that a cookie cannot have: blanks, quotes, commas, semicolons or backslashes")
			}
			return checkVisible(s, secret)
		},
	},
}

// kindOf returns the row of a scheme; nil if the scheme is of no known kind.
func kindOf(s *SchemeInfo) *credentialKind {
	for _, k := range credentialKinds {
		if k.kind == s.Kind && (k.http == "" || k.http == s.HTTP) {
			return k
		}
	}
	return nil
}

func inAuthorization(s *SchemeInfo) (place, error) {
	if s.Kind == SchemeHTTP && !isToken(s.HTTP) {
		return place{}, errors.New("the card names no HTTP authentication scheme that can be one")
	}
	return placeAuthorization, nil
}

// reservedHeaders are headers in which no API key is sent: net/http, A2A or proxies interpret them.
var reservedHeaders = []string{
	"Accept", "Accept-Encoding", "Authorization", "Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Type",
	"Cookie", "Expect", "Forwarded", "Host", "Idempotency-Key", "Keep-Alive", "Last-Event-Id", "Origin", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "Via",
}

// reservedPrefixes are those of further such headers.
var reservedPrefixes = []string{"A2a-", "X-A2a-", "X-Forwarded-", "Grpc-", "Sec-"}

// placeOfKey returns the place of an API key, which must not change anything else in the request.
func placeOfKey(s *SchemeInfo) (place, error) {
	name := s.Key
	switch s.In {
	case "header":
		name = http.CanonicalHeaderKey(name)
		if slices.Contains(reservedHeaders, name) || slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return place{}, fmt.Errorf("the card has the key in the header %s, in which no key is sent", Printable(name))
		}
	case "query":
		return place{s.In, name}, nil
	}
	if !isToken(name) {
		return place{}, fmt.Errorf("the card has the key in a %s whose name %q cannot be one", s.In, Printable(name))
	}
	return place{s.In, name}, nil
}

func putKey(s *SchemeInfo, r *Request, secret string) {
	switch s.In {
	case "header":
		r.Header.Set(s.Key, secret)
	case "query":
		if r.Query != "" {
			r.Query += "&"
		}
		r.Query += url.QueryEscape(s.Key) + "=" + url.QueryEscape(secret)
	case "cookie":
		cookie := s.Key + "=" + secret
		if others := r.Header.Get("Cookie"); others != "" {
			cookie = others + "; " + cookie
		}
		r.Header.Set("Cookie", cookie)
	}
}

func putBearer(_ *SchemeInfo, r *Request, secret string) {
	r.Header.Set("Authorization", "Bearer "+secret)
}

// checkToken checks a bearer token (RFC 6750 §2.1).
func checkToken(_ *SchemeInfo, secret string) error {
	t := strings.TrimRight(secret, "=")
	for i := range len(t) {
		if c := t[i]; !alphanumeric(c) && strings.IndexByte("-._~+/", c) < 0 {
			return errors.New("it is no bearer token: such have letters, digits and -._~+/ alone")
		}
	}
	if t == "" {
		return errors.New("it is empty")
	}
	return nil
}

// checkVisible checks a secret that is sent without encoding.
func checkVisible(_ *SchemeInfo, secret string) error {
	for i := range len(secret) {
		if c := secret[i]; c < ' ' || c > '~' {
			return errors.New("it has characters that cannot be sent: line breaks, or other than ASCII")
		}
	}
	if strings.TrimSpace(secret) != secret || secret == "" {
		return errors.New("it is empty, or begins or ends with blanks")
	}
	return nil
}

// isToken reports whether s can be the name of a header, a cookie or an authentication scheme (RFC 9110 §5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; !alphanumeric(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// schemeInfo is a scheme as the card declares it.
func schemeInfo(s *security.Scheme) SchemeInfo {
	info := SchemeInfo{Name: s.Name, In: s.In, Key: s.Key, HTTP: s.HTTP}
	for _, k := range security.Kinds {
		if k.Kind == s.Kind {
			info.Kind = SchemeKind(k.Type)
		}
	}
	switch info.Kind {
	case SchemeOAuth2:
		info.MetadataURL = s.URL
	case SchemeOpenIDConnect:
		info.OpenIDConnectURL = s.URL
	}
	if s.About == nil {
		return info
	}
	info.Description, info.BearerFormat = s.About.Description, s.About.BearerFormat
	for _, name := range sortedKeys(s.About.Flows) {
		f := s.About.Flows[name]
		info.Flows = append(info.Flows, OAuthFlow{
			Name: name, AuthorizationURL: f.AuthorizationURL, DeviceURL: f.DeviceAuthorizationURL, TokenURL: f.TokenURL,
			RefreshURL: f.RefreshURL, Scopes: f.Scopes, PKCE: f.PKCERequired,
		})
	}
	return info
}

// carries returns an error if an interface cannot carry a credential at a place.
func carries(l *link, p place) error {
	if p == placeConnection {
		if !l.conn.Secure() {
			return errors.New("the connection is not encrypted, and has no certificates")
		}
		return nil
	}
	in := []string{"header"} // of an unknown binding
	if b := runtime.BindingNamed(l.iface.Binding); b != nil {
		in = b.Keys
	}
	if !slices.Contains(in, p.in) {
		return fmt.Errorf("%s has no place for an API key in a %s: use another interface (rpc.Prefer)", l.iface.Binding, p.in)
	}
	if c, ok := l.conn.(interface{ CanSend(header string) error }); ok && p.in == "header" {
		return c.CanSend(p.name)
	}
	return nil
}
