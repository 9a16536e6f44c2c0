package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// weight is what there is to read and to know of some packages: their hand-written code, without tests.
type weight struct {
	packages, lines int
	functions       int // with methods
	once            int // functions that are unexported, and named in one place
	exported        int // names that users meet, of packages outside internal and runtime/gen: functions, types, values; no methods
}

func (w *weight) add(o weight) {
	w.packages += o.packages
	w.lines += o.lines
	w.functions += o.functions
	w.once += o.once
	w.exported += o.exported
}

// whole is the row of all folders together.
const whole = "all"

// weigh returns the weight of the folders at the root of the repository in dir, and of the whole.
func weigh(dir string) (map[string]weight, error) {
	// What packages import is read from what the compiler left of them, not from source: that is five times as fast.
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule
	pkgs, err := packages.Load(&packages.Config{Mode: mode, Dir: dir}, "./...")
	if err != nil {
		return nil, fmt.Errorf("load the packages: %w", err)
	}
	table := map[string]weight{}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, errors.Join(errorsOf(p)...)
		}
		folder, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, p.Module.Path), "/"), "/")
		if folder == "" {
			folder = "."
		}
		w := weighPackage(p)
		for _, row := range []string{folder, whole} {
			sum := table[row]
			sum.add(w)
			table[row] = sum
		}
	}
	return table, nil
}

func errorsOf(p *packages.Package) (list []error) {
	for _, err := range p.Errors {
		list = append(list, err)
	}
	return list
}

// weighPackage returns the zero weight for a package that is generated.
func weighPackage(p *packages.Package) (w weight) {
	uses := map[types.Object]int{}
	for _, o := range p.TypesInfo.Uses {
		if f, ok := o.(*types.Func); ok {
			o = f.Origin()
		}
		uses[o]++
	}
	open := !strings.Contains(p.PkgPath+"/", "/internal/") && !isForGenerated(strings.TrimPrefix(p.PkgPath, p.Module.Path+"/"))
	for _, file := range p.Syntax {
		if ast.IsGenerated(file) {
			continue
		}
		w.packages = 1
		w.lines += p.Fset.Position(file.FileEnd).Line
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			w.functions++
			if !f.Name.IsExported() && uses[p.TypesInfo.Defs[f.Name]] == 1 {
				w.once++
			}
			if open && f.Recv == nil && f.Name.IsExported() {
				w.exported++
			}
		}
		if open {
			w.exported += exportedIn(file)
		}
	}
	return w
}

// exportedIn is how many types and values a file exports.
func exportedIn(file *ast.File) (n int) {
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range d.Specs {
			for _, name := range namesOf(spec) {
				if name.IsExported() {
					n++
				}
			}
		}
	}
	return n
}

// printWeight prints the table, the whole in front.
func printWeight() error {
	table, err := weigh(".")
	if err != nil {
		return err
	}
	fmt.Println("hand-written code without tests")
	fmt.Printf("\t%9s %9s %9s %19s %9s\n", "packages", "lines", "functions", "called in one place", "exported")
	for _, row := range rowsOf(table) {
		w := table[row]
		fmt.Printf("\t%9d %9d %9d %12d (%2d %%) %9d  %s\n", w.packages, w.lines, w.functions, w.once, 100*w.once/max(w.functions, 1), w.exported, row)
	}
	return nil
}

// rowsOf are the rows of a table in their order.
func rowsOf(table map[string]weight) []string {
	folders := slices.DeleteFunc(slices.Sorted(maps.Keys(table)), func(row string) bool { return row == whole || table[row].lines == 0 })
	return append([]string{whole}, folders...)
}
