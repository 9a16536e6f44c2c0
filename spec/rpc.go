package spec

import (
	"maps"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
)

// EnvelopeMember is a member of the JSON-RPC messages around what operations take and answer, as a schema has it.
type EnvelopeMember struct {
	Of       string   `json:"of"`    // "request", "response" or "error"
	Name     string   `json:"name"`  // "id"
	Types    []string `json:"types"` // sorted: "integer", "null", "string"
	Required bool     `json:"required,omitempty"`
	Pos      diag.Pos `json:"pos,omitzero"`
}

// String says what the member may be: "string or integer, required".
func (m *EnvelopeMember) String() string {
	text := strings.Join(m.Types, " or ")
	if m.Required {
		text += ", required"
	}
	return text
}

// envelopes collects the members of JSON-RPC: the types that a member has in any message of its sort, and whether all require it.
func (r *schemaReader) envelopes() {
	for _, sort := range []struct {
		name string
		is   func(*definition) bool
	}{
		{"request", func(d *definition) bool { return d.role == roleRequest }},
		{"response", func(d *definition) bool { return d.role == roleResponse }},
		{"error", func(d *definition) bool { return d.role == roleEnvelope && d.node.get("properties").has("error") }},
	} {
		members := map[string]*EnvelopeMember{}
		for _, d := range r.order {
			if sort.is(d) {
				envelopeMembers(members, sort.name, d.node)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			r.doc.Envelope = append(r.doc.Envelope, members[name])
		}
	}
}

func envelopeMembers(members map[string]*EnvelopeMember, of string, n *node) {
	for _, name := range []string{"id", "jsonrpc"} {
		p := n.get("properties").get(name)
		if p == nil {
			continue
		}
		required := slices.ContainsFunc(n.get("required").list(), func(r *node) bool { return r.str() == name })
		m := members[name]
		if m == nil {
			m = &EnvelopeMember{Of: of, Name: name, Required: true, Pos: p.pos}
			members[name] = m
		}
		m.Required = m.Required && required
		m.Types = slices.Compact(slices.Sorted(slices.Values(append(m.Types, jsonTypes(p)...))))
	}
}

// jsonTypes are the types that a schema names, also those of its alternatives.
func jsonTypes(n *node) []string {
	var types []string
	if t := n.get("type"); t.str() != "" {
		types = append(types, t.str())
	}
	if c := constant(n); c != nil && !n.has("type") && c.kind == '"' {
		types = append(types, "string")
	}
	for _, t := range n.get("type").list() {
		types = append(types, t.str())
	}
	for _, o := range slices.Concat(n.get("anyOf").list(), n.get("oneOf").list()) {
		types = append(types, jsonTypes(o)...)
	}
	return types
}

// envelope compares the messages of JSON-RPC.
func (d *differ) envelope() {
	if !d.both(Schema) {
		return
	}
	for _, m := range d.old.Envelope {
		i := slices.IndexFunc(d.new.Envelope, func(n *EnvelopeMember) bool { return n.Of == m.Of && n.Name == m.Name })
		if i < 0 {
			d.change(false, false, m.Pos, "envelope-changed", m.Of+"."+m.Name, "the %s of JSON-RPC has no %s any more", m.Of, m.Name)
			continue
		}
		n := d.new.Envelope[i]
		if n.String() == m.String() {
			continue
		}
		lacks := func(a, b *EnvelopeMember) bool {
			return slices.ContainsFunc(a.Types, func(t string) bool { return !slices.Contains(b.Types, t) })
		}
		effect := impact{reading: lacks(n, m) || m.Required && !n.Required, writing: lacks(m, n) || !m.Required && n.Required}
		dir := direction{byClient: m.Of == "request", byServer: m.Of != "request"}
		d.typeChange(dir, effect, n.Pos, "envelope-changed", m.Of+"."+m.Name, "the %s of the JSON-RPC %s is %s instead of %s", m.Name, m.Of, n, m)
	}
	for _, n := range d.new.Envelope {
		if !slices.ContainsFunc(d.old.Envelope, func(m *EnvelopeMember) bool { return n.Of == m.Of && n.Name == m.Name }) {
			d.change(false, false, n.Pos, "envelope-changed", n.Of+"."+n.Name, "the %s of JSON-RPC has a new member: %s", n.Of, n.Name)
		}
	}
}
