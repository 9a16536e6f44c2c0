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

// baseFolder holds what the tool wrote into each file that is the user's since then, so that a later tool can merge
// its changes into it. The go command passes by folders that begin with a dot, and the suffix keeps everybody else
// from taking a base for the file itself: a second go.mod, say.
const (
	baseFolder = ".a2agen/base/"
	baseSuffix = ".base"
)

// basePath is where the base of a scaffold file is kept.
func basePath(name string) string { return baseFolder + name + baseSuffix }

// Base returns what the tool wrote last into a file of the user's; false when that is not known, because the project is
// older than the record or somebody edited it.
func (p *Project) Base(name string) ([]byte, bool) {
	data, err := p.ReadFile(basePath(name))
	return data, err == nil && p.scaffold()[name] == output.Digest(data)
}

// Untouched are the scaffold files directly in a folder that are as the tool wrote them last, sorted.
func (p *Project) Untouched(dir string) (names []string) {
	for name, sum := range p.scaffold() {
		if path.Dir(name) != dir {
			continue
		}
		if data, err := p.ReadFile(name); err == nil && output.Digest(data) == sum {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Recorded reports whether the tool ever wrote the scaffold file, even if the user deleted it since.
func (p *Project) Recorded(name string) bool { return p.scaffold()[name] != "" }

// scaffold is what the lock says of the user's files, with what an interrupted run wrote. When the lock is gone, the
// bases tell.
func (p *Project) scaffold() map[string]string {
	all := maps.Clone(p.lock.Scaffold)
	if all == nil {
		all = map[string]string{}
	}
	if p.lock.Tool == "" {
		p.rememberBases(all)
	}
	if p.staged == nil {
		return all
	}
	for name, sum := range p.staged.Scaffold {
		if all[name] == sum || sum == output.Absent {
			continue
		}
		data, err := p.disk.ReadFile(name)
		if err != nil {
			continue
		}
		base, err := p.disk.ReadFile(basePath(name))
		if output.Digest(data) == sum || err == nil && output.Digest(base) == sum {
			all[name] = sum
		}
	}
	return all
}

// rememberBases adds the digests of the kept bases.
func (p *Project) rememberBases(all map[string]string) {
	fs.WalkDir(p.disk.FS(), strings.TrimSuffix(baseFolder, "/"), func(name string, d fs.DirEntry, err error) error {
		file, ok := strings.CutSuffix(strings.TrimPrefix(name, baseFolder), baseSuffix)
		if err != nil || !ok || !d.Type().IsRegular() || output.CheckPath(file) != nil {
			return nil // what cannot be read is not remembered
		}
		if data, err := p.disk.ReadFile(name); err == nil {
			all[file] = output.Digest(data)
		}
		return nil
	})
}

// planBase keeps the base of a scaffold file.
func (p *Project) planBase(pl *Plan, name string, base []byte) {
	pl.next.Scaffold[name] = output.Digest(base)
	old, err := p.disk.ReadFile(basePath(name))
	if err != nil || !bytes.Equal(output.Normal(old), output.Normal(base)) {
		pl.bases[name] = Change{Path: basePath(name), Kind: output.Owned, State: Outdated, old: old, data: base}
	}
}

// planForgotten notes which files the user deleted, and drops the bases of those that an interrupted run did not come
// to write.
func (p *Project) planForgotten(pl *Plan) {
	written := map[string]bool{}
	for _, c := range pl.Changes {
		written[c.Path] = c.Kind != output.Owned
	}
	for name, sum := range pl.next.Scaffold {
		if _, err := p.disk.Lstat(name); sum == output.Absent || written[name] || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if p.staged != nil && p.staged.Tool != "" && p.staged.Scaffold[name] == "" { // a killed run had come to delete it
			delete(pl.next.Scaffold, name)
			p.dropBase(pl, name, sum)
			continue
		}
		pl.next.Scaffold[name] = output.Absent // the base stays: without a lock, it tells that the file was there
	}
	if p.staged == nil {
		return
	}
	for name, sum := range p.staged.Scaffold {
		if pl.next.Scaffold[name] == "" {
			p.dropBase(pl, name, sum)
		}
	}
}

// planDropped plans to delete a scaffold file that nobody edited, with its base, and to forget it.
func (p *Project) planDropped(pl *Plan, name string) {
	old, err := p.disk.ReadFile(name)
	sum := pl.next.Scaffold[name]
	if err != nil || output.Digest(old) != sum {
		return
	}
	pl.Changes = append(pl.Changes, Change{Path: name, Kind: output.Dropped, State: Stale, old: old})
	delete(pl.next.Scaffold, name)
	p.dropBase(pl, name, sum)
}

// dropBase plans to delete a base, if it is the one with the digest.
func (p *Project) dropBase(pl *Plan, name, sum string) {
	if old, err := p.disk.ReadFile(basePath(name)); err == nil && output.Digest(old) == sum {
		pl.bases[name] = Change{Path: basePath(name), Kind: output.Owned, State: Stale, old: old}
	}
}

// writes are all files to write, in order. A base goes in front of a new file, so that no file is there without its
// base, and behind a merged one, so that a merge that was cut off is not taken for done. The paths go backwards, so
// that the test of a handler comes before the handler: once that is there, no run offers stubs for its skill any
// more.
func (pl *Plan) writes() []Change {
	var cs []Change
	bases := maps.Clone(pl.bases)
	for _, c := range slices.Backward(pl.Writes()) {
		b, ok := bases[c.Path]
		delete(bases, c.Path)
		switch {
		case !ok || b.data == nil:
			cs = append(cs, c)
		case c.Kind == output.Merged:
			cs = append(cs, c, b)
		default:
			cs = append(cs, b, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bases)) {
		if b := bases[name]; b.data != nil {
			cs = append(cs, b)
		}
	}
	return cs
}

// deletes are all files to delete.
func (pl *Plan) deletes() []Change {
	cs := pl.Deletes()
	for _, name := range slices.Sorted(maps.Keys(pl.bases)) {
		if b := pl.bases[name]; b.data == nil {
			cs = append(cs, b)
		}
	}
	return cs
}

// stillTheUsers makes sure that the user's files that are about to be rewritten or deleted are those that were merged or read.
func (p *Project) stillTheUsers(pl *Plan) error {
	for _, c := range append(pl.Writes(), pl.Deletes()...) {
		if c.Kind != output.Merged && c.Kind != output.Dropped {
			continue
		}
		now, err := p.disk.ReadFile(c.Path)
		if err != nil && !(c.State == Missing && errors.Is(err, fs.ErrNotExist)) || !bytes.Equal(now, c.old) {
			return fmt.Errorf("%s changed while it was being read; run the command again", c.Path)
		}
	}
	return nil
}

// written are the names of all files that a run with this lock may write.
func (l *Lock) written() []string {
	names := slices.Collect(maps.Keys(l.Files))
	for name := range l.Scaffold {
		names = append(names, name, basePath(name))
	}
	return names
}
