package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project/disk"
)

// checkModule rejects a folder in which there can be no client, before anything is fetched: one without a module, unless
// the command makes one, and one of another module.
func (o *ClientOptions) checkModule() error {
	if o.Module == "" {
		_, err := findGoMod(o.Dir)
		if none := (*NoModuleError)(nil); errors.As(err, &none) {
			return badArgument(`there is no go.mod in %s or above: add "--module example.com/NAME" to make a module for the `+
				`client there, or make the folder a module of yours with "go mod init PATH" first`, none.Dir)
		}
		return err
	}
	if err := scaffold.CheckModule(o.Module); err != nil {
		return badArgument("--module: %w (write something like example.com/weatherclient)", err)
	}
	data, err := os.ReadFile(filepath.Join(o.Dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if have := modfile.ModulePath(data); err == nil && have != o.Module {
		return badArgument("--module: the folder is module %q already: leave --module out to add the client to it", have)
	}
	return err
}

// open opens the folder of the client. made are the folders that did not exist.
func (o *ClientOptions) open() (p *project, made []string, err error) {
	if o.Module == "" {
		p, err = openProject(o.Tool, o.Dir)
		return p, nil, err
	}
	if made, err = makeFolders(o.Dir); err != nil {
		return nil, made, err
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "go.mod")); err == nil {
		p, err = openProject(o.Tool, o.Dir)
		return p, made, err
	}
	p, err = o.newModule()
	return p, made, err
}

// newModule opens a folder as the module that the command makes there.
func (o *ClientOptions) newModule() (*project, error) {
	abs, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	rt, err := o.Tool.runtime(abs)
	if err != nil {
		return nil, err
	}
	p, err := disk.Open(o.Dir)
	if err != nil {
		return nil, err
	}
	pr := &project{
		Project: p, tool: o.Tool, module: o.Module, created: true, unpacked: rt.Unpacks(),
		goMod: goMod{dir: abs, data: rt.GoMod(o.Module)},
	}
	p.AllowHeaderless(pr.headerless)
	return pr, nil
}

// removeFolders removes the folders that are empty.
func removeFolders(made []string) {
	for _, dir := range slices.Backward(made) {
		os.Remove(dir)
	}
}

// holdsClients reports whether the folder is a module of clients that the tool made.
func (p *project) holdsClients() bool {
	return p.Recorded(scaffold.ClientModuleReadme) && p.Recorded("doc.go")
}

// clientModule describes a module of clients for its templates. known is false where this tool does not know what the module
// builds against.
func (p *project) clientModule(out generator.Output) (m scaffold.ClientModule, known bool) {
	m = scaffold.ClientModule{Module: p.module, Folder: out.Config.Packages.Protocol, Clients: out.Shown,
		Modules: scaffold.ModulesOf(out.Config, scaffold.Links{Calls: generator.CalledOver(out.Reaches), OAuth: generator.GetTokens(out.Reaches)})}
	m.Runtime, known = p.runtimeNow()
	return m, known
}

// runtimeNow returns the runtime that the project builds against, as this tool would write it now. known is false where the
// tool is not released and has not written it.
func (p *project) runtimeNow() (rt scaffold.Runtime, known bool) {
	switch {
	case p.moved != nil:
		return *p.moved, true
	case p.unpacked:
		return rt, true
	case p.created:
		rt, err := p.tool.runtime(p.goMod.dir)
		return rt, err == nil
	}
	if rt, known = scaffold.Released(p.tool.Info); !known && p.goMod.rel == "" {
		rt.Checkout = scaffold.Replacement(p.goMod.data)
	}
	return rt, known
}

// moduleFiles returns the files of a module of clients that the user has with the client c: all of them that are not there if
// whole, else what changes for another client.
func (p *project) moduleFiles(out generator.Output, c config.Client, whole bool) (files []output.File, err error) {
	m, _ := p.clientModule(out)
	once, err := m.Files()
	if err != nil {
		return nil, err
	}
	for _, f := range once {
		if f.Path == scaffold.ClientModuleReadme {
			merged, _, err := p.mergeFile(f, true, whole)
			if err != nil {
				return nil, err
			}
			if merged != nil {
				files = append(files, *merged)
			}
		} else if whole {
			files = append(files, f)
		}
	}
	m.Clients = slices.DeleteFunc(slices.Clone(m.Clients), func(o scaffold.Client) bool { return o.Name != c.Name })
	commands, err := m.Commands()
	return append(files, commands...), err
}
