package page

import (
	"strings"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// showing are the schemes whose credentials a command shows, as placeholders.
type showing []auth.Scheme

// placeholders explains commands that show credentials.
const placeholders = "put your own credential in place of YOUR_…"

// curl is a command that posts a body, with the credentials.
func (all showing) curl(at string, v *engine.Version, body string) string {
	b := strings.Builder{}
	b.WriteString("curl " + shellQuote(all.url(at)) + " -H 'Content-Type: application/json' -H 'A2A-Version: " + v.Name + "'")
	for i := range all {
		b.WriteString(auth.Curl(&all[i], shellQuote))
	}
	return b.String() + " -d " + shellQuote(body)
}

// url is an address with the keys that stand in its query.
func (all showing) url(at string) string {
	separator := "?"
	for i := range all {
		if key := auth.Query(&all[i]); key != "" {
			at += separator + key
			separator = "&"
		}
	}
	return at
}
