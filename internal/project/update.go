package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project/merge"
)

// UpdateOptions say what to update. The rest is generated as by [Run].
type UpdateOptions struct {
	Options
	Protocol bool // pin the protocol definitions as they are now, also those at URLs
	Scaffold bool // merge what this tool would write into the user's files
	Runtime  bool // build against the runtime of this tool; with Scaffold
	Vendor   bool // … by its source in the project
	// AllowPrivate fetches from private addresses too, and over http.
	AllowPrivate bool
}

// Move is a pin that an update changed.
type Move struct {
	Protocol string `json:"protocol"` // version
	From     string `json:"from"`     // digest
	To       string `json:"to"`
}

// ScaffoldUpdate is what an update did to one of the user's files.
type ScaffoldUpdate struct {
	Path    string        `json:"path"`
	Outcome UpdateOutcome `json:"outcome"`
	// Conflicts counts the places that the user has to decide.
	Conflicts int    `json:"conflicts,omitempty"`
	Reason    string `json:"reason,omitempty"` // why a file was left
}

// UpdateOutcome is the result of an update of a file.
type UpdateOutcome string

// The outcomes.
const (
	Added      UpdateOutcome = "added"      // an older tool did not write such a file
	Replaced   UpdateOutcome = "replaced"   // the user had not edited it
	MergedIn   UpdateOutcome = "merged"     // both changed it, in different places
	InConflict UpdateOutcome = "conflicts"  // both changed the same lines: they stand between conflict markers
	LeftAlone  UpdateOutcome = "left"       // see the reason
	Unresolved UpdateOutcome = "unresolved" // it has conflict markers of an earlier update
	Reimported UpdateOutcome = "imports"    // only paths of imports were changed: the packages have moved
)

// Undecided reports whether the user must decide about a file.
func (r Report) Undecided() bool {
	return slices.ContainsFunc(r.Updates, func(u ScaffoldUpdate) bool { return u.Outcome == InConflict || u.Outcome == Unresolved })
}

// Update moves pins, or updates the user's files to this tool, and generates the project.
func Update(ctx context.Context, o UpdateOptions) (Report, error) {
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return Report{}, err
	}
	defer p.Close()
	var note string
	if o.Runtime {
		if note, err = p.moveRuntime(o.Vendor); err != nil {
			return Report{}, err
		}
	}
	var d definitions
	if o.Protocol {
		if d, err = p.fetchDefinitions(ctx, o.AllowPrivate); err != nil {
			return Report{}, err
		}
		if d.problems.HasErrors() {
			return Report{Diagnostics: d.problems}, &InvalidError{d.problems}
		}
	}
	p.unpinned = o.Protocol
	out, list := p.generate(ctx, d.over, p.Lock().Clients)
	r := Report{Diagnostics: list, Fetched: d.fetched}
	if list.HasErrors() {
		return r, &InvalidError{list}
	}
	r.Moved = moves(p.Lock().Protocols, out.Protocols)
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	var merged []output.File
	if o.Scaffold && (out.Model.Agent != nil || p.holdsClients()) {
		if merged, r.Updates, err = p.mergeScaffold(out); err != nil {
			return r, err
		}
		if out, err = p.again(ctx, out, d.over, merged); err != nil {
			return r, err
		}
	}
	return p.write(ctx, o.Options, out, append(merged, p.requires...), r)
}

// moveRuntime makes go.mod and go.sum those of a project that builds against the runtime of this tool, or against its source in the project.
func (p *project) moveRuntime(vendor bool) (note string, err error) {
	var rt scaffold.Runtime
	if !vendor {
		if rt, err = p.tool.runtime(p.goMod.dir); err != nil {
			return "", err
		}
	}
	if why := p.goMod.untouchable(); why != "" {
		return "", fmt.Errorf("%s %s, so it stays as it is: run there: go mod edit %s && go mod tidy",
			filepath.Join(p.goMod.dir, "go.mod"), why, strings.Join(append([]string{"-dropreplace=" + rt.Module()}, rt.EditFlags()...), " "))
	}
	before := p.goMod.data
	if p.goMod.data, err = rt.InGoMod(before); err != nil {
		return "", err
	}
	p.unpacked, p.moved = rt.Unpacks(), &rt
	if bytes.Equal(before, p.goMod.data) {
		return "", nil
	}
	p.requires = []output.File{{Path: "go.mod", Kind: output.Merged, Data: p.goMod.data, NoBase: true}}
	old, err := p.ReadFile("go.sum")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var sums []byte
	for line := range bytes.Lines(old) {
		if !bytes.HasPrefix(line, []byte(rt.Module()+" ")) {
			sums = append(sums, line...)
		}
	}
	if sums = append(sums, rt.Sums()...); !bytes.Equal(old, sums) {
		f := output.File{Path: "go.sum", Kind: output.Merged, Data: sums, NoBase: true}
		if base, ok := p.Base("go.sum"); old == nil {
			f.Kind = output.Scaffold
		} else if len(sums) == 0 && ok && bytes.Equal(old, base) {
			f.Kind, f.Data = output.Dropped, nil
		}
		p.requires = append(p.requires, f)
	}
	return "go.mod: " + strings.Join(strings.Fields(rt.Requirement()), " "), nil
}

// again generates once more if a2agen.yaml is among the merged files.
func (p *project) again(ctx context.Context, out generator.Output, over map[string][]byte, merged []output.File) (generator.Output, error) {
	i := slices.IndexFunc(merged, func(f output.File) bool { return f.Path == config.File })
	if i < 0 {
		return out, nil
	}
	all := maps.Clone(over)
	if all == nil {
		all = map[string][]byte{}
	}
	all[config.File] = merged[i].Data
	out, list := p.generate(ctx, all, p.Lock().Clients)
	if list.HasErrors() {
		return out, &InvalidError{list}
	}
	return out, nil
}

// moves returns the versions that are pinned at another definition than the present one.
func moves(pinned, now map[string]string) []Move {
	var ms []Move
	for _, v := range slices.Sorted(maps.Keys(now)) {
		if pin := pinned[v]; pin != "" && pin != now[v] {
			ms = append(ms, Move{v, pin, now[v]})
		}
	}
	return ms
}

// mergeScaffold renders the user's files as init would now, and merges the difference to what was once written into
// them.
func (p *project) mergeScaffold(out generator.Output) ([]output.File, []ScaffoldUpdate, error) {
	once, stubs, err := p.renderScaffold(out)
	if err != nil {
		return nil, nil, err
	}
	made := slices.ContainsFunc(once, func(f output.File) bool { return p.Recorded(f.Path) }) // by init

	for i, f := range p.requires { // they are written as they are; what an update renders is their base from now on
		if at := slices.IndexFunc(once, func(o output.File) bool { return o.Path == f.Path }); at >= 0 {
			if p.Recorded(f.Path) || made && f.Kind == output.Scaffold {
				p.requires[i].Base, p.requires[i].NoBase = once[at].Data, false
			}
			once = slices.Delete(once, at, at+1)
		}
	}
	var files []output.File
	var updates []ScaffoldUpdate
	add := func(f output.File, stub, missing bool) error {
		merged, u, err := p.mergeFile(f, stub, missing)
		if err != nil {
			return err
		}
		if merged != nil {
			files = append(files, *merged)
		}
		if u.Outcome != "" {
			u.Path = f.Path
			updates = append(updates, u)
		}
		return nil
	}
	for _, f := range once {
		if err := add(f, false, made && f.Path != "go.mod" && f.Path != "go.sum"); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range stubs {
		if err := add(f, true, false); err != nil {
			return nil, nil, err
		}
	}
	return p.withNewImports(files, updates)
}

// withNewImports adds the files that the tool once wrote, and that were not merged, if they import a package by a path that it no
// longer has.
func (p *project) withNewImports(files []output.File, updates []ScaffoldUpdate) ([]output.File, []ScaffoldUpdate, error) {
	for _, name := range slices.Sorted(maps.Keys(p.Lock().Scaffold)) {
		if !strings.HasSuffix(name, ".go") || slices.ContainsFunc(files, func(f output.File) bool { return f.Path == name }) {
			continue
		}
		src, err := p.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (len(scaffold.OldImports(src)) == 0 || merge.Conflicted(src)) {
			continue
		} else if err != nil {
			return nil, nil, err
		}
		f := output.File{Path: name, Kind: output.Merged, Data: scaffold.WithNewImports(src)}
		base, ok := p.Base(name)
		f.Base, f.NoBase = scaffold.WithNewImports(base), !ok
		files = append(files, f)
		updates = slices.DeleteFunc(updates, func(u ScaffoldUpdate) bool { return u.Path == name })
		updates = append(updates, ScaffoldUpdate{Path: name, Outcome: Reimported})
	}
	return files, updates, nil
}

// renderScaffold renders the files that are there once, and the stubs of all skills. go.mod and go.sum are among
// them only if this tool knows what the project builds against.
func (p *project) renderScaffold(out generator.Output) (once, stubs []output.File, err error) {
	if out.Model.Agent == nil {
		return p.renderClientModule(out)
	}
	sp := p.scaffold(out)
	rt, known := p.runtimeNow()
	sp.Runtime = rt
	if once, err = scaffold.Files(sp); err != nil {
		return nil, nil, err
	}
	once = append(once, output.File{Path: config.File, Kind: output.Scaffold, Data: config.Scaffold(out.Config.Store, out.Config.BindingNames(), out.Config.Versions())})
	if !known {
		once = withoutGoMod(once)
	}
	var all []string
	for _, s := range out.Model.Agent.Skills {
		all = append(all, s.Go)
	}
	stubs, err = scaffold.Stubs(sp, all)
	return once, stubs, err
}

// renderClientModule is renderScaffold for a module of clients: its stubs are the programs that call the agents.
func (p *project) renderClientModule(out generator.Output) (once, stubs []output.File, err error) {
	m, known := p.clientModule(out)
	if once, err = m.Files(); err != nil {
		return nil, nil, err
	}
	if !known {
		once = withoutGoMod(once)
	}
	stubs, err = m.Commands()
	return once, stubs, err
}

func withoutGoMod(files []output.File) []output.File {
	return slices.DeleteFunc(files, func(f output.File) bool { return f.Path == "go.mod" || f.Path == "go.sum" })
}

// mergeFile updates one file; nil if there is nothing to write. A stub never gets a conflict, because the user is
// meant to replace it.
func (p *project) mergeFile(f output.File, stub, addMissing bool) (*output.File, ScaffoldUpdate, error) {
	left := func(reason string) (*output.File, ScaffoldUpdate, error) {
		return nil, ScaffoldUpdate{Outcome: LeftAlone, Reason: reason}, nil
	}
	yours, err := p.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && addMissing && !p.Recorded(f.Path):
		return &f, ScaffoldUpdate{Outcome: Added}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, ScaffoldUpdate{}, nil // the user deleted it
	case err != nil:
		return nil, ScaffoldUpdate{}, err
	}
	to := &output.File{Path: f.Path, Kind: output.Merged, Data: yours, Base: f.Data}
	base, ok := p.Base(f.Path)
	if strings.HasSuffix(f.Path, ".go") { // so that a path that has changed is no difference
		base, to.Data = scaffold.WithNewImports(base), scaffold.WithNewImports(yours)
	}
	switch {
	case p.Recorded(f.Path) && merge.Conflicted(yours):
		return nil, ScaffoldUpdate{Outcome: Unresolved, Reason: "it has conflict markers: resolve them, and update again"}, nil
	case bytes.Equal(yours, f.Data) && p.Recorded(f.Path):
		return to, ScaffoldUpdate{}, nil // whatever the base was
	case !ok && p.Recorded(f.Path):
		return left("what a2agen once wrote there is not recorded")
	case !ok || bytes.Equal(base, f.Data):
		return nil, ScaffoldUpdate{}, nil
	case f.Path == "go.sum":
		to.Data = union(yours, f.Data)
		return to, ScaffoldUpdate{Outcome: MergedIn}, nil
	case f.Path == config.File:
		to.Data = merge.Keys(base, yours, f.Data)
		return to, ScaffoldUpdate{Outcome: MergedIn}, nil
	}
	if user, function, err := p.stillUsed(f); err != nil || user != "" {
		if err != nil {
			return nil, ScaffoldUpdate{}, err
		}
		return left(fmt.Sprintf("%s uses %s, which it would declare no more: change or delete that file, and update again", user, function))
	}
	data, n := merge.Three(base, to.Data, f.Data, merge.Labels{Ours: "yours", Theirs: "a2agen " + p.tool.Version})
	edited := !bytes.Equal(base, to.Data)
	to.Data = data
	switch {
	case n > 0 && stub:
		return left("it is implemented, and the stub is not made for it any more")
	case n > 0:
		return to, ScaffoldUpdate{Outcome: InConflict, Conflicts: n}, nil
	case !edited:
		return to, ScaffoldUpdate{Outcome: Replaced}, nil
	}
	return to, ScaffoldUpdate{Outcome: MergedIn}, nil
}

// union adds the lines that a go.sum lacks.
func union(have, add []byte) []byte {
	out := slices.Clone(have)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	for line := range bytes.Lines(add) {
		if !bytes.Contains(append([]byte("\n"), have...), append([]byte("\n"), line...)) {
			out = append(out, line...)
		}
	}
	return out
}
