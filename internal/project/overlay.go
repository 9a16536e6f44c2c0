package project

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"

	"github.com/a2agen/a2agen/generator/config"
)

// storeLine is where a2agen.yaml says where tasks are kept.
var storeLine = regexp.MustCompile(`(?m)^store:[^\n]*$`)

// Overlay writes to the folder temp what generated files, go.mod and go.sum would be if the agent kept its tasks in
// another store, the word of a2agen.yaml, and the list by which "go build -overlay" finds them. The project stays as it
// is.
func Overlay(ctx context.Context, o Options, store, temp string) (list string, err error) {
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return "", err
	}
	defer p.Close()
	src, _ := p.ReadFile(config.File) // without one the defaults count
	line := []byte("store: " + store)
	if p.config = storeLine.ReplaceAll(src, line); !storeLine.Match(src) {
		p.config = append(append(p.config, '\n'), line...)
	}
	if c, _ := config.Read(config.File, p.config); c == nil || c.Store != store {
		return "", fmt.Errorf("%s does not say in a line of its own where tasks are kept", config.File)
	}
	further, note, err := p.addRuntime()
	if err != nil {
		return "", err
	}
	if note != "" && further == nil {
		return "", errors.New(note)
	}
	out, problems := p.generate(ctx, map[string][]byte{config.File: p.config}, p.Lock().Clients)
	if problems.HasErrors() {
		return "", &InvalidError{problems}
	}
	pl, err := p.plan(withFurther(out.Files, further), p.lock(out), true)
	if err != nil {
		return "", err
	}
	files := pl.Overlay()
	for name := range files {
		if !compiled(name) {
			delete(files, name)
		}
	}
	dir, err := filepath.Abs(p.Dir())
	if err != nil {
		return "", err
	}
	return writeOverlay(temp, dir, files)
}

// compiled reports whether a generated file is something that the go command reads to build.
func compiled(name string) bool {
	return path.Ext(name) == ".go" || name == "go.mod" || name == "go.sum" || inSource(name)
}
