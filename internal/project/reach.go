package project

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
)

// wideAddress matches an address in a Dockerfile that other machines can reach: -addr :8080.
var wideAddress = regexp.MustCompile(`-addr"?[\s=,]+"?(0\.0\.0\.0|\[::\])?:\d+`)

// saidInDockerfile matches what a Dockerfile says if its author knows that the agent needs a decision to start.
var saidInDockerfile = regexp.MustCompile(`auth: none|A2A_AUTH`)

// decidesAccess are the options of package server by which main.go decides who may call the agent.
var decidesAccess = []string{"WithAuth", "WithProxyIdentity", "WithoutAuth"}

// startsNowhere warns of an agent that will not start where it is deployed: it requires no credentials, is not
// declared open to everyone, and listens where other machines can reach it. Older tools did not check this.
func (p *project) startsNowhere(out generator.Output) (list diag.List) {
	if out.Model == nil || out.Model.Agent == nil || out.Model.Agent.Secured || out.Model.Agent.Open || p.mainDecides() {
		return nil
	}
	const message = "the agent demands nothing of its callers, so it answers on its own machine alone, and ends at its start where it listens for others"
	const hint = `for an agent that anybody may use write "auth: none" in ` + config.File + `, or set A2A_AUTH=none where it runs; else have agent.yaml demand credentials`
	docker, err := p.ReadFile("Dockerfile")
	if at := wideAddress.FindIndex(docker); err == nil && at != nil && !saidInDockerfile.Match(docker) {
		pos := diag.Pos{File: "Dockerfile", Line: 1 + bytes.Count(docker[:at[0]], []byte("\n")), Col: at[0] - bytes.LastIndexByte(docker[:at[0]], '\n')}
		list.Warnf(pos, "reach", hint, message)
		return list
	}
	if l := p.Lock(); l.Tool != "" && l.Bindings == "" { // of a tool that may not have known the rule
		list.Warnf(diag.Pos{File: config.File}, "reach", hint, message)
	}
	return list
}

// mainDecides reports whether main.go has an option that decides who may call the agent.
func (p *project) mainDecides() bool {
	src, err := p.ReadFile("main.go")
	if err != nil {
		return false
	}
	f, _ := parser.ParseFile(token.NewFileSet(), "main.go", src, parser.SkipObjectResolution)
	decides := false
	if f != nil {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			decides = decides || ok && slices.Contains(decidesAccess, sel.Sel.Name)
			return !decides
		})
	}
	return decides
}
