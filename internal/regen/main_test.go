package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheCheckedInProtocolPackageIsFresh(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	for _, f := range files {
		name := filepath.Join("..", "..", filepath.FromSlash(f.Path))
		made = append(made, name)
		old, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(old, f.Data) {
			t.Errorf("%s is not what the generator makes (%v): run go generate ./a2a", f.Path, err)
		}
	}
	there, err := filepath.Glob(filepath.Join("..", "..", "a2a", "*.gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		if !slices.Contains(made, name) {
			t.Errorf("%s is no longer generated", name)
		}
	}
}

func TestTheCarriedExamplesAreFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := examples(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		carried, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.Path)))
		if err != nil || !bytes.Equal(carried, f.Data) {
			t.Errorf("%s is not what the example has (%v): run go generate ./a2a", f.Path, err)
		}
	}
	for _, name := range carriedExamples {
		there := 0
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(examplesFolder), name), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				there++
			}
			return err
		})
		made := 0
		for _, f := range files {
			if strings.HasPrefix(f.Path, examplesFolder+"/"+name+"/") {
				made++
			}
		}
		if err != nil || there != made {
			t.Errorf("%s has %d files, its copy %d (%v): run go generate ./a2a", name, made, there, err)
		}
	}
}

func TestRunWritesThePackageAndRemovesWhatIsNoLongerMade(t *testing.T) {
	root := t.TempDir()
	stale, own := filepath.Join(root, "a2a", "old.gen.go"), filepath.Join(root, "a2a", "doc.go")
	if err := os.Mkdir(filepath.Join(root, "a2a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{stale, own} {
		if err := os.WriteFile(name, []byte("package a2a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "a2a", "types.gen.go")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("the stale file is still there (%v)", err)
	}
	if _, err := os.Stat(own); err != nil {
		t.Errorf("a file that was not generated is gone: %v", err)
	}
}
