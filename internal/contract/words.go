package openapi

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// skillID makes a skill's id of an operation's: "repos/get" is repos_get, and "GET /pets/{id}" is get_pets_id.
func skillID(f found) string {
	id := cmp.Or(f.id, f.method+f.path)
	return strings.Trim(slug(id, '_', func(r rune) bool { return strings.ContainsRune("-_.", r) }), "_-.")
}

// slug replaces runs of all but letters and digits of ASCII, and what is kept, by one mark.
func slug(s string, mark rune, keep func(rune) bool) string {
	var b strings.Builder
	last := mark
	for _, r := range s {
		switch {
		case r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || keep(r):
		case last == mark:
			continue
		default:
			r = mark
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// humanized makes a name of an operation: "getPetById" is Get pet by id.
func humanized(f found) string {
	var b strings.Builder
	var before rune
	for _, r := range skillID(f) {
		switch {
		case strings.ContainsRune("-_.", r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteRune(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
		before = r
	}
	s := b.String()
	if s == "" {
		return "Call"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// oneLine is a text on one line of at most n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if rs := []rune(s); len(rs) > n {
		return string(rs[:n-1]) + "…"
	}
	return s
}

// sorted are the members of a set, in order.
func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// clean is a text of at most n characters without what cannot be in YAML or would show otherwise than it is.
func clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	if rs := []rune(s); len(rs) > n {
		s = string(rs[:n-1]) + "…"
	}
	return strings.TrimSpace(s)
}
