package generator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/suggest"
)

// readExtensions reads the contracts of extensions: those in the files that a2agen.yaml lists, and those of the agent's card.
func (g *generation) readExtensions(cfg *config.Config, c *card.Card) (all []*card.Extension, list diag.List) {
	for _, file := range cfg.Extensions {
		src, err := g.open(file.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			list.Errorf(file.Pos, "no-extension", "write the extension's contract there, or take it off the list", "there is no file %s", file.Path)
			continue
		case err != nil:
			list.Errorf(file.Pos, "unreadable", "", "%s cannot be read: %v", file.Path, reason(err))
			continue
		}
		x, problems := card.ReadExtension(file.Path, src, g.open)
		if list.Add(problems...); x != nil {
			all = append(all, x)
		}
	}
	if c != nil {
		for _, d := range c.Extensions {
			if d.Contract != nil {
				all = append(all, d.Contract)
			}
		}
	}
	list.Add(twoOfOne(all)...)
	if c != nil {
		for _, d := range c.Extensions {
			if x := contractOf(all, d.URI); x != nil && !list.HasErrors() {
				list.Add(c.CheckParams(d, x)...)
			}
		}
	}
	return all, list
}

// twoOfOne reports contracts with one URI, and those that would share a package or Go names.
func twoOfOne(all []*card.Extension) (list diag.List) {
	for i, x := range all {
		for _, first := range all[:i] {
			var text, hint string
			switch {
			case first.URI == x.URI:
				text, hint = fmt.Sprintf("the extension %s has two contracts", x.URI), "take one of them out"
			case first.GoName() == x.GoName():
				text, hint = fmt.Sprintf("the extensions %s and %s have one Go name, %s", first.URI, x.URI, x.GoName()), "rename one of them"
			case keyOf(first) == keyOf(x):
				text, hint = fmt.Sprintf("the extensions %s and %s have one member of metadata, %q", first.URI, x.URI, keyOf(x)), "give one of them another key"
			default:
				continue
			}
			list.Add(diag.Diagnostic{
				Code: "duplicate", Severity: diag.Error, Pos: x.Pos, Message: text, Hint: hint,
				Related: []diag.Related{{Pos: first.Pos, Message: "first here"}},
			})
			break
		}
	}
	return list
}

func keyOf(x *card.Extension) string {
	if x.Key != "" {
		return x.Key
	}
	return x.URI
}

func contractOf(all []*card.Extension, uri string) *card.Extension {
	if i := slices.IndexFunc(all, func(x *card.Extension) bool { return x.URI == uri }); i >= 0 {
		return all[i]
	}
	return nil
}

// giveExtensions gives the agent, and each client's agent, the extensions that their cards declare, and returns all.
func giveExtensions(all []*card.Extension, agent *ir.Agent, clients []remoteClient) (list []*ir.Extension) {
	for _, x := range all {
		list = append(list, lower.Extension(x))
	}
	slices.SortFunc(list, func(a, b *ir.Extension) int { return strings.Compare(a.Package, b.Package) })
	give := func(a *ir.Agent) {
		if a == nil {
			return
		}
		required := declaredBy(a.Card)
		for _, x := range list {
			if must, declared := required[x.URI]; declared {
				a.Extensions = append(a.Extensions, &ir.AgentExtension{Extension: x, Required: must})
			}
		}
		names.ClientExtensions(a)
	}
	give(agent)
	for _, r := range clients {
		give(r.agent)
	}
	return list
}

// declaredBy returns the extensions that a published card declares, and whether it requires them.
func declaredBy(published []byte) map[string]bool {
	var c struct {
		Capabilities struct {
			Extensions []struct {
				URI      string
				Required bool
			}
		}
	}
	_ = json.Unmarshal(published, &c) // a card that was made here
	required := map[string]bool{}
	for _, x := range c.Capabilities.Extensions {
		required[x.URI] = x.Required
	}
	return required
}

// checkMethods reports operations of extensions that no definition of the protocol has.
func checkMethods(all []*card.Extension, p *ir.Protocol) (list diag.List) {
	var known []string
	if p == nil {
		return nil
	}
	for _, v := range p.Versions {
		for _, op := range v.Operations {
			if op.Role == ir.RoleOther {
				known = append(known, op.RPC)
			}
		}
	}
	for _, x := range all {
		for _, name := range x.Methods {
			if !slices.Contains(known, name) {
				hint := suggest.Key(name, known)
				if hint == "" {
					hint = "list a definition with that operation under protocol in a2agen.yaml"
				}
				list.Errorf(x.Pos, "no-method", hint, "the extension %s has the method %q, which no definition of the protocol adds", x.URI, name)
			}
		}
	}
	return list
}
