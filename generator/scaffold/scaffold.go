// Package scaffold renders the files that are the user's from the moment they are written: main.go, handlers and
// their tests, go.mod, Dockerfile and the like; and the example of a client, which shows and tests what is generated.
package scaffold

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/templates"
)

// Project is the input of the scaffold of an agent.
type Project struct {
	Protocol    *ir.Protocol
	Agent       *ir.Agent
	Description string // of the agent, any text
	Module      string // valid module path
	Packages    config.Packages
	// ProtocolImport is the import path of a shared protocol package; "" when the project has its own.
	ProtocolImport string
	// EmbedsClients: the type of the agent embeds the clients of other agents.
	EmbedsClients bool
	Runtime       Runtime
	Modules       Modules // beside the runtime's
}

// fakes are the fakes of the agents that the handlers call, for tests.
func (p Project) fakes() (list []fakeView) {
	packages := names.NewScope("a2atest") // the kit, which the test imports, too
	for _, r := range p.Agent.Remotes {
		if !p.EmbedsClients || r.Fake == "" {
			continue
		}
		f := fakeView{Field: r.Go, Package: packages.Take(path.Base(r.Fake)), Import: strconv.Quote(r.Fake)}
		if f.Package != path.Base(r.Fake) {
			f.Import = f.Package + " " + f.Import
		}
		list = append(list, f)
	}
	return list
}

// fakeView is a fake of an agent that the handlers call.
type fakeView struct{ Field, Package, Import string }

// Files renders the files of a fresh project that do not depend on single skills: all but the two YAML files and the
// handlers, which [Stubs] renders.
func Files(p Project) ([]output.File, error) {
	v := newView(p)
	var r renderer
	files := []struct{ path, template string }{
		{"main.go", "main.go.tmpl"},
		{"Dockerfile", "Dockerfile.tmpl"},
		{".dockerignore", "dockerignore.tmpl"},
		{"Makefile", "Makefile.tmpl"},
		{"README.md", "README.md.tmpl"},
		{".gitignore", "gitignore.tmpl"},
		{".gitattributes", "gitattributes.tmpl"},
		{".github/workflows/agent.yml", "workflow.yml.tmpl"},
	}
	for _, f := range files {
		r.add(f.path, f.template, v)
	}
	r.files = append(r.files, p.Runtime.files(p.Module, p.Modules)...)
	shared, err := Shared(p)
	return append(r.files, shared...), cmp.Or(r.err, err)
}

// SharedTest is the file in the folder of the handlers by which their tests connect to the agent.
const SharedTest = "agent_test.go"

// OldTest is a file there that older tools wrote: its test is one of [SharedTest] now.
const OldTest = "rpc_test.go"

// Shared renders the files in the folder of the handlers that do not depend on single skills: the type of the agent, and how a
// test connects to it, with the test of the protocol.
func Shared(p Project) ([]output.File, error) {
	v := &view{
		packages: newPackages(p), Clients: p.Agent.RemotesType, Fakes: p.fakes(), Dialed: dialed(p.Agent), Conforms: conforms(p.Agent),
	}
	var r renderer
	r.add(p.Packages.Skills+"/agent.go", "agent.go.tmpl", v)
	r.add(p.Packages.Skills+"/"+SharedTest, "agent_test.go.tmpl", v)
	return r.files, r.err
}

// dialedBinding is a binding that makes connections of its own: the import path of its client, and the name of that package.
type dialedBinding struct{ Import, Name string }

// dialed are the bindings of the agent that make connections of their own.
func dialed(a *ir.Agent) (list []dialedBinding) {
	for _, b := range runtime.Bindings {
		if b.Client != "" && slices.Contains(a.Bindings, b.Name) {
			list = append(list, dialedBinding{strconv.Quote(a2agen.Module + "/" + b.Client), path.Base(b.Client)})
		}
	}
	return list
}

// served returns a binding of the agent; nil if it has none of the kind that is asked for.
func served(a *ir.Agent, is func(*runtime.Binding) bool) *runtime.Binding {
	for _, b := range runtime.Bindings {
		if slices.Contains(a.Bindings, b.Name) && is(b) {
			return b
		}
	}
	return nil
}

// StubFiles returns the paths of the handler and test that [Stubs] renders for a skill, in a folder of handlers.
func StubFiles(folder string, s *ir.Skill) []string {
	return []string{folder + "/" + s.File + ".go", folder + "/" + s.File + "_test.go"}
}

// Stubs renders the handlers, each with its test, of the skills with the given Go names.
func Stubs(p Project, goNames []string) ([]output.File, error) {
	packages, skills := newPackages(p), p.Agent.Skills
	rendered := make([]renderer, len(skills))
	var wg sync.WaitGroup
	for i, s := range skills {
		if slices.Contains(goNames, s.Go) {
			wg.Go(func() { rendered[i].skill(newSkillView(packages, s)) })
		}
	}
	wg.Wait()
	var files []output.File
	var errs []error
	for _, r := range rendered {
		files, errs = append(files, r.files...), append(errs, r.err)
	}
	return files, errors.Join(errs...)
}

// view is the input of the templates.
type view struct {
	packages
	Command, Title, About string
	Extension             string
	Skills                []*skillView
	CurlJSON, Path        string              // what to ask with curl, and where
	Plain                 bool                // CurlJSON is plain text: it needs no extension
	Module                string              // path of the runtime's module, which is the tool's
	Released              bool                // the runtime is a released one
	Replaced              bool                // the runtime is a folder of this machine
	Unpacked              string              // the runtime is in this folder of the project
	Store                 string              // file in which tasks are kept; "": in none
	Server                *config.StoreServer // where they are kept instead; nil: nowhere else
	Clients               string              // type of the clients with which handlers call other agents; "": there are none
	Fakes                 []fakeView          // of the agents that handlers call
	// Tagged is a binding for which programs are built with a tag; nil: there is none.
	Tagged *runtime.Binding
	Dialed []dialedBinding
	// Conforms: the kit can hold the agent to the specification.
	Conforms bool
	Secured  bool   // callers have to bring credentials
	Versions string // of the protocol that it speaks, in words
	Over     string // how it is reached, in words
}

func newView(p Project) *view {
	var list []string
	for _, i := range interfaces(p.Agent) {
		if !slices.Contains(list, i.Version) {
			list = append(list, i.Version)
		}
	}
	v := &view{
		packages:  newPackages(p),
		Command:   Command(p.Agent.Name),
		Title:     cmp.Or(oneLine(p.Agent.Name, 100), "Agent"),
		About:     oneLine(p.Description, 1000),
		Extension: runtime.SkillsExtension,
		Module:    p.Runtime.Module(),
		Released:  p.Runtime.Version != "",
		Replaced:  p.Runtime.Checkout != "",
		Path:      rpcPath(p.Agent),
		Store:     p.Agent.Store,
		Server:    config.StoreAt(p.Agent.OpenStore).Server,
		Secured:   p.Agent.Secured,
		Versions:  enumeration(list),
		Over:      over(p.Agent.Bindings),
		Tagged:    served(p.Agent, func(b *runtime.Binding) bool { return b.BuildTag != "" }),
	}
	if p.Runtime.Unpacks() {
		v.Unpacked = Unpacked
	}
	for _, s := range p.Agent.Skills {
		v.Skills = append(v.Skills, newSkillView(v.packages, s))
	}
	first := v.Skills[0]
	for _, s := range v.Skills {
		if !s.Fails() {
			first = s
			break
		}
	}
	m := message{
		Parts:      []part{{Text: first.text}},
		Extensions: []string{runtime.SkillsExtension},
		Metadata:   map[string]any{runtime.SkillsExtension: map[string]any{"skill": first.ID}},
	}
	if first.Input {
		m.Parts = []part{{Data: json.RawMessage(first.input.json), MediaType: runtime.MediaJSON}}
	}
	request := send(m)
	if v.Plain = first.chat && len(v.Skills) == 1; v.Plain {
		request = send(message{Parts: []part{{Text: "hello"}}})
	}
	v.CurlJSON = strings.ReplaceAll(request, "'", `'\''`)
	return v
}

// over lists bindings in words: "JSON-RPC and HTTP+JSON".
func over(bindings []string) string {
	var list []string
	for _, name := range bindings {
		if b := runtime.BindingNamed(name); b != nil {
			name = b.Title
		}
		list = append(list, name)
	}
	return enumeration(list)
}

// enumeration is a list in words: "a, b and c".
func enumeration(list []string) string {
	if last := len(list) - 1; last > 0 {
		return strings.Join(list[:last], ", ") + " and " + list[last]
	}
	return strings.Join(list, "")
}

// cardInterface is an interface of the agent's card.
type cardInterface struct {
	URL     string `json:"url"`
	Binding string `json:"protocolBinding"`
	Version string `json:"protocolVersion"`
}

func interfaces(a *ir.Agent) []cardInterface {
	var card struct {
		SupportedInterfaces []cardInterface `json:"supportedInterfaces"`
	}
	if json.Unmarshal(a.Card, &card) != nil {
		return nil // it was made by us
	}
	return card.SupportedInterfaces
}

// rpcPath returns the path at which the agent serves JSON-RPC; "" if it does not.
func rpcPath(a *ir.Agent) string {
	for _, i := range interfaces(a) {
		if u, err := url.Parse(i.URL); err == nil && i.Binding == runtime.BindingJSONRPC {
			return "/" + strings.TrimPrefix(u.EscapedPath(), "/")
		}
	}
	return ""
}

// conforms reports whether the agent can be held to the specification where each call is a tester's: it speaks a version that ships
// with the tool. It is not for agents with an extended card, which strangers must not get. Nor is it for 0.1, where an answer without
// a task looks like one of a task that cannot be read again.
func conforms(a *ir.Agent) bool {
	all := interfaces(a)
	return a.Extended == nil && !slices.ContainsFunc(all, func(i cardInterface) bool { return i.Version == "0.1" }) &&
		slices.ContainsFunc(all, func(i cardInterface) bool { return slices.Contains(config.Supported(), i.Version) })
}

// packages are the packages of the project, as templates name them.
type packages struct {
	Folders    config.Packages
	Imports    config.Packages // lines of an import declaration; an alias gives every package the name that templates use
	SkillsName string
}

func newPackages(p Project) packages {
	line := func(name, folder string) string {
		imp := strconv.Quote(path.Join(p.Module, folder))
		if path.Base(folder) != name {
			imp = name + " " + imp
		}
		return imp
	}
	ps := packages{Folders: p.Packages, SkillsName: path.Base(p.Packages.Skills)}
	ps.Imports = config.Packages{
		Protocol: line("a2a", p.Packages.Protocol), Agent: line("agent", p.Packages.Agent),
		Client: line("client", p.Packages.Client), Skills: line("skills", p.Packages.Skills),
	}
	if p.ProtocolImport != "" {
		ps.Imports.Protocol = "a2a " + strconv.Quote(p.ProtocolImport)
	}
	return ps
}

// Command returns the name of the program for an agent's name: lower-case letters, digits and hyphens.
func Command(name string) string {
	return strings.ReplaceAll(names.FileBase(name), "_", "-")
}

// oneLine makes foreign text safe for a Markdown paragraph: one line, no markup, at most most runes.
func oneLine(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029
	}), " ")
	if rs := []rune(text); len(rs) > most {
		text = string(rs[:most]) + "…"
	}
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]<>#|&~$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// renderer collects rendered files and the first error.
type renderer struct {
	files []output.File
	err   error
}

func (r *renderer) skill(s *skillView) {
	r.add(s.Folders.Skills+"/"+s.File+".go", "skill.go.tmpl", s) // see [StubFiles]
	r.add(s.Folders.Skills+"/"+s.File+"_test.go", "skill_test.go.tmpl", s)
}

// add renders one file.
func (r *renderer) add(path, name string, data any) {
	if r.err != nil {
		return
	}
	t, err := template.ParseFS(templates.Files(), name)
	if err != nil {
		r.err = fmt.Errorf("read template: %w", err)
		return
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		r.err = fmt.Errorf("render %s: %w", path, err)
		return
	}
	text := b.Bytes()
	if strings.HasSuffix(path, ".go") {
		if text, err = goFile(text); err != nil {
			r.err = fmt.Errorf("format %s: %w", path, err)
			return
		}
	}
	r.files = append(r.files, output.File{Path: path, Kind: output.Scaffold, Data: text})
}
