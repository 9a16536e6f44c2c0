package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/watch"
)

// listTime is how long the go command may take to list packages.
const listTime = time.Minute

// sources are the files of the main module that an agent is built from.
type sources struct {
	folders []string // of packages
	files   []string // go.mod, go.sum, embedded files
}

// findSources asks the go command. What it cannot say, of a project whose imports are wrong for instance, stays as it
// was known before.
func findSources(ctx context.Context, dir string) (s sources) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps", "-json=Dir,EmbedFiles,Module,Standard", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off")
	var out bytes.Buffer
	cmd.Stdout = &out
	s.folders = []string{dir}
	if cmd.Run() != nil {
		return s
	}
	for dec := json.NewDecoder(&out); ; {
		var p struct {
			Dir        string
			EmbedFiles []string
			Standard   bool
			Module     *struct {
				Main  bool
				GoMod string
			}
		}
		if dec.Decode(&p) != nil {
			return s
		}
		if p.Standard || p.Module == nil || !p.Module.Main || p.Dir == "" {
			continue
		}
		s.folders = append(s.folders, p.Dir)
		for _, f := range p.EmbedFiles {
			s.files = append(s.files, filepath.Join(p.Dir, filepath.FromSlash(f)))
		}
		s.files = append(s.files, p.Module.GoMod, strings.TrimSuffix(p.Module.GoMod, ".mod")+".sum")
	}
}

// follow has a watcher watch the files, and reports whether it watches new folders.
func (s sources) follow(w *watch.Watcher) (grown bool) {
	for _, dir := range s.folders {
		grown = w.Folder(dir, isSource) || grown
	}
	return w.Files(s.files...) || grown
}

// isSource reports whether a file of a package is compiled into a program.
func isSource(base string) bool {
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || strings.HasSuffix(base, "_test.go") {
		return false
	}
	return slices.Contains([]string{".go", ".s", ".c", ".h"}, filepath.Ext(base))
}
