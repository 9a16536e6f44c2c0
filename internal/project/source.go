package project

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project/disk"
)

// plan compares files with the folder. Where the project holds the runtime's source, what the project imports of it is among
// them.
func (p *project) plan(files []output.File, next disk.Lock, force bool) (*disk.Plan, error) {
	if p.unpacked {
		source, err := p.source(files)
		if err != nil {
			return nil, err
		}
		files = append(files, source...)
	}
	return p.Plan(files, next, force)
}

// source are the files of the runtime that the project needs: the packages that its Go files import, as they will be with
// those that are about to be written, and what these import.
func (p *project) source(files []output.File) ([]output.File, error) {
	imports := map[string]bool{}
	add := func(name string, src []byte) {
		if strings.HasSuffix(name, ".go") {
			for _, pkg := range a2agen.Imports(src) {
				imports[pkg] = true
			}
		}
	}
	known := map[string]bool{}
	for _, f := range files {
		known[f.Path] = true
		add(f.Path, f.Data)
	}
	for name := range p.Lock().Files {
		known[name] = true // written anew, or gone
	}
	err := p.eachGoFile(func(name string, src []byte) {
		if !known[name] {
			add(name, src)
		}
	})
	if err != nil {
		return nil, err
	}
	return scaffold.Source(imports)
}

// hasSource reports whether the project holds the source that it needs, or none if it builds against something else.
func (p *project) hasSource() bool {
	needed := map[string]bool{}
	if p.unpacked {
		var generated []output.File
		for name := range p.Lock().Files {
			if src, err := p.ReadFile(name); err == nil && !inSource(name) {
				generated = append(generated, output.File{Path: name, Data: src})
			}
		}
		files, err := p.source(generated)
		if err != nil {
			return false
		}
		for _, f := range files {
			needed[f.Path] = true
		}
	}
	n := 0
	for name := range p.Lock().Files {
		if inSource(name) {
			n++
			if !needed[name] {
				return false
			}
		}
	}
	return n == len(needed)
}

func inSource(name string) bool { return strings.HasPrefix(name, scaffold.Unpacked+"/") }

// eachGoFile calls f for the Go files of the project's module, but for the runtime's source.
func (p *project) eachGoFile(f func(name string, src []byte)) error {
	root := p.Dir()
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		switch {
		case d.IsDir():
			if name != "." && (ignored(d.Name()) || name == path.Dir(scaffold.Unpacked) || hasGoMod(file)) {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		src, err := p.ReadFile(name)
		if err == nil {
			f(name, src)
		}
		return err
	})
}

// ignored reports whether the go command ignores folders of a name.
func ignored(name string) bool {
	return name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor"
}

func hasGoMod(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
