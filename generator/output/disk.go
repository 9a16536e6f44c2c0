package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// disk is what writing a project needs of a file system. Names are slash-separated and relative to the project.
// Tests replace it to stop a run at any step.
type disk interface {
	ReadFile(name string) ([]byte, error)
	FS() fs.FS
	Lstat(name string) (fs.FileInfo, error)
	MkdirAll(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	// Create writes a new file; it never follows or overwrites what has the name.
	Create(name string, data []byte) error
}

// folder is a real project folder. os.Root keeps every operation inside it, symbolic links included.
type folder struct{ *os.Root }

func (f folder) Create(name string, data []byte) error {
	w, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return errors.Join(err, w.Close())
}

// The files in a project that this package keeps for itself.
const (
	LockName = "a2agen.lock"
	// stagedName is the lock that becomes a2agen.lock when every file is in place. Its presence means that a run was interrupted.
	stagedName = "a2agen.lock.new"
	tempSuffix = ".a2agen-tmp"
)

// tempName is where name's new content waits for its rename. It is the same in every run, so that a later run finds what
// a killed one left.
func tempName(name string) string {
	dir, base := path.Split(name)
	return dir + "." + base + tempSuffix
}

// replace writes a file as a whole: a reader, or a run after a kill, sees the old content or the new.
// There is no fsync: the promise is about killed processes, and syncing every file would cost more than generating it.
func replace(d disk, name string, data []byte) error {
	if err := stage(d, name, data); err != nil {
		return err
	}
	return d.Rename(tempName(name), name)
}

// stage writes the content that a rename will put in place.
func stage(d disk, name string, data []byte) error {
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

// CheckPath reports why a path cannot be written in a project: it is absolute, leaves the folder, is not in its
// shortest slash-separated form, or is a name the tool needs for itself.
func CheckPath(name string) error {
	switch {
	case name == "" || name == ".":
		return errors.New("empty path")
	case strings.ContainsAny(name, "\\\x00\n\r") || strings.Contains(name, ":"):
		return fmt.Errorf("path %q holds a character that is not portable", name)
	case path.IsAbs(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return fmt.Errorf("path %q leaves the project", name)
	case path.Clean(name) != name:
		return fmt.Errorf("path %q is not in its shortest form (write %q)", name, path.Clean(name))
	case name == LockName || name == stagedName || strings.HasSuffix(name, tempSuffix):
		return fmt.Errorf("path %q is reserved", name)
	case name == ".git" || strings.HasPrefix(name, ".git/"):
		return fmt.Errorf("path %q belongs to git", name)
	}
	return nil
}
