package scaffold

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/output"
)

// MCPServer is a server of tools that handlers call.
type MCPServer struct {
	Name    string // "github"
	Title   string // for people
	URL     string // "" for a command, or if nobody knows
	URLEnv  string
	Command []string
	Pass    []string // variables of the environment that the command gets
	Headers map[string]string
	Env     []string // variables that must be set
	InWeb   []string // those of them that requests over HTTP need
	Calls   []MCPCall
}

// MCPCall is a tool that is a skill.
type MCPCall struct {
	Skill string // its id
	Tool  string
	Again bool // calling it twice does no harm
}

// mcpView is what the templates say of a server.
type mcpView struct {
	Var, Title, URLEnv                   string
	QuotedTitle, QuotedURL, QuotedURLEnv string
	Nowhere                              bool     // the environment alone says where it is
	Command, Pass                        string   // items of a list, quoted
	Headers                              []string // members of a map
	Env                                  []string
}

// mcpFileView is the input of the template of a server's file.
type mcpFileView struct {
	packages
	Server mcpView
}

// mcpSkillView is the input of the templates of a handler that calls a tool, and of its test.
type mcpSkillView struct {
	*skillView
	Server     mcpView
	ToolName   string // in a comment
	QuotedTool string
	Again      bool
	OutName    string   // the output's type
	AnswerJSON string   // what the tool gives in the test, quoted
	TestEnv    []string // variables that the test sets
}

// MCPFiles renders the file of a server and, for each of its tools, a handler with its test.
func MCPFiles(p Project, m MCPServer) ([]output.File, error) {
	ps := newPackages(p)
	view := mcpView{Var: lowerCamel(m.Name) + "MCP", Title: inComment(m.Title), URLEnv: m.URLEnv, Env: m.Env,
		QuotedTitle: strconv.QuoteToASCII(m.Title), QuotedURLEnv: strconv.Quote(m.URLEnv),
		Nowhere: m.URL == "" && len(m.Command) == 0, Command: quotedList(m.Command), Pass: quotedList(m.Pass)}
	if m.URL != "" {
		view.QuotedURL = strconv.QuoteToASCII(m.URL)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		view.Headers = append(view.Headers, strconv.QuoteToASCII(name)+": "+strconv.QuoteToASCII(m.Headers[name]))
	}
	var r renderer
	r.add(path.Join(p.Packages.Skills, m.Name+"_mcp.go"), "mcp.go.tmpl", mcpFileView{ps, view})
	for _, c := range m.Calls {
		s, err := p.skill(c.Skill)
		if err != nil {
			return nil, err
		}
		v := &mcpSkillView{skillView: newSkillView(ps, s), Server: view, ToolName: strconv.QuoteToASCII(c.Tool),
			QuotedTool: strconv.QuoteToASCII(c.Tool), Again: c.Again, TestEnv: m.InWeb}
		v.OutName, v.AnswerJSON = v.calledOutput(s)
		files := StubFiles(p.Packages.Skills, s)
		r.add(files[0], "mcp_skill.go.tmpl", v)
		r.add(files[1], "mcp_skill_test.go.tmpl", v)
	}
	return r.files, r.err
}

// quotedList are the items of a list of strings in Go.
func quotedList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.QuoteToASCII(s)
	}
	return strings.Join(quoted, ", ")
}
