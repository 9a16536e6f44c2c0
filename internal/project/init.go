package project

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project/disk"
	"github.com/a2agen/a2agen/internal/project/remote"
	"github.com/a2agen/a2agen/spec"
)

// InitOptions describe a new project. Empty fields have defaults.
type InitOptions struct {
	Options
	Name     string   // of the agent; the folder's name
	Module   string   // module path; example.com/NAME
	Skills   []string // ids of the skills; one sample skill
	Texts    []string // ids of skills that take text and give text
	CardFile string   // an agent card of any version to start from, instead of Name and Skills: a file, or a URL
	// AllowPrivate fetches the card from private addresses too.
	AllowPrivate bool
	Runtime      string   // checkout of a2agen to build against
	Vendor       bool     // put the runtime's source into the project
	Store        string   // where tasks are kept: the word of one of [config.Stores]; the first of them
	Auth         string   // what it demands of callers: one of [card.FreshSchemes], or "none" for everybody
	Bindings     []string // in which the agent is served, the preferred one first; see [config.Bindings]
	Protocol     []string // versions that it speaks, of [config.Supported]; [spec.Fresh]
	Example      string   // an example to begin with, of [a2agen.Examples], instead of what the card and the configuration are made of
}

// DefaultSkill is the skill of an agent without others.
const DefaultSkill = "echo"

// Init makes a new project. Everything is rendered before the first file is written; an error leaves nothing behind.
func Init(ctx context.Context, o InitOptions) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	rt, err := o.runtime()
	if err != nil {
		return Report{}, err
	}
	agentYAML, list, err := o.card(ctx)
	if err != nil || list.HasErrors() {
		return Report{Diagnostics: list}, cmp.Or(err, error(&InvalidError{list}))
	}
	made, err := makeFolders(o.Dir)
	if err != nil {
		return Report{}, err
	}
	r, err := o.write(ctx, rt, agentYAML, list)
	if err != nil || o.DryRun {
		removeFolders(made)
	}
	return r, err
}

// check rejects invalid arguments and folders before anything is done.
func (o *InitOptions) check() error {
	if o.CardFile != "" && (o.Name != "" || len(o.Skills)+len(o.Texts) > 0) {
		return badArgument("--card brings its own name and skills: leave out --name, --skill and --text")
	}
	if err := o.checkExample(); err != nil {
		return err
	}
	if o.Runtime != "" && o.Vendor {
		return badArgument("--runtime builds against a checkout and --vendor brings the runtime along: give one of them")
	}
	if o.Store != "" && !slices.Contains(config.StoreWords(), o.Store) {
		return badArgument("--store %.40q: it is %s", o.Store, strings.Join(config.StoreWords(), " or "))
	}
	if err := checkBindings(o.Bindings); err != nil {
		return err
	}
	for i, v := range o.Protocol {
		if !slices.Contains(config.Supported(), v) || slices.Contains(o.Protocol[:i], v) {
			return badArgument("--protocol %.40q: give some of %s, each once", strings.Join(o.Protocol, ","), strings.Join(config.Supported(), ","))
		}
	}
	released := func(v string) bool { return slices.Contains(spec.Versions(), v) }
	if len(o.Protocol) > 0 && !slices.ContainsFunc(o.Protocol, released) {
		return badArgument("--protocol %s: it is a draft, which no agent speaks alone: add %s", strings.Join(o.Protocol, ","), spec.Default)
	}
	if err := o.checkAuth(); err != nil {
		return err
	}
	for flag, ids := range map[string][]string{"--skill": o.Skills, "--text": o.Texts} {
		if slices.Contains(ids, "") {
			return badArgument("%s needs an id", flag)
		}
	}
	if strings.TrimSpace(o.Name) != o.Name || strings.ContainsAny(o.Name, "\r\n\x00") || len(o.Name) > 200 {
		return badArgument("--name %.40q: give one line of at most 200 bytes", o.Name)
	}
	if o.Module != "" {
		if err := scaffold.CheckModule(o.Module); err != nil {
			return badArgument("--module: %w (write something like example.com/weather)", err)
		}
	}
	if o.Force {
		return nil
	}
	return checkEmpty(o.Dir)
}

// checkAuth rejects invalid values of --auth.
func (o *InitOptions) checkAuth() error {
	switch choices := card.FreshSchemeNames(); {
	case o.Auth != "" && !slices.Contains(choices, o.Auth):
		return badArgument("--auth %.40q: it is one of %s", o.Auth, strings.Join(choices, ", "))
	case o.Auth != "" && o.Auth != "none" && o.CardFile != "":
		return badArgument("--card brings its own security schemes: leave out --auth")
	}
	since := slices.Index(spec.Versions(), card.FreshSchemeOf(o.Auth).Since)
	knows := func(v string) bool { return slices.Index(spec.Versions(), v) <= since }
	if since >= 0 && len(o.Protocol) > 0 && !slices.ContainsFunc(o.Protocol, knows) {
		return badArgument("--auth %s: A2A has it since %s, and --protocol %s is older: add one of %s", o.Auth, spec.Versions()[since],
			strings.Join(o.Protocol, ","), strings.Join(spec.Versions()[:since+1], ","))
	}
	return nil
}

// checkBindings rejects invalid values of --binding.
func checkBindings(list []string) error {
	for i, b := range list {
		if !slices.Contains(config.Bindings(), b) || slices.Contains(list[:i], b) {
			return badArgument("--binding %.40q: give some of %s, each once", strings.Join(list, ","), strings.Join(config.Bindings(), ","))
		}
	}
	return nil
}

// checkEmpty rejects a folder with files, except those of git and of an init that was killed.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if disk.Unfinished(dir) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			return &NotEmptyError{dir}
		}
	}
	return nil
}

// makeFolders makes a folder and its parents and returns those that did not exist.
func makeFolders(dir string) (made []string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for d := abs; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || filepath.Dir(d) == d {
			break
		}
		made = append([]string{d}, made...)
	}
	return made, os.MkdirAll(abs, 0o755)
}

// runtime decides what the project builds against.
func (o *InitOptions) runtime() (scaffold.Runtime, error) {
	if o.Vendor {
		return scaffold.Runtime{}, nil
	}
	if o.Runtime != "" {
		rt, err := inCheckout(o.Runtime, o.Dir)
		if err != nil {
			return rt, badArgument("--runtime: %w", err)
		}
		return rt, nil
	}
	return o.Tool.runtime(o.Dir)
}

// card renders agent.yaml: from the given card, else from name and skills.
func (o *InitOptions) card(ctx context.Context) ([]byte, diag.List, error) {
	if o.Example != "" {
		files, err := a2agen.Example(o.Example)
		return files["agent.yaml"], nil, err
	}
	if o.CardFile == "" {
		name := cmp.Or(o.Name, folderName(o.Dir))
		skills := o.Skills
		if len(skills)+len(o.Texts) == 0 {
			skills = []string{DefaultSkill}
		}
		return card.Fresh(name, name+" answers requests over A2A.", skills, o.Texts, o.Auth), nil, nil
	}
	src, info, err := remote.Fetch(ctx, o.CardFile, remote.Options{AllowPrivate: o.AllowPrivate})
	if err != nil {
		return nil, nil, badArgument("--card: %w", err)
	}
	imported, list := card.Import(cmp.Or(info.URL, info.File), src)
	if imported == nil || list.HasErrors() {
		return nil, list, nil
	}
	text, notes := card.Scaffold(imported, generator.Offers(o.Protocol, o.bindings()))
	return text, append(list, notes...), nil
}

// bindings returns those of the new agent. Without --binding they are the usual ones that its versions have.
func (o *InitOptions) bindings() []string {
	if len(o.Bindings) > 0 {
		return o.Bindings
	}
	usual := config.Default().BindingNames()
	offers := generator.Offers(o.Protocol, usual)
	return slices.DeleteFunc(usual, func(name string) bool {
		return !slices.ContainsFunc(offers, func(of card.Offer) bool { return slices.Contains(of.Bindings, name) })
	})
}

// folderName returns the name of the folder, as the default of the agent's name.
func folderName(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil || filepath.Dir(abs) == abs {
		return "agent"
	}
	return strings.ToValidUTF8(filepath.Base(abs), "")
}

// write generates the project in memory and applies it.
func (o *InitOptions) write(ctx context.Context, rt scaffold.Runtime, agentYAML []byte, list diag.List) (Report, error) {
	p, err := disk.Open(o.Dir)
	if err != nil {
		return Report{}, err
	}
	defer p.Close()
	goData, err := p.ReadFile("go.mod")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Report{}, err
	}
	fresh := map[string][]byte{"agent.yaml": agentYAML, config.File: config.Scaffold(o.Store, o.bindings(), o.Protocol)}
	base := fresh[config.File] // what an update renders: what follows is the user's
	if lines := card.FreshSchemeOf(o.Auth).Config; lines != "" {
		fresh[config.File] = slices.Concat(base, []byte(lines))
	}
	var example map[string][]byte // its files, by their paths
	if o.Example != "" {
		if example, err = a2agen.Example(o.Example); err != nil {
			return Report{}, err
		}
		base = example[config.File]
		fresh[config.File] = base
	}
	over := map[string][]byte{}
	for name, data := range fresh {
		if _, err := p.ReadFile(name); errors.Is(err, fs.ErrNotExist) {
			over[name] = data
		}
	}
	pr := &project{Project: p, tool: o.Tool, module: modfile.ModulePath(goData), unpacked: rt.Unpacks()}
	p.AllowHeaderless(pr.headerless)
	pr.config, pr.card = over[config.File], over["agent.yaml"]
	var further []output.File
	r := Report{}
	if goData != nil {
		if further, r.Notes, err = pr.adopt(goData, rt); err != nil {
			return Report{}, err
		}
	}
	if pr.module == "" {
		pr.module = cmp.Or(o.Module, DefaultModule(o.projectName(agentYAML)))
	}
	written := pr.written(o.Example, example)
	for _, f := range written {
		over[f.Path] = f.Data
	}
	out, problems := pr.generate(ctx, over, p.Lock().Clients)
	list.Add(problems...)
	if list.HasErrors() {
		return Report{Diagnostics: list}, &InvalidError{list}
	}
	files, err := pr.freshFiles(out, rt, written)
	if err != nil {
		return Report{}, err
	}
	for name := range fresh {
		data, ok := over[name]
		if !ok {
			continue
		}
		f := output.File{Path: name, Kind: output.Scaffold, Data: data, NoBase: true}
		if name == config.File {
			f.NoBase, f.Base = false, base
		}
		files = append(files, f)
	}
	// In a folder that is not empty, --add adds what is missing. It overwrites nothing.
	opts := o.Options
	opts.Force = false
	r.Diagnostics = list
	return pr.apply(opts, out, withFurther(files, further), r)
}

// adopt uses an existing go.mod, and adds the runtime if it lacks that.
func (p *project) adopt(data []byte, rt scaffold.Runtime) (further []output.File, notes []string, err error) {
	p.unpacked = scaffold.UsesUnpacked(data)
	abs, err := filepath.Abs(p.Dir())
	if err != nil {
		return nil, nil, err
	}
	p.goMod = goMod{dir: abs, data: data}
	further, note, err := p.requireRuntime(rt)
	if note != "" {
		notes = append(notes, note)
	}
	return further, notes, err
}

// withFurther replaces files with the same paths.
func withFurther(files, further []output.File) []output.File {
	files = slices.DeleteFunc(files, func(f output.File) bool {
		return slices.ContainsFunc(further, func(g output.File) bool { return g.Path == f.Path })
	})
	return append(files, further...)
}

// freshFiles renders all files of a new project.
func (p *project) freshFiles(out generator.Output, rt scaffold.Runtime, written []output.File) ([]output.File, error) {
	sp := p.scaffold(out)
	sp.Runtime = rt
	files, err := scaffold.Files(sp)
	if err != nil {
		return nil, err
	}
	h, err := p.handlers(out.Config, written...)
	if err != nil {
		return nil, err
	}
	stubs, err := scaffold.Stubs(sp, h.Missing(out.Model.Agent.Skills))
	return withFurther(slices.Concat(out.Files, files, stubs), written), err
}

// DefaultModule returns the default module path of an agent.
func DefaultModule(name string) string { return "example.com/" + scaffold.Command(name) }

// projectName returns the default name of the module: the agent's name.
func (o *InitOptions) projectName(agentYAML []byte) string {
	if o.CardFile == "" {
		return cmp.Or(o.Name, folderName(o.Dir))
	}
	c, _ := card.Read("agent.yaml", agentYAML, func(string) ([]byte, error) { return nil, fs.ErrNotExist })
	if c == nil {
		return folderName(o.Dir)
	}
	return c.Name
}
