package config

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// ContractFile is the name of the file beside a client's code in which its user says what its card does not.
const ContractFile = "contract.yaml"

// Contract is what the user of somebody else's agent knows of its skills.
type Contract struct {
	Call   string // the word of one of [Conventions], for skills that do not say; "" is what the card says
	Skills []SkillContract
}

// SkillContract is what the user knows of one skill.
type SkillContract struct {
	ID            string
	Call          string     // as that of the contract
	Input, Output *yaml.Node // a schema, or the name of a file that holds one; nil without
	File          string     // in which it stands
	Pos           diag.Pos
}

// Convention is a way in which a message calls a skill.
type Convention struct {
	Word string // in a2agen.yaml
	Func string // of the runtime's client
	Data bool   // only an input with a schema can be sent so
	Doc  string
}

// Conventions are those that a2agen.yaml knows.
var Conventions = []Convention{
	{"extension", "ByExtension", false, "the skills extension of a2agen"},
	{"skillId", "BySkillID", false, "the metadata member skillId"},
	{"parameters", "ByParameters", true, "a data part with skill and parameters"},
	{"json-text", "ByJSONText", true, "JSON in a text part, with skillId"},
	{"unnamed", "Unnamed", false, "nothing names the skill"},
}

// conventionWords are their words, and conventionsInWords what they mean.
func conventionWords() (words []string) {
	for _, c := range Conventions {
		words = append(words, c.Word)
	}
	return words
}

func conventionsInWords() (text string) {
	for i, c := range Conventions {
		if i > 0 {
			text += "; "
		}
		text += c.Word + ": " + c.Doc
	}
	return text
}

// ConventionOf returns the convention of a word; the zero value for none.
func ConventionOf(word string) Convention {
	if i := slices.IndexFunc(Conventions, func(c Convention) bool { return c.Word == word }); i >= 0 {
		return Conventions[i]
	}
	return Convention{}
}

func contractFields() []*shape.Field {
	call := &shape.Type{Kind: shape.Text, Choices: conventionWords()}
	skill := &shape.Object{
		Name: "skill contract", Doc: "A skill of another agent, as its user knows it.",
		Fields: []*shape.Field{
			{Key: "input", Type: &shape.Type{Kind: shape.Schema}, Default: "that of the card; else text",
				Doc: "The input: a JSON Schema, or the name of a file that holds one."},
			{Key: "output", Type: &shape.Type{Kind: shape.Schema}, Default: "that of the card; else whatever comes",
				Doc: "The output: a JSON Schema, or the name of a file that holds one."},
			{Key: "call", Type: call, Doc: "How a message calls the skill.", Default: "that of the client"},
		},
		Foreign: map[string]string{"inputSchema": "write input", "outputSchema": "write output", "parameters": "write input"},
	}
	return []*shape.Field{
		{Key: "call", Type: call, Doc: "How a message calls a skill. " + conventionsInWords() + ".",
			Default: "what the card says: the extension if it declares it, else skillId; json-text for an agent that takes no JSON"},
		{Key: "skills", Default: "the card says all", Doc: "Contracts of skills, as far as the card does not have them, by the ids of the skills.",
			Type: &shape.Type{Kind: shape.Map, Max: 500, Elem: &shape.Type{Kind: shape.Struct, Object: skill}}},
	}
}

// contractOf reads the keys of a contract.
func contractOf(c *shape.Checker, n *yaml.Node) (out Contract) {
	out.Call = yamlx.Text(yamlx.Get(n, "call"))
	for k, v := range yamlx.Pairs(yamlx.Get(n, "skills")) {
		out.Skills = append(out.Skills, SkillContract{ID: k.Value, Call: yamlx.Text(yamlx.Get(v, "call")),
			Input: yamlx.Get(v, "input"), Output: yamlx.Get(v, "output"), File: c.File, Pos: yamlx.Pos(c.File, k)})
	}
	return out
}

// ReadContract reads a [ContractFile].
func ReadContract(file string, src []byte) (Contract, diag.List) {
	if onlyComments(src) {
		return Contract{}, nil
	}
	root, list := yamlx.Parse(file, src)
	if root == nil {
		return Contract{}, list
	}
	c := &shape.Checker{File: file, List: list}
	c.Check(root, &shape.Object{Name: "contract", Doc: "Contracts of the agent's skills, written by the user of a client.", Fields: contractFields()})
	c.List.Sort()
	return contractOf(c, root), c.List
}

// WithoutPositions returns a copy for comparisons.
func (c Contract) WithoutPositions() Contract {
	c.Skills = slices.Clone(c.Skills)
	for i := range c.Skills {
		s := &c.Skills[i]
		s.Pos.Line, s.Pos.Col, s.Input, s.Output = 0, 0, unplaced(s.Input), unplaced(s.Output)
	}
	return c
}

// unplaced returns a copy of a tree without positions.
func unplaced(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	n = yamlx.Copy(n)
	var clear func(*yaml.Node)
	clear = func(n *yaml.Node) {
		n.Line, n.Column = 0, 0
		for _, inner := range n.Content {
			clear(inner)
		}
	}
	clear(n)
	return n
}
