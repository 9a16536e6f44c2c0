package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
)

// ClientOptions say of which agent to make a client.
type ClientOptions struct {
	Options
	Target       string   // the agent's URL, its card's URL, a file, or NAME[@VERSION] of the catalog
	Catalog      string   // the catalog, a folder or a URL; "": that of the project
	Module       string   // path of the module to make for the client; "" adds it to the module that is there
	Name         string   // package name; made from the card's name
	Out          string   // folder of the package; client/NAME
	AllowPrivate bool     // fetch from private addresses too
	Bindings     []string // that the client uses, the preferred one first; those of the project
	// InferExamples writes what the examples in the card say of inputs to the client's contract.yaml, if there is none.
	InferExamples bool
	Trust         TrustOptions
	// Extensions are files of the project with the contracts of extensions, for a2agen.yaml to list.
	Extensions []string

	ref string // what the catalog calls the card; "": it is of none
}

// AddClient fetches a card, stores it beside the client, records the client in a2agen.yaml and generates the project.
// For a client that exists, it fetches the card anew.
func AddClient(ctx context.Context, o ClientOptions) (config.Client, Report, error) {
	if err := cmp.Or(o.check(), o.checkModule()); err != nil {
		return config.Client{}, Report{}, err
	}
	fetched, err := fetchCard(ctx, o.Target, CatalogOptions{Dir: o.Dir, Where: o.Catalog, AllowPrivate: o.AllowPrivate})
	if err != nil {
		return config.Client{}, Report{}, fmt.Errorf("fetch the card: %w", err)
	}
	o.ref = fetched.ref
	imported, list := card.Import(fetched.from, fetched.src)
	if imported == nil || list.HasErrors() {
		return config.Client{}, Report{Diagnostics: list}, &InvalidError{list}
	}
	c, r, made, err := o.add(ctx, fetched.src, imported)
	if err != nil || o.DryRun {
		removeFolders(made)
	}
	return c, r, err
}

// add opens the folder and adds the client of the card src. made are the folders that did not exist.
func (o *ClientOptions) add(ctx context.Context, src []byte, imported *card.Card) (config.Client, Report, []string, error) {
	p, made, err := o.open()
	if err != nil {
		return config.Client{}, Report{}, made, err
	}
	defer p.Close()
	c, r, err := p.addClient(ctx, *o, src, imported)
	return c, r, made, err
}

func (o *ClientOptions) check() error {
	if o.Target == "" {
		return badArgument("give the URL of an agent, a file with its card, or its name in the catalog")
	}
	if o.Name != "" && !clientName(o.Name) {
		return badArgument("--name %.40q cannot be a package name (write %s)", o.Name, names.Package(o.Name))
	}
	if err := checkBindings(o.Bindings); err != nil {
		return err
	}
	if o.Out == "" {
		return nil
	}
	out := filepath.ToSlash(o.Out)
	if err := output.CheckPath(out); err != nil {
		return badArgument("--package: %w", err)
	}
	if base := path.Base(out); names.Package(base) != base {
		return badArgument("--package %.80q: the last element cannot be a package name (write %s)", o.Out,
			path.Join(path.Dir(out), names.Package(base)))
	}
	o.Out = out
	return nil
}

// clientName reports whether a2agen.yaml takes the name of a client: that of a package that Go does not take for tests.
func clientName(name string) bool {
	bare := strings.ReplaceAll(name, "_", "")
	return names.Package(bare) == bare && name[0] != '_' && !strings.HasSuffix(name, "_test")
}

func (p *project) addClient(ctx context.Context, o ClientOptions, src []byte, imported *card.Card) (config.Client, Report, error) {
	old, err := p.ReadFile(config.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config.Client{}, Report{}, err
	}
	cfg, list := config.Read(config.File, old)
	if list.HasErrors() {
		return config.Client{}, Report{Diagnostics: list}, &InvalidError{list}
	}
	c, known, err := p.client(o, cfg, imported.Name)
	if err != nil {
		return c, Report{}, err
	}
	seen, err := p.trustCard(ctx, o, &c, known, src, imported)
	if err != nil {
		return c, Report{}, err
	}
	edited := old
	extensions, err := p.extensionFiles(o.Extensions)
	if err != nil {
		return c, Report{}, err
	}
	if !known {
		base := old
		if old == nil && o.Module != "" {
			base = config.ScaffoldClients()
		}
		if edited, err = addClient(base, c); err != nil {
			return c, Report{}, err
		}
	}
	if edited, err = addExtensions(edited, extensions); err != nil {
		return c, Report{}, err
	}
	r, err := p.applyClient(ctx, o, c, old, edited, seen)
	return c, r, err
}

// client finds or makes the entry of a2agen.yaml for the command.
func (p *project) client(o ClientOptions, cfg *config.Config, agentName string) (c config.Client, known bool, err error) {
	c = config.Client{Name: o.Name, Out: o.Out, Bindings: o.Bindings, Catalog: o.ref}
	if strings.Contains(o.Target, "://") {
		c.URL = o.Target
	}
	c.Name = cmp.Or(c.Name, names.Package(agentName))
	c.Out = cmp.Or(c.Out, "client/"+c.Name)
	if c.Source() == "" {
		c.Path = p.inside(o.Target)
	}
	i := slices.IndexFunc(cfg.Clients, func(k config.Client) bool { return k.Name == c.Name })
	if i < 0 {
		c.Path = cmp.Or(c.Path, emptyIf(c.Source() != "", path.Join(c.Out, config.KeptCard)))
		return c, false, nil
	}
	k := cfg.Clients[i]
	if o.Out != "" && k.Out != o.Out {
		return c, false, badArgument("client %q is in %s by %s: change it there, or give another --name", c.Name,
			k.Out, k.Pos)
	}
	if len(o.Bindings) > 0 && !slices.Equal(k.Bindings, o.Bindings) {
		return c, false, badArgument("client %q has other bindings by %s: change them there", c.Name, k.Pos)
	}
	c.Path = cmp.Or(c.Path, emptyIf(c.Source() != "", path.Join(k.Out, config.KeptCard)))
	if k.Source() != c.Source() || k.Path != c.Path {
		return c, false, badArgument("client %q is one of %s by %s: change it there, or give another --name",
			c.Name, k.Target(), k.Pos)
	}
	return k, true, nil
}

// extensionFiles are the paths of files relative to the project, which they must be in.
func (p *project) extensionFiles(files []string) (paths []string, err error) {
	for _, file := range files {
		inside := p.inside(file)
		if inside == "" {
			return nil, badArgument("--extension %.200q: the file must be in the project: copy it to %s",
				file, filepath.Join(p.Dir(), "extensions", filepath.Base(file)))
		}
		paths = append(paths, inside)
	}
	return paths, nil
}

func emptyIf(empty bool, s string) string {
	if empty {
		return ""
	}
	return s
}

// inside returns the path of a file relative to the project, if it is inside and a2agen.yaml can name it.
func (p *project) inside(file string) string {
	dir, err1 := filepath.Abs(p.Dir())
	abs, err2 := filepath.Abs(file)
	if err1 != nil || err2 != nil {
		return ""
	}
	rel, err := filepath.Rel(dir, abs)
	if err != nil || output.CheckPath(filepath.ToSlash(rel)) != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// applyClient generates with the new entry and the new card, and writes all of it at once, only if that succeeds.
func (p *project) applyClient(ctx context.Context, o ClientOptions, c config.Client, old, edited []byte, seen *seenCard) (Report, error) {
	over := map[string][]byte{config.File: edited}
	file, kept := c.Card()
	pins := without(p.Lock().Clients, c.Name)
	if kept {
		over[file], p.remotes = seen.card, map[string][]byte{file: seen.card}
		p.Replace(file) // fetching it again is what takes over another card
	}
	p.config = edited
	contract, notes := p.inferContract(o, c, seen.imported)
	if contract != nil {
		over[contract.Path] = contract.Data
	}
	out, list := p.generate(ctx, over, pins)
	if list.HasErrors() {
		return Report{Diagnostics: list}, &InvalidError{list}
	}
	seen.remember(out.Clients, c.Name)
	list.Add(seen.notes...)
	further, note, err := p.besideClient(out, o, c)
	if err != nil {
		return Report{}, err
	}
	embed, err := p.embedNote(out, c)
	if err != nil {
		return Report{}, err
	}
	if contract != nil {
		further = append(further, *contract)
	}
	if string(old) != string(edited) {
		further = append(further, output.File{Path: config.File, Kind: output.Merged, NoBase: true, Data: edited})
	}
	return p.finish(ctx, o.Options, out, list, further, append(notes, note, embed)...)
}

// inferContract makes the client's contract file of the examples in the card, where that is asked for and there is none, and says
// what it found.
func (p *project) inferContract(o ClientOptions, c config.Client, imported *card.Card) (f *output.File, notes []string) {
	file := c.ContractFile()
	if !o.InferExamples {
		return nil, nil
	}
	if _, err := p.ReadFile(file); err == nil {
		return nil, []string{file + " is there already, so nothing is inferred from examples"}
	}
	list := slices.DeleteFunc(imported.Infer(), func(i card.Inferred) bool {
		return slices.ContainsFunc(c.Contract.Skills, func(s config.SkillContract) bool {
			return s.ID == i.Skill && s.Input != nil
		})
	})
	for _, i := range list {
		if i.Input != nil {
			notes = append(notes, fmt.Sprintf("%s: the input of skill %q is inferred from examples in the card (%d): check it",
				file, i.Skill, i.Examples))
		} else {
			notes = append(notes, fmt.Sprintf("nothing is inferred for skill %q: %s", i.Skill, i.Why))
		}
	}
	if text := card.InferredContract(imported.Name, list); text != nil {
		return &output.File{Path: file, Kind: output.Scaffold, NoBase: true, Data: text}, notes
	}
	return nil, append(notes, "no example in the card says what an input is: only those in JSON do, of skills without a schema")
}

// besideClient returns what is written with a new client beside generated files: lines of go.mod, and in a module of clients
// its user's files.
func (p *project) besideClient(out generator.Output, o ClientOptions, c config.Client) (files []output.File, note string, err error) {
	switch {
	case o.Module == "" && (out.Model.Agent != nil || !p.holdsClients()):
		return p.addRuntime()
	case out.Model.Agent != nil:
		return nil, "", badArgument("--module makes a module of clients alone, and there is %s: "+
			"use a2agen init --add to make the module of that agent", out.Config.Card)
	}
	if !p.created {
		if files, note, err = p.addRuntime(); err != nil {
			return nil, "", err
		}
	}
	beside, err := p.moduleFiles(out, c, o.Module != "")
	return withFurther(beside, files), note, err
}

// embedNote says how handlers get at the clients, where the type of the agent does not embed them; "" where it does.
func (p *project) embedNote(out generator.Output, c config.Client) (string, error) {
	i := slices.IndexFunc(out.Reaches, func(r generator.Reach) bool { return r.Client == c.Name && r.Field != "" })
	if i < 0 {
		return "", nil
	}
	h, _, err := p.followed(out)
	clients := path.Base(out.Config.Packages.Agent) + "." + out.Model.Agent.RemotesType
	if err != nil || h.Empty() || h.Embeds(out.Model.Agent.RemotesType) {
		return "", err
	}
	return fmt.Sprintf("so that handlers can call it, embed %s in the type that has them, in %s/agent.go: type Agent struct { %s }; then it is a.%s",
		clients, out.Config.Packages.Skills, clients, out.Reaches[i].Field), nil
}

func without(m map[string]output.ClientPin, name string) map[string]output.ClientPin {
	n := map[string]output.ClientPin{}
	for k, v := range m {
		if k != name {
			n[k] = v
		}
	}
	return n
}
