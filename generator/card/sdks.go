package card

import "strings"

// sdk is an official client library: what it does for callers of a card that demands credentials.
type sdk struct {
	name     string
	releases map[string]string // those that were tried, by the version of the protocol that they call by
	// instead is what it sends for a scheme in the place of what the scheme wants; "" when it sends that. A client
	// certificate is up to the HTTP client that its caller gives it.
	instead func(Scheme) string
	// ownAlone: what skills demand it does not look at.
	ownAlone bool
}

// sdks are those that bring credentials by what a card demands, one for each requirement. That for JavaScript leaves
// the headers to its callers, whatever the card says. `make interop` tries them.
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

// keyAsHeader is what SDKs send that do not look where an API key belongs.
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

// in names the SDK with those of its releases that call by the versions; "" if there is none.
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

// goOfOne is the release of a2a-go for callers by 1.0.
var goOfOne = sdks[0].in([]string{"1.0"})
