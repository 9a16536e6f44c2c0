package guard

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/security"
)

// longest is the size of the longest credential that is checked, in bytes.
const longest = 16 << 10

// credential takes what a request brings for a scheme. An error is [auth.ErrNone] or a [security.ErrMalformed].
func (g *Guard) credential(s *security.Scheme, r *http.Request) (c auth.Credential, err error) {
	c, err = wayOf(s).take(g, s, r)
	if err == nil && len(c.Value) > longest {
		err = security.Malformed("it is too long")
	}
	c.Scheme, c.Request = s, r
	return c, err
}

// takeCertificates takes the certificates of TLS. The verifier finds those that a proxy passes on.
func takeCertificates(_ *Guard, _ *security.Scheme, r *http.Request) (c auth.Credential, err error) {
	if r.TLS != nil {
		c.Certificates, c.Trusted = r.TLS.PeerCertificates, len(r.TLS.VerifiedChains) > 0
	}
	return c, nil
}

// takeKey takes an API key from its place, and from nowhere else.
func takeKey(g *Guard, s *security.Scheme, r *http.Request) (c auth.Credential, err error) {
	values, err := placeOf(s).values(g, s.Key, r)
	switch {
	case err != nil:
		return c, err
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return c, auth.ErrNone
	case len(values) > 1:
		return c, security.Malformed("the key is given more than once")
	}
	c.Value = values[0]
	return c, nil
}

func headerKeys(_ *Guard, key string, r *http.Request) ([]string, error) {
	return r.Header[key], nil // in canonical form
}

func queryKeys(_ *Guard, key string, r *http.Request) ([]string, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, security.Malformed("the query cannot be read")
	}
	return query[key], nil
}

func cookieKeys(g *Guard, key string, r *http.Request) (values []string, err error) {
	for _, c := range r.CookiesNamed(key) {
		values = append(values, c.Value)
	}
	if len(values) > 0 && !g.deliberate(r) {
		return nil, security.Malformed("a web page of another origin may have sent the cookie")
	}
	return values, nil
}

// deliberate reports whether a request with cookies cannot come from a web page of another origin: the browser says
// so, or the request needs a CORS preflight.
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

// authorization returns what follows a scheme's name in the Authorization header.
func authorization(r *http.Request, scheme string) (string, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", auth.ErrNone
	}
	if len(values) > 1 {
		return "", security.Malformed("there are several Authorization headers")
	}
	name, rest, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(name, scheme) {
		return "", auth.ErrNone
	}
	if rest = strings.Trim(rest, " "); rest == "" {
		return "", security.Malformed("there is nothing behind the scheme's name")
	}
	return rest, nil
}

// takeAuthorization takes what follows the scheme's name in the Authorization header.
func takeAuthorization(_ *Guard, s *security.Scheme, r *http.Request) (c auth.Credential, err error) {
	c.Value, err = authorization(r, s.HTTP)
	return c, err
}

// takeBearer takes a bearer token (RFC 6750 §2.1). One in a URL is refused, because URLs end up in logs.
func takeBearer(_ *Guard, _ *security.Scheme, r *http.Request) (c auth.Credential, err error) {
	if r.URL.RawQuery != "" {
		if query, err := url.ParseQuery(r.URL.RawQuery); err == nil && query.Has("access_token") {
			return c, security.Malformed("a token does not belong into a URL")
		}
	}
	c.Value, err = authorization(r, security.Bearer)
	if err == nil && !token68(c.Value) {
		return c, security.Malformed("it is no bearer token")
	}
	return c, err
}

// takeBasic takes user and password of HTTP Basic.
func takeBasic(_ *Guard, s *security.Scheme, r *http.Request) (c auth.Credential, err error) {
	value, err := authorization(r, s.HTTP)
	if err != nil {
		return c, err
	}
	c.User, c.Password, err = basic(value)
	return c, err
}

// token68 reports whether a text has the syntax of tokens (RFC 9110 §11.2).
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

// basic reads user and password of HTTP Basic (RFC 7617 §2): a password may have colons, a user may not.
func basic(value string) (user, password string, err error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil || !utf8.Valid(raw) {
		return "", "", security.Malformed("it is not the base64 of UTF-8")
	}
	user, password, ok := strings.Cut(string(raw), ":")
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if !ok || user == "" || strings.ContainsFunc(string(raw), control) {
		return "", "", security.Malformed("it is no user and password")
	}
	return user, password, nil
}
