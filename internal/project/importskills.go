package project

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/contract"
)

// importedSkills are skills that an import adds to the agent: their contracts, and what these were made of.
type importedSkills struct {
	card      string // the file of the agent's card
	old       []byte // its text
	schemas   string // the file with the contracts
	contracts []byte
	document  string // the file that they were made of
	src       []byte
	skills    []contract.Skill
	ref       contract.Reference
	tag       string
	// handlers renders the handlers of these skills, and what they share.
	handlers func(out generator.Output, missing map[string]bool) ([]output.File, error)
}

// addSkills generates the project with new skills, and writes all of it at once. added are the ids of those that were not there.
func (p *project) addSkills(ctx context.Context, o Options, a *importedSkills, list diag.List) (r Report, added []string, err error) {
	card, added, problems := contract.AddSkills(a.card, a.old, a.skills, a.ref, a.tag)
	if list.Add(problems...); list.HasErrors() {
		return Report{Diagnostics: list}, nil, &InvalidError{list}
	}
	out, found := p.generate(ctx, map[string][]byte{a.card: card, a.schemas: a.contracts}, p.Lock().Clients)
	if list.Add(found...); list.HasErrors() {
		return Report{Diagnostics: list}, nil, &InvalidError{list}
	}
	further, err := p.importedHandlers(out, a)
	if err != nil {
		return r, nil, err
	}
	mine := func(name string, data []byte) {
		further = append(further, output.File{Path: name, Kind: output.Merged, NoBase: true, Data: data})
	}
	mine(a.schemas, a.contracts)
	mine(a.document, a.src)
	if !bytes.Equal(card, a.old) {
		mine(a.card, card)
	}
	runtimeFiles, note, err := p.addRuntime()
	if err != nil {
		return r, nil, err
	}
	r, err = p.finish(ctx, o, out, list, append(further, runtimeFiles...), note)
	return r, added, err
}

// importedHandlers are the handlers and tests of skills that have no handler yet, and what they share. They are the user's as soon as
// they are written.
func (p *project) importedHandlers(out generator.Output, a *importedSkills) (files []output.File, err error) {
	h, err := p.handlers(out.Config)
	if err != nil {
		return nil, err
	}
	names := set(h.Missing(out.Model.Agent.Skills))
	missing := map[string]bool{}
	for _, s := range out.Model.Agent.Skills {
		missing[s.ID] = names[s.Go]
	}
	rendered, err := a.handlers(out, missing)
	if err != nil {
		return nil, err
	}
	for _, f := range rendered {
		if _, err := p.ReadFile(f.Path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		f.Kind, f.NoBase = output.Merged, true
		files = append(files, f)
	}
	return files, nil
}

// cardToExtend is the card of the project to which skills are added.
func (p *project) cardToExtend(o Options) (file string, src []byte, err error) {
	cfg, err := p.readConfig()
	if err != nil {
		return "", nil, err
	}
	src, err = p.ReadFile(cfg.Card)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, badArgument("there is no %s in %s: a2agen init makes an agent", cfg.Card, o.Dir)
	}
	return cfg.Card, src, err
}

// importPin says of which document a file with contracts was made, whatever kind of document that is.
type importPin struct {
	document, digest string
	again            string // the command that takes the document over
}

// documentChanged is the drift of a document that is not the one of which skills were made.
const documentChanged = "document changed"

// changedDocuments returns the documents of imports that are other ones than those that were imported.
func (p *project) changedDocuments(out generator.Output) (ds []Drift) {
	for _, name := range p.importFiles(out) {
		src, err := p.ReadFile(name)
		if err != nil {
			continue
		}
		pin, is := importPinOf(name, src)
		if !is {
			continue
		}
		doc, err := p.ReadFile(pin.document)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			ds = append(ds, Drift{Path: pin.document, State: "missing", Detail: "the document that " + name + " was made of"})
		case err == nil && output.Digest(doc) != pin.digest:
			ds = append(ds, Drift{Path: pin.document, State: documentChanged, Hint: "run " + pin.again,
				Detail: name + " was made of another one"})
		}
	}
	return ds
}

// importFiles are the files of contracts that may be made by an import, in order.
func (p *project) importFiles(out generator.Output) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(out.Read)) {
		if path.Ext(name) == ".json" && out.Read[name] != output.Absent {
			names = append(names, name)
		}
	}
	return names
}

// importPinOf reads the pin in a file with contracts; is is false for any other file.
func importPinOf(name string, src []byte) (pin importPin, is bool) {
	if api, is := readPin(src); is {
		return importPin{api.Document, api.Digest, "a2agen import openapi " + api.Document + " --name " + importName(name)}, true
	}
	if tools, is := readToolsPin(src); is {
		return importPin{tools.Document, tools.Digest, "a2agen import mcp " + tools.Document + " --name " + importName(name)}, true
	}
	return pin, false
}

// importName is the name of what was imported, by its file with contracts.
func importName(schemas string) string {
	base := path.Base(schemas)
	return base[:len(base)-len(path.Ext(base))]
}
