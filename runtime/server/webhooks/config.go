package webhooks

import (
	"encoding/base64"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// The most bytes of what a configuration has.
const (
	maxURL    = 2048
	maxSecret = 4096
	maxScheme = 64
)

// Check says what is wrong with a configuration, as far as that can be told without looking a name up; nil: nothing.
// Nothing in it can add a line to the header of a request, or change one that is not its own.
func (s *sender) Check(c *runtime.PushConfig) *runtime.Violation {
	for _, f := range []struct{ field, problem string }{
		{"url", s.checkURL(c.URL)},
		{"token", checkSecret(c.Token)},
		{"authentication.scheme", checkScheme(c)},
		{"authentication.credentials", checkCredentials(c)},
	} {
		if f.problem != "" {
			return &runtime.Violation{Field: f.field, Description: f.problem}
		}
	}
	return nil
}

func (s *sender) checkURL(text string) string {
	if text == "" {
		return "is required"
	}
	if len(text) > maxURL {
		return "must not be longer than " + strconv.Itoa(maxURL) + " bytes"
	}
	u, err := url.Parse(text)
	port, portErr := portOf(u)
	switch {
	case err != nil, !printable(text), strings.ContainsRune(text, ' '), u.Hostname() == "", portErr != nil:
		return "is not a URL of a receiver"
	case u.Scheme != "https" && u.Scheme != "http":
		return "must be https"
	case u.User != nil:
		return "must not have a user: the configuration has an authentication"
	case strings.Contains(text, "#"):
		return "must not have a fragment"
	}
	secure := u.Scheme == "https"
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		return s.targets.refusal(a, port, secure)
	}
	if !secure && len(s.targets.open) == 0 {
		return "must be https"
	}
	name := "." + strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if strings.HasSuffix(name, ".localhost") {
		return s.targets.refusal(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port, secure)
	}
	return ""
}

// Host names the machine where a configuration leads.
func (s *sender) Host(c *runtime.PushConfig) string {
	u, err := url.Parse(c.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// portOf returns the port of a URL, also where it is only implied.
func portOf(u *url.URL) (uint16, error) {
	switch {
	case u == nil:
		return 0, strconv.ErrSyntax
	case u.Port() == "" && u.Scheme == "http":
		return 80, nil
	case u.Port() == "":
		return 443, nil
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if n == 0 {
		err = strconv.ErrRange
	}
	return uint16(n), err
}

func checkSecret(text string) string {
	switch {
	case len(text) > maxSecret:
		return "must not be longer than " + strconv.Itoa(maxSecret) + " bytes"
	case !printable(text), strings.TrimSpace(text) != text:
		return "must be of printable ASCII characters, without space around them"
	}
	return ""
}

// printable reports whether text can stand in a header as it is.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

func checkScheme(c *runtime.PushConfig) string {
	switch {
	case c.Scheme == "" && c.Credentials != "":
		return "is required"
	case c.Scheme != "" && !isToken(c.Scheme), len(c.Scheme) > maxScheme:
		return "is not the name of a scheme"
	}
	return ""
}

func checkCredentials(c *runtime.PushConfig) string {
	if problem := checkSecret(c.Credentials); problem != "" {
		return problem
	}
	if name, _, ok := apiKey(c); ok && reserved(name) {
		return "must not set the header " + name
	}
	return ""
}

// isToken reports whether text is a token of HTTP (RFC 9110 §5.6.2), as the names of headers and schemes are.
func isToken(text string) bool {
	return text != "" && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == "" &&
		printable(text)
}

// apiKey returns the header that an API key names: credentials "X-Api-Key: secret".
func apiKey(c *runtime.PushConfig) (name, value string, ok bool) {
	if !strings.EqualFold(c.Scheme, "ApiKey") {
		return "", "", false
	}
	name, value, ok = strings.Cut(c.Credentials, ": ")
	return http.CanonicalHeaderKey(name), strings.TrimSpace(value), ok && isToken(name)
}

// Headers that the sender, the connection or proxies set and that receivers trust; and prefixes of others.
var (
	own = []string{
		"Host", "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "User-Agent", "Cookie",
		"Http2-Settings", "Date", "Range", "Origin", "Referer", "Max-Forwards", "Priority", "Early-Data", "Idempotency-Key",
		"Last-Event-Id", "Traceparent", "Tracestate", "Baggage", "B3", "Via", "X-Real-Ip", "True-Client-Ip", "X-Request-Id",
	}
	ownFamilies = []string{
		"Content-", "Proxy-", "A2a-", "X-A2a-", "Accept", "If-", "Sec-", "Access-Control-", "X-B3-", "Forwarded", "X-Forwarded",
		"X-Original-", "X-Rewrite-", "X-Http-Method", "X-Method-Override", "X-Client-", "Client-Cert", "X-Ssl-", "Ssl-", "Cf-",
		"Fastly-", "X-Amzn-", "X-Envoy-",
	}
)

// reserved reports whether a configuration must not set a header. Many receivers take an underscore in a name for a
// hyphen.
func reserved(name string) bool {
	name = http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	begins := func(family string) bool { return strings.HasPrefix(name, family) }
	return slices.Contains(own, name) || slices.ContainsFunc(ownFamilies, begins)
}

// authorize sets the credentials by which the receiver recognizes the sender (R79, R190). A bearer scheme without
// credentials carries the signature.
func authorize(h http.Header, c *runtime.PushConfig, signature string) {
	if c.Token != "" {
		h.Set(runtime.PushTokenHeader, c.Token)
		h.Set(runtime.PushTokenHeaderToo, c.Token)
	}
	credentials := c.Credentials
	if name, value, ok := apiKey(c); ok {
		if !reserved(name) { // else it was kept by a version that took it
			h.Set(name, value)
		}
		return
	}
	switch {
	case strings.EqualFold(c.Scheme, "Bearer") && credentials == "":
		credentials = signature
	case strings.EqualFold(c.Scheme, "Basic") && strings.Contains(credentials, ":"):
		credentials = base64.StdEncoding.EncodeToString([]byte(credentials))
	}
	if c.Scheme != "" && credentials != "" {
		h.Set("Authorization", c.Scheme+" "+credentials)
	}
}
