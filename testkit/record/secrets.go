package record

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// masked stands in the place of a secret.
const masked = "[masked]"

// shortest and longest are the lengths of the secrets that are masked within texts, in bytes. What is shorter is in
// them by chance; looking for what is longer would take long, and is something that agents can make up.
const (
	shortest = 6
	longest  = 4 << 10
)

// secretMembers are the members of JSON whose strings are secret, as plainName has them.
var secretMembers = map[string]bool{
	"token": true, "accesstoken": true, "refreshtoken": true, "idtoken": true, "authtoken": true, "bearertoken": true,
	"apikey": true, "secret": true, "clientsecret": true, "password": true, "passwd": true, "credentials": true,
	"authorization": true, "privatekey": true, "cookie": true, "jwt": true,
}

// secretWords are parts of the names of headers and query parameters that carry secrets.
var secretWords = []string{
	"token", "secret", "password", "passwd", "credential", "signature", "auth", "cookie", "session", "jwt",
}

// secretParameters are whole names of query parameters that carry secrets.
var secretParameters = map[string]bool{"sig": true, "code": true, "state": true, "pwd": true}

// plainParameters are the query parameters of the protocol, in all versions.
var plainParameters = map[string]bool{
	"tenant": true, "contextid": true, "status": true, "pagesize": true, "pagetoken": true, "historylength": true,
	"includeartifacts": true, "statustimestampafter": true, "lastupdatedafter": true, "taskid": true, "id": true,
	"metadata": true, "limit": true, "offset": true,
}

// masker masks secrets: by the names of what carries them, and wherever they occur again.
type masker struct {
	*config
	origin   string            // of the agent, which is written as agentOrigin; "": none
	keyNames map[string]bool   // names of API keys on the card, as plainName has them
	found    map[string]bool   // secrets that requests carried
	text     *strings.Replacer // masks them
}

// agentOrigin is written in the place of the agent's scheme, host and port, so that a recording does not depend on
// where the agent ran.
const agentOrigin = "http://agent.test"

func newMasker(c *config) *masker {
	m := &masker{config: c, keyNames: map[string]bool{}, found: map[string]bool{}}
	for _, s := range c.secrets {
		m.find(s)
	}
	return m
}

// find adds a secret, in the forms in which it may occur again.
func (m *masker) find(secret string) {
	if len(secret) < shortest || len(secret) > longest || secret == masked {
		return
	}
	inBase64 := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), inBase64} {
		m.found[form] = true
	}
}

// findIn adds the secrets of a request's head.
func (m *masker) findIn(u *url.URL, header http.Header) {
	for name, values := range header {
		for _, v := range values {
			m.findHeader(name, v)
		}
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if m.secretParameter(name) || !plainParameters[plainName(name)] && machineMade(v) {
				m.find(v)
			}
		}
	}
	if user := u.User; user != nil {
		m.find(user.String())
		password, _ := user.Password()
		m.find(password)
	}
}

// findHeader adds the secrets of a header.
func (m *masker) findHeader(name, value string) {
	switch plain := plainName(name); {
	case plain == "cookie" || plain == "setcookie":
		for _, pair := range strings.Split(value, ";") {
			_, v, _ := strings.Cut(pair, "=")
			m.find(strings.Trim(strings.TrimSpace(v), `"`))
		}
	case plain == "authorization" || plain == "proxyauthorization":
		scheme, rest, _ := strings.Cut(value, " ")
		m.find(strings.TrimSpace(rest))
		if rest == "" {
			m.find(scheme)
		}
		if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "Basic") {
			m.find(string(pair))
			_, password, _ := strings.Cut(string(pair), ":")
			m.find(password)
		}
	case plainHeaders[http.CanonicalHeaderKey(name)]:
	case !m.kept[plain]:
		m.find(value)
	}
}

// plainHeaders are those of requests that carry no secret. Any other one may.
var plainHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Cache-Control": true, "Content-Type": true,
	"Content-Length": true, "Host": true, "Idempotency-Key": true, "Idempotency-Age": true, "If-None-Match": true,
	"Last-Event-Id": true, "Traceparent": true, "Tracestate": true, "User-Agent": true, "A2a-Version": true,
	"A2a-Extensions": true, "X-A2a-Extensions": true,
}

// secretParameter reports whether the query parameter of this name is a secret.
func (m *masker) secretParameter(name string) bool {
	plain := plainName(name)
	if plainParameters[plain] || m.kept[plain] {
		return false
	}
	has := func(word string) bool { return strings.Contains(plain, word) }
	return m.masked[plain] || m.keyNames[plain] || strings.HasSuffix(plain, "key") || secretParameters[plain] ||
		slices.ContainsFunc(secretWords, has)
}

// secretMember reports whether the string at a place is a secret.
func (m *masker) secretMember(at place) bool {
	plain := plainName(at.member)
	return (secretMembers[plain] || m.masked[plain]) && !m.kept[plain]
}

// findText adds the secret at a place, and the secrets in the URLs of the text.
func (m *masker) findText(at place, s string) string {
	if m.secretMember(at) {
		m.find(s)
	}
	if !strings.Contains(s, "://") {
		return s
	}
	for _, u := range userInfo.FindAllString(s, -1) {
		if _, password, ok := strings.Cut(u[len("://"):len(u)-1], ":"); ok {
			m.find(unescaped(password))
		}
	}
	for _, p := range parameter.FindAllString(s, -1) {
		name, value, _ := strings.Cut(p[1:], "=")
		if plain, err := url.QueryUnescape(name); err == nil && m.secretParameter(plain) {
			m.find(unescaped(value))
		}
	}
	return s
}

// ready makes the masker mask all that was found.
func (m *masker) ready() {
	secrets := make([]string, 0, len(m.found))
	for s := range m.found {
		secrets = append(secrets, s)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, masked)
	}
	m.text = strings.NewReplacer(pairs...)
}

// plain is a text without secrets, with agentOrigin in the place of the agent's.
func (m *masker) plain(s string) string {
	s = m.text.Replace(s)
	if strings.Contains(s, "://") {
		s = m.urls(replaceOrigin(s, m.origin))
	}
	return s
}

// query is a query without secrets, sorted. Unknown parameters may be secrets.
func (m *masker) query(q url.Values) url.Values {
	clean := url.Values{}
	for name, values := range q {
		for _, v := range values {
			plain := plainName(name)
			if m.secretParameter(name) || !plainParameters[plain] && !m.kept[plain] {
				v = masked
			}
			clean.Add(name, m.text.Replace(v))
		}
	}
	return clean
}

// userInfo is user and password in a URL, and parameter one of its query or fragment.
var (
	userInfo  = regexp.MustCompile(`://[^/?#\s"'<>]*@`)
	parameter = regexp.MustCompile(`[?&;#][^=?&;#\s"'<>]+=[^?&;#\s"'<>]+`)
)

// urls masks what is secret in the URLs of a text: user and password, and parameters by their names.
func (m *masker) urls(s string) string {
	s = userInfo.ReplaceAllLiteralString(s, "://masked@") // a URL with brackets there would be none
	return parameter.ReplaceAllStringFunc(s, func(p string) string {
		name, _, _ := strings.Cut(p, "=")
		if plain, err := url.QueryUnescape(name[1:]); err != nil || m.secretParameter(plain) {
			return name + "=" + masked
		}
		return p
	})
}

// keys masks secrets in the names of members.
func (m *masker) keys(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = m.keys(v[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			value := m.keys(v[name])
			delete(v, name)
			v[m.plain(name)] = value
		}
	}
	return v
}

// replaceOrigin writes agentOrigin in the place of an origin, where that ends: not in "http://a.example:80" within
// "http://a.example:8080".
func replaceOrigin(s, origin string) string {
	if origin == "" {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, origin)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if rest != "" && strings.IndexByte("/?#\"' \n)>,;", rest[0]) < 0 {
			b.WriteString(origin)
		} else {
			b.WriteString(agentOrigin)
		}
		s = rest
	}
}

// Masked stands in the place of a secret.
const Masked = masked

// PlainHeader reports whether headers of requests with this name carry no secret. Any other one may.
func PlainHeader(name string) bool { return plainHeaders[http.CanonicalHeaderKey(name)] }

// PlainParameter reports whether query parameters with this name carry no secret: those of the protocol, in all
// versions. Any other one may.
func PlainParameter(name string) bool { return plainParameters[plainName(name)] }

// SecretMember reports whether members of JSON with this name have secrets as their strings: "token", "credentials",
// "password", …
func SecretMember(name string) bool { return secretMembers[plainName(name)] }

// MaskURLs masks in the URLs of a text what is secret by its name or place: user and password, and parameters.
func MaskURLs(text string) string { return urlMasker.urls(text) }

var urlMasker = newMasker(configure(nil))
