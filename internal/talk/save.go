package talk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	maxFileName = 100  // bytes
	maxSameName = 1000 // files of one name
)

// save writes a file of an answer into dir under its own name, or a similar one if that exists, and returns its path.
func save(dir, name string, content []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", usage("--save: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", usage("--save: %w", err)
	}
	defer root.Close()
	name = fileName(name)
	ext := path.Ext(name)
	for i := 1; i <= maxSameName; i++ {
		as := name
		if i > 1 {
			as = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), i, ext)
		}
		f, err := root.OpenFile(as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", usage("--save: %w", err)
		}
		_, err = f.Write(content)
		return filepath.Join(dir, as), errors.Join(err, f.Close())
	}
	return "", usage("--save: there are %d files like %s in %s", maxSameName, name, dir)
}

// fileName makes a safe file name from the one that an agent sent: no folders, nothing hidden, no special characters.
func fileName(given string) string {
	if i := strings.LastIndexAny(given, `/\`); i >= 0 {
		given = given[i+1:]
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"|?*`, r) || r == ' ' {
			return '_'
		}
		return r
	}, clean(strings.NewReplacer("\n", "", "\t", "").Replace(given)))
	name = strings.TrimRight(strings.TrimLeft(name, ".-"), ".")
	if len(name) > maxFileName {
		name = strings.ToValidUTF8(name[len(name)-maxFileName:], "")
	}
	if name == "" {
		return "file"
	}
	return name
}
