package talk

import (
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/internal/login"
	"github.com/a2agen/a2agen/internal/shell"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// bearerToken matches the syntax of bearer tokens (RFC 6750 §2.1).
var bearerToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// credentials returns what the person gives the agent at a URL: headers and the token, else what the environment and logins have. Its errors do
// not contain them.
func (t *talk) credentials(at string) (opts []rpc.Option, err error) {
	named := map[string]bool{}
	for i, h := range t.Headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, usage("--header, number %d: write 'Name: value'", i+1)
		}
		named[strings.ToLower(name)] = true
		opts = append(opts, rpc.DefaultHeader(name, strings.TrimSpace(value)))
	}
	switch {
	case t.Token == "":
		return append(opts, t.kept(at)...), nil
	case named["authorization"]:
		return nil, usage("the token and --header 'Authorization: …' exclude each other")
	case !bearerToken.MatchString(t.Token):
		return nil, usage("the token is no bearer token: give what stands behind \"Bearer\", of letters, digits and -._~+/")
	case !encrypted(at):
		return nil, usage("the token would go to %s in clear text: use https, "+
			"or say --header 'Authorization: Bearer …' if that is meant", at)
	}
	return append(opts, rpc.DefaultHeader("Authorization", "Bearer "+t.Token), rpc.OneHost()), nil
}

// kept returns what the environment has for the schemes of the card, and the logins for the agent. A variable comes before a login.
func (t *talk) kept(at string) []rpc.Option {
	opts := []rpc.Option{rpc.FromEnvironment("", oauth.FromEnv)}
	for _, l := range login.Of(at) {
		if slices.ContainsFunc([]string{"", rpc.EnvFile, rpc.EnvIssuer, rpc.EnvTokenURL}, func(suffix string) bool {
			return os.Getenv(rpc.EnvName("", l.Scheme, suffix)) != ""
		}) {
			continue
		}
		source, err := l.Source()
		if err != nil {
			t.note("the login for %s is left out: %v", l.Scheme, err)
			continue
		}
		t.loggedIn = true
		opts = append(opts, rpc.WithToken(l.Scheme, source))
	}
	return opts
}

// lacks says which credential is missing, and how to give it on the command line.
func (t *talk) lacks(e *rpc.CredentialError) string {
	told := *e
	switch s := e.Scheme; {
	case s.Kind == rpc.SchemeOAuth2 || s.Kind == rpc.SchemeOpenIDConnect:
		told.Option = "a2agen login " + shell.Word(clean(t.Target))
	case s.Kind == rpc.SchemeHTTP && s.HTTP == "bearer":
		told.Option = "A2A_TOKEN"
	case s.Kind == rpc.SchemeAPIKey && s.In == "header":
		told.Option = "--header " + shell.Word(clean(s.Key)+": …")
	default:
		told.Option = ""
	}
	return told.Error()
}

// encrypted reports whether requests to a URL are encrypted, or stay on this machine.
func encrypted(at string) bool {
	u, err := url.Parse(at)
	if err != nil || u.Scheme == "https" {
		return err == nil
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// known reports whether requests have credentials.
func (t *talk) known() bool {
	return len(t.Headers) > 0 || t.Token != "" || t.loggedIn || slices.ContainsFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, rpc.EnvName("", "", ""))
	})
}

// hide removes the token from a text: an agent may repeat it.
func (t *talk) hide(text string) string {
	if t.Token == "" {
		return text
	}
	return strings.ReplaceAll(text, t.Token, "…")
}
