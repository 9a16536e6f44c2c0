package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// maxRounds is how often schemas are compiled to find what cannot be expressed.
const maxRounds = 60

// repair replaces the schemas that Go types cannot express by ones that take any JSON, and reports them.
func (im *Import) repair(file string) (list diag.List) {
	for range maxRounds {
		problems, src := im.compile(file)
		root, _ := yamlx.Parse(file, src)
		if !problems.HasErrors() {
			if im.quiet(root, problems) {
				continue
			}
			return list
		}
		changed := map[string]bool{}
		for _, p := range problems {
			if p.Severity != diag.Error {
				continue
			}
			path := wholeOf(schemaAt(root, p.Pos))
			where := strings.Join(path, "/")
			within := func(c string) bool { return strings.HasPrefix(where, c+"/") }
			if path == nil || changed[where] || slices.ContainsFunc(sorted(changed), within) {
				continue
			}
			changed[where] = true
			im.makeRaw(path)
			list.Warnf(diag.Pos{File: file}, "any", "", "%s is any JSON, which is not checked: %s", where, p.Message)
		}
		if len(changed) == 0 {
			list.Add(problems...)
			return list
		}
	}
	list.Errorf(diag.Pos{File: file}, "unsupported", "import fewer operations at once",
		"too many schemas of the operations cannot be expressed")
	return list
}

// compile compiles all contracts as they would be in a project.
func (im *Import) compile(file string) (diag.List, []byte) {
	src, err := marshal(im.Schemas)
	if err != nil {
		var list diag.List
		list.Errorf(diag.Pos{File: file}, "syntax", "", "%v", err)
		return list, nil
	}
	var requests []schema.Request
	for _, op := range im.Operations {
		for _, side := range []string{"input", "output"} {
			if side == "output" && op.Output == nil {
				continue
			}
			node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: Contract(file, op.Skill, side)}
			requests = append(requests, schema.Request{File: "agent.yaml", Node: node})
		}
	}
	_, list := schema.Compile(requests, func(name string) ([]byte, error) {
		if name != file {
			return nil, fmt.Errorf("%s is not there", name)
		}
		return src, nil
	})
	return list, src
}

// schemaAt is the path of the innermost schema around a position.
func schemaAt(root *yaml.Node, at diag.Pos) []string {
	var best, path []string
	var walk func(n *yaml.Node, isSchema bool)
	after := func(n *yaml.Node) bool { return n.Line > at.Line || n.Line == at.Line && n.Column > at.Col }
	walk = func(n *yaml.Node, isSchema bool) {
		if n == nil || after(n) {
			return
		}
		if isSchema {
			best = slices.Clone(path)
		}
		in := ""
		if len(path) > 0 {
			in = path[len(path)-1]
		}
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if after(n.Content[i]) || i+3 < len(n.Content) && !after(n.Content[i+2]) {
					continue
				}
				key := n.Content[i].Value
				path = append(path, key)
				walk(n.Content[i+1], holdsSchema(in, key, isSchema, len(path)))
				path = path[:len(path)-1]
			}
		case yaml.SequenceNode:
			for i, item := range n.Content {
				if after(item) || i+1 < len(n.Content) && !after(n.Content[i+1]) {
					continue
				}
				path = append(path, fmt.Sprint(i))
				walk(item, slices.Contains(several, in))
				path = path[:len(path)-1]
			}
		}
	}
	walk(root, false)
	return best
}

// holdsSchema reports whether the value of a key is a schema.
func holdsSchema(in, key string, inSchema bool, depth int) bool {
	switch {
	case inSchema:
		return slices.Contains(single, key)
	case depth == 3 && (key == "input" || key == "output"): // operations/SKILL/input
		return true
	}
	return in == "$defs" || in == "properties"
}

// wholeOf is the path of the schema that has the one at a path as an alternative.
func wholeOf(path []string) []string {
	for len(path) >= 2 && slices.Contains(several, path[len(path)-2]) {
		path = path[:len(path)-2]
	}
	return path
}

// makeRaw replaces the schema at a path by one that takes any JSON.
func (im *Import) makeRaw(path []string) {
	var v any = im.Schemas
	for _, step := range path[:len(path)-1] {
		v = child(v, step)
	}
	last := path[len(path)-1]
	raw := map[string]any{"x-go": "raw"}
	if d := text(child(v, last), "description"); d != "" {
		raw["description"] = d
	}
	switch in := v.(type) {
	case map[string]any:
		in[last] = raw
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i < len(in) {
			in[i] = raw
		}
	}
}

// structural are the keywords that say what a value is made of. Without any other one a schema only takes more.
var structural = []string{"$ref", "$defs", "type", "properties", "required", "items", "prefixItems", "additionalProperties",
	"allOf", "anyOf", "oneOf", "enum", "const", "discriminator", "propertyNames"}

// quiet leaves out keywords that the compiler warns of: they have no effect, and nobody here can correct them. It
// reports whether there were any.
func (im *Import) quiet(root *yaml.Node, problems diag.List) (changed bool) {
	for _, p := range problems {
		path := keywordAt(root, p.Pos)
		if path == nil || p.Severity != diag.Warning {
			continue
		}
		var v any = im.Schemas
		for _, step := range path[:len(path)-1] {
			v = child(v, step)
		}
		if in, is := v.(map[string]any); is {
			if _, has := in[path[len(path)-1]]; has {
				delete(in, path[len(path)-1])
				changed = true
			}
		}
	}
	return changed
}

// keywordAt is the path of the keyword at a position, of the innermost schema there; nil if it is structural.
func keywordAt(root *yaml.Node, at diag.Pos) []string {
	path := schemaAt(root, at)
	if path == nil {
		return nil
	}
	n := root
	for _, step := range path {
		n = node(n, step)
	}
	key := ""
	for k, v := range yamlx.Pairs(n) {
		if k.Line < at.Line || k.Line == at.Line && (k.Column <= at.Col || v.Column <= at.Col) {
			key = k.Value
		}
	}
	if key == "" || slices.Contains(structural, key) {
		return nil
	}
	return append(path, key)
}

// node is a member of a map, or an item of a list.
func node(n *yaml.Node, step string) *yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	return yamlx.Get(n, step)
}

// child is the same of decoded JSON.
func child(v any, step string) any {
	switch in := v.(type) {
	case map[string]any:
		return in[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(in) {
			return in[i]
		}
	}
	return nil
}
