package emit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// credentialOption is how the option for a kind of scheme is printed. It is a row of credentialOptions.
type credentialOption struct {
	kind, http string // the key of the kind in cards, and the name of an HTTP scheme in lower case; "" is any
	what       string // that is given: "the API key"
	params     func() []jen.Code
	call       string // of the runtime, with the scheme's name before args
	args       []jen.Code
	env        string // what the environment gives, with the variable for %[1]s
}

func textParams(names ...string) func() []jen.Code {
	return func() (list []jen.Code) {
		for i, name := range names {
			p := jen.Id(name)
			if i == len(names)-1 {
				p.String()
			}
			list = append(list, p)
		}
		return list
	}
}

func configParam() []jen.Code { return []jen.Code{jen.Id("config").Qual(oauthPath, "Config")} }

const (
	plainEnv = "The environment variable %[1]s gives it as well, and %[1]s_FILE names a file that has it."
	oauthEnv = "The environment variables %[1]s_ISSUER (or %[1]s_TOKEN_URL), %[1]s_ID, %[1]s_SECRET, %[1]s_SCOPES and %[1]s_RESOURCE give it as well; %[1]s gives a token."
)

// credentialOptions are found by kind and HTTP scheme, the first one that fits.
var credentialOptions = []credentialOption{
	{"apiKeySecurityScheme", "", "the API key", textParams("key"), "WithAPIKey", []jen.Code{jen.Id("key")}, plainEnv},
	{
		"httpAuthSecurityScheme", "basic", "user and password", textParams("user", "password"), "WithBasic",
		[]jen.Code{jen.Id("user"), jen.Id("password")}, "The environment variable %[1]s gives them as well, as user:password, and %[1]s_FILE names a file that has that.",
	},
	{
		"httpAuthSecurityScheme", "bearer", "the source of bearer tokens", func() []jen.Code { return []jen.Code{jen.Id("source").Qual(clientPath, "TokenSource")} },
		"WithToken", []jen.Code{jen.Id("source")}, "The environment variable %[1]s gives a token as well, and %[1]s_FILE names a file that has it.",
	},
	{"httpAuthSecurityScheme", "", "what follows the scheme's name in the header Authorization", textParams("value"), "WithAuthorization", []jen.Code{jen.Id("value")}, plainEnv},
	{"oauth2SecurityScheme", "", "who issues tokens of OAuth 2, and who the client is there,", configParam, "WithTokensOf", []jen.Code{jen.Id("config").Dot("Source")}, oauthEnv},
	{"openIdConnectSecurityScheme", "", "who issues tokens of OpenID Connect, and who the client is there,", configParam, "WithTokensOf", []jen.Code{jen.Id("config").Dot("Source")}, oauthEnv},
	{
		"mtlsSecurityScheme", "", "the client certificate", func() []jen.Code { return []jen.Code{jen.Id("certificate").Qual("crypto/tls", "Certificate")} },
		"WithCertificate", []jen.Code{jen.Id("certificate")}, "The environment variables %[1]s_CERT and %[1]s_KEY name files in PEM that give it as well.",
	},
}

// oauth reports whether the option takes a configuration of OAuth 2.
func (o *credentialOption) oauth() bool { return o.call == "WithTokensOf" }

func optionOf(c *ir.Credential) *credentialOption {
	i := slices.IndexFunc(credentialOptions, func(o credentialOption) bool { return o.kind == c.Kind && (o.http == "" || o.http == c.HTTP) })
	if i < 0 {
		return nil
	}
	return &credentialOptions[i]
}

// credentialFuncs are the options of the client that give credentials, one for each scheme of the card.
func (c *skillClient) credentialFuncs() jen.Code {
	all := jen.Null()
	for _, given := range c.agent.Calls.Credentials {
		o := optionOf(given)
		if o == nil {
			continue
		}
		all.Add(doc(c.credentialDoc(given, o)))
		all.Func().Id(given.Go).Params(o.params()...).Qual(clientPath, "Option").Block(
			jen.Return(jen.Qual(clientPath, o.call).Call(append([]jen.Code{jen.Lit(given.Scheme)}, o.args...)...)),
		).Line().Line()
	}
	return all
}

// credentialDoc says what an option gives, what the card says of it, and which variables do the same.
func (c *skillClient) credentialDoc(given *ir.Credential, o *credentialOption) string {
	text := fmt.Sprintf("%s gives %s for the agent's security scheme %q.", given.Go, o.what, given.Scheme)
	switch {
	case given.In != "":
		text = fmt.Sprintf("%s gives the API key for the agent's security scheme %q, which is sent in the %s %s.", given.Go, given.Scheme, given.In, given.Key)
	case o.kind == "httpAuthSecurityScheme" && o.http == "":
		text += fmt.Sprintf(" That is HTTP authentication %s.", given.HTTP)
	}
	if given.Description != "" {
		text += "\n\nThe card says: " + given.Description
	}
	if says := cardSays(given); says != "" {
		text += "\n\n" + says + " That is the agent's word: take them from somebody whom you trust."
	}
	return text + "\n\n" + fmt.Sprintf(o.env, rpc.EnvName(c.agent.Calls.Environment, given.Scheme, ""))
}

// cardSays lists the addresses and scopes that the card names.
func cardSays(given *ir.Credential) string {
	var all []string
	if given.URL != "" {
		all = append(all, "The issuer describes itself at "+given.URL+".")
	}
	for _, f := range given.Flows {
		line := "The card has the flow " + f.Name
		if f.TokenURL != "" {
			line += " at " + f.TokenURL
		}
		if scopes := slices.Sorted(maps.Keys(f.Scopes)); len(scopes) > 0 {
			line += ", with the scopes " + strings.Join(scopes, ", ")
		}
		all = append(all, line+".")
	}
	return strings.Join(all, " ")
}
