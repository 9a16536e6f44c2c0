package catalog

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// maxListed is how many agents are taken from one list.
const maxListed = 500

// cardType is the media type of agent cards in lists.
const cardType = "application/a2a-agent-card+json"

// Listed is an agent in a list that somebody publishes: its card, or where it is.
type Listed struct {
	ID   string
	URL  string // absolute; "" if the card is in the list
	Card json.RawMessage
}

// List is a list of agents in the form of an AI Catalog (https://ai-catalog.io), which A2A proposes for
// /.well-known/ai-catalog.json.
type List struct {
	Agents []Listed
	// Others is how many entries are no agent cards: servers of MCP, lists inside the list.
	Others int
}

// ReadList reads a list that was found at a URL, or in a file if from is no URL. is is false for a document that is no
// list, such as a card.
func ReadList(from string, src []byte) (list List, is bool, err error) {
	var doc struct {
		SpecVersion *string `json:"specVersion"`
		Entries     []struct {
			Identifier string          `json:"identifier"`
			Type       string          `json:"type"`
			MediaType  string          `json:"mediaType"` // the name of "type" in earlier drafts
			URL        string          `json:"url"`
			Data       json.RawMessage `json:"data"`
		} `json:"entries"`
	}
	if json.Unmarshal(src, &doc) != nil || doc.SpecVersion == nil || doc.Entries == nil {
		return List{}, false, nil
	}
	if major, _, _ := strings.Cut(*doc.SpecVersion, "."); major != "1" {
		return List{}, true, fmt.Errorf("the list is of version %.20q of AI Catalog, and only 1 is known", *doc.SpecVersion)
	}
	base, err := url.Parse(from)
	if err != nil {
		return List{}, true, fmt.Errorf("read the list: %w", err)
	}
	for _, e := range doc.Entries {
		if e.Type != cardType && e.MediaType != cardType {
			list.Others++
			continue
		}
		if len(list.Agents) == maxListed {
			return List{}, true, fmt.Errorf("the list has more than %d agents", maxListed)
		}
		agent := Listed{ID: e.Identifier, Card: e.Data}
		if e.URL != "" {
			u, err := base.Parse(e.URL)
			if err != nil || !strings.HasPrefix(u.Scheme, "http") {
				return List{}, true, fmt.Errorf("the list says that %.80q is at %.200q, which is no http or https URL",
					e.Identifier, e.URL)
			}
			agent.URL, agent.Card = u.String(), nil
		}
		list.Agents = append(list.Agents, agent)
	}
	return list, true, nil
}
