package project

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project/disk"
)

// Drift is one difference between a project and the result of a run.
type Drift struct {
	Path  string `json:"path,omitempty"` // "" when it concerns the project as a whole
	State string `json:"state"`          // "missing", "hand-edited", "inputs changed", "tool changed", "protocol changed", …
	// Detail says more about a cause: what it was and what it is.
	Detail string `json:"detail,omitempty"`
	// Causes say why a file is to be written or deleted: "inputs changed: agent.yaml".
	Causes []string `json:"causes,omitempty"`
	Hint   string   `json:"hint,omitempty"`
}

// String renders the drift on one line.
func (d Drift) String() string {
	s := d.State
	if d.Path != "" {
		s = d.Path + ": " + s
	}
	if d.Detail != "" {
		s += ": " + d.Detail
	}
	if len(d.Causes) > 0 {
		s += ", as " + strings.Join(d.Causes, "; ")
	}
	if d.Hint != "" {
		s += " (" + d.Hint + ")"
	}
	return s
}

// CheckReport is the result of a check.
type CheckReport struct {
	Drift       []Drift            `json:"drift"`
	Handlers    []scaffold.Finding `json:"handlers"`
	Diagnostics diag.List          `json:"diagnostics"`
	// NotBuilt is why nothing was compiled, so that nobody knows whether the project builds; "" when it was.
	NotBuilt string `json:"notBuilt,omitempty"`
	// Remote are the cards of agents that run, compared with what the project has, if [CheckRemote] was asked for.
	Remote []RemoteCard `json:"remote,omitempty"`
	// Tools are those of MCP servers, compared with the listings that the project has, likewise.
	Tools []RemoteTools `json:"tools,omitempty"`
}

// Check reports how the project differs from the result of a run: the causes first, then file by file. It writes
// nothing. Diagnostics that would stop a run are an *[InvalidError]; a definition that is not the pinned one is a
// drift.
func Check(ctx context.Context, o Options) (CheckReport, error) {
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return CheckReport{}, err
	}
	defer p.Close()
	p.unpinned = true
	out, list := p.generate(ctx, nil, p.Lock().Clients)
	r := CheckReport{Diagnostics: list}
	if list.HasErrors() {
		return r, &InvalidError{list}
	}
	h, stubs, err := p.followed(out)
	if err != nil {
		return r, err
	}
	pl, err := p.plan(slices.Concat(out.Files, stubs), p.lock(out), false)
	if err != nil {
		return r, err
	}
	causes, lacks := p.causes(out), p.missingRuntime()
	r.Drift = slices.Concat(causes, p.changedDocuments(out), lacks, p.files(pl, causes))
	if len(r.Drift) == 0 && pl.LockChanges() {
		r.Drift = append(r.Drift, Drift{Path: output.LockName, State: "outdated", Hint: runGenerate})
	}
	if r.Handlers, err = p.findings(h, out); err != nil {
		return r, err
	}
	old, err := p.oldImports(stubs)
	r.Handlers = append(r.Handlers, old...)
	if err != nil || !o.Build || lacks != nil {
		return r, err
	}
	built, why, err := p.build(ctx, pl.Overlay())
	r.Handlers, r.NotBuilt = withBuild(r.Handlers, built), why
	return r, err
}

const runGenerate = "run a2agen generate"

// The causes of drift.
const (
	inputsChanged   = "inputs changed"
	toolChanged     = "tool changed"
	protocolChanged = "protocol changed"
)

// causes compares the lock with the one that a run would write.
func (p *project) causes(out generator.Output) []Drift {
	var ds []Drift
	lock := p.Lock()
	if p.Interrupted() {
		ds = append(ds, Drift{State: "a run was interrupted", Hint: "run a2agen generate to finish it"})
	}
	if lock.Merging() {
		ds = append(ds, Drift{Path: output.LockName, State: "two branches met in a merge", Hint: runGenerate})
	}
	if lock.Tool == "" {
		return append(ds, Drift{State: "never generated", Hint: runGenerate})
	}
	if lock.Tool != p.tool.Version {
		ds = append(ds, Drift{State: toolChanged, Detail: fmt.Sprintf("%s generated this, and this is %s", lock.Tool, p.tool.Version), Hint: runGenerate})
	}
	if lock.Module != p.module {
		ds = append(ds, Drift{Path: "go.mod", State: inputsChanged, Detail: fmt.Sprintf("the module was %s and is %s", lock.Module, p.module)})
	}
	for _, m := range moves(lock.Protocols, out.Protocols) {
		ds = append(ds, Drift{State: protocolChanged, Detail: "the definition of " + m.Protocol + " is not the one that is pinned", Hint: "run a2agen update protocol"})
	}
	for _, name := range differing(lock.Inputs, out.Read) {
		ds = append(ds, Drift{Path: name, State: inputsChanged})
	}
	return ds
}

// reasons returns a phrase for each cause: "inputs changed: agent.yaml, go.mod".
func reasons(causes []Drift) []string {
	var inputs, rs []string
	for _, c := range causes {
		switch {
		case c.State == inputsChanged:
			inputs = append(inputs, c.Path)
		case c.Detail != "":
			rs = append(rs, c.State+": "+c.Detail)
		default:
			rs = append(rs, c.State)
		}
	}
	if inputs != nil {
		rs = append([]string{inputsChanged + ": " + strings.Join(inputs, ", ")}, rs...)
	}
	return rs
}

// differing returns the sorted keys whose values differ between two maps.
func differing(a, b map[string]string) []string {
	all := maps.Clone(b)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, a)
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if a[k] != b[k] {
			keys = append(keys, k)
		}
	}
	return keys
}

// files adds the cause and the remedy to every file that differs.
func (p *project) files(pl *disk.Plan, causes []Drift) []Drift {
	why := reasons(causes)
	if why == nil {
		why = []string{toolChanged + ": another build of it"} // equal inputs give equal bytes
	}
	var ds []Drift
	for _, c := range pl.Drift() {
		d := Drift{Path: c.Path, State: string(c.State), Hint: runGenerate}
		switch c.State {
		case disk.Missing:
			if p.Lock().Files[c.Path] == "" && !p.Recorded(c.Path) {
				d.Causes = why // it is new; else somebody deleted it
			}
		case disk.Outdated, disk.Stale:
			d.Causes = why
		case disk.HandEdited:
			d.Hint = "move your changes elsewhere, then run a2agen generate --force"
		case disk.Doubtful:
			d.State, d.Hint = "perhaps hand-edited", "move your changes elsewhere, then run a2agen generate --force"
			d.Detail = "it holds lines that a2agen would not write, and " + output.LockName + " does not tell whose they are"
		case disk.Foreign:
			d.State, d.Hint = "in the way, not written by a2agen", "move it elsewhere"
		case disk.StaleEdited:
			d.State, d.Hint = "stale, hand-edited", "no longer generated: delete it when you do not need it"
		}
		ds = append(ds, d)
	}
	return ds
}
