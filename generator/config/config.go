// Package config reads a2agen.yaml: what to generate for the agent that agent.yaml describes.
package config

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

// File is the name of the configuration in a project.
const File = "a2agen.yaml"

// Misspelt is a wrong name of the configuration that people use; it is not read.
const Misspelt = "a2agen.yml"

// SchemaPath is where the JSON Schema of a2agen.yaml lies in a project, slash-separated and relative to it.
const SchemaPath = ".a2agen/a2agen.schema.json"

// JSONSchema returns the JSON Schema of a2agen.yaml (draft-07).
func JSONSchema() []byte { return shape.JSONSchema(project(), "a2agen.yaml") }

// Config is what a2agen.yaml says, with defaults filled in. Paths are slash-separated and relative to the project.
type Config struct {
	File     string
	Protocol []Protocol // versions to speak, newest first
	Card     string     // "agent.yaml"
	CardPos  diag.Pos   // zero when the card is where it is by default
	Packages Packages
	// ProtocolImport is the import path of an emitted protocol package to share instead of emitting one; "" emits one.
	ProtocolImport string
	// Bindings are the ways in which clients reach the agent, the preferred one first. A binding that a2agen.yaml does
	// not name has no position: it is served by those versions that have it.
	Bindings []Binding
	// Encodings are those of the protocol package that a2agen.yaml asks for beside what the bindings need.
	Encodings []Encoding
	// Repeats say how the agent knows messages that come again.
	Repeats Repeats
	// Store is where the agent keeps its tasks, by the word of one of [Stores].
	Store string
	// RequirementLists: cards are served with security requirements as a2a-go reads them.
	RequirementLists bool
	// SignCards: the agent links what signs its cards, with the key that the environment names.
	SignCards bool
	// MCP is where a2agen.yaml says that the agent serves its skills as an MCP server, too; zero: it does not.
	MCP diag.Pos
	// Telemetry is what agent and clients tell of what they do: [TelemetryOTel], or "" for nothing but logs.
	Telemetry string
	// Open is where a2agen.yaml says that anybody who reaches the agent may use it; zero: it does not.
	Open diag.Pos
	// Auth says which credentials are good, for schemes of the card, by name.
	Auth    []Verifier
	Clients []Client
	// Catalog is where cards are taken from by their names: a folder relative to the project, or a URL; "": the default.
	Catalog string
	// Extensions are files with the contracts of extensions.
	Extensions []FileRef
}

// FileRef is a file of the project that a2agen.yaml names.
type FileRef struct {
	Path string
	Pos  diag.Pos
}

// requirementLists is the value of "requirements" under "cards" for [Config.RequirementLists].
const requirementLists = "list"

// TelemetryOTel makes agent and clients report to OpenTelemetry.
const TelemetryOTel = "otel"

// Binding is a binding over which the agent is served, by its name on cards: "JSONRPC".
type Binding struct {
	Name string
	Pos  diag.Pos
}

// Encoding is an encoding of versions beside the JSON of their JSON-RPC: "proto" or "protojson".
type Encoding struct {
	Name string
	Pos  diag.Pos
}

// Repeats say how repeated messages are recognized, by their ids or only by their keys, and for how long (0: the
// runtime's default).
type Repeats struct {
	ByMessage bool
	Window    time.Duration
}

// Protocol is one protocol version to speak.
type Protocol struct {
	Version string // "1.0"
	// File or URL is set for a definition that does not ship: where it is in the project, or where update fetches it.
	File, URL string
	Pos       diag.Pos
}

// Kept returns the possible paths of a fetched definition; none for one that is not fetched.
func (p Protocol) Kept() []string {
	if p.URL == "" {
		return nil
	}
	return []string{keptFolder + p.Version + ".proto", keptFolder + p.Version + ".json"}
}

// ReadKept reads the fetched definition, with a function that opens a file of the project.
func (p Protocol) ReadKept(open func(path string) ([]byte, error)) (file string, src []byte, err error) {
	for _, file = range p.Kept() {
		if src, err = open(file); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return file, src, err
}

const keptFolder = "protocol/"

var kept = regexp.MustCompile("^" + keptFolder + strings.Trim(versionPattern, "^$") + `\.(proto|json)$`)

// IsKept reports whether a path is that of a fetched definition.
func IsKept(path string) bool { return kept.MatchString(path) }

// Packages are the folders of the packages in the project; the last element is the package name.
type Packages struct {
	Protocol, Agent, Client, Skills, Extensions string
}

// Types is the folder of the types of the skills, which the agent and its client share.
func (p Packages) Types() string { return path.Join(p.Agent, "types") }

// Tools is the folder of the skills as tools for language models.
func (p Packages) Tools() string { return path.Join(p.Agent, "tools") }

// Client is a typed client for somebody else's agent, written by "a2agen client". Exactly one of URL, Catalog and Path is
// set.
type Client struct {
	Name    string
	URL     string // where the card was fetched
	Catalog string // what the card is called in a catalog: "weather@1.2.0", or "weather" for the newest
	Path    string // the file that the card was read from
	Out     string // folder of the client's package
	// Bindings are those that the client uses, the preferred one first; none: all that the project has, as the card orders
	// them.
	Bindings []string
	Verify   *Verify // nil: the card is not verified
	// Contract is what the user says of the agent's skills.
	Contract Contract
	Pos      diag.Pos
}

// ContractFile returns the path of the file beside the client's code that says more of the skills.
func (c Client) ContractFile() string { return path.Join(c.Out, ContractFile) }

// Verify says by which keys a client verifies its agent's card. There are Keys, URLs, or both.
type Verify struct {
	Keys   string   // file with a JSON Web Key Set
	URLs   []string // of key sets
	Strict bool     // the specification's form alone
	Pos    diag.Pos
}

// KeptKeys is the name of the copy of a client's keys in its folder, which its code embeds.
const KeptKeys = "keys.json"

// KeptCard is the name of a fetched card in a client's folder.
const KeptCard = "card.json"

// catalogScheme begins the source of a card that is taken from a catalog.
const catalogScheme = "catalog:"

// Source is where the card can be had again: its URL, or "catalog:" and what a catalog calls it; "" for a file of the
// user's.
func (c Client) Source() string {
	if c.Catalog != "" {
		return catalogScheme + c.Catalog
	}
	return c.URL
}

// Target is what "a2agen client" was given for the card.
func (c Client) Target() string { return cmp.Or(c.URL, c.Catalog, c.Path) }

// Card returns the path of the card that the client is made from, and whether the tool stores it there.
func (c Client) Card() (file string, kept bool) {
	file = path.Join(c.Out, KeptCard)
	if c.Source() != "" || c.Path == file {
		return file, true
	}
	return c.Path, false
}

// Bindings returns the names of all bindings.
func Bindings() []string { return namesOf(func(*runtime.Binding) bool { return true }) }

// defaultBindings returns those of a new agent: the ones that link no module.
func defaultBindings() []string {
	return namesOf(func(b *runtime.Binding) bool { return b.Server == "" })
}

func namesOf(wanted func(*runtime.Binding) bool) (names []string) {
	for _, b := range runtime.Bindings {
		if wanted(b) {
			names = append(names, b.Name)
		}
	}
	return names
}

// Supported returns the protocol versions this tool generates, newest first: drafts of the next one, then what is released.
func Supported() []string { return slices.Concat(spec.Drafts(), spec.Versions()) }

// Default returns the configuration of a project without a2agen.yaml.
func Default() *Config {
	c := &Config{File: File, Card: "agent.yaml", Store: Stores[0].Word, Packages: Packages{Protocol: "a2a", Agent: "agent", Client: "client", Skills: "skills", Extensions: "extensions"}}
	c.Protocol = []Protocol{{Version: spec.Default}}
	for _, name := range defaultBindings() {
		c.Bindings = append(c.Bindings, Binding{Name: name})
	}
	return c
}

// BindingNames returns the names of the bindings, the preferred one first.
func (c *Config) BindingNames() []string {
	names := make([]string, len(c.Bindings))
	for i, b := range c.Bindings {
		names[i] = b.Name
	}
	return names
}

// ListsBindings reports whether a2agen.yaml lists bindings.
func (c *Config) ListsBindings() bool {
	return slices.ContainsFunc(c.Bindings, func(b Binding) bool { return b.Pos.Line > 0 })
}

// BindingsOf returns the bindings that a client of another agent uses: its own, or those of the project.
func (c *Config) BindingsOf(cl Client) []string {
	if len(cl.Bindings) == 0 {
		return c.BindingNames()
	}
	return slices.Clone(cl.Bindings)
}

// Versions returns the names of the protocol versions, newest first.
func (c *Config) Versions() []string {
	vs := make([]string, len(c.Protocol))
	for i, p := range c.Protocol {
		vs[i] = p.Version
	}
	return vs
}

// With returns the configuration with more shipped versions and encodings, without repetitions.
func (c *Config) With(versions, encodings []string) *Config {
	more := *c
	more.Protocol, more.Encodings = slices.Clone(c.Protocol), slices.Clone(c.Encodings)
	for _, v := range versions {
		if !slices.Contains(more.Versions(), v) {
			more.Protocol = append(more.Protocol, Protocol{Version: v})
		}
	}
	for _, name := range encodings {
		if !slices.ContainsFunc(more.Encodings, func(e Encoding) bool { return e.Name == name }) {
			more.Encodings = append(more.Encodings, Encoding{Name: name})
		}
	}
	more.order()
	return &more
}

// HasOwnDefinition reports whether a definition is listed that does not ship with the tool.
func (c *Config) HasOwnDefinition() bool {
	return slices.ContainsFunc(c.Protocol, func(p Protocol) bool { return p.File != "" || p.URL != "" })
}

// order puts the user's own definitions first, in their order, then the shipped ones, newest first.
func (c *Config) order() {
	known := Supported() // the index of what is not among them is -1
	slices.SortStableFunc(c.Protocol, func(a, b Protocol) int { return slices.Index(known, a.Version) - slices.Index(known, b.Version) })
}

// Read reads a2agen.yaml. A nil src, for a file that does not exist, gives the defaults, and so does a file of nothing
// but comments. With errors in the list the configuration is incomplete, but never nil.
func Read(file string, src []byte) (*Config, diag.List) {
	cfg := Default()
	cfg.File = file
	if onlyComments(src) {
		return cfg, nil
	}
	root, list := yamlx.Parse(file, src)
	if root == nil {
		return cfg, list
	}
	c := &shape.Checker{File: file, List: list}
	c.Check(root, project())
	cfg.fill(c, root)
	checkFolders(c, root, cfg)
	c.List.Sort()
	return cfg, c.List
}

func onlyComments(src []byte) bool {
	for line := range strings.Lines(string(src)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

func (cfg *Config) fill(c *shape.Checker, root *yaml.Node) {
	if list := yamlx.Items(yamlx.Get(root, "protocol")); len(list) > 0 {
		cfg.Protocol = nil
		for _, n := range list {
			p := Protocol{Version: versionOf(n), File: yamlx.Text(yamlx.Get(n, "file")), URL: yamlx.Text(yamlx.Get(n, "url")), Pos: yamlx.Pos(c.File, n)}
			cfg.Protocol = append(cfg.Protocol, p)
		}
		cfg.drafts(c, list)
		cfg.order()
	}
	set := func(to *string, n *yaml.Node) {
		if s := yamlx.Text(n); s != "" {
			*to = s
		}
	}
	if n := yamlx.Get(root, "card"); yamlx.Text(n) != "" {
		cfg.Card, cfg.CardPos = n.Value, yamlx.Pos(c.File, n)
	}
	set(&cfg.ProtocolImport, yamlx.Get(root, "protocol_import"))
	set(&cfg.Store, yamlx.Get(root, "store"))
	set(&cfg.Catalog, yamlx.Get(root, "catalog"))
	cfg.RequirementLists = yamlx.Text(yamlx.Get(yamlx.Get(root, "cards"), "requirements")) == requirementLists
	cfg.SignCards = isTrue(yamlx.Get(yamlx.Get(root, "cards"), "sign"))
	set(&cfg.Telemetry, yamlx.Get(root, "telemetry"))
	if n := yamlx.Get(root, "mcp"); isTrue(n) {
		cfg.MCP = yamlx.Pos(c.File, n)
	}
	cfg.fillAuth(c, yamlx.Get(root, "auth"))
	if list := yamlx.Items(yamlx.Get(root, "bindings")); len(list) > 0 {
		cfg.Bindings = nil
		for _, n := range list {
			cfg.Bindings = append(cfg.Bindings, Binding{Name: yamlx.Text(n), Pos: yamlx.Pos(c.File, n)})
		}
	}
	for _, n := range yamlx.Items(yamlx.Get(root, "encodings")) {
		cfg.Encodings = append(cfg.Encodings, Encoding{Name: yamlx.Text(n), Pos: yamlx.Pos(c.File, n)})
	}
	idempotency := yamlx.Get(root, "idempotency")
	cfg.Repeats.ByMessage = yamlx.Text(idempotency) != "" || yamlx.Text(yamlx.Get(idempotency, "by")) != ""
	cfg.Repeats.Window, _ = time.ParseDuration(yamlx.Text(yamlx.Get(idempotency, "window")))
	packages := yamlx.Get(root, "packages")
	set(&cfg.Packages.Protocol, yamlx.Get(packages, "protocol"))
	set(&cfg.Packages.Agent, yamlx.Get(packages, "agent"))
	set(&cfg.Packages.Client, yamlx.Get(packages, "client"))
	set(&cfg.Packages.Skills, yamlx.Get(packages, "skills"))
	set(&cfg.Packages.Extensions, yamlx.Get(packages, "extensions"))
	for _, n := range yamlx.Items(yamlx.Get(root, "extensions")) {
		cfg.Extensions = append(cfg.Extensions, FileRef{yamlx.Text(n), yamlx.Pos(c.File, n)})
	}
	for _, n := range yamlx.Items(yamlx.Get(root, "clients")) {
		cl := Client{Name: yamlx.Text(yamlx.Get(n, "name")), URL: yamlx.Text(yamlx.Get(n, "url")), Catalog: yamlx.Text(yamlx.Get(n, "catalog")), Path: yamlx.Text(yamlx.Get(n, "file")), Pos: yamlx.Pos(c.File, n)}
		cl.Out = "client/" + cl.Name
		set(&cl.Out, yamlx.Get(n, "out"))
		cl.Bindings = yamlx.Texts(yamlx.Get(n, "bindings"))
		cl.Contract = contractOf(c, n)
		if v := yamlx.Get(n, "verify"); v != nil {
			cl.Verify = &Verify{Keys: yamlx.Text(yamlx.Get(v, "keys")), URLs: yamlx.Texts(yamlx.Get(v, "urls")), Strict: isTrue(yamlx.Get(v, "strict")), Pos: yamlx.Pos(c.File, v)}
		}
		cfg.Clients = append(cfg.Clients, cl)
	}
}

// drafts warns of drafts among the listed versions, and refuses those that nothing released stands beside: callers, and
// what tries an agent, could not speak with it.
func (cfg *Config) drafts(c *shape.Checker, list []*yaml.Node) {
	released := slices.ContainsFunc(cfg.Protocol, func(p Protocol) bool { return slices.Contains(spec.Versions(), p.Version) })
	for i, p := range cfg.Protocol {
		switch {
		case !slices.Contains(spec.Drafts(), p.Version):
		case !released:
			c.Errorf(list[i], "draft", `list "`+spec.Default+`" beside it`, "%q is a draft of A2A, which no agent speaks alone", p.Version)
		default:
			c.Warnf(list[i], "draft", "", "%q is a draft of A2A and not final: it may change, or go, with any later a2agen", p.Version)
		}
	}
}

// isTrue reports whether a key is there and true. YAML 1.2 spells that in three ways.
func isTrue(n *yaml.Node) bool {
	return n != nil && n.Tag == "!!bool" && strings.EqualFold(n.Value, "true")
}

// Scaffold renders a fresh, commented a2agen.yaml, with one-line entries, for an agent with that store, those
// bindings and those shipped versions; the zero values are what a new agent has.
func Scaffold(store string, bindings, versions []string) []byte {
	if len(bindings) == 0 {
		bindings = defaultBindings()
	}
	if len(versions) == 0 {
		versions = spec.Fresh()
	}
	return []byte(`# yaml-language-server: $schema=` + SchemaPath + `
# What a2agen generates. Everything left out has its default.

# Versions of the A2A protocol that the agent speaks, newest first. Most callers are still of 0.3; left out, it is 1.0 alone.
protocol: [` + quoted(versions) + `]
# How clients reach it, the preferred way first: ` + strings.Join(Bindings(), ", ") + `.
bindings: [` + strings.Join(bindings, ", ") + `]
# The agent's card.
card: agent.yaml
# Where the agent keeps its tasks: ` + StoresInWords(`"`) + `.
store: ` + cmp.Or(store, Stores[0].Word) + `
# Folders of the generated packages, and of your handlers.
packages: {protocol: a2a, agent: agent, client: client, skills: skills}
`)
}

// ScaffoldClients renders a fresh, commented a2agen.yaml of a module that has clients and no agent.
func ScaffoldClients() []byte {
	return []byte(`# yaml-language-server: $schema=` + SchemaPath + `
# What a2agen generates here: a typed client for each of these agents. "a2agen client URL" adds one.
`)
}
