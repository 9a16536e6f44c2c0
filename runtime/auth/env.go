package auth

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// envPrefix is the prefix of environment variables with secrets.
const envPrefix = "A2A_AUTH_"

// Suffixes of variables with the settings of tokens. The variable without a suffix has keys, passwords or holders of
// certificates.
const (
	EnvIssuer        = "_ISSUER"
	EnvAudience      = "_AUDIENCE"
	EnvKeySet        = "_JWKS"
	EnvIntrospection = "_INTROSPECTION"
	EnvClientID      = "_CLIENT_ID"
	EnvClientSecret  = "_CLIENT_SECRET"
)

var envSuffixes = []string{"", EnvIssuer, EnvAudience, EnvKeySet, EnvIntrospection, EnvClientID, EnvClientSecret}

// envName returns A2A_AUTH_ and the scheme's name in upper case, with everything but letters and digits replaced by
// "_", then the suffix.
func envName(scheme, suffix string) string {
	return envPrefix + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, scheme) + suffix
}

// SharedEnv finds two schemes that would share an environment variable. The results are "" if there are none.
func SharedEnv(schemes []string) (first, second, variable string) {
	owners := map[string]string{}
	for _, scheme := range schemes {
		for _, suffix := range envSuffixes {
			variable := envName(scheme, suffix)
			if owner, taken := owners[variable]; taken {
				return owner, scheme, variable
			}
			owners[variable] = scheme
		}
	}
	return "", "", ""
}

// EnvName returns the name of an environment variable of the scheme, with a suffix such as [EnvIssuer], or "".
func (s *Setup) EnvName(suffix string) string { return envName(s.Scheme.Name, suffix) }

// Env returns the value of that variable.
func (s *Setup) Env(suffix string) string { return strings.TrimSpace(s.Getenv(s.EnvName(suffix))) }

// holder is the holder of a credential, as the environment lists it.
type holder struct {
	name, secret    string // of a certificate there is the name alone
	scopes, tenants []string
}

// fromEnv appends the entries of a scheme's environment variable to a list: "name=secret", separated by commas, each
// followed by the rights of its holder: "?scope=read&scope=write&tenant=acme".
func fromEnv[T any](s *Setup, list []T, read func(h holder) (T, bool)) ([]T, error) {
	list = list[:len(list):len(list)]
	text := s.Env("")
	if text == "" {
		return list, nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		h, err := readHolder(strings.TrimSpace(entry))
		one, ok := read(h)
		if err != nil || !ok { // which does not say what is there: it may be secret
			return nil, fmt.Errorf("%s is not of the form \"name=hash,name=hash\", with \"?scope=…&tenant=…\" behind a hash", s.EnvName(""))
		}
		list = append(list, one)
	}
	return list, nil
}

// whose names an entry in an error: by its holder, or by its position if it is from the environment, where the secret
// may stand in place of the name by mistake.
func whose(s *Setup, name string, place int) string {
	if place < 0 {
		return name
	}
	return fmt.Sprintf("entry %d of %s", place+1, s.EnvName(""))
}

// readHolder reads an entry of the environment.
func readHolder(entry string) (h holder, err error) {
	entry, query, _ := strings.Cut(entry, "?")
	rights, err := url.ParseQuery(query)
	if err != nil {
		return h, err
	}
	h.name, h.secret, _ = strings.Cut(entry, "=")
	h.scopes, h.tenants = rights["scope"], rights["tenant"]
	for name := range rights {
		if name != "scope" && name != "tenant" {
			return h, errors.New("it has a right that is none")
		}
	}
	return h, nil
}
