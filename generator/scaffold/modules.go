package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/runtime"
)

// Modules are what a project requires in addition to the runtime, at the versions that the runtime is tested with.
type Modules []module.Version

// Packages of the runtime that a project links that accepts tokens, reports to OpenTelemetry, serves MCP, or signs or verifies
// cards. Those of stores and bindings stand in their tables.
const (
	tokenPackage  = "runtime/auth/token"
	otelPackage   = "runtime/otel"
	signedPackage = "runtime/signedcard"
	oauthPackage  = "runtime/client/oauth"
	mcpPackage    = "runtime/server/mcpserver"
	toolsPackage  = "runtime/mcptools"
)

// Links are what decides, in addition to a2agen.yaml, which modules a project requires.
type Links struct {
	Tokens bool     // its agent accepts tokens of an issuer
	Calls  []string // bindings over which clients call other agents, beside those that a2agen.yaml says
	OAuth  bool     // clients get tokens by OAuth 2
	Tools  bool     // handlers call tools of MCP servers
}

// ModulesOf returns the modules of a project with a configuration.
func ModulesOf(c *config.Config, links Links) (ms Modules) {
	var paths []string
	link := func(pkg string) {
		if chosen := a2agen.Chosen[pkg]; chosen != "" {
			paths = append(append(paths, chosen), a2agen.Behind[chosen]...)
		}
	}
	link(config.StoreOf(c.Store).Package)
	called := links.Calls
	for _, cl := range c.Clients {
		if cl.Verify != nil {
			link(signedPackage)
		}
		called = append(called, c.BindingsOf(cl)...)
	}
	for _, b := range runtime.Bindings {
		if slices.Contains(c.BindingNames(), b.Name) {
			link(b.Server)
		}
		if slices.Contains(called, b.Name) {
			link(b.Client)
		}
	}
	if links.Tokens {
		link(tokenPackage)
	}
	if links.OAuth {
		link(oauthPackage)
	}
	if links.Tools {
		link(toolsPackage)
	}
	if c.Telemetry == config.TelemetryOTel {
		link(otelPackage)
	}
	if c.SignCards {
		link(signedPackage)
	}
	if c.MCP.Line > 0 {
		link(mcpPackage)
	}
	for _, r := range required(a2agen.GoMod()) {
		if slices.Contains(paths, r.Path) {
			ms = append(ms, r)
		}
	}
	slices.SortFunc(ms, func(a, b module.Version) int { return strings.Compare(a.Path, b.Path) })
	return ms
}

func required(goMod []byte) (list Modules) {
	f, err := modfile.ParseLax("go.mod", goMod, nil)
	if err != nil {
		return nil
	}
	for _, r := range f.Require {
		list = append(list, r.Mod)
	}
	return list
}

// Lacking returns those that a go.mod does not name, in any version.
func (ms Modules) Lacking(goMod []byte) Modules {
	have := required(goMod)
	return slices.DeleteFunc(slices.Clone(ms), func(m module.Version) bool {
		return slices.ContainsFunc(have, func(r module.Version) bool { return r.Path == m.Path })
	})
}

// Requirement returns their lines of go.mod. All are indirect: the runtime imports them, not the project.
func (ms Modules) Requirement() string {
	var b strings.Builder
	b.WriteString("require (\n")
	for _, m := range ms {
		fmt.Fprintf(&b, "\t%s %s // indirect\n", m.Path, m.Version)
	}
	return b.String() + ")\n"
}

// Sums returns their lines of go.sum.
func (ms Modules) Sums() (lines []byte) {
	for line := range strings.Lines(string(a2agen.GoSum())) {
		path, rest, _ := strings.Cut(line, " ")
		version, _, _ := strings.Cut(rest, " ")
		if slices.Contains(ms, module.Version{Path: path, Version: strings.TrimSuffix(version, "/go.mod")}) {
			lines = append(lines, line...)
		}
	}
	return lines
}

// EditFlags returns the flags of "go mod edit" that add them.
func (ms Modules) EditFlags() (flags []string) {
	for _, m := range ms {
		flags = append(flags, "-require="+m.Path+"@"+m.Version)
	}
	return flags
}
