package schema_test

import (
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/schema"
)

// request is a schema in a file, and what its type is called.
type request struct{ Go, File, JSON string }

// compiled are schemas that share a package, with the types of all by name.
type compiled struct {
	Roots []schema.Root
	Types []*ir.DataType
}

// compile compiles schemas and names their types.
func compile(reqs []request, open schema.Opener) (compiled, diag.List) {
	var plain []schema.Request
	for _, r := range reqs {
		plain = append(plain, schema.Request{File: r.File, JSON: []byte(r.JSON)})
	}
	roots, list := schema.Compile(plain, open)
	if list.HasErrors() {
		return compiled{Roots: roots}, list
	}
	var contracts []names.Contract
	for i, r := range roots {
		contracts = append(contracts, names.Contract{Go: reqs[i].Go, Root: r.Ref, Types: r.Types})
	}
	return compiled{roots, names.Contracts(names.OfSkills(), contracts)}, list
}
