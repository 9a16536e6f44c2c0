package talk

import (
	"net"
	"net/url"
	"regexp"
	"strings"

	rpc "github.com/a2agen/a2agen/runtime/client"
)

// bearerToken matches the syntax of bearer tokens (RFC 6750 §2.1).
var bearerToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// credentials returns the headers and the token for the agent at a URL. Its errors do not contain them.
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
func (t *talk) known() bool { return len(t.Headers) > 0 || t.Token != "" }

// hide removes the token from a text: an agent may repeat it.
func (t *talk) hide(text string) string {
	if t.Token == "" {
		return text
	}
	return strings.ReplaceAll(text, t.Token, "…")
}
