package disk

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/generator/output"
)

// disk is what writing a project needs of a file system. Names are slash-separated and relative to the project.
// Tests replace it to stop a run at any step.
type filesystem interface {
	ReadFile(name string) ([]byte, error)
	FS() fs.FS
	Lstat(name string) (fs.FileInfo, error)
	MkdirAll(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	// Create writes a new file; it never follows or overwrites what has the name. It may be called by several
	// goroutines.
	Create(name string, data []byte) error
}

// folder is a real project folder. os.Root keeps every operation inside it, symbolic links included. It looks a name
// up anew each time, element by element; the folders below are kept open, so that this is done once for each of them.
type folder struct {
	*os.Root
	below *openFolders
}

// openFolders are open folders by name. They may be used and closed by any goroutine.
type openFolders struct {
	mu     sync.Mutex
	byName map[string]*os.Root
}

func newFolder(root *os.Root) folder {
	return folder{root, &openFolders{byName: map[string]*os.Root{}}}
}

// in returns the folder that holds name, and what name is called there.
func (f folder) in(name string) (*os.Root, string, error) {
	dir, base := path.Split(name)
	if dir == "" {
		return f.Root, name, nil
	}
	dir = path.Clean(dir)
	f.below.mu.Lock()
	defer f.below.mu.Unlock()
	if r := f.below.byName[dir]; r != nil {
		return r, base, nil
	}
	r, err := f.OpenRoot(dir)
	if err != nil {
		return nil, "", err
	}
	f.below.byName[dir] = r
	return r, base, nil
}

// forget closes a folder below, if it is open.
func (f folder) forget(name string) error {
	f.below.mu.Lock()
	defer f.below.mu.Unlock()
	r := f.below.byName[name]
	delete(f.below.byName, name)
	if r == nil {
		return nil
	}
	return r.Close()
}

// Close closes the folder and those below.
func (f folder) Close() error {
	var errs []error
	for name := range maps.Clone(f.below.byName) {
		errs = append(errs, f.forget(name))
	}
	return errors.Join(append(errs, f.Root.Close())...)
}

// Create implements [filesystem].
func (f folder) Create(name string, data []byte) error {
	r, base, err := f.in(name)
	if err != nil {
		return err
	}
	w, err := r.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return errors.Join(err, w.Close())
}

// ReadFile implements [filesystem]. Its errors say of the whole name what is wrong, in words of people.
func (f folder) ReadFile(name string) ([]byte, error) {
	data, err := f.read(name)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: inWords(err)}
	}
	return data, nil
}

func (f folder) read(name string) ([]byte, error) {
	r, base, err := f.in(name)
	if err != nil {
		return nil, err
	}
	info, err := r.Stat(base)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errFolder
	case !info.Mode().IsRegular(): // reading a pipe or a device may never end
		return nil, errNoFile
	}
	return r.ReadFile(base)
}

var (
	errFolder = errors.New("it is a folder, not a file")
	errNoFile = errors.New("it is a pipe or a device, not a file")
)

// said is an error of the operating system in words that say what to look for.
type said struct {
	text string
	err  error
}

func (s said) Error() string { return s.text }

func (s said) Unwrap() error { return s.err }

// inWords leaves out which call of the system failed, on which part of a name.
func inWords(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return said{"there is no such file", err}
	case errors.Is(err, fs.ErrPermission):
		return said{"you may not read it", err}
	case notFolder(err):
		return said{"on the way to it is a file where a folder should be", err}
	case strings.Contains(err.Error(), "escapes"): // os.Root has no name for it
		return said{"a link leads out of the project", err}
	}
	return err
}

// Rename implements [filesystem]. A file that stays in its folder is renamed there.
func (f folder) Rename(from, to string) error {
	if path.Dir(from) != path.Dir(to) {
		return f.Root.Rename(from, to)
	}
	r, base, err := f.in(from)
	if err != nil {
		return err
	}
	return r.Rename(base, path.Base(to))
}

// Remove implements [filesystem].
func (f folder) Remove(name string) error {
	return errors.Join(f.forget(name), f.Root.Remove(name))
}

// tempName is where name's new content waits for its rename. It is the same in every run, so that a later run finds
// what a killed one left.
func tempName(name string) string {
	dir, base := path.Split(name)
	return dir + "." + base + output.TempSuffix
}

// replace writes a file as a whole: a reader, or a run after a kill, sees the old content or the new.
// There is no fsync: the promise is about killed processes, and syncing every file would cost more than generating it.
func replace(d filesystem, name string, data []byte) error {
	if err := stage(d, name, data); err != nil {
		return err
	}
	return d.Rename(tempName(name), name)
}

// stage writes the content that a rename will put in place.
func stage(d filesystem, name string, data []byte) error {
	temp := tempName(name)
	err := d.Create(temp, data)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := d.Remove(temp); err != nil { // what a killed run left
		return err
	}
	return d.Create(temp, data)
}
