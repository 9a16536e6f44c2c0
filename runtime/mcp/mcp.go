// Package mcp offers the skills of an agent as tools of the Model Context Protocol (MCP), so that a host which knows
// nothing of A2A can call them. It is an MCP server in front of an A2A client: the agent may be in the same process, or
// any agent that has a card.
//
// What becomes what:
//
//	skill                    tool, with the schemas of the card as they are
//	progress, text artifact  notifications/progress, if the request has a token
//	result                   structuredContent where the skill has an output schema, and text
//	file                     image, audio or embedded resource; a link where the agent sent a URL
//	question                 elicitation; what no flat form can have is one text field of JSON
//	failed, rejected         a result that is an error (isError), in words for a model
//	notifications/cancelled  CancelTask; a connection that breaks cancels nothing
//
// A server keeps nothing of a call between two requests: an open question is a task of the agent, and the state that
// clients of MCP 2026-07-28 send back names it ([rpc.InputRequiredError.Token]). It is not secret and not sealed: the
// agent checks who may answer, as it does over A2A. docs/models-and-tools.md says what is lost on the way.
package mcp

import (
	"cmp"
	"encoding/json"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/tool"
)

// Heartbeat is how often a call says that it goes on while the agent says nothing: many clients give up after a minute
// of silence.
const Heartbeat = 15 * time.Second

// Skill is a skill of the agent, as its card has it.
type Skill struct {
	ID                string // "" lets the agent choose the skill
	Name, Description string
	Examples          []string
	Input, Output     json.RawMessage // JSON Schemas; nil: a text in, and out what the agent answers
	By                rpc.Convention  // how a message calls the skill; nil: as the agent's card has it
}

// Options say what a server offers, and by which client it calls the agent.
type Options struct {
	Name, Version string // of the agent
	Description   string // of the agent, for models; "" without
	Skills        []Skill
	Client        *rpc.Client
	Protocol      *runtime.Protocol // of the client
	// CallOptions returns the options of all calls of the agent that a request leads to, such as its caller's
	// credentials; nil: there are none.
	CallOptions func(*sdk.CallToolRequest) []rpc.CallOption
	// Failed is told of each call of a tool that came to an error, with what a model is not told, such as which credential
	// is missing; nil: nobody is. It must be safe for concurrent use.
	Failed    func(tool string, err error)
	Heartbeat time.Duration // 0 is [Heartbeat]
}

// NewServer returns a server whose tools are the skills. It has nothing else: no prompts, no resources. A schema that is
// no schema of a tool, which only a stranger's card has, is left out: such a tool takes any object, and its result is
// text.
func NewServer(o Options) *sdk.Server {
	o.Heartbeat = cmp.Or(o.Heartbeat, Heartbeat)
	s := sdk.NewServer(&sdk.Implementation{Name: cmp.Or(o.Name, "agent"), Version: o.Version}, &sdk.ServerOptions{
		Instructions: o.Description,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	ids := make([]string, len(o.Skills))
	for i, skill := range o.Skills {
		ids[i] = cmp.Or(skill.ID, "ask")
	}
	for i, name := range tool.Names(ids...) {
		if t := newTool(&o, &o.Skills[i], name); !added(s, t) {
			t.withoutSchemas()
			s.AddTool(t.listed, t.call)
		}
	}
	return s
}

// added adds a tool. It reports false if the SDK does not take the schemas, which panics.
func added(s *sdk.Server, t *skillTool) (ok bool) {
	defer func() { ok = recover() == nil }()
	s.AddTool(t.listed, t.call)
	return true
}
