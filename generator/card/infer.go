package card

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/yamlx"
)

// Inferred is what the examples of a skill say of its input, where the card has no schema.
type Inferred struct {
	Skill    string
	Examples int        // that are JSON objects
	Input    *yaml.Node // the schema that they all satisfy; nil where they do not agree
	// Parameters: the examples wrap the input as {"skill": id, "parameters": input}.
	Parameters bool
	Why        string // there is no schema
}

// maxInferred is the depth to which examples are looked at; what is deeper may be anything.
const maxInferred = 16

// Infer looks for inputs in the examples of the skills that have no input schema. Examples in prose say nothing; those in JSON must agree
// in the type of every member.
func (card *Card) Infer() (list []Inferred) {
	for _, s := range card.Skills {
		var objects []*yaml.Node
		for _, e := range s.Examples {
			if o := exampleObject(e); o != nil {
				objects = append(objects, o)
			}
		}
		if s.Input != nil || len(objects) == 0 {
			continue
		}
		i := Inferred{Skill: s.ID, Examples: len(objects)}
		if inner := parameters(s.ID, objects); inner != nil {
			objects, i.Parameters = inner, true
		}
		input, err := inferred(objects, "input", 0)
		if i.Input = input; err != nil {
			i.Input, i.Why = nil, err.Error()
		}
		list = append(list, i)
	}
	return list
}

// exampleObject returns an example that is a JSON object; nil for any other text.
func exampleObject(text string) *yaml.Node {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil
	}
	n, list := yamlx.Parse("example.json", []byte(text))
	if n == nil || list.HasErrors() || n.Kind != yaml.MappingNode {
		return nil
	}
	return n
}

// parameters returns what the objects have as parameters, if all of them are calls of the skill.
func parameters(skill string, objects []*yaml.Node) (inner []*yaml.Node) {
	for _, o := range objects {
		p := yamlx.Get(o, "parameters")
		if len(o.Content) != 4 || yamlx.Text(yamlx.Get(o, "skill")) != skill || mapping(p) == nil {
			return nil
		}
		inner = append(inner, p)
	}
	return inner
}

// inferred returns a schema that the values satisfy. path names them in the error, which says that their types differ.
func inferred(values []*yaml.Node, path string, depth int) (*yaml.Node, error) {
	all := len(values)
	values = slices.DeleteFunc(slices.Clone(values), yamlx.IsNull)
	if len(values) == 0 || depth > maxInferred {
		return newMap(), nil // it may be anything
	}
	kind := jsonType(values[0])
	for _, v := range values[1:] {
		switch k := jsonType(v); {
		case k == kind:
		case k == "number" && kind == "integer", k == "integer" && kind == "number":
			kind = "number"
		default:
			return nil, fmt.Errorf("%s is %s in one example and %s in another", quote(path), kind, k)
		}
	}
	schema := newMap()
	yamlx.Set(schema, "type", yamlx.NewText(schema, kind))
	if len(values) < all {
		yamlx.Set(schema, "type", yamlx.NewTexts(schema, []string{kind, "null"}))
	}
	switch kind {
	case "array":
		var items []*yaml.Node
		for _, v := range values {
			items = append(items, v.Content...)
		}
		s, err := inferred(items, path+"[]", depth+1)
		if err == nil && len(s.Content) > 0 {
			yamlx.Set(schema, "items", s)
		}
		return schema, err
	case "object":
		return schema, inferMembers(schema, values, path, depth)
	}
	return schema, nil
}

// inferMembers adds the members of objects to their schema. Required are those that all have.
func inferMembers(schema *yaml.Node, objects []*yaml.Node, path string, depth int) error {
	members := map[string][]*yaml.Node{}
	var names []string
	for _, o := range objects {
		for k, v := range yamlx.Pairs(o) {
			if members[k.Value] == nil {
				names = append(names, k.Value)
			}
			members[k.Value] = append(members[k.Value], v)
		}
	}
	var required []string
	properties := newMap()
	for _, name := range names {
		s, err := inferred(members[name], path+"."+name, depth+1)
		if err != nil {
			return err
		}
		yamlx.Set(properties, name, s)
		if len(members[name]) == len(objects) && !slices.ContainsFunc(members[name], yamlx.IsNull) {
			required = append(required, name)
		}
	}
	if required != nil {
		yamlx.Set(schema, "required", yamlx.NewTexts(schema, required))
	}
	if len(names) > 0 {
		yamlx.Set(schema, "properties", properties)
	}
	return nil
}

func newMap() *yaml.Node { return yamlx.NewMap(&yaml.Node{}) }

// jsonType names the type of a JSON value.
func jsonType(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "object"
	case n.Kind == yaml.SequenceNode:
		return "array"
	}
	switch n.Tag {
	case "!!bool":
		return "boolean"
	case "!!int":
		if _, err := strconv.ParseInt(n.Value, 10, 64); err != nil {
			return "number" // too large for a whole number of Go's
		}
		return "integer"
	case "!!float":
		return "number"
	}
	return "string"
}

// InferredContract renders what was inferred as a contract file of the client; nil where nothing was.
func InferredContract(agent string, list []Inferred) []byte {
	var b strings.Builder
	for _, i := range list {
		if i.Input == nil {
			continue
		}
		fmt.Fprintf(&b, "  %s:\n", yamlx.Scalar(i.Skill))
		if i.Parameters {
			b.WriteString("    call: parameters\n")
		}
		b.WriteString("    input:\n" + yamlx.Block(i.Input, 6))
	}
	if b.Len() == 0 {
		return nil
	}
	return []byte(fmt.Sprintf("# What the examples in the card of %q say of its skills. They do not say what is optional, "+
		"or what else there may be: correct it.\nskills:\n", agent) + b.String())
}
