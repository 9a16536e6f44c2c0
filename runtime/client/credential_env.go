package client

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"strings"
)

// envPrefix is that of all environment variables with credentials of clients.
const envPrefix = "A2A_CLIENT_"

// Suffixes of the environment variables of a scheme. The variable without one has a token, an API key, or user:password.
const (
	EnvFile     = "_FILE"      // a file with the value of the variable without a suffix
	EnvCert     = "_CERT"      // a file in PEM with the client certificate
	EnvKey      = "_KEY"       // a file in PEM with its key
	EnvIssuer   = "_ISSUER"    // URL of the issuer of tokens
	EnvTokenURL = "_TOKEN_URL" // the token endpoint, for an authorization server without metadata
	EnvID       = "_ID"        // of the client at the authorization server
	EnvSecret   = "_SECRET"
	EnvScopes   = "_SCOPES"   // separated by blanks, in place of those that the card names
	EnvResource = "_RESOURCE" // in place of the interface's URL (RFC 8707)
)

var envSuffixes = []string{
	"", EnvFile, EnvCert, EnvKey, EnvIssuer, EnvTokenURL, EnvID, EnvSecret, EnvScopes, EnvResource,
}

// EnvTokens makes a source of tokens from environment variables: env returns the value of the scheme's variable with a suffix such as
// [EnvIssuer]. It is called if the variable with that suffix, or with [EnvTokenURL], is set.
type EnvTokens func(scheme SchemeInfo, env func(suffix string) string) (TokenSource, error)

// FromEnvironment reads credentials for the card's schemes from environment variables, unless an option sets them. Their names begin with
// A2A_CLIENT_ and, if client is not "", its name and two underscores; then comes the scheme's name, in capitals, with one underscore in place of
// everything but letters and digits: A2A_CLIENT_WEATHER__API_KEY. tokens is for variables of OAuth 2; without it they are an error.
//
// The name of the client keeps the credentials for one agent from another, whose card may give its schemes the same names.
func FromEnvironment(client string, tokens EnvTokens) Option {
	return func(c *Client) { c.credentials.env = &environment{client: client, tokens: tokens} }
}

// environment reads credentials that are not set by an option.
type environment struct {
	client string
	tokens EnvTokens
}

// name returns the name of a variable.
func (e *environment) name(scheme, suffix string) string {
	client := ""
	if e.client != "" {
		client = envWord(e.client) + "__"
	}
	return envPrefix + client + envWord(scheme) + suffix
}

// EnvName returns the name of the environment variable of a scheme, with a suffix such as [EnvFile] or "", that [FromEnvironment] reads for a client.
func EnvName(client, scheme, suffix string) string {
	return (&environment{client: client}).name(scheme, suffix)
}

// envWord returns a name in capitals, with one underscore in place of everything but letters and digits, and none at its ends.
func envWord(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case alphanumeric(c):
			if b.Len() > 0 && !alphanumeric(name[i-1]) {
				b.WriteByte('_')
			}
			b.WriteByte(c)
		}
	}
	return strings.ToUpper(b.String())
}

// variables returns the variables of which each sets the credential of a scheme.
func (e *environment) variables(s *scheme) (list []string) {
	if e == nil {
		return nil
	}
	for _, alternative := range s.kind.suffixes {
		var all []string
		for _, suffix := range strings.Split(alternative, " ") {
			all = append(all, e.name(s.Name, suffix))
		}
		list = append(list, strings.Join(all, " and "))
	}
	return list
}

// read returns the credential for a scheme; nil without. An error does not contain it.
func (e *environment) read(s *scheme) (*credential, error) {
	if e == nil || envWord(s.Name) == "" {
		return nil, nil
	}
	get := func(suffix string) string { return strings.TrimSpace(os.Getenv(e.name(s.Name, suffix))) }
	if !slices.ContainsFunc(envSuffixes, func(suffix string) bool { return get(suffix) != "" }) {
		return nil, nil
	}
	if err := e.ambiguous(s.Name); err != nil {
		return nil, err
	}
	cert, key := get(EnvCert), get(EnvKey)
	switch issuer := cmp.Or(get(EnvIssuer), get(EnvTokenURL)); {
	case s.kind.form == formCertificate && cert == "" && key == "":
		return nil, nil
	case s.kind.form == formCertificate && (cert == "" || key == ""):
		return nil, fmt.Errorf("set both %s and %s", e.name(s.Name, EnvCert), e.name(s.Name, EnvKey))
	case s.kind.form == formCertificate:
		return &credential{form: formCertificate, certificate: func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(cert, key) // for each connection: the files may be replaced
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", e.name(s.Name, EnvCert), e.name(s.Name, EnvKey), err)
			}
			return &pair, nil
		}}, nil
	case get("") != "":
		return &credential{form: s.kind.form, secret: StaticToken(get(""))}, nil
	case get(EnvFile) != "":
		return &credential{form: s.kind.form, secret: TokenFile(get(EnvFile))}, nil
	case issuer == "" || s.kind.form != formToken:
		return nil, nil
	case e.tokens == nil:
		return nil, fmt.Errorf("%s is set, and this client links nothing that gets tokens: give a source of them as an option, "+
			"or set %s to a token", e.name(s.Name, EnvIssuer), e.name(s.Name, ""))
	}
	source, err := e.tokens(s.SchemeInfo, get)
	if err != nil {
		return nil, fmt.Errorf("%s…: %w", e.name(s.Name, ""), err)
	}
	return &credential{form: formToken, secret: source}, nil
}

// ambiguous returns an error if a scheme's variable may be one of another scheme with a suffix: a card that names a scheme corp_secret must not
// get the client's secret of a scheme corp.
func (e *environment) ambiguous(name string) error {
	own := e.name(name, "")
	for _, suffix := range envSuffixes[1:] {
		other, ends := strings.CutSuffix(own, suffix)
		if !ends || other == envPrefix || strings.HasSuffix(other, "_") {
			continue
		}
		for _, more := range envSuffixes {
			if variable := other + more; !strings.HasPrefix(variable, own) && os.Getenv(variable) != "" {
				return fmt.Errorf("%s may belong to another security scheme, as %s does: give the credential as an option", own, variable)
			}
		}
	}
	return nil
}
