package shape

import (
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// text checks a value that is written as a string.
func (c *Checker) text(n *yaml.Node, t *Type, label string) {
	hint := t.NotScalar
	switch {
	case yamlx.IsNull(n):
	case hint == "" && len(t.Choices) > 0 && !slices.Contains(t.Choices, n.Value):
		hint = choiceHint(n.Value, t.Choices) // which no quotes would make of it
	case n.Kind == yaml.ScalarNode:
		hint = `put it in quotes: "` + Short(n.Value) + `"`
	}
	if t.Kind == Duration {
		hint = durationHint
	}
	if !c.is(n, yaml.ScalarNode, "!!str", label, "text", hint) {
		return
	}
	length := utf8.RuneCountInString(n.Value)
	switch {
	case n.Value == "" && (t.Min > 0 || t.Kind != Text):
		c.Errorf(n, "empty", "", "%s is empty", label)
	case length > t.max():
		c.Errorf(n, "too-long", "", "%s has %d characters, more than %d", label, length, t.max())
	case len(t.Choices) > 0 && !slices.Contains(t.Choices, n.Value):
		c.Errorf(n, "bad-value", choiceHint(n.Value, t.Choices), "%s cannot be %q", label, Short(n.Value))
	case t.Pattern != "" && !regexp.MustCompile(t.Pattern).MatchString(n.Value):
		c.Errorf(n, "bad-value", "", "%s must be %s, not %q", label, t.PatternSays, Short(n.Value))
	default:
		c.syntax(n, t, label)
	}
}

// choiceHint names the choice that was probably meant, else all of them as YAML writes them.
func choiceHint(s string, choices []string) string {
	if suggest.Nearest(s, choices) != "" {
		return suggest.Key(s, choices)
	}
	written := make([]string, len(choices))
	for i, c := range choices {
		written[i] = plainText(c)
	}
	return suggest.OneOf(written)
}

const durationHint = "such as 30s, 1m30s or 2h"

// syntax checks the text of a kind that has a syntax of its own.
func (c *Checker) syntax(n *yaml.Node, t *Type, label string) {
	switch t.Kind {
	case Duration:
		if d, err := time.ParseDuration(n.Value); err != nil || d <= 0 {
			c.Errorf(n, "bad-duration", durationHint, "%s must be a positive duration, not %q", label, Short(n.Value))
		}
	case URL:
		if why := BadURL(n.Value); why != "" {
			c.Errorf(n, "bad-url", "", "%s must be an http or https URL: %s", label, why)
		}
	case MediaType:
		if !mediaType.MatchString(n.Value) || !parsesAsMediaType(n.Value) {
			c.Errorf(n, "bad-media-type", mediaHint(n.Value), "%s is not a media type: %q", label, Short(n.Value))
		}
	}
}

const mediaTypePattern = `^[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*/[A-Za-z0-9*][A-Za-z0-9!#$&^_.+*-]*( *;.*)?$|^\*/\*$`

var mediaType = regexp.MustCompile(mediaTypePattern)

func parsesAsMediaType(s string) bool {
	_, _, err := mime.ParseMediaType(s)
	return err == nil
}

// MediaTypes are the short names of 0.1 and their media types (T48).
var MediaTypes = map[string]string{
	"text": "text/plain", "plain": "text/plain", "data": "application/json", "json": "application/json", "file": "application/octet-stream",
	"image": "image/*", "audio": "audio/*", "video": "video/*", "markdown": "text/markdown", "html": "text/html", "pdf": "application/pdf",
}

func mediaHint(s string) string {
	if m := MediaTypes[strings.ToLower(s)]; m != "" {
		return "write " + m
	}
	return "such as text/plain or application/json"
}

// BadURL says why s is not an absolute http or https URL that may be published, or returns "".
func BadURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }):
		return "it cannot be parsed"
	case u.Scheme == "":
		return "it does not begin with https://"
	case u.Scheme != "http" && u.Scheme != "https":
		return "its scheme is " + Short(u.Scheme)
	case u.Hostname() == "":
		return "it names no host"
	case u.User != nil:
		return "it holds credentials"
	}
	return ""
}
