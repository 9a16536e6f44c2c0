package contract

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

// Schemas are the schemas of an import, in the file that they will be in.
type Schemas interface {
	// Source is the text of the file, and the references to the contracts in it.
	Source() (src []byte, refs []string, err error)
	// MakeRaw has the schema at a path take any JSON.
	MakeRaw(path []string) error
	// Quiet sees the problems of schemas that can be expressed, and reports whether it has changed something for them.
	Quiet(root *yaml.Node, problems diag.List) bool
}

// Repair has the schemas that Go types cannot express take any JSON, and reports them. few says how to have fewer.
func Repair(file string, s Schemas, few string) (list diag.List) {
	for range maxRounds {
		problems, src := compile(file, s)
		root, _ := yamlx.Parse(file, src)
		if !problems.HasErrors() {
			if s.Quiet(root, problems) {
				continue
			}
			return list
		}
		changed := map[string]bool{}
		for _, p := range problems {
			if p.Severity != diag.Error {
				continue
			}
			path := wholeOf(SchemaAt(root, p.Pos))
			where := strings.Join(path, "/")
			within := func(c string) bool { return strings.HasPrefix(where, c+"/") }
			if path == nil || changed[where] || slices.ContainsFunc(Sorted(changed), within) {
				continue
			}
			if s.MakeRaw(path) != nil {
				continue
			}
			changed[where] = true
			list.Warnf(diag.Pos{File: file}, "any", "", "%s is any JSON, which is not checked: %s", where, p.Message)
		}
		if len(changed) == 0 {
			list.Add(problems...)
			return list
		}
	}
	list.Errorf(diag.Pos{File: file}, "unsupported", few, "too many schemas cannot be expressed")
	return list
}

// Check compiles all contracts, and reports what is wrong with them.
func Check(file string, s Schemas) diag.List {
	list, _ := compile(file, s)
	return list
}

// compile compiles all contracts as they would be in a project.
func compile(file string, s Schemas) (diag.List, []byte) {
	src, refs, err := s.Source()
	if err != nil {
		var list diag.List
		list.Errorf(diag.Pos{File: file}, "syntax", "", "%v", err)
		return list, nil
	}
	var requests []schema.Request
	for _, ref := range refs {
		node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: ref}
		requests = append(requests, schema.Request{File: "agent.yaml", Node: node})
	}
	_, list := schema.Compile(requests, func(name string) ([]byte, error) {
		if name != file {
			return nil, fmt.Errorf("%s is not there", name)
		}
		return src, nil
	})
	return list, src
}

// SchemaAt is the path of the innermost schema around a position.
func SchemaAt(root *yaml.Node, at diag.Pos) []string {
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
				walk(item, schema.Lookup(in).Holds == schema.HoldsList)
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
		return schema.Lookup(key).Holds == schema.HoldsOne
	case depth == 3 && (key == "input" || key == "output"): // operations/SKILL/input, tools/TOOL/output
		return true
	}
	return schema.Lookup(in).Holds == schema.HoldsByName
}

// wholeOf is the path of the schema that has the one at a path as an alternative.
func wholeOf(path []string) []string {
	for len(path) >= 2 && schema.Lookup(path[len(path)-2]).Holds == schema.HoldsList {
		path = path[:len(path)-2]
	}
	return path
}

// Node is a member of a map, or an item of a list.
func Node(n *yaml.Node, step string) *yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	return yamlx.Get(n, step)
}
