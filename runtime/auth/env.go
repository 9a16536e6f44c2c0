package auth

import "strings"

// envPrefix begins the names of environment variables with what is secret.
const envPrefix = "A2A_AUTH_"

// What follows the scheme's name in variables with the settings of tokens. A variable of the name alone has keys or
// passwords.
const (
	EnvIssuer        = "_ISSUER"
	EnvAudience      = "_AUDIENCE"
	EnvIntrospection = "_INTROSPECTION"
	EnvClientID      = "_CLIENT_ID"
	EnvClientSecret  = "_CLIENT_SECRET"
)

var envSuffixes = []string{"", EnvIssuer, EnvAudience, EnvIntrospection, EnvClientID, EnvClientSecret}

// envName is A2A_AUTH_ and the scheme's name in upper case, with everything but letters and digits as "_", then the
// suffix.
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

// SharedEnv finds two schemes to which the same environment variable belongs: of what it has, nobody could say for which
// of them it is. It is "" if there are none.
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

// EnvName is the name of an environment variable for the scheme, with a suffix such as [EnvIssuer], or "".
func (s *Setup) EnvName(suffix string) string { return envName(s.Scheme.Name, suffix) }

// Env is the value of that variable.
func (s *Setup) Env(suffix string) string { return strings.TrimSpace(s.Getenv(s.EnvName(suffix))) }
