package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// cannotOpen is the error of a file that cannot be opened, which says what to do where SQLite has a number alone.
func cannotOpen(path string, err error) error {
	return fmt.Errorf("open the store %s: %w", path, reason(path, err))
}

func reason(path string, err error) error {
	folder := filepath.Dir(path)
	switch {
	case isFolder(path):
		return errors.New("it is a folder: name a file in it")
	case code(err) == codeNotADatabase:
		return errors.New("it is no file of tasks, nor any other database: name another file")
	case errors.Is(err, fs.ErrNotExist):
		return errMissing{}
	case code(err) != codeCannotOpen && code(err) != codeReadOnly:
		return err
	}
	if isFolder(folder) {
		return fmt.Errorf("the file and its folder %s have to be writable: %w", folder, err)
	}
	return fmt.Errorf("there is no folder %s: make it first", folder)
}

// errMissing is the error of a file that is not there.
type errMissing struct{}

func (errMissing) Error() string        { return "there is no such file" }
func (errMissing) Is(target error) bool { return target == fs.ErrNotExist }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
