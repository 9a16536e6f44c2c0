package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// verifiers is verifiers.gen.go: how the security schemes of the card are checked. What they demand stands in the card alone.
func (a *agentPackage) verifiers() (output.File, error) {
	f := a.newFile()
	entries := make([]jen.Code, len(a.agent.Verifiers))
	for i, v := range a.agent.Verifiers {
		entries[i] = jen.Lit(v.Scheme).Op(":").Add(verifier(v))
	}
	if len(entries) > 0 {
		entries = multiline(entries)
	}
	f.Add(doc("verifiers check the credentials of the card's security schemes. The environment may add to what stands here.")).Func().Id("verifiers").Params().Qual(authPath, "Verifiers").Block(jen.Return(jen.Qual(authPath, "Verifiers").Values(entries...)))
	return render(f, pkgFile(a.paths.Agent, "verifiers.gen.go"))
}

// verifier makes one.
func verifier(v *ir.Verifier) jen.Code {
	switch v.Kind {
	case ir.Certificates:
		config := settings{pairs: members()}
		config.text("CAFile", v.CAFile)
		config.texts("Proxies", v.Proxies)
		if len(v.Holders) > 0 {
			config.pairs.set("Callers", jen.Index().Qual(authPath, "CertificateCaller").Values(holders(v.Holders, "", "ID", "")...))
		}
		return jen.Qual(authPath, "Certificates").Call(jen.Qual(authPath, "CertificateConfig").Values(config.code()...))
	case ir.JWT:
		return jen.Qual(tokenPath, "JWT").Call(jen.Qual(tokenPath, "Config").Values(tokenConfig(v).code()...))
	case ir.Introspection:
		return jen.Qual(tokenPath, "Introspection").Call(jen.Qual(tokenPath, "IntrospectionConfig").Values(tokenConfig(v).code()...))
	case ir.Passwords:
		return jen.Qual(authPath, "Passwords").Call(holders(v.Holders, "Password", "User", "Hash")...)
	}
	return jen.Qual(authPath, "Keys").Call(holders(v.Holders, "Key", "Caller", "SHA256")...)
}

// tokenConfig is the configuration of a verifier of tokens.
func tokenConfig(v *ir.Verifier) settings {
	config := settings{pairs: members()}
	config.text("Issuer", v.Issuer)
	config.texts("Audience", v.Audience)
	config.texts("Types", v.Types)
	config.texts("Algorithms", v.Algorithms)
	config.text("Endpoint", v.Endpoint)
	config.text("ClientID", v.ClientID)
	if v.Skew > 0 {
		config.pairs.set("Skew", duration(v.Skew))
	}
	config.text("Tenants", v.TenantsClaim)
	config.text("Keys", v.KeySet)
	return config
}

// holders are literals of a type of package auth, each on a line of its own. Without a type, it is the list's.
func holders(list []ir.Holder, typ, name, hash string) []jen.Code {
	if len(list) == 0 {
		return nil
	}
	values := make([]jen.Code, len(list))
	for i, h := range list {
		fields := settings{pairs: members(name, jen.Lit(h.Name))}
		fields.text(hash, h.Hash)
		fields.texts("Scopes", h.Scopes)
		fields.texts("Tenants", h.Tenants)
		value := jen.Empty()
		if typ != "" {
			value = jen.Qual(authPath, typ)
		}
		values[i] = value.Values(fields.code()...)
	}
	return multiline(values)
}

// settings are members of a literal; those that are zero are left out.
type settings struct{ pairs *literal }

func (s settings) text(name, value string) {
	if value != "" {
		s.pairs.set(name, jen.Lit(value))
	}
}

func (s settings) texts(name string, values []string) {
	if len(values) > 0 {
		s.pairs.set(name, stringList(values))
	}
}

func (s settings) code() []jen.Code { return s.pairs.code() }
