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
		return jen.Qual(authPath, string(v.Kind)).Call(jen.Qual(authPath, "CertificateConfig").Values())
	case ir.JWT:
		return jen.Qual(tokenPath, string(v.Kind)).Call(jen.Qual(tokenPath, "Config").Values())
	}
	return jen.Qual(authPath, string(v.Kind)).Call()
}
