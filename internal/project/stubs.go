package project

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
)

// followed are the handlers of a project after a run, and the files that it writes for that.
func (p *project) followed(out generator.Output) (h scaffold.Handlers, stubs []output.File, err error) {
	h, err = p.handlers(out.Config)
	if err != nil || out.Model.Agent == nil || !h.HasAgent() {
		return h, nil, err
	}
	if stubs, err = p.stubs(out, h); err != nil {
		return h, nil, err
	}
	h, err = p.handlers(out.Config, stubs...)
	return h, stubs, err
}

// stubs returns the handlers and tests that a run writes: for skills without a handler; unedited ones that would be
// rendered differently now; and, to be deleted, unedited ones without a skill. Edited files are not among them.
func (p *project) stubs(out generator.Output, h scaffold.Handlers) ([]output.File, error) {
	skills, folder := out.Model.Agent.Skills, out.Config.Packages.Skills
	missing, untouched, current := set(h.Missing(skills)), set(p.Untouched(folder)), map[string]bool{
		folder + "/" + scaffold.OldTest: true, // older tools wrote it; it is the user's to delete
	}
	var names []string
	fresh := map[string]bool{} // files of skills without a handler
	for _, s := range skills {
		files := scaffold.StubFiles(folder, s)
		for _, f := range files {
			current[f], fresh[f] = true, missing[s.Go]
		}
		if missing[s.Go] || slices.ContainsFunc(files, func(f string) bool { return untouched[f] }) {
			names = append(names, s.Go)
		}
	}
	rendered, err := scaffold.Stubs(p.scaffold(out), names)
	if err != nil {
		return nil, err
	}
	shared, err := scaffold.Shared(p.scaffold(out))
	if err != nil {
		return nil, err
	}
	var files []output.File
	for _, f := range append(rendered, shared...) {
		current[f.Path] = true
		old, err := p.ReadFile(f.Path)
		switch {
		case err == nil && untouched[f.Path] && !bytes.Equal(output.Normal(old), f.Data):
			user, _, err := p.stillUsed(f)
			if err != nil {
				return nil, err
			}
			if user != "" {
				continue
			}
			f.Kind, f.Base = output.Merged, f.Data
			files = append(files, f)
		case errors.Is(err, fs.ErrNotExist) && fresh[f.Path]:
			files = append(files, f)
		}
	}
	for name := range untouched {
		if !current[name] && strings.HasSuffix(name, ".go") && !h.Serves(handlerOf(name), skills) {
			files = append(files, output.File{Path: name, Kind: output.Dropped})
		}
	}
	return files, nil
}

// handlerOf returns the file of the handler of a test, or the file itself.
func handlerOf(name string) string {
	if handler, ok := strings.CutSuffix(name, "_test.go"); ok {
		return handler + ".go"
	}
	return name
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}
