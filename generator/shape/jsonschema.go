package shape

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// JSONSchema renders the declaration as a JSON Schema (draft-07, which every editor knows), indented.
func JSONSchema(root *Object, title string) []byte {
	defs := map[string]any{}
	doc := objectSchema(root, defs)
	doc["$schema"] = "http://json-schema.org/draft-07/schema#"
	doc["title"] = title
	if len(defs) > 0 {
		doc["definitions"] = defs
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		panic(err) // maps of strings, numbers and slices: always encodable
	}
	return b.Bytes()
}

func objectSchema(o *Object, defs map[string]any) map[string]any {
	s := map[string]any{"type": "object", "additionalProperties": false}
	if o.Doc != "" {
		s["description"] = o.Doc
	}
	properties := map[string]any{}
	var required []string
	for _, f := range o.Fields {
		p := typeSchema(f.Type, defs)
		if doc := f.description(); doc != "" {
			if p["$ref"] != nil { // draft-07 ignores what stands beside $ref
				p = map[string]any{"allOf": []any{p}}
			}
			p["description"] = doc
		}
		properties[f.Key] = p
		if f.Required {
			required = append(required, f.Key)
		}
	}
	s["properties"] = properties
	if required != nil {
		s["required"] = required
	}
	if o.OneOf {
		s["minProperties"], s["maxProperties"] = 1, 1
	}
	return s
}

func (f *Field) description() string {
	if f.Default == "" {
		return f.Doc
	}
	return f.Doc + " Default: " + f.Default + "."
}

func typeSchema(t *Type, defs map[string]any) map[string]any {
	if t.Or != nil {
		short := *t
		short.Or = nil
		return map[string]any{"anyOf": []any{typeSchema(&short, defs), typeSchema(t.Or, defs)}}
	}
	switch t.Kind {
	case Struct:
		name := defName(t.Object.Name)
		if _, ok := defs[name]; !ok {
			defs[name] = nil // recursion ends here
			defs[name] = objectSchema(t.Object, defs)
		}
		return map[string]any{"$ref": "#/definitions/" + name}
	case List:
		return bounded(map[string]any{"type": "array", "items": typeSchema(t.Elem, defs)}, "minItems", t.Min, "maxItems", t.max())
	case Map:
		return bounded(map[string]any{"type": "object", "additionalProperties": typeSchema(t.Elem, defs)}, "minProperties", t.Min, "maxProperties", t.max())
	case Free:
		return map[string]any{"type": "object"}
	case Bool:
		return map[string]any{"type": "boolean"}
	case Int:
		return map[string]any{"type": "integer", "minimum": t.Min, "maximum": t.max()}
	case Schema:
		return map[string]any{"type": []string{"object", "boolean", "string"}, "minLength": 1}
	default:
		return textSchema(t)
	}
}

func bounded(s map[string]any, minKey string, minimum int, maxKey string, maximum int) map[string]any {
	if minimum > 0 {
		s[minKey] = minimum
	}
	s[maxKey] = maximum
	return s
}

func textSchema(t *Type) map[string]any {
	minimum := t.Min
	if t.Kind != Text {
		minimum = max(minimum, 1)
	}
	s := bounded(map[string]any{"type": "string"}, "minLength", minimum, "maxLength", t.max())
	switch {
	case len(t.Choices) > 0:
		s["enum"] = t.Choices
	case t.Pattern != "":
		s["pattern"] = t.Pattern
	case t.Kind == Duration:
		s["pattern"] = `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$`
	case t.Kind == URL:
		s["pattern"] = `^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@ \t\r\n\\]+([/?#][^ \t\r\n\\]*)?$`
	case t.Kind == MediaType:
		s["pattern"] = mediaTypePattern
	}
	return s
}

// defName makes a definition key of an object's name: "OAuth flow" gives "OAuthFlow".
func defName(name string) string {
	var b strings.Builder
	for _, w := range strings.Fields(name) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// Markdown renders the declaration as reference tables, one an object, the root first.
func Markdown(root *Object) []byte {
	var b bytes.Buffer
	seen := map[*Object]bool{}
	queue := []*Object{root}
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		if seen[o] {
			continue
		}
		seen[o] = true
		fmt.Fprintf(&b, "### %s\n\n", o.Name)
		if o.Doc != "" {
			fmt.Fprintf(&b, "%s\n\n", o.Doc)
		}
		b.WriteString("| key | value | default | meaning |\n|---|---|---|---|\n")
		for _, f := range o.Fields {
			def := f.Default
			if f.Required {
				def = "**required**"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Key, f.Type.describe(), def, f.Doc)
			if inner := f.Type.innermost(); inner != nil {
				queue = append(queue, inner)
			}
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

// describe names a type with its choices and bounds; a number in brackets is the most characters or entries.
func (t *Type) describe() string {
	s := t.String()
	switch {
	case len(t.Choices) > 0:
		s += ": `" + strings.Join(t.Choices, "`, `") + "`"
	case t.Kind == Int:
		s += fmt.Sprintf(", %d to %d", t.Min, t.max())
	case (t.Kind == Text || t.Kind == List || t.Kind == Map) && t.Max > 0:
		s += fmt.Sprintf(" (%d)", t.Max)
	}
	return s
}

func (t *Type) innermost() *Object {
	for t.Elem != nil || t.Or != nil {
		t = cmp.Or(t.Or, t.Elem)
	}
	return t.Object
}
