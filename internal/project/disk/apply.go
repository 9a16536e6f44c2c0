package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/generator/output"
)

// RefusedError names the files that a run would not overwrite.
type RefusedError struct{ Files []Change }

// Error lists the files with the way out.
func (e *RefusedError) Error() string {
	var b strings.Builder
	b.WriteString("refused to overwrite; nothing was written")
	for _, c := range e.Files {
		why := "was edited by hand"
		switch c.State {
		case Foreign:
			why = "was not written by a2agen"
		case Doubtful:
			why = "holds lines that a2agen would not write, and " + output.LockName + " does not tell whose they are"
		}
		fmt.Fprintf(&b, "\n%s: %s (move your changes elsewhere and delete it, or use --force to overwrite it)",
			c.Path, why)
	}
	return b.String()
}

// Apply carries out a plan. The order makes a kill harmless: first the new lock is staged, which says what is coming;
// then every content is written beside its file; then each is renamed into place; then files that are no longer
// generated are deleted; the new lock comes last. An error before the first rename leaves no trace.
func (p *Project) Apply(pl *Plan) error {
	if refused := pl.Refused(); len(refused) > 0 {
		return &RefusedError{refused}
	}
	if err := p.recover(); err != nil {
		return fmt.Errorf("recover from an interrupted run: %w", err)
	}
	writes, deletes := pl.writes(), pl.deletes()
	if len(writes) == 0 && len(deletes) == 0 && !pl.relock {
		return nil
	}
	if err := p.stillTheUsers(pl); err != nil {
		return err
	}
	if err := p.stageAll(pl, writes); err != nil {
		return err
	}
	for _, c := range writes {
		if err := p.disk.Rename(tempName(c.Path), c.Path); err != nil {
			return fmt.Errorf("write %s: %w", c.Path, err)
		}
	}
	for _, c := range deletes {
		if err := p.disk.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete %s: %w", c.Path, err)
		}
		p.pruneFolders(c.Path)
	}
	if err := p.disk.Rename(output.StagedName, output.LockName); err != nil {
		return fmt.Errorf("write %s: %w", output.LockName, err)
	}
	p.lock, p.staged = pl.next, nil
	return nil
}

// stageAll writes the staged lock and all new contents beside their files. On failure it takes everything back.
func (p *Project) stageAll(pl *Plan, writes []Change) (err error) {
	var made []string // folders and files, in order of making
	defer func() {
		if err == nil {
			return
		}
		for i := len(made) - 1; i >= 0; i-- {
			p.disk.Remove(made[i]) // what cannot be removed is found by the next run
		}
	}()
	made = append(made, output.StagedName)
	if err := p.disk.Create(output.StagedName, pl.next.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", output.LockName, err)
	}
	there := map[string]bool{} // folders
	for _, c := range writes {
		if dir := path.Dir(c.Path); !there[dir] {
			dirs, err := p.mkdirs(dir)
			made = append(made, dirs...)
			if err != nil {
				return fmt.Errorf("write %s: %w", c.Path, err)
			}
			there[dir] = true
		}
	}
	for _, c := range writes {
		made = append(made, tempName(c.Path))
	}
	return p.stageFiles(writes)
}

// stageFiles writes a few contents at a time: most of a small file's cost is the file system's.
func (p *Project) stageFiles(writes []Change) error {
	errs := make([]error, len(writes))
	var taken atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range min(len(writes), 2*runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(taken.Add(1)) - 1; i < len(writes) && !failed.Load(); i = int(taken.Add(1)) - 1 {
				if err := stage(p.disk, writes[i].Path, writes[i].data); err != nil {
					errs[i] = fmt.Errorf("write %s: %w", writes[i].Path, err)
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// mkdirs makes a folder and its parents and returns those that were not there.
func (p *Project) mkdirs(dir string) (made []string, err error) {
	for d := dir; d != "."; d = path.Dir(d) {
		if _, err := p.disk.Lstat(d); err == nil {
			break
		}
		made = append([]string{d}, made...)
	}
	if len(made) == 0 {
		return nil, nil
	}
	return made, p.disk.MkdirAll(dir, 0o755)
}

// pruneFolders removes the folders that a deletion left empty. Removing one that is not empty fails, which is the test.
func (p *Project) pruneFolders(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if p.disk.Remove(dir) != nil {
			return
		}
	}
}

// recover makes the state that a killed run left an ordinary one: temporary files go, and the lock learns which of the
// files on disk are already the new ones. Inputs are cleared, so that nobody takes the mixture for fresh.
func (p *Project) recover() error {
	if p.staged == nil {
		return nil
	}
	mixed := p.lock.clone()
	mixed.Inputs = nil
	for _, name := range p.staged.written() {
		if err := p.disk.Remove(tempName(name)); err != nil && !errors.Is(err, fs.ErrNotExist) && !notFolder(err) {
			return err
		}
	}
	for name, sum := range p.staged.Files {
		if data, err := p.disk.ReadFile(name); err == nil && output.Digest(data) == sum {
			mixed.Files[name] = sum
		}
	}
	mixed.Scaffold = p.scaffold()
	if err := replace(p.disk, output.LockName, mixed.Bytes()); err != nil {
		return err
	}
	p.lock, p.staged = mixed, nil
	return p.disk.Remove(output.StagedName)
}

// notFolder reports whether a file could not be there because its folder is none.
func notFolder(err error) bool {
	return strings.Contains(err.Error(), "not a directory")
}
