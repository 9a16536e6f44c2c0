package main

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestNamesThatUsersSeeAndMethodsAreCounted(t *testing.T) {
	const source = `package p
type Shown struct{}
type hidden struct{}
func (s *Shown) Seen() {}
func (s Shown) unseen() {}
func (h *hidden) Exported() {}
func (g *Generic[T]) Too() {}
func Make() {}
const A, b = 1, 2
var (
	C int
	d int
)
type Generic[T any] struct{}
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := newDeclared()
	d.add("p", file)
	if n := d.exported["p"]; n != 7 { // Shown, Seen, Too, Make, A, C, Generic
		t.Errorf("%d exported names", n)
	}
	for of, want := range map[string]int{"p.Shown": 2, "p.hidden": 1, "p.Generic": 1} {
		if n := d.methods[of]; n != want {
			t.Errorf("%s has %d methods", of, n)
		}
	}
}

func TestPackagesForGeneratedCodeAreCountedApart(t *testing.T) {
	d := newDeclared()
	for folder, source := range map[string]string{
		"users":      "package users\nfunc A() {}",
		"gen/codecs": "package codecs\nfunc A() {}\nfunc B() {}",
		"internal":   "package internal\nfunc A() {}",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		d.add("runtime/"+folder, file)
	}
	if users, generated := d.sorted(); sum(users) != 1 || sum(generated) != 2 || generated["runtime/gen/codecs"] != 2 {
		t.Errorf("users meet %v, generated code %v", users, generated)
	}
}
