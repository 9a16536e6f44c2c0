package talk

import (
	"net"
	"net/url"
	"regexp"
	"strings"

	rpc "github.com/a2agen/a2agen/runtime/client"
)

// bearerToken is what can be one (RFC 6750 §2.1).
var bearerToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// credentials are the headers and the token that go to the agent at a URL. What is wrong with them is said without them.
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
		return opts, nil
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

// encrypted reports whether what is sent to a URL is, or does not leave this machine.
func encrypted(at string) bool {
	u, err := url.Parse(at)
	if err != nil || u.Scheme == "https" {
		return err == nil
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// known reports whether the agent is told who calls.
func (t *talk) known() bool { return len(t.Headers) > 0 || t.Token != "" }

// hide takes the token out of a text: an agent may repeat what it got.
func (t *talk) hide(text string) string {
	if t.Token == "" {
		return text
	}
	return strings.ReplaceAll(text, t.Token, "…")
}
