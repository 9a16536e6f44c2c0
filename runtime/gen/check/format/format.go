// Package format checks texts against the formats of JSON Schema. It is apart from package check because few schemas have one.
package format

import (
	"encoding/hex"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime/check"
	gen "github.com/a2agen/a2agen/runtime/gen/check"
)

// Check checks that s is of the named format.
func Check(c *gen.Checker, s, name string) {
	if !Valid(name, s) {
		c.Failf("must be a valid %s", name)
	}
}

// Valid reports whether s is of the named format (JSON Schema 2020-12 validation §7.3). An unknown format takes anything.
func Valid(name, s string) bool {
	switch name {
	case "date-time":
		_, ok := gen.ParseTime(s)
		return ok
	case "date":
		_, ok := gen.ParseDate(s)
		return ok
	case "byte":
		_, ok := gen.ParseBase64(s)
		return ok
	case "time":
		return validTime(s)
	case "duration":
		return check.IsDuration(s)
	case "uuid":
		return validUUID(s)
	case "uri":
		return validURI(s, true)
	case "uri-reference":
		return validURI(s, false)
	case "email":
		return validEmail(s)
	case "hostname":
		return validHostname(s)
	case "ipv4":
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is4()
	case "ipv6":
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is6() && a.Zone() == ""
	case "json-pointer":
		return validPointer(s)
	case "regex":
		return validRegex(s)
	}
	return true
}

// validTime checks a full-time; second 60 is valid where a leap second can be, at the end of a UTC day.
func validTime(s string) bool {
	s = strings.ToUpper(s)
	if len(s) < len("00:00:00Z") {
		return false
	}
	leap := s[6:8] == "60"
	if leap {
		s = s[:6] + "59" + s[8:]
	}
	t, ok := gen.ParseTime("2000-01-02T" + s)
	u := t.UTC()
	return ok && (!leap || u.Hour() == 23 && u.Minute() == 59)
}

func validUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	_, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	return err == nil && strings.Count(s, "-") == 4
}

// validURI checks RFC 3986: only its characters, whole escapes, and what net/url checks of the structure.
func validURI(s string, absolute bool) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ' || c >= 0x7f, strings.IndexByte("<>\"{}|\\^`", c) >= 0:
			return false
		case c == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])):
			return false
		}
	}
	u, err := url.Parse(s)
	if err != nil || strings.ContainsAny(u.EscapedPath(), "[]") || strings.Count(authority(s), "@") > 1 {
		return false
	}
	return u.Scheme != "" || !absolute
}

// authority is what stands between "//" and the path of a URI.
func authority(s string) string {
	_, rest, ok := strings.Cut(s, "//")
	if i := strings.IndexAny(s, "/?#"); !ok || i < 0 || !strings.HasPrefix(s[i:], "//") {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func validEmail(s string) bool {
	i := strings.LastIndexByte(s, '@')
	if i < 1 || i > 64 || len(s) > 254 {
		return false
	}
	local, domain := s[:i], s[i+1:]
	if local[0] == '"' {
		if !quotedString(local) {
			return false
		}
	} else if !dotAtom(local) {
		return false
	}
	if ip, ok := strings.CutPrefix(domain, "["); ok {
		ip, ok = strings.CutSuffix(ip, "]")
		if len(ip) > 5 && strings.EqualFold(ip[:5], "IPv6:") {
			return ok && Valid("ipv6", ip[5:])
		}
		return ok && Valid("ipv4", ip)
	}
	return validHostname(domain)
}

// quotedString checks a local part in quotes (RFC 5321 §4.1.2).
func quotedString(s string) bool {
	if len(s) < 2 || s[len(s)-1] != '"' {
		return false
	}
	text := s[1 : len(s)-1]
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			return false
		}
		if text[i] == '\\' {
			i++
		}
		if i == len(text) || text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// dotAtom checks the local part of an address (RFC 5322 §3.2.3).
func dotAtom(s string) bool {
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" {
			return false
		}
		for i := range len(atom) {
			c := atom[i]
			if !isAlnum(c) && strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) < 0 {
				return false
			}
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// validHostname checks RFC 1123 §2.1: labels of 1 to 63 letters, digits and inner hyphens, 253 bytes in all; and the
// punycode in them.
func validHostname(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if !isAlnum(label[i]) && label[i] != '-' {
				return false
			}
		}
		if len(label) >= 4 && strings.EqualFold(label[:4], "xn--") && !validPunycode(label[4:]) {
			return false
		}
	}
	return true
}

// validPointer checks a JSON pointer (RFC 6901 §3).
func validPointer(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != '/' || !utf8.ValidString(s) {
		return false
	}
	for i := range len(s) {
		if s[i] == '~' && (i+1 >= len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}
