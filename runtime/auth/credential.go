package auth

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// longest credential that is looked at, in bytes.
const longest = 16 << 10

// credential takes what a request brings for a scheme. An error is [ErrNone] or an errMalformed.
func (g *Guard) credential(s *Scheme, r *http.Request) (c Credential, err error) {
	c = Credential{Scheme: s, Request: r}
	switch {
	case s.Kind == MutualTLS: // where certificates come from is its verifier's to know
		if r.TLS != nil {
			c.Certificates, c.Trusted = r.TLS.PeerCertificates, len(r.TLS.VerifiedChains) > 0
		}
	case s.Kind == APIKey:
		c.Value, err = g.apiKey(s, r)
	case s.token():
		c.Value, err = bearer(r)
	default:
		if c.Value, err = authorization(r, s.HTTP); err == nil && s.HTTP == schemeBasic {
			c.User, c.Password, err = basic(c.Value)
			c.Value = ""
		}
	}
	if err == nil && len(c.Value) > longest {
		err = malformed("it is too long")
	}
	return c, err
}

// apiKey takes an API key from its place, and from nowhere else.
func (g *Guard) apiKey(s *Scheme, r *http.Request) (string, error) {
	var values []string
	switch s.In {
	case "header":
		values = r.Header[s.Key] // in canonical form
	case "query":
		if r.URL.RawQuery == "" {
			return "", ErrNone
		}
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return "", malformed("the query cannot be read")
		}
		values = query[s.Key]
	case "cookie":
		for _, c := range r.CookiesNamed(s.Key) {
			values = append(values, c.Value)
		}
		if len(values) > 0 && !g.deliberate(r) {
			return "", malformed("a web page of another origin may have sent the cookie")
		}
	}
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return "", ErrNone
	case len(values) > 1:
		return "", malformed("the key is given more than once")
	}
	return values[0], nil
}

// deliberate reports whether a request can be none that a web page of another origin had a browser send with the
// cookies of its user: a browser says so, or the request has what it would have asked for first.
func (g *Guard) deliberate(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin != "" && g.origins != nil && g.origins(origin) {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin":
		return true
	case "":
	default:
		return false
	}
	if origin != "" {
		u, err := url.Parse(origin)
		return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) && (r.TLS == nil || u.Scheme == "https")
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return len(r.Header["A2a-Version"]) > 0 || kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// authorization takes what follows the name of a scheme in the Authorization header.
func authorization(r *http.Request, scheme string) (string, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", ErrNone
	}
	if len(values) > 1 {
		return "", malformed("there are several Authorization headers")
	}
	name, rest, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(name, scheme) {
		return "", ErrNone
	}
	if rest = strings.Trim(rest, " "); rest == "" {
		return "", malformed("there is nothing behind the scheme's name")
	}
	return rest, nil
}

// bearer takes a bearer token (RFC 6750 §2.1). In a URL it ends up in logs, so that nobody takes it from there.
func bearer(r *http.Request) (string, error) {
	if r.URL.RawQuery != "" {
		if query, err := url.ParseQuery(r.URL.RawQuery); err == nil && query.Has("access_token") {
			return "", malformed("a token does not belong into a URL")
		}
	}
	token, err := authorization(r, schemeBearer)
	if err == nil && !token68(token) {
		return "", malformed("it is no bearer token")
	}
	return token, err
}

// token68 reports whether a text is of the form that tokens have (RFC 9110 §11.2).
func token68(t string) bool {
	t = strings.TrimRight(t, "=")
	for i := range len(t) {
		switch c := t[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~+/", c) >= 0:
		default:
			return false
		}
	}
	return t != ""
}

// basic takes user and password of HTTP Basic (RFC 7617 §2): a password may have colons, a user has none.
func basic(value string) (user, password string, err error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil || !utf8.Valid(raw) {
		return "", "", malformed("it is not the base64 of UTF-8")
	}
	user, password, ok := strings.Cut(string(raw), ":")
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if !ok || user == "" || strings.ContainsFunc(string(raw), control) {
		return "", "", malformed("it is no user and password")
	}
	return user, password, nil
}
