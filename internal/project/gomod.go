package project

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
)

// goMod is the go.mod of a project.
type goMod struct {
	dir  string // its folder, absolute
	rel  string // the project's path from there; "" when it is the same folder
	data []byte
}

// findGoMod reads the go.mod in a folder or above.
func findGoMod(dir string) (goMod, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return goMod{}, err
	}
	for at := abs; ; at = filepath.Dir(at) {
		file := filepath.Join(at, "go.mod")
		if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
			return goMod{}, fmt.Errorf("%s is not a file", file) // reading a pipe may never end
		}
		data, err := os.ReadFile(file)
		if err == nil {
			rel, err := filepath.Rel(at, abs)
			return goMod{at, strings.TrimPrefix(filepath.ToSlash(rel), "."), data}, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return goMod{}, err
		}
		if filepath.Dir(at) == at {
			return goMod{}, &NoModuleError{abs}
		}
	}
}

// workspace returns the go.work in effect above a folder; "" if there is none.
func workspace(dir string) string {
	if env := os.Getenv("GOWORK"); env != "" {
		return strings.TrimPrefix(env, "off")
	}
	for at := dir; ; at = filepath.Dir(at) {
		file := filepath.Join(at, "go.work")
		if _, err := os.Stat(file); err == nil {
			return file
		}
		if filepath.Dir(at) == at {
			return ""
		}
	}
}

// workspaceHas reports whether one of the modules of a go.work is the runtime's.
func workspaceHas(file string) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	work, err := modfile.ParseWork(file, data, nil)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(work.Use, func(u *modfile.Use) bool {
		dir := filepath.FromSlash(u.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(file), dir)
		}
		return isCheckout(dir)
	})
}

// hasRuntime reports whether the go command finds the runtime.
func (m goMod) hasRuntime() bool {
	if scaffold.Requires(m.data) {
		return true
	}
	work := workspace(m.dir)
	return work != "" && workspaceHas(work)
}

// untouchable says why the tool must not change a go.mod that lacks the runtime; "" if it may.
func (m goMod) untouchable() string {
	_, err := os.Stat(filepath.Join(m.dir, "vendor", "modules.txt"))
	switch {
	case m.rel != "":
		return "is above the project"
	case workspace(m.dir) != "":
		return "is part of a workspace"
	case err == nil:
		return "has a vendor folder beside it"
	}
	return ""
}

// commands returns the commands to run in the folder of a go.mod to add the runtime, or only the modules.
func (m goMod) commands(rt scaffold.Runtime, ms scaffold.Modules) string {
	if m.hasRuntime() {
		return "go mod edit " + strings.Join(ms.EditFlags(), " ") + " && go mod tidy"
	}
	if rt.Unpacks() && m.rel != "" {
		return "go get " + rt.Module()
	}
	edit := "go mod edit"
	if version := olderGo(m.data); version != "" {
		edit += " -go=" + scaffold.GoVersion
	}
	edit += " " + strings.Join(append(rt.EditFlags(), ms.EditFlags()...), " ")
	if len(ms) > 0 {
		edit += " && go mod tidy"
	}
	if _, err := os.Stat(filepath.Join(m.dir, "vendor", "modules.txt")); err == nil {
		edit += " && go mod vendor"
	}
	return edit
}

// olderGo returns the Go version of a go.mod if it is too old for the runtime.
func olderGo(data []byte) string {
	f, err := modfile.ParseLax("go.mod", data, nil)
	if err != nil || f.Go == nil || !scaffold.OlderGo(f.Go.Version) {
		return ""
	}
	return f.Go.Version
}

// addRuntime is requireRuntime with the default runtime of the tool.
func (p *project) addRuntime() (files []output.File, note string, err error) {
	if p.goMod.hasRuntime() && len(p.lacking()) == 0 {
		return nil, "", nil
	}
	rt, err := p.tool.runtime(p.goMod.dir)
	if err != nil {
		return nil, "", err
	}
	return p.requireRuntime(rt)
}

// requireRuntime adds the lines that generated code needs to the project's own go.mod and go.sum, and reports them.
// The rest of the files stays byte for byte. If go.mod must not be changed, it reports the commands to run.
func (p *project) requireRuntime(rt scaffold.Runtime) (files []output.File, note string, err error) {
	has, ms := p.goMod.hasRuntime(), p.lacking()
	if has && len(ms) == 0 {
		return nil, "", nil
	}
	if why := p.goMod.untouchable(); why != "" {
		file := filepath.Join(p.goMod.dir, "go.mod")
		lacks := "the runtime"
		if has {
			lacks = "modules"
		}
		return nil, fmt.Sprintf("%s lacks %s that generated code needs; it %s, so it stays as it is. Run there:\n  %s",
			file, lacks, why, p.goMod.commands(rt, ms)), nil
	}
	edited, sum, added := p.goMod.data, ms.Sums(), []string(nil)
	if !has {
		if edited, added, err = splicedGoMod(edited, rt); err != nil {
			return nil, "", err
		}
		sum = append(rt.Sums(), sum...)
		p.unpacked = scaffold.UsesUnpacked(edited) // a replacement that was there stays
	}
	if edited, err = splicedModules(edited, ms); err != nil {
		return nil, "", err
	}
	for _, m := range ms {
		added = append(added, m.Path+" "+m.Version)
	}
	files = []output.File{{Path: "go.mod", Kind: output.Merged, NoBase: true, Data: edited}}
	if len(sum) > 0 {
		files = append(files, p.goSum(sum))
		added = append(added, "and its lines in go.sum")
	}
	return files, "go.mod: added what generated code needs: " + strings.Join(added, "; "), nil
}

// lacking returns the modules that a2agen.yaml or the card needs and go.mod does not name.
func (p *project) lacking() scaffold.Modules {
	src := p.config
	if src == nil {
		src, _ = p.ReadFile(config.File) // without one the defaults count
	}
	c, _ := config.Read(config.File, src)
	agent := p.card
	if agent == nil {
		agent, _ = p.ReadFile(c.Card) // without one there is no agent
	}
	reaches := generator.Reaches(c, func(name string) ([]byte, error) {
		if src, ok := p.remotes[name]; ok {
			return src, nil
		}
		return p.ReadFile(name)
	})
	links := scaffold.Links{Tokens: generator.TakesTokens(c, agent), Calls: generator.CalledOver(reaches), OAuth: generator.GetTokens(reaches) || generator.GetsTokens(agent), Tools: p.callsTools(c.Packages.Skills)}
	return scaffold.ModulesOf(c, links).Lacking(p.goMod.data)
}

// callsTools reports whether handlers call tools of MCP servers.
func (p *project) callsTools(skills string) bool {
	if p.tools {
		return true
	}
	files, err := p.Files(skills)
	if err != nil {
		return false
	}
	for _, src := range files {
		if bytes.Contains(src, []byte(`"`+a2agen.Module+`/runtime/mcptools"`)) {
			return true
		}
	}
	return false
}

// splicedModules adds requirements to the text of a go.mod.
func splicedModules(data []byte, ms scaffold.Modules) ([]byte, error) {
	if len(ms) == 0 {
		return data, nil
	}
	edited := append(bytes.TrimRight(data, "\n"), "\n\n"+ms.Requirement()...)
	if _, err := modfile.Parse("go.mod", edited, nil); err != nil {
		return nil, fmt.Errorf("add modules to go.mod: %w", err)
	}
	return edited, nil
}

// goSum returns go.sum with the lines that it lacks.
func (p *project) goSum(lines []byte) output.File {
	f := output.File{Path: "go.sum", Kind: output.Merged, NoBase: true, Data: lines}
	old, err := p.ReadFile("go.sum")
	if err != nil {
		f.Kind = output.Scaffold
		return f
	}
	f.Data = union(old, lines)
	return f
}

// splicedGoMod adds the requirement to the text of a go.mod, and raises its Go version if that is too old.
func splicedGoMod(data []byte, rt scaffold.Runtime) (edited []byte, added []string, err error) {
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, nil, err
	}
	text := string(data)
	lines := rt.Requirement()
	if old := scaffold.Replacement(data); old != "" { // the user's own
		lines = scaffold.Runtime{Checkout: old}.RequireLine()
	}
	switch {
	case f.Go == nil:
		lines = "go " + scaffold.GoVersion + "\n\n" + lines
	case scaffold.OlderGo(f.Go.Version):
		start, end := f.Go.Syntax.Start.Byte, f.Go.Syntax.End.Byte
		text = text[:start] + "go " + scaffold.GoVersion + text[end:]
		added = append(added, fmt.Sprintf("go %s instead of %s", scaffold.GoVersion, f.Go.Version))
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			added = append(added, line)
		}
	}
	edited = []byte(text + "\n" + lines)
	if _, err := modfile.Parse("go.mod", edited, nil); err != nil {
		return nil, nil, fmt.Errorf("add the runtime to go.mod: %w", err)
	}
	return edited, added, nil
}

// missingRuntime is the drift of a project whose go.mod lacks the runtime.
func (p *project) missingRuntime() []Drift {
	ms := p.lacking()
	d := Drift{Path: "go.mod", State: "lacks the runtime", Hint: "run a2agen generate, which adds it"}
	switch {
	case p.goMod.hasRuntime() && len(ms) == 0:
		return nil
	case p.goMod.hasRuntime():
		d.State, d.Hint = "lacks modules", "run a2agen generate, which adds them"
	}
	if why := p.goMod.untouchable(); why != "" {
		rt, err := p.tool.runtime(p.goMod.dir)
		d.Detail, d.Hint = "it "+why, "run there: "+p.goMod.commands(rt, ms)
		if err != nil {
			d.Hint = cmp.Or(err.Error(), d.Hint)
		}
	}
	return []Drift{d}
}
