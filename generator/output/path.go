package output

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// The files in a project that the tool keeps for itself.
const (
	// LockName is the lock: what the generated files were made from and what they are.
	LockName = "a2agen.lock"
	// StagedName is the lock that becomes a2agen.lock when every file is in place. Its presence means that a run was
	// interrupted.
	StagedName = "a2agen.lock.new"
	// TempSuffix ends the name of a file that waits for its rename.
	TempSuffix = ".a2agen-tmp"
)

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
	case name == LockName || name == StagedName || strings.HasSuffix(name, TempSuffix):
		return fmt.Errorf("path %q is reserved", name)
	case name == ".git" || strings.HasPrefix(name, ".git/"):
		return fmt.Errorf("path %q belongs to git", name)
	}
	return nil
}

// CheckPaths refuses paths that leave the project, and files or folders that are one on some systems.
func CheckPaths(files []File) error {
	spelled := map[string]string{} // by its lower case
	for _, f := range files {
		if err := CheckPath(f.Path); err != nil {
			return err
		}
		if _, ok := spelled[strings.ToLower(f.Path)]; ok {
			return fmt.Errorf("two files are %s, on a case-insensitive disk at least", f.Path)
		}
		for name := f.Path; name != "."; name = path.Dir(name) {
			first, ok := spelled[strings.ToLower(name)]
			if ok && first != name {
				return fmt.Errorf("%s and %s would be one on a case-insensitive disk", first, name)
			}
			spelled[strings.ToLower(name)] = name
		}
	}
	return nil
}
