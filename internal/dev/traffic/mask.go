package traffic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/testkit/record"
)

// shortest and longest are the lengths of the secrets that are masked wherever they are said again, in bytes, and most
// is how many of one exchange.
const (
	shortest = 6
	longest  = 4 << 10
	most     = 32
)

// mask hides the secrets of one exchange.
type mask struct{ found []string }

// find takes note of a secret.
func (m *mask) find(secret string) {
	if len(secret) >= shortest && len(secret) <= longest && len(m.found) < most && !slices.Contains(m.found, secret) {
		m.found = append(m.found, secret)
		slices.SortFunc(m.found, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	}
}

// plainHere are headers of browsers and proxies that carry no secret, beside those that every record keeps.
var plainHere = map[string]bool{
	"Te": true, "Grpc-Timeout": true, "Grpc-Encoding": true, "Grpc-Accept-Encoding": true, "Connection": true, "Pragma": true,
	"Sec-Fetch-Mode": true, "Sec-Fetch-Site": true, "Sec-Fetch-Dest": true, "Sec-Ch-Ua": true, "Sec-Ch-Ua-Mobile": true,
	"Sec-Ch-Ua-Platform": true, "Upgrade-Insecure-Requests": true, "A2a-Tenant": true, "Transfer-Encoding": true,
	"X-A2a-Notification-Id": true, "X-A2a-Notification-Task": true, "X-A2a-Notification-Config": true, "X-A2a-Notification-Sequence": true,
}

// requestHeader returns the headers of a request. Those of which it is not known that they are plain are secret.
func (m *mask) requestHeader(h http.Header) http.Header {
	clean := http.Header{}
	for name, values := range h {
		for _, v := range values {
			if !record.PlainHeader(name) && !plainHere[name] {
				m.findIn(name, v)
				v = scheme(name, v) + record.Masked
			}
			clean[name] = append(clean[name], v)
		}
	}
	return clean
}

// scheme is what may be told of a credential: "Bearer ".
func scheme(name, value string) string {
	if before, _, ok := strings.Cut(value, " "); ok && name == "Authorization" && len(before) <= 16 {
		return before + " "
	}
	return ""
}

// findIn takes note of the secrets in a header.
func (m *mask) findIn(name, value string) {
	_, rest, _ := strings.Cut(value, " ")
	switch name {
	case "Authorization", "Proxy-Authorization":
		m.find(rest)
		if pair, err := base64.StdEncoding.DecodeString(rest); err == nil {
			m.find(string(pair))
			_, password, _ := strings.Cut(string(pair), ":")
			m.find(password)
		}
	case "Cookie":
		for pair := range strings.SplitSeq(value, ";") {
			_, v, _ := strings.Cut(pair, "=")
			m.find(strings.TrimSpace(v))
		}
	default:
		m.find(value)
	}
}

// secretAnswers are headers of answers that carry secrets.
var secretAnswers = []string{"Set-Cookie", "Authentication-Info", "Proxy-Authentication-Info"}

// answerHeader returns the headers of an answer.
func (m *mask) answerHeader(h http.Header) http.Header {
	clean := http.Header{}
	for name, values := range maps.All(h) {
		for _, v := range values {
			if slices.Contains(secretAnswers, name) || record.SecretMember(strings.TrimPrefix(name, "X-")) {
				m.findIn(name, v)
				v = record.Masked
			}
			clean[name] = append(clean[name], string(m.text([]byte(v))))
		}
	}
	return clean
}

// path returns a path with its query. Parameters that the protocol does not have may be secret.
func (m *mask) path(u *url.URL) string {
	if u.RawQuery == "" {
		return u.EscapedPath()
	}
	var query []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err != nil || !record.PlainParameter(plain) {
			if v, err := url.QueryUnescape(value); err == nil {
				m.find(v)
			}
			value = record.Masked
		}
		query = append(query, name+"="+value)
	}
	return u.EscapedPath() + "?" + strings.Join(query, "&")
}

// text masks secrets in bytes that may be JSON, which stay as they are otherwise.
func (m *mask) text(b []byte) []byte {
	b = m.members(b)
	for _, s := range m.found {
		b = bytes.ReplaceAll(b, []byte(s), []byte(record.Masked))
	}
	if bytes.Contains(b, []byte("://")) {
		b = []byte(record.MaskURLs(string(b)))
	}
	return b
}

// members masks the strings of JSON members that are secret by their names. It returns b itself if there are none.
func (m *mask) members(b []byte) []byte {
	var out []byte
	from := 0 // of what is not in out yet
	for i := bytes.IndexByte(b, '"'); i >= 0 && i < len(b); {
		end := stringEnd(b, i)
		next := end
		if colon := skip(b, end); colon < len(b) && b[colon] == ':' {
			next = skip(b, colon+1)
			if next < len(b) && b[next] == '"' && isSecret(b[i:end]) {
				last := stringEnd(b, next)
				m.findString(b[next:last])
				out = append(append(out, b[from:next+1]...), record.Masked...)
				from, next = max(next+1, last-1), last
				if last == len(b) && b[last-1] != '"' { // it was cut within the secret
					from = last
				}
			}
		}
		j := bytes.IndexByte(b[next:], '"')
		if j < 0 {
			break
		}
		i = next + j
	}
	if out == nil {
		return b
	}
	return append(out, b[from:]...)
}

// findString takes note of the secret in a string of JSON.
func (m *mask) findString(quoted []byte) {
	var s string
	if json.Unmarshal(quoted, &s) == nil && s != record.Masked {
		m.find(s)
	}
}

func isSecret(quoted []byte) bool {
	if len(quoted) > 64 {
		return false
	}
	var name string
	return json.Unmarshal(quoted, &name) == nil && record.SecretMember(name)
}

// stringEnd returns where the string ends that begins at i: behind its quotation mark, or where b does.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skip returns where white space ends that begins at i. That of JSON in several lines of server-sent events has the
// names of their fields in it.
func skip(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case 'd':
			if !bytes.HasPrefix(b[i:], []byte("data:")) || i == 0 || b[i-1] != '\n' && b[i-1] != '\r' {
				return i
			}
			i += len("data:")
		default:
			return i
		}
	}
	return i
}

// binary masks secrets in binary data, whose length stays. It is nil if that cannot be done: what is short is in it by
// chance, too.
func (m *mask) binary(b []byte, secrets []string) []byte {
	for _, s := range append(secrets, m.found...) {
		if len(s) < shortest {
			return nil
		}
		b = bytes.ReplaceAll(b, []byte(s), bytes.Repeat([]byte("*"), len(s)))
	}
	return b
}

// Mask masks the secrets of a text by the names that stand before them.
func Mask(text []byte) []byte { return new(mask).text(text) }
