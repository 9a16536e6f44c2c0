package project

import (
	"context"
	"path"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/diag"
)

// Imports are the import paths of the packages of a project.
type Imports struct{ Client, Server, Handlers string }

// InspectImports is [Inspect], with the import paths of the packages that there are.
func InspectImports(ctx context.Context, o Options) (out generator.Output, imports Imports, list diag.List, err error) {
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return out, imports, nil, err
	}
	defer p.Close()
	out, list = p.generate(ctx, nil, p.Lock().Clients)
	if out.Config != nil {
		of := out.Config.Packages
		imports = Imports{path.Join(p.module, of.Client), path.Join(p.module, of.Agent), path.Join(p.module, of.Skills)}
	}
	return out, imports, list, nil
}
