package spec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "google.golang.org/genproto/googleapis/api/annotations" // registers google/api/*.proto

	"github.com/a2agen/a2agen/generator/diag"
)

// readProto compiles the proto file with the given content. name is where it is for the user; imports are looked up among
// the built-in files, then in folder.
func readProto(name string, content []byte, folder fs.FS) (*Document, diag.List) {
	s := &sources{name: name, base: filepath.Base(name), folder: folder, files: map[string]file{}}
	var problems problemList
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(s),
		SourceInfoMode: protocompile.SourceInfoStandard,
		Reporter: reporter.NewReporter(func(err reporter.ErrorWithPos) error {
			problems.add(s.pos(err.GetPosition()), err.Unwrap())
			return nil // go on: all problems at once
		}, nil),
	}
	if err := s.add(s.base, content); err != nil {
		problems.add(diag.Pos{File: name}, err)
		return nil, problems.sorted()
	}
	files, err := compiler.Compile(context.Background(), s.base)
	if err != nil {
		problems.compileError(s, err)
		return nil, problems.sorted()
	}
	c := &converter{sources: s, doc: &Document{Syntax: Proto, Path: name, Files: s.paths()}}
	root := files.FindFileByPath(s.base).(linker.Result)
	c.file(root)
	if c.doc.Descriptor, err = descriptorOf(root); err != nil {
		problems.add(diag.Pos{File: name}, err)
	}
	problems.merge(c.problems)
	if list := problems.sorted(); list.HasErrors() {
		return nil, list
	}
	return c.doc, problems.sorted()
}

// problemList collects problems from the compiler's goroutines.
type problemList struct {
	mu   sync.Mutex
	list diag.List
}

func (p *problemList) add(pos diag.Pos, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list.Errorf(pos, "invalid-proto", "", "%s", firstLine(err))
}

func (p *problemList) merge(list diag.List) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list.Add(list...)
}

// compileError adds what the compiler returned, unless it only says that problems were reported already.
func (p *problemList) compileError(s *sources, err error) {
	var at reporter.ErrorWithPos
	switch {
	case errors.As(err, &at):
		p.add(s.pos(at.GetPosition()), at.Unwrap())
	case !errors.Is(err, reporter.ErrInvalidSource):
		p.add(diag.Pos{File: s.name}, err)
	}
}

func (p *problemList) sorted() diag.List {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list.Sort()
	return slices.Clip(p.list)
}

// firstLine renders err on one line of bounded length.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.ToValidUTF8(err.Error(), "\uFFFD"), "\n")
	if rs := []rune(line); len(rs) > 300 {
		line = string(rs[:300]) + "…"
	}
	return line
}

// sources gives the compiler the files of one definition and remembers what it gave.
type sources struct {
	name   string // of the root file, for the user
	base   string // of the root file, for the compiler
	folder fs.FS

	mu    sync.Mutex
	files map[string]file // by import path
}

// file is a source that was read.
type file struct {
	content []byte
	tabs    bool // whether there are any
}

// FindFileByPath implements [protocompile.Resolver].
func (s *sources) FindFileByPath(name string) (protocompile.SearchResult, error) {
	s.mu.Lock()
	known, ok := s.files[name]
	s.mu.Unlock()
	if ok {
		return protocompile.SearchResult{Source: bytes.NewReader(known.content)}, nil
	}
	if strings.HasPrefix(name, "google/") {
		if d, err := protoregistry.GlobalFiles.FindFileByPath(name); err == nil {
			return protocompile.SearchResult{Desc: d}, nil
		}
	}
	content, err := fs.ReadFile(s.folder, name)
	if err != nil {
		return protocompile.SearchResult{}, fmt.Errorf("no file %q beside the definition: %w", name, protoregistry.NotFound)
	}
	if err := s.add(name, content); err != nil {
		return protocompile.SearchResult{}, err
	}
	return s.FindFileByPath(name)
}

// add remembers a file after a check of the limits, which keep the compiler's time and memory in proportion.
func (s *sources) add(name string, content []byte) error {
	if len(content) > maxSource {
		return fmt.Errorf("the file has %d bytes; at most %d are read", len(content), maxSource)
	}
	if d := depth(content); d > maxDepth {
		return fmt.Errorf("the file nests %d levels; at most %d are read", d, maxDepth)
	}
	content = as2023(content)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = file{content: content, tabs: bytes.IndexByte(content, '\t') >= 0}
	return nil
}

// paths returns the files read, the root first, as the user names them.
func (s *sources) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.files))
	for name := range s.files {
		if name != s.base {
			names = append(names, s.path(name))
		}
	}
	slices.Sort(names)
	return append([]string{s.name}, names...)
}

// path turns an import path into the path that the user knows.
func (s *sources) path(name string) string {
	if name == s.base {
		return s.name
	}
	return path.Join(path.Dir(filepath.ToSlash(s.name)), name)
}

// pos turns a position of the compiler into ours.
func (s *sources) pos(p ast.SourcePos) diag.Pos {
	return s.at(p.Filename, p.Line, p.Col)
}

// at makes a position of a line and column that count from 1. The compiler counts a tab as up to eight columns; ours count runes.
func (s *sources) at(name string, line, col int) diag.Pos {
	pos := diag.Pos{File: s.path(name), Line: line, Col: col}
	s.mu.Lock()
	f := s.files[name]
	s.mu.Unlock()
	if !f.tabs {
		return pos
	}
	text := lineOf(f.content, line)
	at, runes := 1, 1
	for len(text) > 0 && at < col {
		r, size := utf8.DecodeRune(text)
		if r == '\t' {
			at += 8 - (at-1)%8
		} else {
			at++
		}
		text = text[size:]
		runes++
	}
	pos.Col = runes
	return pos
}

// lineOf returns line n of content, counting from 1, or nothing.
func lineOf(content []byte, n int) []byte {
	for ; n > 1; n-- {
		i := bytes.IndexByte(content, '\n')
		if i < 0 {
			return nil
		}
		content = content[i+1:]
	}
	line, _, _ := bytes.Cut(content, []byte{'\n'})
	return line
}
