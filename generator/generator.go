// Package generator turns the inputs of a project into its generated files.
//
// [Generate] is pure: it reads through a function, writes nothing, and equal inputs give equal bytes. So are the
// packages below, one a stage: none opens a file or a connection. What opens a project, fetches, writes and reports
// is internal/project.
package generator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/runtime"
)

// Inputs are everything that generated files depend on, beside the tool itself.
type Inputs struct {
	// Open reads a file of the project by its slash-separated path. A missing file is fs.ErrNotExist.
	Open func(path string) ([]byte, error)
	// Module is the module path of the project.
	Module string
	// Pins are the pinned cards of other agents, by client name.
	Pins map[string]output.ClientPin
	// ProtocolPins are the pinned digests of protocol definitions, by version. A definition that is not the pinned
	// one is an error; one without a pin is taken as it is.
	ProtocolPins map[string]string
	// Bindings are those in which the agent is served as long as a2agen.yaml does not say; none: the default.
	Bindings []string
	// Whole asks for the whole model, for inspection: also the parts of the protocol that emission does not need.
	Whole bool
}

// Output is what was generated.
type Output struct {
	Config *config.Config
	Card   *card.Card    // nil in a project that has only clients of other agents
	Model  *ir.Model     // its protocol is whole if Inputs.Whole asked for it, else as far as emission needed it
	Files  []output.File // the owned files, sorted by path
	// Relations say how the versions relate to the one that gives the types, if Inputs.Whole asked for it and there
	// are definitions of the user's own.
	Relations []*lower.Alignment
	// Read are the digests of the files that were read, for the lock.
	Read map[string]string
	// Protocols are the digests of the protocol definitions, by version.
	Protocols map[string]string
	// Clients are the clients of other agents, with the digests of their cards.
	Clients map[string]output.ClientPin
	// Reaches say how each of them calls its agent, in the order of a2agen.yaml.
	Reaches []Reach
	// Shown are the clients as the files show them that are written once.
	Shown []scaffold.Client
}

// Generate reads the inputs and emits all owned files in memory. When the list holds an error there are no files, and
// the rest of the output is as complete as the error allows.
func Generate(ctx context.Context, in Inputs) (Output, diag.List) {
	g := &generation{Inputs: in, read: map[string]string{}}
	out, list := g.run(ctx)
	out.Read = g.read
	list.Sort()
	return out, list
}

// generation is one run.
type generation struct {
	Inputs
	mu   sync.Mutex
	read map[string]string
}

// open reads an input and notes its digest.
func (g *generation) open(name string) ([]byte, error) {
	data, err := g.Open(name)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err == nil:
		g.read[name] = output.Digest(data)
	case errors.Is(err, fs.ErrNotExist):
		g.read[name] = output.Absent
	}
	return data, err
}

func (g *generation) run(ctx context.Context) (Output, diag.List) {
	var out Output
	var list diag.List
	out.Config, list = g.readConfig()
	if list.HasErrors() {
		list.Add(g.alsoWrong(&out)...)
		return out, list
	}
	remotes := later(func() ([]remoteClient, diag.List) { return g.readClients(out.Config) })
	protocol := later(func() (loaded, diag.List) {
		clients, _ := remotes()
		return g.readProtocol(out.Config, packaged(out.Config, clients))
	})
	problems := g.readCard(&out)
	list.Add(problems...)
	readable := !problems.HasErrors()
	p, problems := protocol()
	list.Add(problems...)
	spoken, problems := speaks(out.Config, p.protocol)
	list.Add(problems...)
	var agent *ir.Agent
	if readable {
		agent, problems = lowerAgent(&out, spoken)
		list.Add(problems...)
	}
	list.Add(g.movedPins(p.digests)...)
	clients, problems := remotes()
	list.Add(problems...)
	list.Add(g.checkFakes(out.Config, agent != nil)...)
	extensions, problems := g.readExtensions(out.Config, out.Card)
	list.Add(append(problems, checkMethods(extensions, p.protocol)...)...)
	out.Model = &ir.Model{Protocol: p.protocol, Agent: agent}
	if !list.HasErrors() {
		out.Model.Extensions = giveExtensions(extensions, agent, clients)
	}
	g.join(p.protocol, agent, clients)
	out.Protocols, out.Clients, out.Relations, out.Reaches = p.digests, pins(clients), p.relations, reaches(clients, agent)
	if list.HasErrors() {
		return out, list
	}
	if err := ctx.Err(); err != nil {
		list.Errorf(diag.Pos{}, "canceled", "", "%v", err)
		return out, list
	}
	out.Shown = shown(clients, g.Module)
	files, err := g.emit(&out, clients, p)
	if err != nil {
		list.Errorf(diag.Pos{}, "internal", "this is a defect of a2agen: please report it with your input", "%v", err)
		return out, list
	}
	if err := output.CheckPaths(files); err != nil {
		list.Errorf(diag.Pos{File: config.File}, "path", "choose other folders", "%v", err)
		return out, list
	}
	out.Files = files
	return out, list
}

// alsoWrong is what is wrong in the card, and in what "auth" says of it, where a2agen.yaml has other mistakes. That there is
// no card may be one of those.
func (g *generation) alsoWrong(out *Output) diag.List {
	if _, err := g.open(out.Config.Card); err != nil {
		return nil
	}
	list := g.readCard(out)
	if list.HasErrors() || out.Card == nil {
		return list
	}
	_, problems := verify(out.Config, out.Card.Schemes())
	list.Add(problems...)
	if out.Config.Open.Line > 0 {
		list.Add(openAlthough(out.Config, out.Card)...)
	}
	return list
}

// join names what the agents' packages call by the protocol's names, as far as there are both.
func (g *generation) join(p *ir.Protocol, agent *ir.Agent, clients []remoteClient) {
	if p == nil {
		return
	}
	if agent != nil {
		agent.Remotes = remotes(clients, g.Module)
		names.Join(p, agent)
	}
	for _, c := range clients {
		if c.agent != nil {
			names.Join(p, c.agent)
		}
	}
}

// later starts f on a goroutine of its own and returns what waits for its results.
func later[T any](f func() (T, diag.List)) func() (T, diag.List) {
	var value T
	var list diag.List
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, list = f()
	}()
	return func() (T, diag.List) { <-done; return value, list }
}

func (g *generation) readConfig() (*config.Config, diag.List) {
	src, err := g.open(config.File)
	switch {
	case errors.Is(err, fs.ErrNotExist) && g.exists(config.Misspelt):
		var list diag.List
		list.Errorf(diag.Pos{File: config.Misspelt}, "misspelt-file", "rename it to "+config.File,
			"this file is not read")
		return config.Default(), list
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return config.Default(), unreadable(config.File, err)
	}
	c, list := config.Read(config.File, src)
	if !c.ListsBindings() && len(g.Bindings) > 0 {
		c.Bindings = nil
		for _, name := range g.Bindings {
			c.Bindings = append(c.Bindings, config.Binding{Name: name})
		}
	}
	return c, list
}

// exists reports whether there is such a file.
func (g *generation) exists(name string) bool {
	_, err := g.open(name)
	return err == nil
}

func unreadable(file string, err error) (list diag.List) {
	list.Errorf(diag.Pos{File: file}, "unreadable", "", "this cannot be read: %v", reason(err)) // the position names the file
	return list
}

// reason is why a file cannot be read, without its name.
func reason(err error) error {
	var where *fs.PathError
	if errors.As(err, &where) {
		return where.Err
	}
	return err
}

// readCard reads the card. A project without one may still have clients of other agents.
func (g *generation) readCard(out *Output) (list diag.List) {
	name := out.Config.Card
	src, err := g.open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return g.noCard(out.Config)
	case err != nil:
		return unreadable(name, err)
	}
	out.Card, list = card.Read(name, src, g.open)
	return list
}

// lowerAgent lowers the card, if there is one, with what a2agen.yaml says of the agent.
func lowerAgent(out *Output, spoken []lower.Spoken) (*ir.Agent, diag.List) {
	if out.Card == nil {
		return nil, nil
	}
	out.Card.Repeats = cmp.Or(out.Config.Repeats.Window, runtime.RepeatWindow)
	agent, list := lower.Agent(out.Card, spoken)
	if agent == nil {
		return nil, list
	}
	list.Add(tooLarge(out.Card, agent)...)
	if r := out.Config.Repeats; r != (config.Repeats{}) {
		agent.Repeats = &ir.Repeats{ByMessage: r.ByMessage, Window: r.Window}
	}
	store := config.StoreOf(out.Config.Store)
	if agent.OpenStore = store.Package; store.File != "" {
		agent.Store = scaffold.Command(agent.Name) + store.File
	}
	agent.RequirementLists, agent.SignCards = out.Config.RequirementLists, out.Config.SignCards
	agent.Telemetry = out.Config.Telemetry == config.TelemetryOTel
	agent.MCP = out.Config.MCP.Line > 0
	agent.Calls.Telemetry = agent.Telemetry
	agent.Calls.Links = lower.ClientPackages(agent.Bindings)
	agent.Calls.Credentials = credentials(widest(agent))
	names.ClientOptions(agent)
	list.Add(unserved(out.Config, spoken, agent)...)
	list.Add(unservedTools(out.Config, agent)...)
	schemes := out.Card.Schemes()
	agent.Secured = len(schemes) > 0
	var problems diag.List
	agent.Verifiers, problems = verify(out.Config, schemes)
	list.Add(append(problems, unreachable(out.Card, agent.Bindings)...)...)
	if agent.Open = out.Config.Open.Line > 0; agent.Open {
		list.Add(openAlthough(out.Config, out.Card)...)
	}
	return agent, list
}

// widest is the card that has all schemes: the extended one, if there is one.
func widest(a *ir.Agent) []byte {
	if len(a.Extended) > 0 {
		return a.Extended
	}
	return a.Card
}

// maxCard is how long a card is that clients read, in bytes: see the package client of the runtime.
const maxCard = 1 << 20

// tooLarge refuses a card that no client reads. Most of such a card are the schemas of its skills, of which the largest is
// named.
func tooLarge(c *card.Card, agent *ir.Agent) (list diag.List) {
	size := max(len(agent.Card), len(agent.Extended))
	if size <= maxCard {
		return nil
	}
	length := func(s *ir.Skill) int { return len(s.InputSchema) + len(s.OutputSchema) }
	pos, hint := diag.Pos{File: c.File, Line: 1, Col: 1}, "write less into it: descriptions, examples, skills"
	if i := largest(agent.Skills, length); i >= 0 && length(agent.Skills[i]) > 0 {
		pos = c.Skills[i].Pos
		hint = fmt.Sprintf("the schemas of skill %q are %d bytes of it: list fewer values, or take long lists and descriptions out",
			agent.Skills[i].ID, length(agent.Skills[i]))
	}
	list.Errorf(pos, "too-large", hint, "the card has %d bytes, and clients read no more than %d", size, maxCard)
	return list
}

// largest is the index of the first element of the greatest size; -1 where there is none.
func largest[T any](list []T, size func(T) int) int {
	best := -1
	for i, v := range list {
		if best < 0 || size(v) > size(list[best]) {
			best = i
		}
	}
	return best
}

// misspeltCards are names that people give their card and that are not read.
var misspeltCards = []string{"agent.yml", "agent.json", "agent-card.yaml", "agent-card.json"}

// noCard says that the card is not there, unless the project is one of clients only.
func (g *generation) noCard(c *config.Config) (list diag.List) {
	pos, hint := diag.Pos{File: c.Card}, `"a2agen init" makes a new agent; "-C DIR" works in another folder`
	if c.CardPos.Line > 0 {
		list.Errorf(c.CardPos, "no-card", "", "there is no file %s", c.Card)
		return list
	}
	i := slices.IndexFunc(misspeltCards, g.exists)
	switch {
	case i >= 0:
		hint = fmt.Sprintf(`rename %[1]s to %[2]s, or write "card: %[1]s" in %[3]s`, misspeltCards[i], c.Card,
			config.File)
	case len(c.Clients) > 0:
		return nil
	}
	list.Errorf(pos, "no-card", hint, "there is no agent card")
	return list
}

// emitter makes some of the owned files.
type emitter func() ([]output.File, error)

// emit runs all emitters at once and puts their files and the kept ones in order.
func (g *generation) emit(out *Output, clients []remoteClient, p loaded) ([]output.File, error) {
	emitters := g.emitters(out, clients, p.carried)
	results := make([][]output.File, len(emitters))
	errs := make([]error, len(emitters))
	var wg sync.WaitGroup
	for i, e := range emitters {
		wg.Go(func() { results[i], errs[i] = e() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	files := append(slices.Concat(results...), p.kept...)
	slices.SortFunc(files, func(a, b output.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func (g *generation) emitters(out *Output, clients []remoteClient, carried string) []emitter {
	pkgs, model, paths := out.Config.Packages, out.Model, g.paths(out.Config)
	es := []emitter{func() ([]output.File, error) {
		return []output.File{
			{Path: card.SchemaPath, Data: card.JSONSchema()},
			{Path: config.SchemaPath, Data: config.JSONSchema()},
		}, nil
	}}
	switch {
	case out.Config.ProtocolImport != "":
	case carried != "":
		es = append(es,
			into(pkgs.Protocol, func() ([]output.File, error) { return carriedPackage(carried, paths.Protocol) }))
	default:
		es = append(es,
			into(pkgs.Protocol, func() ([]output.File, error) { return emit.ProtocolPackage(model.Protocol, paths) }))
	}
	if model.Agent != nil {
		es = append(es,
			into(pkgs.Agent, func() ([]output.File, error) { return emit.Agent(model, paths) }),
			into(pkgs.Types(), func() ([]output.File, error) { return emit.SkillTypes(model, paths) }),
			into(pkgs.Client, func() ([]output.File, error) { return emit.Client(model, paths) }),
			into(pkgs.Tools(), func() ([]output.File, error) { return emit.OwnTools(model, paths) }),
			func() ([]output.File, error) { return g.emitOwnFake(model, out.Config, paths) },
		)
	}
	for _, x := range model.Extensions {
		folder := path.Join(out.Config.Packages.Extensions, x.Package)
		es = append(es, into(folder, func() ([]output.File, error) { return emit.Extension(x, path.Join(g.Module, folder)) }))
	}
	for _, c := range clients {
		es = append(es, func() ([]output.File, error) { return g.emitRemote(model.Protocol, c, paths) })
	}
	return es
}

// into puts an emitter's files in a folder of the project: emitters know the package's name instead of its folder.
func into(folder string, e emitter) emitter {
	return func() ([]output.File, error) {
		files, err := e()
		for i := range files {
			_, name, _ := strings.Cut(files[i].Path, "/")
			files[i].Path = path.Join(folder, name)
		}
		return files, err
	}
}

// paths are the import paths of a project's packages.
func (g *generation) paths(c *config.Config) emit.Paths {
	p := emit.Paths{
		Protocol: path.Join(g.Module, c.Packages.Protocol),
		Agent:    path.Join(g.Module, c.Packages.Agent),
		Types:    path.Join(g.Module, c.Packages.Types()),
		Client:   path.Join(g.Module, c.Packages.Client),
		Tools:    path.Join(g.Module, c.Packages.Tools()),

		Extensions: path.Join(g.Module, c.Packages.Extensions),
	}
	if c.ProtocolImport != "" {
		p.Protocol = c.ProtocolImport
	}
	return p
}
