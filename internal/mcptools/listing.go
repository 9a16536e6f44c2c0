// Package mcptools reads the tools of MCP servers as skills: their listings, each tool with the JSON Schemas of its input
// and output, and what has changed between two of them.
//
// A listing is somebody else's. Only the tools that are chosen are looked at closely; sizes are bounded, nothing is
// fetched, and texts are data.
package mcptools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/schemadiff"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/internal/contract"
	"github.com/a2agen/a2agen/runtime/mcptools"
	"github.com/a2agen/a2agen/runtime/wire"
)

// MaxBytes is the size of the largest listing.
const MaxBytes = 16 << 20

// Listing is the answer of a server to tools/list.
type Listing struct {
	File   string // for messages
	Server Server
	Tools  []Tool

	src []byte
}

// Server is what a server says of itself.
type Server struct {
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"`
}

// Tool is a tool of a listing.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"inputSchema,omitempty"`
	Output      json.RawMessage `json:"outputSchema,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
	Execution   json.RawMessage `json:"execution,omitempty"`

	index int // in the listing that was read
}

// hints are what a server says of a tool's effects. They are hints.
type hints struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive *bool  `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
}

func (t *Tool) hints() (h hints) {
	_ = json.Unmarshal(t.Annotations, &h) // those of a wrong form say nothing
	return h
}

// onlyAsTask reports whether a tool is called as a task of MCP alone, which is followed by requests of its own.
func (t *Tool) onlyAsTask() bool {
	var e struct {
		TaskSupport string `json:"taskSupport"`
	}
	_ = json.Unmarshal(t.Execution, &e)
	return e.TaskSupport == "required"
}

// Read reads a listing: the result of tools/list, {"tools": [...]}; the whole message with it; or the bare list.
func Read(file string, src []byte) (*Listing, diag.List) {
	var list diag.List
	l := &Listing{File: file, src: src}
	text := bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))
	if bytes.HasPrefix(text, []byte("[")) {
		text = slices.Concat([]byte(`{"tools":`), text, []byte("}"))
	}
	if len(text) > MaxBytes {
		list.Errorf(diag.Pos{File: file}, "too-large", "",
			"the listing has %d bytes, more than the %d that are read", len(src), MaxBytes)
		return nil, list
	}
	if _, err := wire.ParseObject(text); err != nil {
		list.Errorf(diag.Pos{File: file}, "syntax", "", "the listing cannot be read: %v", err)
		return nil, list
	}
	type result struct {
		Tools  *[]json.RawMessage `json:"tools"`
		Server Server             `json:"serverInfo"`
	}
	var doc struct {
		result
		Result result `json:"result"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		list.Errorf(diag.Pos{File: file}, "syntax", "", "this is no answer to tools/list: %v", err)
		return nil, list
	}
	tools := cmp.Or(doc.Tools, doc.Result.Tools)
	if tools == nil {
		list.Errorf(diag.Pos{File: file}, "syntax", `write the result of tools/list: {"tools": [...]}`,
			"this is no answer to tools/list: it has no tools")
		return nil, list
	}
	l.Server = cmp.Or(doc.Server, doc.Result.Server)
	return l, append(list, l.read(*tools)...)
}

// Of makes a listing of what a server said. at names the server in messages.
func Of(at string, said mcptools.Listing) (*Listing, diag.List) {
	l := &Listing{File: at, Server: Server{Name: said.Name, Title: said.Title}}
	return l, l.read(said.Tools)
}

// read reads the tools. A tool that cannot be read has no name, and is an error when it is chosen.
func (l *Listing) read(tools []json.RawMessage) (list diag.List) {
	for i, src := range tools {
		t := Tool{index: i}
		if _, err := wire.ParseObject(src); err != nil {
			list.Errorf(l.pos(i), "syntax", "", "tool %d of the listing cannot be read: %v", i+1, err)
			continue
		}
		if err := json.Unmarshal(src, &t); err != nil {
			list.Warnf(l.pos(i), "syntax", "", "tool %d of the listing is left out: %v", i+1, err)
			continue
		}
		l.Tools = append(l.Tools, t)
	}
	slices.SortStableFunc(l.Tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// pos is where a tool is in the file.
func (l *Listing) pos(i int) diag.Pos {
	at := diag.Pos{File: l.File}
	if l.src == nil {
		return at
	}
	root, _ := yamlx.Parse(l.File, l.src)
	items := yamlx.Items(root)
	for _, in := range [][]string{{"tools"}, {"result", "tools"}} {
		n := root
		for _, step := range in {
			n = yamlx.Get(n, step)
		}
		items = append(items, yamlx.Items(n)...)
	}
	if i < len(items) {
		return yamlx.Pos(l.File, items[i])
	}
	return at
}

// Document is the listing as it is kept: sorted by the names of tools, with what describes them and nothing else, schemas
// as the server wrote them but for white space.
func (l *Listing) Document() ([]byte, error) {
	b := &bytes.Buffer{}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Server *Server `json:"serverInfo,omitempty"`
		Tools  []Tool  `json:"tools"`
	}{&l.Server, l.Tools})
	return b.Bytes(), err
}

// names are those of all tools.
func (l *Listing) names() (names []string) {
	for _, t := range l.Tools {
		names = append(names, t.Name)
	}
	return names
}

// Change is what is different between two listings.
type Change struct {
	Tool string `json:"tool"`
	What string `json:"what"` // "is gone", "its input schema changed", …
}

// String is the change in words.
func (c Change) String() string { return "tool " + strconv.Quote(c.Tool) + ": " + c.What }

// Changes are what is different with some of the tools. Members that stand in another order, and white space, are no
// difference.
func Changes(before, now *Listing, tools []string) (list []Change) {
	var budget schemadiff.Budget
	for _, name := range tools {
		is := func(t Tool) bool { return t.Name == name }
		i, j := slices.IndexFunc(before.Tools, is), slices.IndexFunc(now.Tools, is)
		if i < 0 {
			continue // then the file was edited, which is told otherwise
		}
		if j < 0 {
			list = append(list, Change{name, "it is gone"})
			continue
		}
		a, b := before.Tools[i], now.Tools[j]
		for _, c := range []struct {
			what string
			same bool
		}{
			{"its input schema changed" + effect(&budget, a.Input, b.Input), same(a.Input, b.Input)},
			{"its output schema changed" + effect(&budget, b.Output, a.Output), same(a.Output, b.Output)},
			{"its description changed", a.Description == b.Description && a.Title == b.Title},
			{"what it says of its effects changed", same(a.Annotations, b.Annotations)},
		} {
			if !c.same {
				list = append(list, Change{name, c.what})
			}
		}
	}
	return list
}

// maxReasons is how many reasons a change of a schema is told with.
const maxReasons = 3

// effect says what a change of a schema does: why values that fit from may not fit to, those that are sent or that come back.
func effect(budget *schemadiff.Budget, from, to json.RawMessage) string {
	if len(from) == 0 || len(to) == 0 || same(from, to) {
		return ""
	}
	reasons, err := budget.Narrowed(from, to)
	if err != nil {
		return ""
	}
	var told []string
	for _, r := range reasons {
		if !r.Sure || r.Undeclared {
			continue
		}
		what := cmp.Or(r.Path, "the whole") + ": " + r.Keyword
		if r.To != "" {
			what += " " + contract.OneLine(r.To, 60)
		}
		told = append(told, what)
	}
	switch {
	case len(reasons) == 0:
		return ", and contracts of before still fit"
	case len(told) == 0:
		return ""
	case len(told) > maxReasons:
		told = append(told[:maxReasons], "…")
	}
	return ", and contracts of before no longer fit (" + strings.Join(told, "; ") + ")"
}

// same compares two texts of JSON.
func same(a, b json.RawMessage) bool {
	normal := func(src json.RawMessage) string {
		if len(src) == 0 {
			return ""
		}
		dec := json.NewDecoder(bytes.NewReader(src))
		dec.UseNumber()
		var v any
		if dec.Decode(&v) != nil {
			return string(src)
		}
		sorted, _ := json.Marshal(v) // of decoded JSON
		return string(sorted)
	}
	return normal(a) == normal(b)
}
