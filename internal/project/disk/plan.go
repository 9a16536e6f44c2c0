package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/output"
)

// State says how a file on disk stands to what was generated.
type State string

// The states of a file.
const (
	Unchanged   State = "unchanged"
	Missing     State = "missing"      // to be written; it is not there
	Outdated    State = "outdated"     // to be rewritten; inputs or tool changed
	HandEdited  State = "hand-edited"  // ours by the lock, but not as we left it: refused
	Doubtful    State = "doubtful"     // ours by its header, but the lock cannot tell whether it was edited: refused
	Foreign     State = "not ours"     // in the way of an owned file: refused
	Stale       State = "stale"        // ours, no longer generated: to be deleted
	StaleEdited State = "stale-edited" // no longer generated, but hand-edited: left and reported
	Kept        State = "kept"         // a scaffold file that is there: the user's
)

// Change is one file of a plan.
type Change struct {
	Path  string      `json:"path"`
	Kind  output.Kind `json:"-"`
	State State       `json:"state"`
	old   []byte      // as on disk when the plan was made; nil when it is not there
	data  []byte      // nil for a file to be deleted
}

// Lines is how many lines the file will have.
func (c Change) Lines() int { return bytes.Count(c.data, []byte("\n")) }

// Plan is what writing a set of files would do.
type Plan struct {
	Changes []Change          // sorted by path, one for each file generated or owned
	bases   map[string]Change // what happens to the kept bases, by the path of the scaffold file; nil data deletes
	oldLock []byte            // the lock's bytes on disk
	next    *Lock             // the lock afterwards
	relock  bool              // the lock's bytes change
	pins    bool              // they change in more than the record of the user's files
	force   bool
}

// Plan compares generated files with the folder and writes nothing. next is the lock to write, without Files and
// Scaffold, which the plan fills in. With force, hand-edited and foreign files are overwritten or deleted instead of
// refused. It is an error when a path is not allowed, when two files share one, or when the folder cannot be read.
func (p *Project) Plan(files []output.File, next Lock, force bool) (*Plan, error) {
	if err := output.CheckPaths(files); err != nil {
		return nil, err
	}
	pl := &Plan{next: next.clone(), force: force, bases: map[string]Change{}}
	pl.next.Format, pl.next.Files, pl.next.Scaffold = lockFormat, map[string]string{}, p.scaffold()
	generated := map[string]bool{}
	for _, f := range files {
		if f.Kind == output.Dropped {
			p.planDropped(pl, f.Path)
			continue
		}
		state, old, err := p.state(f)
		if err != nil {
			return nil, err
		}
		pl.Changes = append(pl.Changes, Change{Path: f.Path, Kind: f.Kind, State: state, old: old, data: f.Data})
		switch {
		case f.Kind == output.Owned:
			generated[f.Path] = true
			pl.next.Files[f.Path] = output.Digest(f.Data)
		case f.Kind == output.Merged && f.NoBase:
		case f.Kind == output.Merged:
			p.planBase(pl, f.Path, f.Base)
		case state == Missing && f.NoBase:
			pl.next.Scaffold[f.Path] = output.Digest(f.Data)
		case state == Missing && f.Base != nil:
			p.planBase(pl, f.Path, f.Base)
		case state == Missing:
			p.planBase(pl, f.Path, f.Data)
		}
	}
	if err := p.planStale(pl, generated); err != nil {
		return nil, err
	}
	p.planForgotten(pl)
	slices.SortFunc(pl.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return pl, p.planLock(pl)
}

// planLock compares the lock with the one to come.
func (p *Project) planLock(pl *Plan) error {
	old, err := p.disk.ReadFile(output.LockName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	pl.oldLock = old
	pl.relock = p.staged != nil || !bytes.Equal(output.Normal(old), pl.next.Bytes())
	same := *pl.next
	same.Scaffold = p.lock.Scaffold
	pl.pins = p.staged != nil || !bytes.Equal(output.Normal(old), same.Bytes())
	return nil
}

// planStale adds what the lock names and nothing generates any more.
func (p *Project) planStale(pl *Plan, generated map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(p.ours())) {
		if generated[name] {
			continue
		}
		data, err := p.read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		}
		state := Stale
		_, input := pl.next.Inputs[name]
		switch {
		case input || !p.disposable(name, data):
			continue // whatever the lock says, this is the user's
		case !p.recognises(name, data) && !pl.force:
			state = StaleEdited
			pl.next.Files[name] = p.ours()[name] // so that the next run reports it again
		}
		pl.Changes = append(pl.Changes, Change{Path: name, Kind: output.Owned, State: state, old: data})
	}
	return nil
}

// state compares one generated file with the folder, and returns what is there.
func (p *Project) state(f output.File) (State, []byte, error) {
	data, err := p.read(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing, nil, nil
	case err != nil:
		return "", nil, err
	case f.Kind == output.Scaffold:
		return Kept, data, nil
	case bytes.Equal(output.Normal(data), output.Normal(f.Data)):
		return Unchanged, data, nil
	case f.Kind == output.Merged || p.recognises(f.Path, data):
		return Outdated, data, nil
	case !p.disposable(f.Path, data), !p.tools(f.Path, data) && p.ours()[f.Path] == "":
		return Foreign, data, nil
	case !p.tools(f.Path, data):
		return HandEdited, data, nil // with the header and all
	case p.unsure(f.Path) && expendable(data, f.Data):
		return Outdated, data, nil
	case p.unsure(f.Path) || p.ours()[f.Path] == "":
		return Doubtful, data, nil
	default:
		return HandEdited, data, nil
	}
}

// read reads a file that the plan wants to write or delete. A parent that is a file counts as an obstacle, not as
// absence.
func (p *Project) read(name string) ([]byte, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := p.disk.Lstat(dir)
		if err == nil && info.Mode().IsRegular() {
			return nil, fmt.Errorf("write %s: %s is a file, not a folder", name, dir)
		}
	}
	data, err := p.disk.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("compare %s: %w", name, err)
	}
	return data, err
}

// ours are the owned files by the lock, and by the staged lock of an interrupted run.
func (p *Project) ours() map[string]string {
	if p.staged == nil {
		return p.lock.Files
	}
	all := maps.Clone(p.staged.Files)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, p.lock.Files)
	return all
}

// Refused are the files that stand in the way: nothing is written while there are any.
func (pl *Plan) Refused() []Change {
	if pl.force {
		return nil
	}
	return pl.only(HandEdited, Doubtful, Foreign)
}

// Left are files that are no longer generated but were edited: they stay until the user deletes them.
func (pl *Plan) Left() []Change { return pl.only(StaleEdited) }

// Writes are the files that will be written.
func (pl *Plan) Writes() []Change {
	if pl.force {
		return pl.only(Missing, Outdated, HandEdited, Doubtful, Foreign)
	}
	return pl.only(Missing, Outdated)
}

// Deletes are the files that will be deleted.
func (pl *Plan) Deletes() []Change { return pl.only(Stale) }

// Drift are the files whose state differs from what a fresh project has. A scaffold file that somebody edited never drifts.
func (pl *Plan) Drift() []Change {
	var drift []Change
	for _, c := range pl.Changes {
		if c.State != Unchanged && c.State != Kept {
			drift = append(drift, c)
		}
	}
	return drift
}

// Overlay are the files whose content the plan would change, by path, with that content; nil for a file to be deleted.
func (pl *Plan) Overlay() map[string][]byte {
	files := map[string][]byte{}
	for _, c := range append(pl.Writes(), pl.Deletes()...) {
		files[c.Path] = c.data
	}
	return files
}

// LockChanges reports whether what the lock pins would change, or what it says of the generated files. That the user
// deleted a file of his own does not count.
func (pl *Plan) LockChanges() bool { return pl.pins }

func (pl *Plan) only(states ...State) []Change {
	var cs []Change
	for _, c := range pl.Changes {
		if slices.Contains(states, c.State) {
			cs = append(cs, c)
		}
	}
	return cs
}
