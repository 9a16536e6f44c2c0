package page

import (
	"strings"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// Curl shows a scheme's credential: [auth.Curl].
type Curl = func(s *auth.Scheme, quote func(string) string) string

// Credentials are what callers need. Without demands Curl may be nil.
type Credentials struct {
	Demands *auth.Demands
	Curl    Curl
}

// showing are the schemes whose credentials a command shows, as placeholders.
type showing struct {
	schemes []auth.Scheme
	show    Curl
}

// placeholders explains commands that show credentials.
const placeholders = "put your own credential in place of YOUR_…"

// curl is a command that posts a body, with the credentials.
func (all showing) curl(at string, v *engine.Version, body string) string {
	b := strings.Builder{}
	b.WriteString("curl " + shellQuote(all.url(at)) + " -H 'Content-Type: application/json' -H 'A2A-Version: " + v.Name + "'")
	for i := range all.schemes {
		b.WriteString(all.show(&all.schemes[i], shellQuote))
	}
	return b.String() + " -d " + shellQuote(body)
}

// url is an address with the keys that stand in its query.
func (all showing) url(at string) string {
	separator := "?"
	for i := range all.schemes {
		if key := auth.Query(&all.schemes[i]); key != "" {
			at += separator + key
			separator = "&"
		}
	}
	return at
}
