package card

import "strings"

// sdk is an official client library, and what it sends for the requirements of a card.
type sdk struct {
	name     string
	releases map[string]string // those that were tried, by the version of the protocol that they call by
	// instead is what it sends for a scheme in the place of what the scheme demands; "" when it sends that. A client
	// certificate is up to the HTTP client that its caller gives it.
	instead func(Scheme) string
	// ownAlone: what skills demand it does not look at.
	ownAlone bool
}

// sdks are those that send credentials as a card requires. The one for JavaScript leaves that to its callers. `make
// interop` tries them.
var sdks = []sdk{
	{
		name: "a2a-go", releases: map[string]string{"1.0": "2.4.0", "0.3": "0.3.15"}, ownAlone: true,
		instead: func(s Scheme) string {
			switch {
			case s.Kind == OpenIDConnect:
				return "nothing"
			case s.Kind == HTTPAuth && s.HTTP != "bearer":
				return `"Bearer" and the secret`
			}
			return keyAsHeader(s)
		},
	},
	{
		name: "a2a-sdk for Python", releases: map[string]string{"1.0": "1.3.0", "0.3": "0.3.26"}, ownAlone: true,
		instead: func(s Scheme) string {
			if s.Kind == APIKey && s.In != "header" {
				return "nothing"
			}
			return bearerOnly(s)
		},
	},
	{
		name: "a2a-java-sdk", releases: map[string]string{"0.3": "0.3.3"},
		instead: func(s Scheme) string { return bearerOnly(s) + keyAsHeader(s) }, // one of them at most
	},
}

// keyAsHeader is what SDKs send that ignore the place of an API key.
func keyAsHeader(s Scheme) string {
	if s.Kind == APIKey && s.In != "header" {
		return "the key as a header"
	}
	return ""
}

// bearerOnly is what SDKs send that know no other HTTP authentication.
func bearerOnly(s Scheme) string {
	if s.Kind == HTTPAuth && s.HTTP != "bearer" {
		return "nothing"
	}
	return ""
}

// in returns the SDK with its releases for some versions; "" if there is none.
func (s *sdk) in(versions []string) string {
	name := ""
	for _, v := range versions {
		if r := s.releases[v]; r != "" {
			name += " and " + r
		}
	}
	if name == "" {
		return ""
	}
	return s.name + strings.TrimPrefix(name, " and")
}

// goOfOne is the release of a2a-go that speaks 1.0.
var goOfOne = sdks[0].in([]string{"1.0"})
