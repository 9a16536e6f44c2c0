package scaffold

import (
	"cmp"
	"fmt"
	goversion "go/version"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/output"
)

// unreleased is the required version of the runtime where a replacement is used.
const unreleased = "v0.0.0-00010101000000-000000000000"

// Unpacked is the folder of a project with the runtime's source, where there is no other way to get it.
const Unpacked = "third_party/a2agen"

// GoVersion returns the Go version for go.mod of a project: that of the runtime.
const GoVersion = "1.26.0"

// OlderGo reports whether a Go version is too old for the runtime: a module cannot be older than what it requires.
func OlderGo(version string) bool { return goversion.Compare("go"+version, "go"+GoVersion) < 0 }

// Runtime says where a project's go.mod finds the runtime. The zero value copies the source into the project.
type Runtime struct {
	Version  string // of a released tool: "v1.2.3"
	Sum      string // its content's hash, for go.sum
	Checkout string // folder to build against, as go.mod is to name it
}

// Released returns the runtime of a released tool, by its build information; false for a tool built from a checkout.
func Released(info *debug.BuildInfo) (Runtime, bool) {
	if info == nil || info.Main.Path != a2agen.Module || info.Main.Sum == "" || info.Main.Replace != nil || module.IsPseudoVersion(info.Main.Version) {
		return Runtime{}, false
	}
	return Runtime{Version: info.Main.Version, Sum: info.Main.Sum}, true
}

// files returns a complete go.mod and, if it has lines, go.sum; and unpacked sources.
func (rt Runtime) files(modulePath string, ms Modules) []output.File {
	fs := []output.File{{Path: "go.mod", Kind: output.Scaffold, Data: rt.goMod(modulePath, ms)}}
	if sums := append(rt.Sums(), ms.Sums()...); len(sums) > 0 {
		fs = append(fs, output.File{Path: "go.sum", Kind: output.Scaffold, Data: sums})
	}
	return fs
}

// GoMod returns the go.mod of a module that requires nothing else.
func (rt Runtime) GoMod(modulePath string) []byte { return rt.goMod(modulePath, nil) }

func (rt Runtime) goMod(modulePath string, ms Modules) []byte {
	b := fmt.Appendf(nil, "module %s\n\ngo %s\n\n%s", modfile.AutoQuote(modulePath), GoVersion, rt.Requirement())
	if len(ms) > 0 {
		b = append(append(b, '\n'), ms.Requirement()...)
	}
	return b
}

// Unpacks reports whether the source is copied into the project.
func (rt Runtime) Unpacks() bool { return rt == Runtime{} }

// Module returns the module path of the runtime.
func (Runtime) Module() string { return a2agen.Module }

// RequireLine returns the line of go.mod that requires the runtime.
func (rt Runtime) RequireLine() string {
	return fmt.Sprintf("require %s %s\n", a2agen.Module, cmp.Or(rt.Version, unreleased))
}

// folder returns the folder that replaces an unreleased runtime, as go.mod names it.
func (rt Runtime) folder() string { return cmp.Or(rt.Checkout, "./"+Unpacked) }

// EditFlags returns the flags of "go mod edit" that add the runtime.
func (rt Runtime) EditFlags() []string {
	flags := []string{"-require=" + a2agen.Module + "@" + cmp.Or(rt.Version, unreleased)}
	if rt.Version == "" {
		flags = append(flags, "-replace="+a2agen.Module+"="+rt.folder())
	}
	return flags
}

// InGoMod returns a go.mod that builds against the runtime; an earlier requirement or replacement of it goes.
func (rt Runtime) InGoMod(goMod []byte) ([]byte, error) {
	f, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Clone(f.Replace) {
		if r.Old.Path == a2agen.Module {
			if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return nil, err
			}
		}
	}
	if err := f.AddRequire(a2agen.Module, cmp.Or(rt.Version, unreleased)); err != nil {
		return nil, err
	}
	if rt.Version == "" {
		if err := f.AddReplace(a2agen.Module, "", rt.folder(), ""); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}

// Sums returns the lines of go.sum that the runtime needs.
func (rt Runtime) Sums() []byte {
	if rt.Version == "" {
		return nil
	}
	return rt.goSum()
}

// Requirement returns the lines of go.mod that add the runtime.
func (rt Runtime) Requirement() string {
	if rt.Version != "" {
		return rt.RequireLine()
	}
	return rt.RequireLine() + fmt.Sprintf("\nreplace %s => %s\n", a2agen.Module, modfile.AutoQuote(rt.folder()))
}

// goSum returns the runtime's own two lines: it depends on the standard library only, and what the tool needs is not
// part of a project's build.
func (rt Runtime) goSum() []byte {
	sum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(string(a2agen.GoMod()))), nil
	})
	if err != nil {
		panic(err) // it reads from memory
	}
	return fmt.Appendf(nil, "%[1]s %[2]s %[3]s\n%[1]s %[2]s/go.mod %[4]s\n", a2agen.Module, rt.Version, rt.Sum, sum)
}

// Source are the files of the unpacked runtime: the packages of the given folders, "runtime/server", and what they import. They
// are the tool's: a newer tool brings a newer runtime.
func Source(packages map[string]bool) ([]output.File, error) {
	src, err := a2agen.RuntimeSource(slices.Sorted(maps.Keys(packages))...)
	if err != nil {
		return nil, fmt.Errorf("unpack the runtime: %w", err)
	}
	fs := []output.File{{Path: Unpacked + "/go.mod", Data: unpackedGoMod()}}
	for _, name := range slices.Sorted(maps.Keys(src)) {
		fs = append(fs, output.File{Path: Unpacked + "/" + name, Data: src[name]})
	}
	return fs, nil
}

// unpackedGoMod is the go.mod of the unpacked runtime. What it requires is for who imports a chosen package: other
// projects neither need nor load it.
func unpackedGoMod() []byte {
	ours, err := modfile.Parse("go.mod", a2agen.GoMod(), nil)
	if err != nil {
		panic(err) // it is what this was built with
	}
	text := fmt.Appendf(nil, "module %s\n\ngo %s\n", a2agen.Module, GoVersion)
	chosen := slices.Collect(maps.Values(a2agen.Chosen))
	for _, r := range ours.Require {
		if slices.Contains(chosen, r.Mod.Path) {
			text = fmt.Appendf(text, "\nrequire %s %s\n", r.Mod.Path, r.Mod.Version)
		}
	}
	return text
}

// Requires reports whether a go.mod requires the runtime.
func Requires(goMod []byte) bool {
	f, err := modfile.ParseLax("go.mod", goMod, nil)
	return err == nil && (f.Module != nil && f.Module.Mod.Path == a2agen.Module ||
		slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return r.Mod.Path == a2agen.Module }))
}

// UsesUnpacked reports whether a project's go.mod builds against the unpacked runtime.
func UsesUnpacked(goMod []byte) bool {
	f, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		return false
	}
	for _, r := range f.Replace {
		if r.Old.Path == a2agen.Module && r.New.Path == "./"+Unpacked {
			return true
		}
	}
	return false
}

// Replacement returns the folder with which a go.mod replaces the runtime; "" if it does not.
func Replacement(goMod []byte) string {
	f, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		return ""
	}
	for _, r := range f.Replace {
		if r.Old.Path == a2agen.Module {
			return r.New.Path
		}
	}
	return ""
}

// CheckModule reports why a text cannot be the path of a project's module.
func CheckModule(path string) error {
	if err := module.CheckImportPath(path); err != nil {
		return fmt.Errorf("module path %q: %w", path, err)
	}
	first, _, _ := strings.Cut(path, "/")
	if slices.Contains([]string{"std", "cmd", "vendor", "internal", "main", "go"}, first) || path == a2agen.Module {
		return fmt.Errorf("module path %q is taken", path)
	}
	return nil
}
