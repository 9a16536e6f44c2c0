package project

import (
	"path/filepath"
	"testing"
)

func TestCheckoutIsNamedRelativelyFromInside(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	for project, want := range map[string]string{
		filepath.Join(root, "examples", "weather"): "../..",
		outside: filepath.ToSlash(root),
	} {
		rt, err := inCheckout(root, project)
		if err != nil {
			t.Fatal(err)
		}
		if rt.Checkout != want {
			t.Errorf("from %s: %s, want %s", project, rt.Checkout, want)
		}
	}
	if _, err := inCheckout(outside, outside); err == nil {
		t.Error("a folder that is no checkout was accepted")
	}
}

func TestFindCheckoutLooksUpwards(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if got := findCheckout(t.TempDir(), "."); got != "" {
		t.Errorf("found %s from a relative path, which has no folders above", got)
	}
	if got := findCheckout(t.TempDir(), filepath.Join(root, "generator", "scaffold")); got != root {
		t.Errorf("found %q, want %q", got, root)
	}
}
