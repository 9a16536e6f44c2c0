package openapi

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/internal/contract"
)

// Source implements [contract.Schemas].
func (im *Import) Source() (src []byte, refs []string, err error) {
	ref := im.Ref()
	for _, op := range im.Operations {
		refs = append(refs, ref(op.Skill, "input"))
		if op.Output != nil {
			refs = append(refs, ref(op.Skill, "output"))
		}
	}
	src, err = marshal(im.Schemas)
	return src, refs, err
}

// MakeRaw replaces the schema at a path by one that takes any JSON.
func (im *Import) MakeRaw(path []string) error {
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
	return nil
}

// structural are the keywords that say what a value is made of. Without any other one a schema only takes more.
var structural = []string{"$ref", "$defs", "type", "properties", "required", "items", "prefixItems", "additionalProperties",
	"allOf", "anyOf", "oneOf", "enum", "const", "discriminator", "propertyNames"}

// Quiet leaves out keywords that the compiler warns of: they have no effect, and nobody here can correct them. It
// reports whether there were any.
func (im *Import) Quiet(root *yaml.Node, problems diag.List) (changed bool) {
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
	path := contract.SchemaAt(root, at)
	if path == nil {
		return nil
	}
	n := root
	for _, step := range path {
		n = contract.Node(n, step)
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
