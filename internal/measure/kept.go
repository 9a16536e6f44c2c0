package main

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// Agents link of this module the packages of the runtime, and those that the runtime shares with the test kit.
const (
	runtimePath = "github.com/a2agen/a2agen/runtime"
	eventsPath  = "github.com/a2agen/a2agen/internal/sse"
	rulesPath   = "github.com/a2agen/a2agen/internal/taskstate"
)

// count adds the runtime's packages that a program in dir imports, with all their lines and those of the functions that
// are in it.
func (l *linked) count(dir string, names map[string]bool) error {
	l.packages, l.kept = map[string]int{}, map[string]int{}
	out, err := goIn(dir, "list", "-mod=mod", tags, "-deps", "-f", `{{.ImportPath}}|{{.Dir}}|{{join .GoFiles "|"}}`, ".")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		path, folder := fields[0], fields[1]
		if path != runtimePath && path != eventsPath && path != rulesPath && !strings.HasPrefix(path, runtimePath+"/") {
			continue
		}
		short := strings.TrimPrefix(path, "github.com/a2agen/a2agen/")
		for _, file := range fields[2:] {
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, filepath.Join(folder, file), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			l.packages[short] += set.File(parsed.Pos()).LineCount()
			l.kept[short] += keptLines(set, parsed, path, names)
		}
	}
	return nil
}

// keptLines is how many lines of a file are functions that are in the program.
func keptLines(set *token.FileSet, file *ast.File, path string, names map[string]bool) (lines int) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || !names[path+"."+declaredName(f)] {
			continue
		}
		lines += set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
	}
	return lines
}

// declaredName is the name of a function, after that of its receiver's type.
func declaredName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return receiver(f.Recv.List[0].Type) + "." + f.Name.Name
}

// functionsIn returns the functions of a program that has its debug information, those that are inlined everywhere as
// well: "example.com/pkg.Type.Method", without type arguments.
func functionsIn(program string) (map[string]bool, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("read the program's functions: %w", err)
	}
	names := map[string]bool{}
	for r := data.Reader(); ; {
		entry, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("read the program's functions: %w", err)
		}
		if entry == nil {
			return names, nil
		}
		if entry.Tag == dwarf.TagCompileUnit || entry.Tag == dwarf.TagModule {
			continue
		}
		if name, ok := entry.Val(dwarf.AttrName).(string); ok && entry.Tag == dwarf.TagSubprogram {
			names[plainName(name)] = true
		}
		r.SkipChildren()
	}
}

// plainName is the name of a function as the linker has it without type arguments and what is around a receiver.
func plainName(linker string) string {
	name := strings.Builder{}
	depth := 0
	for _, c := range linker {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		case '(', ')', '*':
		default:
			if depth == 0 {
				name.WriteRune(c)
			}
		}
	}
	return name.String()
}
