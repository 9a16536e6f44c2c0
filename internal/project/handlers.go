package project

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
)

// handlers reads the user's handlers, as they will be when the stubs are written.
func (p *project) handlers(c *config.Config, stubs ...output.File) (scaffold.Handlers, error) {
	src, err := p.Files(c.Packages.Skills)
	if src == nil {
		src = map[string][]byte{}
	}
	for _, f := range stubs {
		if src[f.Path] = f.Data; f.Kind == output.Dropped {
			delete(src, f.Path)
		}
	}
	return scaffold.ReadHandlers(path.Join(p.module, c.Packages.Skills), src), err
}

// findings checks the handlers against what was generated.
func (p *project) findings(h scaffold.Handlers, out generator.Output) ([]scaffold.Finding, error) {
	if out.Model.Agent == nil {
		return nil, nil
	}
	name := path.Join(out.Config.Packages.Agent, emit.SkillsFile)
	i := slices.IndexFunc(out.Files, func(f output.File) bool { return f.Path == name })
	if i < 0 {
		return nil, fmt.Errorf("%s was not generated", name)
	}
	return p.judge(h, out.Config, out.Files[i].Data)
}

// freshFindings checks the handlers against the existing files if nothing needs to be generated, by the text of the
// two packages alone.
func (p *project) freshFindings() ([]scaffold.Finding, error) {
	src, err := p.ReadFile(config.File)
	if err != nil {
		src = nil // the defaults count
	}
	c, list := config.Read(config.File, src)
	if list.HasErrors() {
		return nil, nil // it was read without when it was last generated from
	}
	skills, err := p.ReadFile(path.Join(c.Packages.Agent, emit.SkillsFile))
	if err != nil {
		return nil, nil // a project of clients only
	}
	h, err := p.handlers(c)
	if err != nil {
		return nil, err
	}
	return p.judge(h, c, skills)
}

// oldImports reports the files that import a package of this module by a path that it no longer has: all but those that are generated
// or about to be written.
func (p *project) oldImports(written []output.File) (found []scaffold.Finding, err error) {
	known := map[string]bool{}
	for _, f := range written {
		known[f.Path] = true
	}
	err = p.eachGoFile(func(name string, src []byte) {
		if known[name] || p.Lock().Files[name] != "" {
			return
		}
		for _, i := range scaffold.OldImports(src) {
			f := scaffold.Finding{Code: scaffold.Moved, File: name, Line: i.Line, Message: "import " + i.Old + " -> " + i.New}
			if p.Recorded(name) {
				f.Hint = "a2agen update scaffold rewrites it"
			}
			found = append(found, f)
		}
	})
	return found, err
}

func (p *project) judge(h scaffold.Handlers, c *config.Config, skills []byte) ([]scaffold.Finding, error) {
	name := path.Join(c.Packages.Agent, emit.SkillsFile)
	wanted, err := scaffold.Wanted(path.Join(p.module, c.Packages.Agent), skills)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return append(p.elsewhere(h, c), h.Findings(wanted)...), nil
}

// elsewhere reports handlers outside the folder that the configuration names.
func (p *project) elsewhere(h scaffold.Handlers, c *config.Config) []scaffold.Finding {
	if !h.Empty() {
		return nil
	}
	for name := range p.Lock().Scaffold {
		dir, base := path.Split(name)
		dir = strings.TrimSuffix(dir, "/")
		if _, err := p.ReadFile(name); base != "agent.go" || err != nil || dir == c.Packages.Skills {
			continue
		}
		return []scaffold.Finding{{
			Code: scaffold.Elsewhere, File: config.File,
			Message: fmt.Sprintf("packages.skills is %s, and the handlers are in %s", c.Packages.Skills, dir),
			Hint: fmt.Sprintf("move that folder to %s, name its package %s, and change the import in main.go",
				c.Packages.Skills, path.Base(c.Packages.Skills)),
		}}
	}
	return nil
}
