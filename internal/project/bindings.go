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

// bindingPin is what the lock says of the bindings, so that a newer tool with another default does not open what nobody asked for.
func bindingPin(out generator.Output) string {
	switch {
	case out.Model.Agent == nil:
		return ""
	case out.Config.ListsBindings():
		return config.File
	}
	return strings.Join(out.Config.BindingNames(), ", ")
}

// keptBindings are the bindings in which the agent was served before, where neither a2agen.yaml nor the card says them; none: they say
// it, or the project is new. A tool that did not write them into the lock has left the card that it published.
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

// known leaves out what is no binding of this tool.
func known(names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(config.Bindings(), n) })
}

// publishedBindings reads the bindings of the card in a generated file, each once.
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

// constant is the text of a sum of string literals. The schemas that stand for names in it are null.
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
