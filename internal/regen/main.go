// Command regen rewrites the checked-in protocol packages of this repository from the shipped definitions.
package main

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/spec"
)

// packages are the checked-in protocol packages: the one for everybody speaks the newest version only, and the other one,
// by which the older wires are tested, speaks all.
var packages = []struct {
	importPath, folder string
	versions           []string
}{
	{"github.com/a2agen/a2agen/a2a", ".", []string{"1.0"}},
	{"github.com/a2agen/a2agen/internal/a2aall", "internal", []string{"1.0", "0.3", "0.2", "0.1"}},
}

func main() {
	root := flag.String("C", ".", "folder of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "regen:", err)
		os.Exit(2)
	}
}

// run writes the files of the packages and removes generated ones that are no longer made.
func run(root string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	made := map[string]bool{}
	for _, f := range files {
		name := filepath.Join(root, filepath.FromSlash(f.Path))
		made[name] = true
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return err
		}
	}
	var old []string
	for _, p := range packages {
		there, err := filepath.Glob(filepath.Join(root, p.folder, path.Base(p.importPath), "*.gen.go"))
		if err != nil {
			return err
		}
		old = append(old, there...)
	}
	for _, name := range old {
		if !made[name] {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// generate makes the files of the packages, in memory.
func generate() ([]output.File, error) {
	var all []output.File
	for _, p := range packages {
		var docs []*spec.Document
		for _, version := range p.versions {
			doc, err := spec.Shipped(version)
			if err != nil {
				return nil, err
			}
			docs = append(docs, doc)
		}
		protocol, problems := lower.Protocol(docs)
		if problems.HasErrors() {
			return nil, fmt.Errorf("lower the definition: %s", problems[0])
		}
		files, err := emit.ProtocolPackage(protocol, emit.Paths{Protocol: p.importPath})
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			f.Path = path.Join(p.folder, f.Path)
			all = append(all, f)
		}
	}
	return all, nil
}
