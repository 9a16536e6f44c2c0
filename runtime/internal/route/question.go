package engine

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
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

// UnmarshalJSON reads a schema; those that are true or false say nothing.
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

// maxHops bounds how many references in a row are followed.
const maxHops = 6

// resolve follows the references of x and of its alternatives into the bundle's $defs. What is said beside a reference
// wins.
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

// Bounds of what a question says of one property.
const (
	maxChoices     = 10
	maxDescription = 120 // characters
)

// String says in a few words what fits: "EUR or USD", "date", "number".
func (x *shape) String() string {
	choices := x.Enum
	if x.Const != nil {
		choices = []json.RawMessage{x.Const}
	}
	if len(choices) > 0 {
		return listChoices(choices)
	}
	if x.Format != "" {
		return x.Format
	}
	switch kind := x.Type.(type) {
	case string:
		return kind
	case []any:
		var names []string
		for _, k := range kind {
			if name, ok := k.(string); ok && name != "null" {
				names = append(names, name)
			}
		}
		return strings.Join(names, " or ")
	}
	var names []string
	for _, alternative := range slices.Concat(x.OneOf, x.AnyOf) {
		if name := alternative.String(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// listChoices lists the values of an enum, strings without their quotes.
func listChoices(values []json.RawMessage) string {
	more := len(values) > maxChoices
	var names []string
	for _, v := range values[:min(len(values), maxChoices)] {
		name := string(v)
		var s string
		if json.Unmarshal(v, &s) == nil {
			name = s
		}
		names = append(names, name)
	}
	if more {
		return strings.Join(names, ", ") + ", …"
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// about adds the schema's description and what else there is to say in brackets.
func (x *shape) about(more string) string {
	notes := slices.DeleteFunc([]string{x.String(), more}, func(s string) bool { return s == "" })
	said := strings.Join(notes, ", ")
	description := strings.TrimRight(strings.Join(strings.Fields(x.Description), " "), ".")
	if r := []rune(description); len(r) > maxDescription {
		description = string(r[:maxDescription]) + "…"
	}
	if said != "" && description != "" {
		said += "; "
	}
	if said += description; said == "" {
		return ""
	}
	return " (" + said + ")"
}

// question asks for what an input lacks: in words, and with the schema in a data part. What is there already is not
// asked for again.
func (sk *skill) question(have []byte, err error) []runtime.Part {
	have, _ = sk.sound(have, true)
	has := membersOf(have)
	var b strings.Builder
	b.WriteString("To go on, " + sk.Name + " needs")
	sep := " "
	for _, p := range sk.properties {
		if _, ok := has[p.name]; ok {
			continue
		}
		more := "optional"
		if p.required {
			more = ""
		}
		b.WriteString(sep + p.name + p.about(more))
		sep = ", "
	}
	switch {
	case sep != " ":
		b.WriteString(`. Please send it as data, as JSON text or as "name: value".`)
	case sk.shape.scalar():
		b.WriteString(" a value" + sk.shape.about("") + ".")
	default:
		b.WriteString(" an input that fits its schema. Please send it as data or as JSON text.")
	}
	var found *check.Error
	if errors.As(err, &found) {
		for _, v := range found.Violations {
			b.WriteString("\n- " + strings.TrimPrefix(fieldPath("", v.Pointer)+": ", ": ") + v.Message)
		}
	}
	return []runtime.Part{
		runtime.Text(b.String()),
		runtime.Data(json.RawMessage(`{"skill":` + quote(sk.ID) + `,"input":` + sk.InputSchema + `}`)),
	}
}
