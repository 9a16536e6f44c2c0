package main

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestLinesOfFunctionsThatAProgramHasAreCounted(t *testing.T) {
	const source = `package p

func Called() {
}

func Uncalled() {
}

func (s *Set[T]) Add() { _ = 1 }

func (s Set[T]) Drop() {}

var Value = 1
`
	names := map[string]bool{}
	for _, linker := range []string{"example.com/p.Called", "example.com/p.(*Set[go.shape.struct { X example.com/q.Y }]).Add", "example.com/p.Called.func1"} {
		names[plainName(linker)] = true
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := keptLines(set, file, "example.com/p", names); n != 3 { // Called has two lines, Add one
		t.Errorf("%d lines", n)
	}
}
