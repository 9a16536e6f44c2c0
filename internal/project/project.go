// Package project holds what the commands do: each opens a project, generates it, and applies or reports the result.
//
// What is generated is decided by package generator, which only sees values. What touches the disk is in disk, the
// only writer; what touches the network in remote; and merge brings the user's files up to a newer tool.
package project

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project/disk"
)

// project is an opened project.
type project struct {
	*disk.Project
	tool     Tool
	module   string // import path of the project's folder
	goMod    goMod
	created  bool              // go.mod is not on the disk yet
	unpacked bool              // it takes the runtime from the project itself
	config   []byte            // a2agen.yaml, when that is not on the disk yet
	card     []byte            // the card, likewise
	remotes  map[string][]byte // cards of other agents by their files, likewise
	moved    *scaffold.Runtime // what it is about to build against
	requires []output.File     // go.mod and go.sum for that
	unpinned bool              // whatever definition of a protocol the tool has is taken
	tools    bool              // handlers are about to be written that call tools of MCP servers
	whole    bool              // generate the whole model (see [generator.Inputs])
}

// openProject opens a folder. Its module is that of the go.mod in the folder or above.
func openProject(tool Tool, dir string) (*project, error) {
	p, err := disk.Open(dir)
	if err != nil {
		return nil, err
	}
	pr := &project{Project: p, tool: tool}
	p.AllowHeaderless(pr.headerless)
	if err := pr.readModule(dir); err != nil {
		p.Close()
		return nil, err
	}
	return pr, nil
}

// headerless reports the generated files without a header: those that are copied.
func (p *project) headerless(name string) bool {
	switch {
	case name == card.SchemaPath, name == config.SchemaPath, config.IsKept(name):
		return true
	case path.Base(name) == config.KeptCard, path.Base(name) == config.KeptKeys:
		code, err := p.ReadFile(path.Join(path.Dir(name), emit.ClientFile))
		return err == nil && output.Headed(code)
	}
	return inSource(name)
}

func (p *project) readModule(dir string) (err error) {
	if p.goMod, err = findGoMod(dir); err != nil {
		return err
	}
	mod := modfile.ModulePath(p.goMod.data)
	if mod == "" {
		return fmt.Errorf("%s names no module", filepath.Join(p.goMod.dir, "go.mod"))
	}
	p.module = path.Join(mod, p.goMod.rel)
	p.unpacked = p.goMod.rel == "" && scaffold.UsesUnpacked(p.goMod.data)
	return nil
}

// generate runs the pipeline on the project. over replaces files on disk; nil means that there is no file.
func (p *project) generate(ctx context.Context, over map[string][]byte, pins map[string]output.ClientPin) (generator.Output, diag.List) {
	open := func(name string) ([]byte, error) {
		data, ok := over[name]
		switch {
		case ok && data == nil:
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		case ok:
			return data, nil
		}
		return p.ReadFile(name)
	}
	in := generator.Inputs{Open: open, Module: p.module, Pins: pins, Whole: p.whole}
	if !p.unpinned {
		in.ProtocolPins = p.Lock().Protocols
	}
	var kept diag.List
	in.Bindings, kept = p.keptBindings(open)
	out, list := generator.Generate(ctx, in)
	p.nameFolderAbove(list)
	list.Add(append(kept, p.startsNowhere(out)...)...)
	list.Sort()
	return out, list
}

// nameFolderAbove says in the hint of a missing agent card which folder above the project, up to that of go.mod, has one.
func (p *project) nameFolderAbove(list diag.List) {
	for i, d := range list {
		if d.Code != "no-card" || d.Pos.File != "agent.yaml" || p.goMod.rel == "" {
			continue
		}
		for above := path.Dir(p.goMod.rel); ; above = path.Dir(above) {
			dir := filepath.Join(p.goMod.dir, filepath.FromSlash(above))
			if _, err := os.Stat(filepath.Join(dir, d.Pos.File)); err == nil {
				list[i].Hint += "; there is one in " + dir
				return
			}
			if above == "." {
				break
			}
		}
	}
}

// Options are those that the commands have in common.
type Options struct {
	Tool   Tool
	Dir    string
	Force  bool // overwrite hand-edited files
	DryRun bool // write nothing
	Diff   bool // write nothing, and say line by line what would change
	Build  bool // compile what is there afterwards, where that may tell something new
}

// dry reports whether nothing must be written.
func (o Options) dry() bool { return o.DryRun || o.Diff }

// Report is what a run did, or would do.
type Report struct {
	Diagnostics diag.List     `json:"diagnostics"`
	Fresh       bool          `json:"fresh"`     // nothing had changed, so nothing was generated
	Unchanged   int           `json:"unchanged"` // files that were as they should be
	Written     []disk.Change `json:"written"`
	Deleted     []disk.Change `json:"deleted"`
	Left        []disk.Change `json:"left"`    // no longer generated, but edited by hand
	Refused     []disk.Change `json:"refused"` // in the way: then nothing was written
	// Handlers are what there is to say about the user's handlers.
	Handlers []scaffold.Finding `json:"handlers"`
	Notes    []string           `json:"notes"`             // what is left for the user to do
	Moved    []Move             `json:"moved,omitempty"`   // pins, by an update
	Fetched  []Fetched          `json:"fetched,omitempty"` // definitions, by an update
	Updates  []ScaffoldUpdate   `json:"updates,omitempty"` // the user's files, by an update
	Cards    []RemoteCard       `json:"cards,omitempty"`   // of clients, by an update: what is different
	Clients  []generator.Reach  `json:"clients,omitempty"` // how clients of other agents call these
	// Diff is the unified diff of what would change, when that was asked for.
	Diff string `json:"diff,omitempty"`

	inputs []string // the files that were read or looked for
}

// Run generates a project. Diagnostics that stop it are an *[InvalidError]; files in the way a *[disk.RefusedError]; in
// both cases nothing was written.
func Run(ctx context.Context, o Options) (Report, error) {
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return Report{}, err
	}
	defer p.Close()
	further, note, err := p.addRuntime()
	if err != nil {
		return Report{}, err
	}
	if !o.Force && !o.dry() && note == "" && p.fresh() {
		r := Report{Fresh: true, Unchanged: len(p.Lock().Files), inputs: slices.Sorted(maps.Keys(p.Lock().Inputs))}
		if r.Handlers, err = p.freshFindings(); err != nil {
			return r, err
		}
		old, err := p.oldImports(nil)
		r.Handlers = append(r.Handlers, old...)
		return r, err
	}
	out, list := p.generate(ctx, nil, p.Lock().Clients)
	return p.finish(ctx, o, out, list, further, note)
}

// fresh reports whether the tool, the inputs and the files are those of the last run.
func (p *project) fresh() bool {
	if !p.Fresh(p.tool.Version, p.module) || !p.hasSource() {
		return false
	}
	return p.tool.released() || p.tool.stampOf(p.Dir(), p.Lock().Bytes()).matches()
}

// finish plans and writes what was generated, with the stubs of new skills.
func (p *project) finish(ctx context.Context, o Options, out generator.Output, list diag.List, further []output.File, notes ...string) (Report, error) {
	r := Report{Diagnostics: list, Clients: out.Reaches, inputs: slices.Sorted(maps.Keys(out.Read))}
	r.Notes = slices.DeleteFunc(notes, func(s string) bool { return s == "" })
	if list.HasErrors() {
		return r, &InvalidError{list}
	}
	return p.write(ctx, o, out, further, r)
}

// write plans and writes the generated files, the stubs of new skills and further files.
func (p *project) write(ctx context.Context, o Options, out generator.Output, further []output.File, r Report) (Report, error) {
	h, stubs, err := p.followed(out)
	if err != nil {
		return r, err
	}
	files := withFurther(slices.Concat(out.Files, stubs), further)
	if r.Handlers, err = p.findings(h, out); err != nil {
		return r, err
	}
	old, err := p.oldImports(files)
	if err != nil {
		return r, err
	}
	r.Handlers = append(r.Handlers, old...)
	if adopted := len(r.Notes) > 0; adopted && out.Model.Agent != nil && h.Empty() {
		r.Notes = append(r.Notes, out.Config.Packages.Skills+" holds no handlers yet: a2agen init --add adds them, with main.go and tests, and overwrites nothing")
	}
	if r, err = p.apply(o, out, files, r); err != nil || !o.Build || !p.mayNotFit(r, h, out.Config.Packages.Skills) {
		return r, err
	}
	built, _, err := p.build(ctx, nil) // why it was not compiled is for a check to say
	r.Handlers = withBuild(r.Handlers, built)
	return r, err
}

// mayNotFit reports whether a run changed generated code while there are edited handlers or tests.
func (p *project) mayNotFit(r Report, h scaffold.Handlers, folder string) bool {
	changed := func(c disk.Change) bool { return c.Kind == output.Owned && strings.HasSuffix(c.Path, ".go") }
	if len(r.Written)+len(r.Deleted) == 0 || !slices.ContainsFunc(slices.Concat(r.Written, r.Deleted), changed) {
		return false
	}
	return h.Edited(p.Untouched(folder))
}

// apply compares files with the folder, writes them, and completes the report.
func (p *project) apply(o Options, out generator.Output, files []output.File, r Report) (Report, error) {
	pl, err := p.plan(files, p.lock(out), o.Force)
	if err != nil {
		return r, err
	}
	r.describe(pl)
	if o.Diff {
		r.Diff = string(pl.Diff())
	}
	if o.dry() {
		return r, nil
	}
	if err := p.Apply(pl); err != nil {
		return r, err
	}
	if !p.tool.released() {
		p.tool.stampOf(p.Dir(), p.Lock().Bytes()).write()
	}
	return r, nil
}

// lock returns the lock of a run, without the files.
func (p *project) lock(out generator.Output) disk.Lock {
	return disk.Lock{Tool: p.tool.Version, Module: p.module, Bindings: bindingPin(out), Protocols: out.Protocols, Clients: out.Clients,
		Inputs: out.Read}
}

func (r *Report) describe(pl *disk.Plan) {
	for _, c := range pl.Changes {
		if c.State == disk.Unchanged {
			r.Unchanged++
		}
	}
	r.Written, r.Deleted, r.Left, r.Refused = pl.Writes(), pl.Deletes(), pl.Left(), pl.Refused()
}

// scaffold describes the project for the scaffold's templates.
func (p *project) scaffold(out generator.Output) scaffold.Project {
	return scaffold.Project{EmbedsClients: p.embedsClients(out), Protocol: out.Model.Protocol, Agent: out.Model.Agent, Description: out.Card.Description,
		Module: p.module, Packages: out.Config.Packages, ProtocolImport: out.Config.ProtocolImport, Modules: scaffold.ModulesOf(out.Config, scaffold.Links{Tokens: out.Model.Agent.Tokens(), Calls: generator.CalledOver(out.Reaches),
			OAuth: generator.GetTokens(out.Reaches) || generator.GetsTokens(out.Model.Agent.Card)})}
}

// embedsClients reports whether the type of the agent embeds the clients, or is about to: a file that nobody edited follows.
func (p *project) embedsClients(out generator.Output) bool {
	if out.Model.Agent == nil || out.Model.Agent.RemotesType == "" {
		return false
	}
	h, err := p.handlers(out.Config)
	folder := out.Config.Packages.Skills
	return err == nil && (h.Empty() || h.Embeds(out.Model.Agent.RemotesType) || slices.Contains(p.Untouched(folder), folder+"/agent.go"))
}

// Inspect generates in memory and returns everything, even if diagnostics would stop a run: then without files.
func Inspect(ctx context.Context, o Options) (generator.Output, diag.List, error) {
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return generator.Output{}, nil, err
	}
	defer p.Close()
	p.whole = true
	out, list := p.generate(ctx, nil, p.Lock().Clients)
	return out, list, nil
}
