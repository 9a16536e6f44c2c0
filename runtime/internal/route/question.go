package route

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
)

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

// describe says in brackets what fits, with more and with the schema's description.
func (x *shape) describe(more string) string {
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

// question asks for what an input lacks: in words, and with the schema in a data part. It does not ask again for what
// is there.
func (s *Skill) question(have []byte, err error) []runtime.Part {
	have, _ = s.withoutBad(have, true)
	has := membersOf(have)
	var b strings.Builder
	b.WriteString("To go on, " + s.Name + " needs")
	sep := " "
	for _, p := range s.properties {
		if _, ok := has[p.name]; ok {
			continue
		}
		more := "optional"
		if p.required {
			more = ""
		}
		b.WriteString(sep + p.name + p.describe(more))
		sep = ", "
	}
	switch {
	case sep != " ":
		b.WriteString(`. Please send it as data, as JSON text or as "name: value".`)
	case s.shape.scalar():
		b.WriteString(" a value" + s.shape.describe("") + ".")
	default:
		b.WriteString(" an input that fits its schema. Please send it as data or as JSON text.")
	}
	var found *check.Error
	if errors.As(err, &found) {
		for _, v := range found.Violations {
			b.WriteString("\n- " + strings.TrimPrefix(invalid.Path("", v.Pointer)+": ", ": ") + v.Message)
		}
	}
	return []runtime.Part{
		runtime.Text(b.String()),
		runtime.Data(json.RawMessage(`{"skill":` + quote(s.ID) + `,"input":` + s.InputSchema + `}`)),
	}
}
