// Command regen rewrites what this repository keeps of what is generated from the shipped definitions: the protocol
// packages, what the runtime knows of all versions, and the copies of examples that the tool carries.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/spec"
)

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
	if err := writeExamples(root); err != nil {
		return err
	}
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
	for _, p := range packages() {
		for _, pattern := range []string{"*.gen.go*", "*/*.gen.go*"} {
			there, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(p.Folder), pattern))
			if err != nil {
				return err
			}
			old = append(old, there...)
		}
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

// generate makes the files, in memory.
func generate() ([]output.File, error) {
	all, err := protocolPackages()
	if err != nil {
		return nil, err
	}
	p, err := (protocolPackage{Carried: generator.Carried{Versions: spec.Versions()}}).protocol()
	if err != nil {
		return nil, err
	}
	ages, err := methodAges(p)
	if err != nil {
		return nil, err
	}
	table, err := definitionTable()
	return append(all, ages, table), err
}

// protocolPackage is a protocol package of this repository.
type protocolPackage struct {
	generator.Carried
	own  bool // it has operations that no version has
	text bool // the tool carries it as text, and no other package imports it
}

// packages are those that the tool carries, that of all versions in all encodings, and that of more than is released: drafts beside
// 1.0, with made-up operations.
func packages() []protocolPackage {
	list := []protocolPackage{
		{Carried: generator.Carried{Folder: "internal/a2awires", Versions: spec.Versions(), Encodings: []ir.Encoding{ir.ProtoJSON, ir.Proto}}},
		{Carried: generator.Carried{Folder: "internal/test/a2amore", Versions: append(spec.Drafts(), spec.Default), Encodings: []ir.Encoding{ir.Proto}}, own: true},
	}
	for _, p := range generator.CarriedPackages() {
		list = append(list, protocolPackage{Carried: p, text: p.Folder != "a2a"})
	}
	return list
}

// protocol lowers the definitions of a package.
func (pkg protocolPackage) protocol() (*ir.Protocol, error) {
	var docs []*spec.Document
	for _, version := range pkg.Versions {
		read := spec.Shipped
		if pkg.own {
			read = ownDefinition
		}
		doc, err := read(version)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	p, problems := lower.Protocol(docs)
	if problems.HasErrors() {
		return nil, fmt.Errorf("lower the definitions: %s", problems[0])
	}
	lower.AddWires(p, pkg.Encodings...)
	return p, nil
}

func protocolPackages() (all []output.File, err error) {
	for _, pkg := range packages() {
		protocol, err := pkg.protocol()
		if err != nil {
			return nil, err
		}
		folder := pkg.Folder
		if pkg.text {
			folder = "a2a"
		}
		files, err := emit.ProtocolPackage(protocol, emit.Paths{Protocol: path.Join(a2agen.Module, folder)})
		if err != nil {
			return nil, err
		}
		for i, f := range files {
			files[i].Path = path.Join(path.Dir(pkg.Folder), f.Path)
		}
		if pkg.text {
			files = unshared(files, pkg.Folder, all)
		}
		all = append(all, files...)
	}
	return all, nil
}

// unshared returns the files of a package that is text, without those of which the tool carries the same text already, and the list of these.
func unshared(files []output.File, folder string, all []output.File) []output.File {
	var list []byte
	files = slices.DeleteFunc(files, func(f output.File) bool {
		name := strings.TrimPrefix(f.Path, folder+"/")
		for _, from := range []string{"a2a", "internal/a2awires"} {
			text := bytes.Replace(f.Data, []byte("\npackage a2a\n"), []byte("\npackage "+path.Base(from)+"\n"), 1)
			same := func(o output.File) bool { return o.Path == path.Join(from, name) && bytes.Equal(o.Data, text) }
			if slices.ContainsFunc(all, same) {
				list = fmt.Appendf(list, "%s %s\n", name, from)
				return true
			}
		}
		return false
	})
	for i := range files {
		files[i].Path += ".txt"
	}
	return append(files, output.File{Path: path.Join(folder, "shared.txt"), Data: list})
}
