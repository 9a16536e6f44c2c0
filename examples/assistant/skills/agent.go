// Package skills is the assistant's own code: a conversation between a person, a language model and its tools.
package skills

import (
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/tool"

	"example.com/assistant/agent"
	"example.com/assistant/agent/tools"
	"example.com/assistant/client/weather"
)

// Agent answers the skills of the card.
type Agent struct {
	agent.Clients // a.Weather

	model *Model
	own   []tool.Tool // this agent's skills that the model may call
}

// New makes the agent. NewServer makes its clients, and UseOwn its own tools.
func New(m *Model) *Agent { return &Agent{model: m} }

// UseOwn lets the model call this agent's own skills, which srv serves: all but the one that asks the model.
func (a *Agent) UseOwn(srv *server.Server) error {
	all, err := tools.New(srv)
	for _, t := range all {
		if t.Name != "ask" {
			a.own = append(a.own, t)
		}
	}
	return err
}

// tools are those that the model may call.
func (a *Agent) tools() []tool.Tool { return tool.Join(a.own, weather.Tools(a.Weather)) }

var _ agent.Skills = (*Agent)(nil)
