package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/internal/project"
)

func TestInitMakesEveryExample(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range a2agen.Examples() {
		t.Run(name, func(t *testing.T) {
			o := project.Options{Dir: filepath.Join(t.TempDir(), "mine")}
			if _, err := project.Init(t.Context(), project.InitOptions{Options: o, Example: name, Runtime: root}); err != nil {
				t.Fatal(err)
			}
			main, err := os.ReadFile(filepath.Join(o.Dir, "main.go"))
			if err != nil || !strings.Contains(string(main), `"example.com/mine/skills"`) {
				t.Errorf("main.go has another module: %v\n%s", err, main)
			}
			r, err := project.Run(t.Context(), o)
			if err != nil || len(r.Written) > 0 {
				t.Errorf("a second run writes %v, %v", r.Written, err)
			}
		})
	}
}

func TestAnExampleOverwritesNothing(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	own := filepath.Join(dir, "main.go")
	if err := os.WriteFile(own, []byte("package main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := project.InitOptions{Options: project.Options{Dir: dir}, Example: "weather", Runtime: root}
	if _, err := project.Init(t.Context(), o); err == nil {
		t.Error("it was made in a folder with files")
	}
	o.Force = true
	if _, err := project.Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(own); err != nil || string(got) != "package main\n" {
		t.Errorf("main.go is %q, %v", got, err)
	}
}

func TestAnExampleIsRefusedWithWhatItBrings(t *testing.T) {
	for flag, o := range map[string]project.InitOptions{
		"one of assistant, weather": {Example: "tides"},
		"leave out --store":         {Example: "weather", Store: "memory"},
		"leave out --skill":         {Example: "weather", Skills: []string{"x"}},
		"leave out --protocol":      {Example: "weather", Protocol: []string{"1.0"}},
	} {
		o.Dir = filepath.Join(t.TempDir(), "x")
		if _, err := project.Init(t.Context(), o); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("got %v, want %q", err, flag)
		}
		if _, err := os.Stat(o.Dir); err == nil {
			t.Error("the folder was made")
		}
	}
}
