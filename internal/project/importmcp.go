package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/contract"
	"github.com/a2agen/a2agen/internal/mcptools"
	"github.com/a2agen/a2agen/internal/project/remote"
	"github.com/a2agen/a2agen/internal/shell"
	call "github.com/a2agen/a2agen/runtime/mcptools"
)

// serversFolder holds the listings of MCP servers and the schemas that were made of them.
const serversFolder = "mcp"

// listTimeout is how long a server may take to say which tools it has. A command may have to be downloaded first.
const listTimeout = 2 * time.Minute

// MCPOptions say which tools of which server become skills.
type MCPOptions struct {
	Options
	Target       string   // a file with a listing, or the URL of a server; "" for a command
	Command      []string // a program and its arguments
	Env          []string // variables of the environment that the command gets
	Headers      []string // 'Name: value', with ${NAME} for a variable of the environment
	Tools        []string // names; none: those that were imported before, else all
	Name         string   // of the server in the project; "": made of what it calls itself
	AllowPrivate bool     // connect to private addresses too
}

// MCPReport is what an import did.
type MCPReport struct {
	Report
	Skills []string `json:"skills"` // that were added
	Env    []string `json:"env"`    // the variables that must be set before they work
}

// ImportMCP makes skills of tools of an MCP server: their contracts, and handlers that call them. The listing is kept, and a check
// tells when it changes. The user's files are not changed, but for the new skills in the card.
func ImportMCP(ctx context.Context, o MCPOptions) (MCPReport, error) {
	if o.Name != "" && !clientName(o.Name) {
		return MCPReport{}, badArgument("--name %.40q: write a-z, 0-9 and _, such as github", o.Name)
	}
	at, err := o.address()
	if err != nil {
		return MCPReport{}, err
	}
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return MCPReport{}, err
	}
	defer p.Close()
	listing, list, err := o.listing(ctx, at)
	if err != nil {
		return MCPReport{}, err
	}
	if list.HasErrors() {
		return MCPReport{Report: Report{Diagnostics: list}}, &InvalidError{list}
	}
	im := &toolsImport{project: p, o: o, listing: listing, at: at, list: list}
	return im.run(ctx)
}

// address is how the server is reached; the zero value for a file.
func (o MCPOptions) address() (at mcptools.Address, err error) {
	if at.Headers, err = o.headers(); err != nil {
		return at, err
	}
	for _, name := range o.Env {
		if !slices.Equal(call.Variables("${"+name+"}"), []string{name}) {
			return at, badArgument("--env %.40q: write the name of a variable, without its value, such as GITHUB_TOKEN", name)
		}
	}
	remote := strings.Contains(o.Target, "://")
	switch {
	case len(o.Env) > 0 && len(o.Command) == 0:
		return at, badArgument("--env is for a command: write a2agen import mcp -- COMMAND ARGUMENT…")
	case len(o.Headers) > 0 && !remote:
		return at, badArgument("--header is for a server at a URL")
	case remote:
		u, err := url.Parse(o.Target)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			return at, badArgument("%.200q is no http or https URL", o.Target)
		case u.User != nil:
			return at, badArgument("the URL %s holds credentials, which would end up in files: send them by --header", u.Redacted())
		case u.Scheme != "https" && !o.AllowPrivate:
			return at, badArgument("%s: only https is safe; allow http with --allow-private-network", o.Target)
		}
		at.URL = o.Target
	}
	at.Command, at.Env = o.Command, o.Env
	return at, nil
}

// Place says what the arguments of the command line are: a URL or a file, or a command, which stands behind two hyphens. dash is the
// number of arguments before these, or -1.
func (o *MCPOptions) Place(args []string, dash int) error {
	switch {
	case dash < 0 && len(args) == 1:
		o.Target = args[0]
	case dash == 0 && len(args) > 0:
		o.Command = args
	case dash < 0 && len(args) > 1:
		return badArgument("write a command behind two hyphens: a2agen import mcp -- %s", shell.Words(args))
	default:
		return badArgument("name one server: its URL, a file with its answer to tools/list, or a command behind two hyphens (see a2agen import mcp --help)")
	}
	return nil
}

// headers reads the headers. Their values are made of variables of the environment, so that no file has a credential.
func (o MCPOptions) headers() (map[string]string, error) {
	if len(o.Headers) == 0 {
		return nil, nil
	}
	all := map[string]string{}
	for _, h := range o.Headers {
		name, value, is := strings.Cut(h, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !is || name == "" || strings.ContainsAny(name, " \t\r\n\"(),/;<=>?@[\\]{}") || strings.ContainsAny(value, "\r\n") {
			return nil, badArgument("--header %.40q: write 'Name: value'", name)
		}
		if len(call.Variables(value)) == 0 {
			return nil, badArgument("--header %s: a credential must not be in a file, so write a variable of the environment, in single quotes: "+
				"--header '%s: Bearer ${TOKEN}'", name, name)
		}
		all[http.CanonicalHeaderKey(name)] = value
	}
	return all, nil
}

// listing reads which tools there are.
func (o MCPOptions) listing(ctx context.Context, at mcptools.Address) (*mcptools.Listing, diag.List, error) {
	if at.Nowhere() {
		src, _, err := remote.Fetch(ctx, o.Target, remote.Options{MaxBytes: mcptools.MaxBytes})
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, badArgument("there is no file %s; a command is written behind two hyphens: a2agen import mcp -- %s", o.Target, shell.Word(o.Target))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read the listing: %w", err)
		}
		l, list := mcptools.Read(o.Target, src)
		return l, list, nil
	}
	said, err := listTools(ctx, at, o.AllowPrivate)
	if err != nil {
		return nil, nil, fmt.Errorf("list the tools: %w", err)
	}
	l, list := mcptools.Of(said.Name, said)
	return l, list, nil
}

// listTools asks a server for its tools. A command is started for that.
func listTools(ctx context.Context, at mcptools.Address, private bool) (call.Listing, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	s := &call.Server{Name: addressName(at), URL: at.URL, Command: at.Command, Env: at.Env, Headers: at.Headers, Timeout: listTimeout}
	if at.URL != "" {
		s.Client = remote.Client(remote.Options{AllowPrivate: private, Timeout: listTimeout})
		defer s.Client.CloseIdleConnections()
	}
	return s.List(ctx)
}

// addressName names a server in messages.
func addressName(at mcptools.Address) string {
	if at.URL != "" {
		return at.URL
	}
	return contract.OneLine(strings.Join(at.Command, " "), 60)
}

// toolsImport is one import.
type toolsImport struct {
	*project
	o       MCPOptions
	listing *mcptools.Listing
	list    diag.List
	at      mcptools.Address
	pin     mcptools.Pin // of the import before; the zero value if there is none
}

func (im *toolsImport) run(ctx context.Context) (r MCPReport, err error) {
	file, old, err := im.cardToExtend(im.o.Options)
	if err != nil {
		return r, err
	}
	name := im.listing.APIName(im.o.Name)
	schemas := path.Join(serversFolder, name+".json")
	if err := im.readPin(schemas); err != nil {
		return r, err
	}
	tools, list := im.listing.Import(mcptools.Request{Tools: im.tools(schemas, old), Name: name, SchemaFile: schemas, At: im.at})
	list.Add(im.list...)
	if list.HasErrors() {
		r.Diagnostics = list
		return r, &InvalidError{list}
	}
	document, err := im.listing.Document()
	if err != nil {
		return r, err
	}
	pin := im.newPin(tools, name, document)
	contracts, err := tools.File(&pin)
	if err != nil {
		return r, err
	}
	im.project.tools = true
	r.Report, r.Skills, err = im.addSkills(ctx, im.o.Options, &importedSkills{card: file, old: old, schemas: schemas,
		contracts: contracts, document: pin.Document, src: document, skills: tools.Skills(), ref: tools.Ref(), tag: name,
		handlers: func(out generator.Output, missing map[string]bool) ([]output.File, error) {
			return im.handlerFiles(out, tools, missing)
		}}, list)
	if err == nil {
		r.Env = tools.Env
	}
	return r, err
}

// readPin reads of which server a file with schemas was made. What is imported from a file is reached as before.
func (im *toolsImport) readPin(schemas string) error {
	src, err := im.ReadFile(schemas)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	pin, is := readToolsPin(src)
	if !is {
		return badArgument("%s is there already, and was not made by an import of tools: give the server another --name", schemas)
	}
	if pin.Title != im.listing.Title() && !im.sameServer(pin) {
		return badArgument("%s was made of the server %.60q, and this is %.60q: give it another --name", schemas, pin.Title, im.listing.Title())
	}
	if im.pin = pin; im.at.Nowhere() && pin.From != nil {
		im.at = *pin.From
	}
	return nil
}

// sameServer reports whether the listing is from where the one of the import before was.
func (im *toolsImport) sameServer(pin mcptools.Pin) bool {
	if im.at.Nowhere() {
		return im.inside(im.o.Target) == pin.Document
	}
	return pin.From != nil && pin.From.URL == im.at.URL && slices.Equal(pin.From.Command, im.at.Command)
}

// readToolsPin reads the pin in a file with schemas; is is false for any other file.
func readToolsPin(src []byte) (pin mcptools.Pin, is bool) {
	if !bytes.Contains(src, []byte(`"x-mcp"`)) {
		return pin, false
	}
	var file struct {
		Pin *mcptools.Pin `json:"x-mcp"`
	}
	if json.Unmarshal(src, &file) != nil || file.Pin == nil || output.CheckPath(file.Pin.Document) != nil {
		return pin, false
	}
	return *file.Pin, true
}

// tools are those that were asked for, and those that were imported before and whose skills are still in the card.
func (im *toolsImport) tools(schemas string, card []byte) []string {
	all := slices.Clone(im.o.Tools)
	for _, name := range im.pin.Tools {
		ref := contract.Ref(schemas, "tools")(contract.SkillID(name), "input")
		if !slices.Contains(all, name) && bytes.Contains(card, []byte(ref)) {
			all = append(all, name)
		}
	}
	return all
}

// newPin says what was imported.
func (im *toolsImport) newPin(tools *mcptools.Import, name string, document []byte) mcptools.Pin {
	pin := mcptools.Pin{Title: tools.Title, Document: path.Join(serversFolder, name+".tools.json"), Digest: output.Digest(document)}
	if !im.at.Nowhere() {
		pin.From = &im.at
	}
	for _, t := range tools.Tools {
		pin.Tools = append(pin.Tools, t.Name)
	}
	return pin
}

// handlerFiles are the handlers and tests of tools whose skills have none, and the file of their server.
func (im *toolsImport) handlerFiles(out generator.Output, tools *mcptools.Import, missing map[string]bool) ([]output.File, error) {
	m := scaffold.MCPServer{Name: tools.Name, Title: tools.Title, URL: tools.At.URL, URLEnv: tools.URLEnv, Command: tools.At.Command,
		Pass: tools.At.Env, Headers: tools.At.Headers, Env: tools.Env, InWeb: tools.At.HeaderVariables()}
	for _, t := range tools.Tools {
		if missing[t.Skill] {
			m.Calls = append(m.Calls, scaffold.MCPCall{Skill: t.Skill, Tool: t.Tool.Name, Again: t.Again})
		}
	}
	return scaffold.MCPFiles(im.scaffold(out), m)
}

// RemoteTools are the tools of a server, compared with those that the project has.
type RemoteTools struct {
	Server string `json:"server"` // its name in the project
	At     string `json:"at"`     // its URL, or its command
	// Changes are what is different with the tools that were imported.
	Changes []mcptools.Change `json:"changes"`
	// Problem is why they could not be compared, and what to do; "" if they were.
	Problem string `json:"problem,omitempty"`
	Again   string `json:"again,omitempty"` // the command that takes the changes over
}

// CheckTools asks the MCP servers of a project for their tools, and compares them with the listings that it keeps. Commands are started
// if start says so: they are programs of others. It writes nothing.
func CheckTools(ctx context.Context, o RemoteOptions, start bool) (list []RemoteTools, err error) {
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	files, err := p.Files(serversFolder)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		pin, is := readToolsPin(files[name])
		if !is || pin.From == nil {
			continue
		}
		r := RemoteTools{Server: importName(name), At: addressName(*pin.From), Changes: []mcptools.Change{}}
		if err := r.compare(ctx, p, pin, o, start); err != nil {
			r.Problem = reasonOf(err)
		}
		list = append(list, r)
	}
	return list, nil
}

// compare asks one server.
func (r *RemoteTools) compare(ctx context.Context, p *project, pin mcptools.Pin, o RemoteOptions, start bool) error {
	if len(pin.From.Command) > 0 && !start {
		return errors.New("it is a command, which is not started: --start-commands does")
	}
	src, err := p.ReadFile(pin.Document)
	if err != nil {
		return err
	}
	before, list := mcptools.Read(pin.Document, src)
	if list.HasErrors() {
		return &InvalidError{list}
	}
	said, err := listTools(ctx, *pin.From, o.AllowPrivate)
	if err != nil {
		return fmt.Errorf("%w; see that it runs, or leave out --remote", err)
	}
	now, _ := mcptools.Of(r.At, said)
	r.Changes = append(r.Changes, mcptools.Changes(before, now, pin.Tools)...)
	r.Again = "a2agen import mcp --name " + r.Server + " " + importTarget(*pin.From)
	return nil
}

// importTarget are the arguments that name a server.
func importTarget(at mcptools.Address) string {
	words := []string{}
	for _, name := range at.Env {
		words = append(words, "--env", name)
	}
	for _, name := range slices.Sorted(maps.Keys(at.Headers)) {
		words = append(words, "--header", shell.Word(name+": "+at.Headers[name]))
	}
	if at.URL != "" {
		return strings.Join(append(words, shell.Word(at.URL)), " ")
	}
	return strings.Join(append(append(words, "--"), shell.Words(at.Command)), " ")
}
