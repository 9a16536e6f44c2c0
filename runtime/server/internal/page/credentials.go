package page

import (
	"net/url"
	"strings"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// showing are the schemes of the credentials that a command shows, as placeholders.
type showing []auth.Scheme

// placeholders says what to do with a command that shows credentials.
const placeholders = "put your own credential in place of YOUR_…"

// curl is a command that posts a body, with the credentials.
func (all showing) curl(at string, v *engine.Version, body string) string {
	b := strings.Builder{}
	b.WriteString("curl " + shellQuote(all.url(at)) + " -H 'Content-Type: application/json' -H 'A2A-Version: " + v.Name + "'")
	for i := range all {
		b.WriteString(argument(&all[i]))
	}
	return b.String() + " -d " + shellQuote(body)
}

// url is an address with the keys that stand in its query.
func (all showing) url(at string) string {
	separator := "?"
	for i := range all {
		if s := &all[i]; s.Kind == auth.APIKey && s.In == "query" {
			at += separator + url.QueryEscape(s.Key) + "=YOUR_KEY"
			separator = "&"
		}
	}
	return at
}

// argument is what curl is told to show the credential of a scheme, with a blank before it.
func argument(s *auth.Scheme) string {
	header := func(line string) string { return " -H " + shellQuote(line) }
	switch {
	case s.Kind == auth.APIKey && s.In == "header":
		return header(s.Key + ": YOUR_KEY")
	case s.Kind == auth.APIKey && s.In == "cookie":
		return header("Cookie: " + s.Key + "=YOUR_KEY")
	case s.Kind == auth.APIKey: // in the URL
		return ""
	case s.Kind == auth.MutualTLS:
		return " --cert YOUR_CERTIFICATE.pem --key YOUR_KEY.pem"
	case s.Kind == auth.HTTP && s.HTTP == "basic":
		return " --user YOUR_USER:YOUR_PASSWORD"
	case s.Kind == auth.HTTP && s.HTTP != "bearer":
		return header("Authorization: " + s.HTTP + " YOUR_CREDENTIAL")
	}
	return header("Authorization: Bearer YOUR_TOKEN")
}
