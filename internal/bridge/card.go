package bridge

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/project/remote"
	"github.com/a2agen/a2agen/internal/talk"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/mcp"
)

// readCard reads the card of an agent: what it shows to this caller, else what it publishes, as it stands there.
func readCard(ctx context.Context, agent *talk.Agent, url string, limits remote.Options) (*card.Card, error) {
	if agent.Card != nil {
		return importCard(url, agent.Card)
	}
	src, info, err := remote.Fetch(ctx, url, limits)
	if err != nil { // such as a card that is only for callers with credentials, which the client has read
		return importCard(url, agent.Client.Card().Generated())
	}
	return parse(cmp.Or(info.URL, info.File), src)
}

// importCard reads a card that the client has.
func importCard(url string, generated any) (*card.Card, error) {
	p := a2awires.Protocol()
	src, err := p.Versions[0].AppendCard(nil, p.Card(generated))
	if err != nil {
		return nil, fmt.Errorf("the card of %s: %w", url, err)
	}
	return parse(url, src)
}

func parse(name string, src []byte) (*card.Card, error) {
	c, list := card.Import(name, src)
	if c != nil && !list.HasErrors() {
		return c, nil
	}
	var text strings.Builder
	_ = list.WriteText(&text) // a Builder takes everything
	return nil, fmt.Errorf("the card cannot be read:\n%s", strings.TrimSpace(text.String()))
}

// skillsOf are the skills of a card, with the schemas that it has, also those that are no schemas for types. A card
// without skills is one that takes a text.
func skillsOf(c *card.Card) (list []mcp.Skill) {
	for _, s := range c.Skills {
		list = append(list, mcp.Skill{
			ID: s.ID, Name: s.Name, Description: s.Description, Examples: s.Examples,
			Input: s.Published.Input, Output: s.Published.Output, By: convention(c, s),
		})
	}
	if len(list) == 0 {
		list = append(list, mcp.Skill{Name: c.Name, Description: c.Description})
	}
	return list
}

// convention is how a message calls a skill; nil: as the client finds it.
func convention(c *card.Card, s *card.Skill) rpc.Convention {
	switch by := lower.Convention(c, s); {
	case by.Func == "ByJSONText":
		return rpc.ByJSONText
	case by.Func == "ByInvocation" && len(by.Args) == 1:
		return rpc.ByInvocation(by.Args[0])
	case by.Func == "ByContract" && len(by.Args) == 4:
		return rpc.ByContract(by.Args[0], by.Args[1], by.Args[2], by.Args[3])
	}
	return nil
}
