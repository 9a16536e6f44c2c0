package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// bundler prints the schemas of one request as a self-contained document.
type bundler struct {
	l     *lowerer
	b     []byte
	queue []*schema // definitions to print, in order of their first use
	known map[*schema]bool
	asked bool // for our own questions: the root is a definition like others, and what stays raw JSON is not checked
}

// bundle prints the root of l with everything it refers to under $defs, in the words of draft 2020-12.
func bundle(l *lowerer) json.RawMessage {
	w := &bundler{l: l, known: map[*schema]bool{}}
	w.b = append(w.b, '{')
	w.key("$schema")
	w.b = append(w.b, `"https://json-schema.org/draft/2020-12/schema"`...)
	if doc := l.types[0].t.Doc; doc != docOf([]*schema{l.root}) {
		w.key("description")
		w.b = append(w.b, quote(doc)...)
	}
	w.members(l.root, false)
	w.definitions()
	return append(w.b, '}')
}

// definitions prints the definitions that were referred to, and those that they refer to.
func (w *bundler) definitions() {
	for i := 0; i < len(w.queue); i++ {
		if i == 0 {
			w.key("$defs")
			w.b = append(w.b, '{')
		}
		w.key(w.l.nameDef(w.queue[i]))
		w.object(w.queue[i], false)
	}
	if len(w.queue) > 0 {
		w.b = append(w.b, '}')
	}
}

// key appends a member name with what separates it from what is before.
func (w *bundler) key(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(append(w.b, quote(name)...), ':')
}

// place prints the schema s where it is used. branch: it is one of several that hold together or of which one does.
func (w *bundler) place(s *schema, branch bool) {
	if s.target && !s.pure() || s == w.l.root && !w.asked {
		w.b = append(w.b, `{"$ref":`...)
		w.b = append(append(w.b, w.refTo(s)...), '}')
		return
	}
	w.object(s, branch)
}

// refTo is the reference to s inside the bundle.
func (w *bundler) refTo(s *schema) json.RawMessage {
	if s = s.resolve(); s == w.l.root && !w.asked {
		return json.RawMessage(`"#"`)
	}
	if !w.known[s] {
		w.known[s] = true
		w.queue = append(w.queue, s)
	}
	return quote("#/$defs/" + w.l.nameDef(s)) // a Go identifier: nothing to escape
}

// object prints s itself.
func (w *bundler) object(s *schema, branch bool) {
	if s.always != nil {
		w.b = append(w.b, s.node.Value...)
		return
	}
	w.b = append(w.b, '{')
	w.members(s, branch)
	w.b = append(w.b, '}')
}

// raw prints the members of a mapping in a schema that stays raw JSON, with references to where definitions are here.
func (w *bundler) raw(s *schema, n *yaml.Node) {
	for k, v := range yamlx.Pairs(n) {
		if k.Value == "$defs" || k.Value == "definitions" || k.Value == "$id" || k.Value == "$anchor" ||
			k.Value == "$schema" {
			continue
		}
		w.key(k.Value)
		switch target := s.refs[v]; {
		case target != nil:
			w.b = append(w.b, w.refTo(target)...)
		case isData(k.Value):
			w.b = yamlx.AppendJSON(w.b, v)
		default:
			w.rawValue(s, v)
		}
	}
}

func (w *bundler) rawValue(s *schema, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		w.b = append(w.b, '{')
		w.raw(s, n)
		w.b = append(w.b, '}')
	case yaml.SequenceNode:
		w.b = append(w.b, '[')
		for i, item := range n.Content {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			w.rawValue(s, item)
		}
		w.b = append(w.b, ']')
	default:
		w.b = yamlx.AppendJSON(w.b, n)
	}
}

// members prints the keywords of s.
func (w *bundler) members(s *schema, branch bool) {
	if s.isRaw() {
		if !w.asked {
			w.raw(s, s.node)
		}
		return
	}
	if s.always != nil { // a root that takes anything: {} says the same
		return
	}
	if s.nullable && (s.types == 0 || s.hasEnum || s.ref != nil) {
		w.nullable(s)
		return
	}
	if s.types == 0 && !branch && s.ref == nil && !s.hasEnum && len(s.allOf)+len(s.anyOf)+len(s.oneOf) == 0 &&
		families(s.uses) == 1 {
		w.key("type")
		w.types(s.uses)
	}
	for k, v := range yamlx.Pairs(s.node) {
		w.member(s, k.Value, v)
	}
}

// nullable prints a schema that OpenAPI's nullable extends by null.
func (w *bundler) nullable(s *schema) {
	for k, v := range yamlx.Pairs(s.node) {
		if isNote(k.Value) {
			w.member(s, k.Value, v)
		}
	}
	w.key("anyOf")
	w.b = append(w.b, `[{`...)
	for k, v := range yamlx.Pairs(s.node) {
		if !isNote(k.Value) {
			w.member(s.notNull(), k.Value, v)
		}
	}
	w.b = append(w.b, `},{"type":"null"}]`...)
}

func (w *bundler) types(t jsontype.Set) {
	names := t.Names()
	if len(names) == 1 {
		w.b = append(w.b, quote(names[0])...)
		return
	}
	list, _ := json.Marshal(names) // plain strings: cannot fail
	w.b = append(w.b, list...)
}

// isNote reports whether a keyword stays outside when a nullable schema is wrapped.
func isNote(name string) bool { return table[name] != nil && table[name].note }

// member prints one keyword of s.
func (w *bundler) member(s *schema, name string, v *yaml.Node) {
	if s.ignores(name) {
		return
	}
	if row := table[name]; row != nil && row.publish != nil {
		row.publish(w, s, name, v)
		return
	}
	w.key(name)
	w.b = yamlx.AppendJSON(w.b, v)
}

func unpublished(*bundler, *schema, string, *yaml.Node) {}

func publishRef(w *bundler, s *schema, k string, _ *yaml.Node) {
	w.key(k)
	w.b = append(w.b, w.refTo(s.ref.target)...)
}

func publishType(w *bundler, s *schema, k string, _ *yaml.Node) {
	w.key(k)
	t := s.types
	if s.nullable {
		t |= jsontype.Null
	}
	w.types(t)
}

func publishProperties(w *bundler, s *schema, k string, _ *yaml.Node) {
	w.key(k)
	w.b = append(w.b, '{')
	for _, p := range s.props {
		w.key(p.name)
		w.place(p.schema, false)
	}
	w.b = append(w.b, '}')
}

func publishAdditional(w *bundler, s *schema, k string, _ *yaml.Node) {
	w.key(k)
	w.place(s.additional, false)
}

func publishNames(w *bundler, s *schema, k string, _ *yaml.Node) {
	w.key(k)
	w.place(s.names, true)
}

// publishItems prints items, which before 2020-12 may be a list.
func publishItems(w *bundler, s *schema, k string, v *yaml.Node) {
	if v.Kind == yaml.SequenceNode {
		publishPrefix(w, s, k, v)
		return
	}
	w.key(k)
	w.place(s.items, false)
}

func publishAdditionalItems(w *bundler, s *schema, _ string, _ *yaml.Node) {
	if s.prefix != nil && s.items != nil {
		w.key("items")
		w.place(s.items, false)
	}
}

func publishDependencies(w *bundler, _ *schema, _ string, v *yaml.Node) {
	w.key("dependentRequired")
	w.b = yamlx.AppendJSON(w.b, v)
}

// publishBound prints a bound of a number; the flag that OpenAPI 3.0 has for exclusive ones becomes the bound itself.
func publishBound(w *bundler, s *schema, k string, v *yaml.Node) {
	if v.Tag == "!!bool" {
		if v.Value == "true" {
			w.key(k)
			w.b = yamlx.AppendJSON(w.b, yamlx.Get(s.node, strings.ToLower(strings.TrimPrefix(k, "exclusive"))))
		}
		return
	}
	if flag := yamlx.Get(s.node, "exclusive"+strings.ToUpper(k[:1])+k[1:]); flag != nil && flag.Tag == "!!bool" &&
		flag.Value == "true" {
		return
	}
	w.key(k)
	w.b = yamlx.AppendJSON(w.b, v)
}

// publishBranches prints the list of schemas of allOf, anyOf or oneOf.
func publishBranches(w *bundler, s *schema, k string, v *yaml.Node) {
	w.key(k)
	w.schemas(s, k, v, true)
}

// publishPrefix prints the schemas of a list's first elements.
func publishPrefix(w *bundler, s *schema, k string, v *yaml.Node) {
	w.key("prefixItems")
	w.schemas(s, k, v, false)
}

func (w *bundler) schemas(s *schema, name string, v *yaml.Node, branch bool) {
	w.b = append(w.b, '[')
	for i := range v.Content {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.place(s.doc.schemas[joinIndex(s.ptr, name, i)], branch)
	}
	w.b = append(w.b, ']')
}

// publishDiscriminator prints the mapping in full, because definitions have other names here than where they came from.
func publishDiscriminator(w *bundler, s *schema, _ string, _ *yaml.Node) {
	w.key("discriminator")
	w.b = append(w.b, `{"propertyName":`...)
	w.b = append(append(w.b, quote(s.discriminator.property)...), `,"mapping":{`...)
	for _, b := range slices.Concat(s.anyOf, s.oneOf) {
		target := b.resolve()
		if b.ref == nil || target == nil {
			continue
		}
		for _, key := range w.l.mappingOf(s.discriminator, b, target) {
			w.key(key)
			w.b = append(w.b, w.refTo(target)...)
		}
	}
	w.b = append(w.b, "}}"...)
}
