// Package disk is a project's folder: what its lock says, how it differs from what was generated, and the only writer.
package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/filelock"
)

// Unfinished reports whether a folder holds what a killed first run left.
func Unfinished(dir string) bool {
	_, staged := os.Stat(filepath.Join(dir, output.StagedName))
	_, lock := os.Stat(filepath.Join(dir, output.LockName))
	return staged == nil && errors.Is(lock, fs.ErrNotExist)
}

// Project is a project folder. Between [Open] and Close no other run of the tool writes to it.
type Project struct {
	dir    string
	disk   filesystem
	lock   *Lock
	staged *Lock // of an interrupted run, else nil
	close  func() error
	// headerless tells the owned files that have no header.
	headerless func(name string) bool
	replaced   string // see [Project.Replace]
}

// Guard waits until no other run of the tool writes to the folder, and returns the function that ends the turn of this one. The lock is on the
// folder itself, so that no file is left behind. A folder that cannot be locked is not guarded: a run is still safe alone.
func Guard(dir string) (release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	_ = filelock.Wait(context.Background(), f)
	return func() { f.Close() }
}

// Open opens the folder, waiting for another run of the tool to end, and reads its lock. The folder must exist.
func Open(dir string) (*Project, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s", dir)
	}
	if err != nil {
		return nil, err
	}
	release := Guard(dir)
	disk := newFolder(root)
	p := &Project{dir: dir, disk: disk, close: func() error { release(); return disk.Close() }}
	if err := p.readLocks(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *Project) readLocks() (err error) {
	p.lock = &Lock{Format: lockFormat}
	data, err := p.disk.ReadFile(output.LockName)
	switch {
	case err == nil:
		if p.lock, err = ParseLock(data); err != nil {
			return fmt.Errorf("%w (delete the file and run a2agen generate)", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	data, err = p.disk.ReadFile(output.StagedName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if p.staged, err = ParseLock(data); err != nil {
		p.staged = &Lock{Format: lockFormat} // killed while writing it: nothing else was touched yet
	}
	return nil
}

// Close ends the use of the folder.
func (p *Project) Close() error { return p.close() }

// Dir is the folder as it was given to [Open].
func (p *Project) Dir() string { return p.dir }

// Lock returns the lock as it was read, never nil. The caller must not change it.
func (p *Project) Lock() *Lock { return p.lock }

// Interrupted reports whether an earlier run did not come to its end.
func (p *Project) Interrupted() bool { return p.staged != nil }

// ReadFile reads a file of the project. name is slash-separated and may not leave the folder.
func (p *Project) ReadFile(name string) ([]byte, error) { return p.disk.ReadFile(name) }

// Edit replaces a file of the user's as a whole, if it still is what the edit was made from. A nil old means that the
// file does not exist yet.
func (p *Project) Edit(name string, old, edited []byte) error {
	if err := output.CheckPath(name); err != nil {
		return err
	}
	now, err := p.ReadFile(name)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case !bytes.Equal(now, old):
		return fmt.Errorf("%s changed while it was being edited; run the command again", name)
	}
	if err := replace(p.disk, name, edited); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Files reads the regular files directly in a folder of the project, by path; none if there is no such folder.
func (p *Project) Files(dir string) (map[string][]byte, error) {
	entries, err := fs.ReadDir(p.disk.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if info, e := p.disk.Lstat(dir); e == nil && info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a file, and has to be a folder of Go files", dir)
	}
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !e.Type().IsRegular() {
			continue
		}
		if files[name], err = p.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Fresh reports whether nothing that the lock names has changed: then there is nothing to generate. tool and module
// are what the run would write in the lock.
func (p *Project) Fresh(tool, module string) bool {
	l := p.lock
	if p.staged != nil || l.Tool != tool || l.Module != module || len(l.Inputs) == 0 {
		return false
	}
	return p.match(l.Inputs) && p.match(l.Files) && p.exist(l.Scaffold)
}

// exist reports whether the Go files among the scaffold are there: a deleted handler may need a new stub.
func (p *Project) exist(files map[string]string) bool {
	for name := range files {
		if _, err := p.disk.Lstat(name); err != nil && strings.HasSuffix(name, ".go") {
			return false
		}
	}
	return true
}

func (p *Project) match(files map[string]string) bool {
	for name, want := range files {
		data, err := p.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if want != output.Absent {
				return false
			}
		case err != nil || output.Digest(data) != want:
			return false
		}
	}
	return true
}
