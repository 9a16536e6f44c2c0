package scaffold

import (
	"go/format"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
)

// Client is a client of somebody else's agent, as its example and its command show it.
type Client struct {
	config.Client
	Agent       *ir.Agent
	Description string // of the agent, any text
	Module      string // of the project
	Fake        string // folder of the package with the agent's fake
	// Version and Binding are those of the interface that the client calls; "" when it calls none by itself.
	Version, Binding string
}

// ExampleFile is the name of the file in a client's package that shows how it is called, and tests it without a network.
const ExampleFile = "example.gen_test.go"

// Example renders [ExampleFile] of a client. It is the tool's: it follows the card.
func Example(c Client) (output.File, error) {
	var r renderer
	r.add(path.Join(c.Out, ExampleFile), "client_example_test.go.tmpl", newClientView(c))
	if r.err != nil {
		return output.File{}, r.err
	}
	r.files[0].Kind = output.Owned
	return r.files[0], nil
}

// ClientModule is the input of the files of a module that holds clients and no agent.
type ClientModule struct {
	Module  string
	Folder  string // of the protocol's package
	Runtime Runtime
	Modules Modules // beside the runtime's
	Clients []Client
}

// ClientModuleReadme is the file of such a module that lists its clients.
const ClientModuleReadme = "README.md"

// Files renders the files of the module that are written once, but for the commands of its clients.
func (m ClientModule) Files() ([]output.File, error) {
	v := newModuleView(m)
	var r renderer
	r.add("doc.go", "client_doc.go.tmpl", v)
	r.add(ClientModuleReadme, "client_README.md.tmpl", v)
	r.add(".gitattributes", "gitattributes.tmpl", v)
	r.files = append(r.files, m.Runtime.files(m.Module, m.Modules)...)
	return r.files, r.err
}

// Commands renders the programs that call the agents, one for each client that has a skill.
func (m ClientModule) Commands() ([]output.File, error) {
	var r renderer
	for _, c := range m.Clients {
		if v := newClientView(c); v.First != nil {
			r.add("cmd/"+c.Name+"/main.go", "client_main.go.tmpl", v)
		}
	}
	return r.files, r.err
}

// moduleView is the input of the templates of a module of clients.
type moduleView struct {
	Title, Package string
	Protocol       string // folder
	Replaced       bool   // the runtime is a folder of this machine
	Unpacked       string // the runtime is in this folder of the project
	Clients        []*clientView
	First          *clientView // the first that has a skill; nil without
}

func newModuleView(m ClientModule) *moduleView {
	base := path.Base(m.Module)
	v := &moduleView{
		Title: oneLine(base, 100), Package: names.Package(base),
		Protocol: m.Folder, Replaced: m.Runtime.Checkout != "",
	}
	if m.Runtime.Unpacks() {
		v.Unpacked = Unpacked
	}
	for _, c := range m.Clients {
		cv := newClientView(c)
		if v.Clients = append(v.Clients, cv); v.First == nil && cv.First != nil {
			v.First = cv
		}
	}
	return v
}

// clientView is the input of the templates of one client.
type clientView struct {
	Name, Folder     string
	Package, Pkg     string // the package's name, and what it is called where that name is taken
	Import           string // a line of an import declaration
	Title, About     string // of the agent
	From             string // what "a2agen client" was given
	URL              string // of the agent, as a quoted string; "" when the card came from a file
	Version, Binding string // quoted; "" when the client calls no interface by itself
	Methods          []string
	FakeImport       string    // a line of an import declaration
	FakePkg          string    // the name of the package with the fake
	First            *callView // the skill that is shown; nil without skills
}

// callView is a call of a skill.
type callView struct {
	ID     string // quoted, on one line
	Call   string
	Stream string
	Input  bool // it has an input schema
	Output bool
	Code   string // the argument
	// NoInput: no valid input could be made up.
	NoInput bool
	Field   string // of the agent's fake
	Sample  bool   // an output could be made up
}

func newClientView(c Client) *clientView {
	v := &clientView{Name: c.Name, Package: path.Base(c.Out), Pkg: path.Base(c.Out), Folder: c.Out, From: c.Target(),
		Title: strings.TrimSpace(oneLine(c.Agent.Name, 100)), About: oneLine(c.Description, 300)}
	imp := strconv.Quote(path.Join(c.Module, c.Out))
	if slices.Contains(takenInExamples, v.Pkg) {
		v.Pkg = "agent"
		imp = v.Pkg + " " + imp
	}
	v.Import = imp
	v.FakePkg, v.FakeImport = path.Base(c.Fake), strconv.Quote(path.Join(c.Module, c.Fake))
	if c.URL != "" {
		v.URL = strconv.Quote(c.URL)
	}
	if c.Version != "" {
		v.Version, v.Binding = strconv.Quote(c.Version), strconv.Quote(c.Binding)
	}
	for _, s := range c.Agent.Skills {
		v.Methods = append(v.Methods, s.Client.Call)
		if call := newCallView(v.Pkg, s); v.First == nil || v.First.NoInput && !call.NoInput {
			v.First = call
		}
	}
	return v
}

// takenInExamples are the names that the templates use themselves.
var takenInExamples = []string{"c", "context", "ctx", "err", "f", "flag", "fmt", "json", "log", "os", "out", "runtime",
	"signal", "step", "stop", "strings", "t", "testing", "time", "url", "wire"}

func newCallView(pkg string, s *ir.Skill) *callView {
	v := &callView{ID: quoted(s.ID), Call: s.Client.Call, Stream: s.Client.Stream, Input: s.Input != nil, Output: s.Output != nil, Field: s.Fake.Field}
	v.Sample = s.Output == nil || SampleOutput(s) != nil
	if s.Input == nil {
		v.Code = strconv.Quote(sampleText(s))
		return v
	}
	in, err := checked(&sampler{pkg: pkg}, s.Input, s.InputSchema)
	if v.Code = formatted(in.code); err != nil {
		v.Code, v.NoInput = "new("+pkg+"."+s.Input.Name+")", true
	}
	return v
}

// formatted lays an expression out as gofmt does.
func formatted(code string) string {
	const before = "_ = "
	if text, err := format.Source([]byte(before + code)); err == nil {
		return strings.TrimPrefix(string(text), before)
	}
	return code
}

// sampleText is what a skill without an input schema is asked.
func sampleText(s *ir.Skill) string {
	if len(s.Examples) > 0 && len(s.Examples[0]) <= 200 {
		return s.Examples[0]
	}
	return "hello"
}
