package route

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// shape is what a question needs to know of a schema.
type shape struct {
	Ref         string            `json:"$ref"`
	Type        any               `json:"type"` // a name or a list of names
	Description string            `json:"description"`
	Format      string            `json:"format"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	OneOf       []shape           `json:"oneOf"`
	AnyOf       []shape           `json:"anyOf"`
	Properties  map[string]shape  `json:"properties"`
	Required    []string          `json:"required"`
	Defs        map[string]shape  `json:"$defs"`
}

// UnmarshalJSON reads a schema. One that is true or false leaves the shape empty.
func (x *shape) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	type plain shape // without this method
	return json.Unmarshal(b, (*plain)(x))
}

// property is a property of an input schema.
type property struct {
	shape
	name     string
	required bool
}

// readShape reads an input schema with its references into $defs followed, and its properties, the required ones first.
// A schema that says nothing a question can use (true, say) has an empty shape.
func readShape(schema string) (shape, []property) {
	var bundle shape
	if json.Unmarshal([]byte(schema), &bundle) != nil {
		return shape{}, nil
	}
	root := bundle.resolve(bundle, 0)
	var ps []property
	names := slices.Sorted(maps.Keys(root.Properties))
	for _, required := range []bool{true, false} {
		for _, name := range names {
			if slices.Contains(root.Required, name) == required {
				ps = append(ps, property{bundle.resolve(root.Properties[name], 0), name, required})
			}
		}
	}
	return root, ps
}

// maxHops is how many references in a row are followed.
const maxHops = 6

// resolve follows the references of x and of its alternatives into the bundle's $defs. A description beside
// a reference replaces the referenced one.
func (bundle *shape) resolve(x shape, hops int) shape {
	if name, ok := strings.CutPrefix(x.Ref, "#/$defs/"); ok && hops < maxHops {
		target := bundle.resolve(bundle.Defs[name], hops+1)
		if x.Description != "" {
			target.Description = x.Description
		}
		return target
	}
	if hops < maxHops {
		x.OneOf, x.AnyOf = bundle.resolveAll(x.OneOf, hops+1), bundle.resolveAll(x.AnyOf, hops+1)
	}
	return x
}

func (bundle *shape) resolveAll(xs []shape, hops int) []shape {
	out := slices.Clone(xs)
	for i := range out {
		out[i] = bundle.resolve(out[i], hops)
	}
	return out
}

// is reports whether the type is, or may be, the one named.
func (x *shape) is(name string) bool {
	if list, ok := x.Type.([]any); ok {
		return slices.Contains(list, any(name))
	}
	return x.Type == name
}

// scalar reports whether a text can be the whole value.
func (x *shape) scalar() bool {
	if x.is("string") || x.is("number") || x.is("integer") || x.is("boolean") || len(x.Enum) > 0 || x.Const != nil {
		return true
	}
	some := func(x shape) bool { return x.scalar() }
	return slices.ContainsFunc(x.OneOf, some) || slices.ContainsFunc(x.AnyOf, some)
}
