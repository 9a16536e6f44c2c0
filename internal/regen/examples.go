package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/a2agen/a2agen/generator/output"
)

// carriedExamples are the examples that "a2agen init --example" makes, and carriedFiles what of each a person has
// written: the rest is generated where it is made.
var (
	carriedExamples = []string{"assistant", "weather"}
	carriedFiles    = []string{"README.md", "a2agen.yaml", "agent.yaml", "main.go", "cards", "schemas", "skills"}
)

// examplesFolder has the copies, each with ".txt" behind its name, so that the go command takes none for a package.
const examplesFolder = "internal/fresh/examples"

// examples are the copies.
func examples(root string) (files []output.File, err error) {
	for _, name := range carriedExamples {
		dir := os.DirFS(filepath.Join(root, "examples", name))
		err := fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path.Dir(file) == "." && file != "." && !slices.Contains(carriedFiles, file):
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir():
				return nil
			}
			data, err := fs.ReadFile(dir, file)
			files = append(files, output.File{Path: path.Join(examplesFolder, name, file+".txt"), Data: data})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// writeExamples writes the copies anew. A folder without examples has none.
func writeExamples(root string) error {
	if _, err := os.Stat(filepath.Join(root, "examples")); os.IsNotExist(err) {
		return nil
	}
	files, err := examples(root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(root, filepath.FromSlash(examplesFolder))); err != nil {
		return err
	}
	for _, f := range files {
		name := filepath.Join(root, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
