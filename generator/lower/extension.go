package lower

import (
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
)

// Extension lowers the contract of an extension that was read without errors: it names the types.
func Extension(x *card.Extension) *ir.Extension {
	out := &ir.Extension{
		URI: x.URI, Description: x.Description, Package: x.Name, Go: x.GoName(), Key: x.Key, Always: x.Always,
		Methods: x.Methods, MediaType: x.MediaType,
	}
	slots := map[string]**ir.DataRef{
		"params": &out.Params, "request": &out.Request, "message": &out.Message, "artifact": &out.Artifact,
		"status": &out.Status, "fromCaller": &out.CallerPart, "fromAgent": &out.AgentPart,
	}
	var contracts []names.Contract
	for _, p := range card.Places {
		for _, c := range x.Carries {
			if c.Place == p.Key {
				*slots[p.Key] = c.Root.Ref
				contracts = append(contracts, names.Contract{Go: p.Go, Root: c.Root.Ref, Types: c.Root.Types})
			}
		}
	}
	out.Types = names.Contracts(names.NewScope(names.ExtensionDeclares...), contracts)
	return out
}
