package mcptools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/internal/contract"
	"github.com/a2agen/a2agen/runtime/mcptools"
)

// MaxTools is how many tools are imported at once: a model that is offered hundreds of tools uses none well.
const MaxTools = 30

// Request says what of a listing is imported, and what it becomes.
type Request struct {
	Tools      []string // names; none: all, if they are not too many
	Name       string   // of the server in the project, as by [Listing.APIName]
	SchemaFile string   // the path of the file with the schemas in the project
	At         Address
}

// Address says how handlers reach a server: by a URL, or a command. Without either the environment has to say.
type Address struct {
	URL     string            `json:"url,omitempty"`
	Command []string          `json:"command,omitempty"`
	Env     []string          `json:"env,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Pin says of which listing a file with schemas was made.
type Pin struct {
	Title    string   `json:"title"`    // of the server
	Document string   `json:"document"` // the path of the listing in the project
	Digest   string   `json:"digest"`
	From     *Address `json:"from,omitempty"` // nil: a file
	Tools    []string `json:"tools"`          // that were imported
}

// Import is what became of the chosen tools.
type Import struct {
	Name   string // of the server in the project: "github"
	Title  string // for messages
	URLEnv string // the variable that says where the server is
	At     Address
	Tools  []*Imported
	// Env are the variables that must be set before tools work.
	Env []string

	file string // with the schemas
}

// Imported is a tool as a skill.
type Imported struct {
	Tool
	Skill string // the skill's id, made of the name
	Again bool   // it may be called twice

	contracts map[string][]byte // "input", "output": as the server wrote them, with marks of ours
}

// APIName is the name of the server in a project: the one that is given, else one made of what it calls itself.
func (l *Listing) APIName(given string) string {
	return cmp.Or(given, contract.APIName(l.Server.Name), contract.APIName(l.Server.Title), "tools")
}

// Title is what the server is called for people.
func (l *Listing) Title() string {
	return cmp.Or(contract.OneLine(l.Server.Title, 60), contract.OneLine(l.Server.Name, 60), "The server")
}

// Import reads the chosen tools. With errors in the list nothing must be written.
func (l *Listing) Import(q Request) (*Import, diag.List) {
	chosen, list := l.choose(q.Tools)
	if list.HasErrors() {
		return nil, list
	}
	im := &Import{Name: q.Name, Title: l.Title(), URLEnv: contract.EnvName(q.Name, "URL"), At: q.At, file: q.SchemaFile}
	im.Env = im.variables()
	for _, t := range chosen {
		tool, problems := l.tool(t)
		if len(q.Tools) == 0 && problems.HasErrors() { // nobody asked for this one
			list.Add(warnings(problems)...)
			continue
		}
		list.Add(problems...)
		im.Tools = append(im.Tools, tool)
	}
	list.Add(l.sameSkills(im.Tools)...)
	if len(im.Tools) == 0 && !list.HasErrors() {
		list.Errorf(diag.Pos{File: l.File}, "no-tool", "", "no tool of the server can be a skill")
	}
	if list.HasErrors() {
		return nil, list
	}
	list.Add(contract.Repair(q.SchemaFile, im, "import fewer tools at once")...)
	return im, list
}

// choose returns the tools with these names.
func (l *Listing) choose(names []string) (chosen []Tool, list diag.List) {
	if len(names) == 0 && len(l.Tools) <= MaxTools {
		names = slices.Compact(l.names())
	}
	for _, name := range names {
		var same []Tool
		for _, t := range l.Tools {
			if t.Name == name {
				same = append(same, t)
			}
		}
		switch {
		case len(same) == 0:
			list.Errorf(diag.Pos{File: l.File}, "no-tool", suggest.Key(name, l.names()), "no tool is called %.100q", name)
		case len(same) > 1:
			list.Errorf(l.pos(same[1].index), "duplicate", "leave it out", "several tools are called %.100q", name)
		case !slices.ContainsFunc(chosen, func(t Tool) bool { return t.Name == name }):
			chosen = append(chosen, same[0])
		}
	}
	switch {
	case list.HasErrors():
	case len(l.Tools) == 0:
		list.Errorf(diag.Pos{File: l.File}, "no-tool", "", "the server has no tools")
	case len(chosen) == 0:
		list.Errorf(diag.Pos{File: l.File}, "no-tool", "", "say which tools to import, by --tool: there are %d%s", len(l.Tools), l.some())
	case len(chosen) > MaxTools:
		list.Errorf(diag.Pos{File: l.File}, "too-many", "name those that you need by --tool",
			"that are %d tools, more than %d", len(chosen), MaxTools)
	}
	return chosen, list
}

// warnings are problems of a tool that is left out for them.
func warnings(problems diag.List) (list diag.List) {
	for _, p := range problems {
		if p.Severity == diag.Error {
			p.Severity, p.Hint = diag.Warning, "it is left out"
			list = append(list, p)
		}
	}
	return list
}

// some names the first tools.
func (l *Listing) some() string {
	names := l.names()
	s := ": " + contract.OneLine(strings.Join(names[:min(len(names), 10)], ", "), 500)
	if len(names) > 10 {
		s += ", …"
	}
	return s
}

// variables are those of the environment that must be set.
func (im *Import) variables() (names []string) {
	need := func(more ...string) {
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if im.At.Nowhere() {
		need(im.URLEnv)
	}
	need(im.At.Env...)
	for _, arg := range im.At.Command {
		need(mcptools.Variables(arg)...)
	}
	need(im.At.HeaderVariables()...)
	return names
}

// Nowhere reports whether it says neither a URL nor a command.
func (a Address) Nowhere() bool { return a.URL == "" && len(a.Command) == 0 }

// HeaderVariables are the variables of the environment that headers are made of.
func (a Address) HeaderVariables() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		names = append(names, mcptools.Variables(a.Headers[name])...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// tool reads a tool as a skill.
func (l *Listing) tool(t Tool) (*Imported, diag.List) {
	var list diag.List
	h := t.hints()
	im := &Imported{Tool: t, Skill: contract.SkillID(t.Name), Again: h.ReadOnly || h.Idempotent, contracts: map[string][]byte{}}
	im.Title = cmp.Or(contract.OneLine(t.Title, 100), contract.OneLine(h.Title, 100), contract.Humanized(im.Skill))
	if im.Input == nil {
		list.Errorf(l.pos(t.index), "no-schema", "leave it out", "tool %.100q has no inputSchema", t.Name)
	}
	if t.onlyAsTask() {
		list.Errorf(l.pos(t.index), "unsupported", "leave it out", "tool %.100q can be called as a task of MCP only", t.Name)
	}
	for _, side := range []string{"input", "output"} {
		schema := map[string]json.RawMessage{"input": t.Input, "output": t.Output}[side]
		if len(schema) == 0 || string(schema) == "null" {
			continue
		}
		text, err := prepared(schema, im.Skill+"/"+side)
		if err != nil {
			list.Errorf(l.pos(t.index), "unsupported", "leave it out", "tool %.100q: its %s schema %v", t.Name, side, err)
			continue
		}
		im.contracts[side] = text
	}
	if h.Destructive != nil && *h.Destructive && !h.ReadOnly {
		list.Warnf(l.pos(t.index), "destructive", "say in the card who may call it",
			"tool %.100q destroys something, by its own word", t.Name)
	}
	return im, list
}

// sameSkills reports tools that would be one skill.
func (l *Listing) sameSkills(tools []*Imported) (list diag.List) {
	first := map[string]*Imported{}
	for _, t := range tools {
		id := strings.ToLower(t.Skill)
		switch before := first[id]; {
		case id == "":
			list.Errorf(l.pos(t.index), "no-name", "leave it out", "tool %.100q has no name for a skill", t.Name)
		case before != nil:
			list.Errorf(l.pos(t.index), "duplicate", "import one of them",
				"tools %.100q and %.100q would both be the skill %q", before.Name, t.Name, t.Skill)
		default:
			first[id] = t
		}
	}
	return list
}

// Skills are the tools as skills, for [contract.AddSkills].
func (im *Import) Skills() (list []contract.Skill) {
	for _, t := range im.Tools {
		s := contract.Skill{ID: t.Skill, Name: t.Title, Description: cmp.Or(strings.TrimSpace(t.Description), t.Title),
			Tags: []string{im.Name}, Output: t.contracts["output"] != nil, Of: "tool " + t.Name}
		switch h := t.hints(); {
		case h.ReadOnly:
			s.Tags = append(s.Tags, "read-only")
		case h.Destructive != nil && *h.Destructive:
			s.Tags = append(s.Tags, "destructive")
		}
		list = append(list, s)
	}
	return list
}

// Ref names the contracts.
func (im *Import) Ref() contract.Reference { return contract.Ref(im.file, tools) }

// tools is the member of the file with the schemas that has the contracts.
const tools = "tools"

// Source implements [contract.Schemas].
func (im *Import) Source() (src []byte, refs []string, err error) {
	ref := im.Ref()
	for _, t := range im.Tools {
		for _, side := range slices.Sorted(maps.Keys(t.contracts)) {
			refs = append(refs, ref(t.Skill, side))
		}
	}
	src, err = im.File(nil)
	return src, refs, err
}

// File returns the text of the file with the schemas. pin says which listing it was made of.
func (im *Import) File(pin *Pin) ([]byte, error) {
	contracts := map[string]map[string]json.RawMessage{}
	for _, t := range im.Tools {
		contracts[t.Skill] = map[string]json.RawMessage{}
		for side, text := range t.contracts {
			contracts[t.Skill][side] = text
		}
	}
	b := &bytes.Buffer{}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Schema     string                                `json:"$schema"`
		ThirdParty bool                                  `json:"x-third-party"`
		Tools      map[string]map[string]json.RawMessage `json:"tools"`
		Pin        *Pin                                  `json:"x-mcp,omitempty"`
	}{"https://json-schema.org/draft/2020-12/schema", true, contracts, pin})
	return b.Bytes(), err
}

// MakeRaw implements [contract.Schemas]: it marks the schema, which stays as it is otherwise.
func (im *Import) MakeRaw(path []string) error {
	if len(path) < 3 || path[0] != tools {
		return fmt.Errorf("%v is no contract", path)
	}
	for _, t := range im.Tools {
		if text := t.contracts[path[2]]; t.Skill == path[1] && text != nil {
			marked, err := insert(text, path[3:], `"x-go":"raw"`)
			if err == nil {
				t.contracts[path[2]] = marked
			}
			return err
		}
	}
	return fmt.Errorf("%v is not there", path)
}

// identity is the $id of a contract: references inside begin at its own root.
func identity(of string) string {
	id, _ := json.Marshal("mcp:" + url.PathEscape(of))
	return `"$id":` + string(id)
}
