// Package card reads the agent card a user writes (agent.yaml) and cards that others wrote, of any version of A2A.
//
// [Read] is for agent.yaml: it refuses everything that is not right, all at once, with positions. [Import] is for cards
// that come from elsewhere: it converts 0.1, 0.2 and 0.3 shapes to 1.0 and keeps what can be kept. [Scaffold] writes a
// fresh agent.yaml.
package card

import (
	"encoding/json"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
)

// SchemaPath is where the JSON Schema of agent.yaml lies in a project, slash-separated and relative to it; the first
// line of a scaffolded agent.yaml names it, so that editors complete the file without a network.
const SchemaPath = ".a2agen/agent.schema.json"

// JSONSchema returns the JSON Schema of agent.yaml (draft-07).
func JSONSchema() []byte { return shape.JSONSchema(agentCard, "agent.yaml") }

// Card is an agent card in 1.0 terms, with the contract of its skills.
type Card struct {
	File        string
	Name        string
	Description string
	Version     string
	Skills      []*Skill
	// Root is the card as a tree of the 1.0 shape, without defaults filled in. It belongs to the card.
	Root *yaml.Node
	// Extended: the card declares the a2agen extension, so its agent can be called by skill. Always true for the user's own.
	Extended bool
	// Origin is the dialect of an imported card, "0.1" to "1.0"; empty for the user's own.
	Origin string
	// Interfaces are where an imported card says that its agent is, in its order, also over bindings that nobody here knows.
	Interfaces []runtime.Interface
	// lists: an imported card has security requirements as a2a-go reads them.
	lists bool
	// Repeats is for how long the agent promises to know a message by its idempotency key; 0: it promises nothing.
	Repeats time.Duration
	// Hides: callers who say who they are get a card that says more, if they have the ExtendedScopes.
	Hides bool
	// Extensions are those that the user's own card declares.
	Extensions     []Declared
	ExtendedScopes []string
}

// Skill is one skill of a card. InputModes and OutputModes are those in force: the skill's own, else the card's.
type Skill struct {
	ID, Name, Description   string
	Tags, Examples          []string
	InputModes, OutputModes []string
	Input, Output           *schema.Root // nil without a schema
	Timeout                 time.Duration
	MaxConcurrent           int  // 0: unlimited
	Retry                   bool // onCrash is retry
	Default                 bool // it takes plain text that fits no skill
	Hidden                  bool // from callers who do not say who they are
	Pos                     diag.Pos
	// Convention is how an imported card, or its user, says that the skill is called; zero: as the runtime finds it.
	Convention ir.Convention
	// Published are the schemas of an imported card as it has them, also those that cannot be compiled; nil for none.
	Published Contract
	node      *yaml.Node
}

// Contract is the schemas of a skill's input and output.
type Contract struct{ Input, Output json.RawMessage }

// DefaultVersion is the version of a card that names none.
const DefaultVersion = "0.1.0"

// DefaultModes are the media types of a card that names none.
func DefaultModes() []string { return []string{"text/plain", "application/json"} }

// Read reads agent.yaml. open reads the schema files it names; their paths are slash-separated, relative to the project
// and stay inside it. The card is nil only when the file is not a map; with errors in the list it is incomplete.
func Read(file string, src []byte, open func(string) ([]byte, error)) (*Card, diag.List) {
	root, list := yamlx.Parse(file, src)
	if root == nil {
		return nil, list
	}
	c := &shape.Checker{File: file, List: list}
	c.Check(root, agentCard)
	if root.Kind != yaml.MappingNode {
		c.List.Sort()
		return nil, c.List
	}
	checkCard(c, root)
	card := fill(c, root)
	card.Extended = true
	card.compile(c, open, false)
	card.readExtensions(c, open)
	c.List.Sort()
	return card, c.List
}

// fill copies the tree into a Card. Values of a wrong type, which are reported, stay empty.
func fill(c *shape.Checker, root *yaml.Node) *Card {
	card := &Card{
		File: c.File, Root: root,
		Name:        yamlx.Text(yamlx.Get(root, "name")),
		Description: yamlx.Text(yamlx.Get(root, "description")),
		Version:     orElse(yamlx.Text(yamlx.Get(root, "version")), DefaultVersion),
	}
	in := modesOr(yamlx.Get(root, "defaultInputModes"), DefaultModes())
	out := modesOr(yamlx.Get(root, "defaultOutputModes"), DefaultModes())
	ids := map[string]bool{}
	for _, n := range yamlx.Items(yamlx.Get(root, "skills")) {
		id := yamlx.Text(yamlx.Get(n, "id"))
		if id == "" || ids[id] {
			continue // reported by the checks
		}
		ids[id] = true
		s := fillSkill(n, id)
		s.Pos = yamlx.Pos(c.File, n)
		s.InputModes = modesOr(yamlx.Get(n, "inputModes"), in)
		s.OutputModes = modesOr(yamlx.Get(n, "outputModes"), out)
		card.Skills = append(card.Skills, s)
	}
	more := yamlx.Get(root, "extended")
	card.Hides, card.ExtendedScopes = more != nil, yamlx.Texts(yamlx.Get(more, "scopes"))
	hidden := yamlx.Texts(yamlx.Get(more, "skills"))
	for _, s := range card.Skills {
		s.Hidden = slices.Contains(hidden, s.ID)
	}
	return card
}

// interfacesOf returns the interfaces of a card of 1.0, in its order.
func interfacesOf(root *yaml.Node) (list []runtime.Interface) {
	for _, n := range yamlx.Items(yamlx.Get(root, "supportedInterfaces")) {
		text := func(key string) string { return yamlx.Text(yamlx.Get(n, key)) }
		i := runtime.Interface{URL: text("url"), Binding: text("protocolBinding"), Tenant: text("tenant"), Version: text("protocolVersion")}
		if i.URL != "" {
			list = append(list, i)
		}
	}
	return list
}

// Public returns a copy of the card's tree as A2A 1.0 publishes it, with the skills that it lists: keys in a fixed
// order, without the contracts and settings that only agent.yaml has, and without defaults. The caller owns the copy.
func (card *Card) Public() (n *yaml.Node, skills []*Skill) {
	n, skills = card.whole()
	yamlx.Take(n, "extended")
	list := yamlx.Get(n, "skills")
	if card.Hides && list != nil {
		nodes, all := list.Content, skills
		list.Content, skills = nil, nil
		for i, s := range all {
			if !s.Hidden {
				list.Content, skills = append(list.Content, nodes[i]), append(skills, s)
			}
		}
	}
	return n, skills
}

// Private is Public for authenticated callers: with all skills, and with the texts that only they see.
func (card *Card) Private() (n *yaml.Node, skills []*Skill) {
	n, skills = card.whole()
	_, more := yamlx.Take(n, "extended")
	for key, v := range yamlx.Pairs(more) {
		if key.Value != "skills" && key.Value != "scopes" {
			yamlx.Set(n, key.Value, v)
		}
	}
	return shape.Ordered(n, agentCard), skills
}

// whole returns a copy of the tree without the contracts and settings of the skills, and the skills.
func (card *Card) whole() (*yaml.Node, []*Skill) {
	n := shape.Ordered(yamlx.Copy(card.Root), agentCard)
	for _, s := range yamlx.Items(yamlx.Get(n, "skills")) {
		drop(s, "input", "output", "timeout", "maxConcurrent", "onCrash", "default")
	}
	for _, x := range yamlx.Items(yamlx.Get(yamlx.Get(n, "capabilities"), "extensions")) {
		drop(x, "name", "key", "always", "methods", "carries")
	}
	return n, card.Skills
}

// Order returns a copy of a tree of [Card.Public], to which keys were added, with its keys in the fixed order.
func (card *Card) Order(n *yaml.Node) *yaml.Node { return shape.Ordered(n, agentCard) }

func fillSkill(n *yaml.Node, id string) *Skill {
	s := &Skill{
		ID: id, node: n,
		Name:        orElse(yamlx.Text(yamlx.Get(n, "name")), inWords(id)),
		Description: yamlx.Text(yamlx.Get(n, "description")),
		Tags:        yamlx.Texts(yamlx.Get(n, "tags")),
		Examples:    yamlx.Texts(yamlx.Get(n, "examples")),
	}
	s.Timeout, _ = time.ParseDuration(yamlx.Text(yamlx.Get(n, "timeout")))
	s.MaxConcurrent = yamlx.Int(yamlx.Get(n, "maxConcurrent"))
	s.Default = yamlx.IsTrue(yamlx.Get(n, "default"))
	s.Retry = yamlx.Text(yamlx.Get(n, "onCrash")) == "retry"
	return s
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func modesOr(n *yaml.Node, otherwise []string) []string {
	if ss := yamlx.Texts(n); len(ss) > 0 {
		return ss
	}
	return otherwise
}
