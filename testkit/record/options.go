package record

import (
	"net/http"
	"strings"
)

// DefaultMaxBytes is the size of the largest recording that is written or read, unless [MaxBytes] says otherwise: 32
// MiB.
const DefaultMaxBytes = 32 << 20

// Option configures a [Recorder] and the [Player] of what it recorded. Give both the same.
type Option func(*config)

type config struct {
	base     http.RoundTripper // nil: one of net/http
	maxBytes int
	lenient  bool
	secrets  []string        // texts
	masked   map[string]bool // names, as plainName has them
	kept     map[string]bool
	ignored  map[string]bool
	command  string // that records again
}

func configure(opts []Option) *config {
	c := &config{
		maxBytes: DefaultMaxBytes, masked: map[string]bool{}, kept: map[string]bool{}, ignored: map[string]bool{},
	}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Over has a recorder send its requests by t: one with a client certificate or a proxy, or that of an agent in the
// same process.
func Over(t http.RoundTripper) Option { return func(c *config) { c.base = t } }

// MaxBytes limits the size of a recording in bytes.
func MaxBytes(n int) Option { return func(c *config) { c.maxBytes = n } }

// Lenient allows that requests of the recording are never made.
func Lenient() Option { return func(c *config) { c.lenient = true } }

// Secret masks texts wherever they are, beside the credentials that requests carry. A text of less than six bytes is
// not masked.
func Secret(texts ...string) Option {
	return func(c *config) { c.secrets = append(c.secrets, texts...) }
}

// Mask masks the values of JSON members and query parameters with these names, and what headers with these names
// carry, beside those whose names say that they are secret: "token", "credentials", "password", …
func Mask(names ...string) Option { return func(c *config) { add(c.masked, names) } }

// Keep does not mask the values of JSON members and query parameters with these names: such as look like secrets and
// are none, and query parameters that the protocol does not have.
func Keep(names ...string) Option { return func(c *config) { add(c.kept, names) } }

// Ignore leaves JSON members with these names out of the comparison of requests: their values differ each time.
func Ignore(names ...string) Option { return func(c *config) { add(c.ignored, names) } }

// Command is the command that records again, for errors.
func Command(text string) Option { return func(c *config) { c.command = text } }

func add(set map[string]bool, names []string) {
	for _, name := range names {
		set[plainName(name)] = true
	}
}

// plainName is a name without what spellings of it differ in: "Api-Key", "api_key" and "apiKey" are "apikey".
func plainName(name string) string { return strings.ToLower(separators.Replace(name)) }

var separators = strings.NewReplacer("-", "", "_", "", " ", "")
