package project

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/emit"
)

// bindingPin is what the lock records of the bindings, so that a newer tool with other defaults does not serve
// bindings that nobody asked for.
func bindingPin(out generator.Output) string {
	switch {
	case out.Model.Agent == nil:
		return ""
	case out.Config.ListsBindings():
		return config.File
	}
	return strings.Join(out.Config.BindingNames(), ", ")
}

// keptBindings returns the bindings over which the agent was served before, if neither a2agen.yaml nor the card lists
// any; none if they do, or the project is new. Where an older tool did not record them in the lock, they are read
// from the published card.
func (p *project) keptBindings(open func(string) ([]byte, error)) (kept []string, list diag.List) {
	src, _ := open(config.File) // without one the defaults count
	c, problems := config.Read(config.File, src)
	if problems.HasErrors() || c.ListsBindings() || p.Lock().Bindings == config.File {
		return nil, nil
	}
	if agent, err := open(c.Card); err != nil || card.ListsInterfaces(agent) {
		return nil, nil
	}
	if pin := p.Lock().Bindings; pin != "" {
		return known(strings.Split(pin, ", ")), nil
	}
	published, err := p.ReadFile(path.Join(c.Packages.Agent, emit.CardFile))
	if err != nil || p.Lock().Tool == "" {
		return nil, nil
	}
	kept = known(publishedBindings(published))
	if len(kept) > 0 && !slices.Equal(kept, c.BindingNames()) {
		list.Warnf(diag.Pos{File: config.File}, "bindings", "write bindings: ["+strings.Join(c.BindingNames(), ", ")+"] for those of a new agent",
			"the agent stays served over %s alone, as it was", strings.Join(kept, " and "))
	}
	return kept, list
}

// known removes unknown bindings.
func known(names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(config.Bindings(), n) })
}

// publishedBindings returns the bindings of the card in a generated file, without repetitions.
func publishedBindings(src []byte) (names []string) {
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var text string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "CardJSON" && len(v.Values) == 1 {
			text = constant(v.Values[0])
		}
		return true
	})
	var published struct {
		SupportedInterfaces []struct{ ProtocolBinding string }
	}
	if json.Unmarshal([]byte(text), &published) != nil {
		return nil
	}
	for _, i := range published.SupportedInterfaces {
		if !slices.Contains(names, i.ProtocolBinding) {
			names = append(names, i.ProtocolBinding)
		}
	}
	return names
}

// constant returns the text of a sum of string literals. The names of schemas in it are replaced by null.
func constant(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return constant(e.X) + constant(e.Y)
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value) // it was parsed
		return s
	}
	return "null"
}
