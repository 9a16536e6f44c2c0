// Package contract makes skills with contracts of what somebody else publishes, for the imports of the tool: it adds them to
// agent.yaml, and finds what Go types cannot express in their schemas.
package contract

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// SkillID makes a skill's id of a name: "repos/get" is repos_get. It is "" where nothing of the name can stay.
func SkillID(name string) string {
	return strings.Trim(Slug(name, '_', func(r rune) bool { return strings.ContainsRune("-_.", r) }), "_-.")
}

// Slug replaces runs of all but letters and digits of ASCII, and what is kept, by one mark.
func Slug(s string, mark rune, keep func(rune) bool) string {
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

// Humanized makes a name for people of a skill's id: "getPetById" is Get pet by id.
func Humanized(id string) string {
	var b strings.Builder
	var before rune
	for _, r := range id {
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

// OneLine is a text on one line of at most n characters.
func OneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if rs := []rune(s); len(rs) > n {
		return string(rs[:n-1]) + "…"
	}
	return s
}

// Sorted are the members of a set, in order.
func Sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// Clean is a text of at most n characters without what cannot be in YAML or would show otherwise than it is.
func Clean(s string, n int) string {
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

// APIName makes the name of what is imported of words, "Swagger Petstore - OpenAPI 3.0" is swagger_petstore; "" where none
// can be made.
func APIName(title string) string {
	words := strings.Split(strings.Trim(Slug(strings.ToLower(title), '_', func(rune) bool { return false }), "_"), "_")
	name := strings.Trim(strings.Join(words[:min(len(words), 2)], "_"), "_0123456789")
	return strings.Trim(name[:min(len(name), 40)], "_")
}

// EnvName makes the name of a variable of the environment: PETSTORE_URL.
func EnvName(api, what string) string {
	name := Slug(api+"_"+what, '_', func(r rune) bool { return r == '_' })
	return strings.ToUpper(strings.Trim(name, "_"))
}
