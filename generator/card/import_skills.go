package card

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// skills adds what 1.0 requires of every skill: tags and descriptions were optional in 0.1, and some agents leave
// them out.
func (m *importer) skills() {
	list := yamlx.Get(m.root, "skills")
	if list == nil || yamlx.IsNull(list) {
		at := m.root
		yamlx.Set(m.root, "skills", yamlx.NewList(at))
		m.note(at, "the card lists no skills")
		return
	}
	m.identify(list)
	for _, s := range yamlx.Items(list) {
		if s.Kind != yaml.MappingNode {
			continue
		}
		m.oneLine(yamlx.Get(s, "id"))
		m.oneLine(yamlx.Get(s, "name"))
		m.modes(s, "inputModes", "outputModes")
		m.cut(yamlx.Get(s, "description"))
		if yamlx.Text(yamlx.Get(s, "description")) == "" && yamlx.Text(yamlx.Get(s, "id")) != "" {
			title := orElse(yamlx.Text(yamlx.Get(s, "name")), inWords(yamlx.Text(yamlx.Get(s, "id"))))
			yamlx.Set(s, "description", yamlx.NewText(s, title))
			m.note(s, "skill %s has no description: its name stands for it", quote(yamlx.Text(yamlx.Get(s, "id"))))
		}
		if v := yamlx.Get(s, "name"); yamlx.IsText(v) && v.Value == "" {
			yamlx.Take(s, "name")
		}
	}
}

// identify turns texts into skills, and adds an id to skills with a name only.
func (m *importer) identify(list *yaml.Node) {
	taken := map[string]bool{}
	for _, s := range yamlx.Items(list) {
		taken[yamlx.Text(yamlx.Get(s, "id"))] = true
	}
	for i, s := range yamlx.Items(list) {
		switch name := yamlx.Text(yamlx.Get(s, "name")); {
		case yamlx.IsText(s) && strings.TrimSpace(s.Value) != "":
			skill := yamlx.NewMap(s)
			id := newID(s.Value, taken)
			yamlx.Set(skill, "id", yamlx.NewText(s, id))
			yamlx.Set(skill, "name", yamlx.NewText(s, s.Value))
			yamlx.Set(skill, "description", yamlx.NewText(s, s.Value))
			yamlx.Set(skill, "tags", yamlx.NewTexts(s, nil))
			list.Content[i] = skill
			m.note(s, "skill %s is a text: it became a skill with the id %s", quote(s.Value), quote(id))
		case s.Kind == yaml.MappingNode && name != "" && yamlx.Text(yamlx.Get(s, "id")) == "":
			id := newID(name, taken)
			yamlx.Set(s, "id", yamlx.NewText(s, id))
			m.note(s, "skill %s has no id: it got %s", quote(name), quote(id))
		}
	}
}

// newID makes a unique id from a name.
func newID(name string, taken map[string]bool) string {
	base := strings.ReplaceAll(names.FileBase(name), "_", "-")
	id := base
	for n := 2; taken[id]; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	taken[id] = true
	return id
}

// prune removes repeated skill ids, defaults, interfaces and extensions, and requirements of unknown schemes.
func (m *importer) prune() {
	ids, hasDefault := map[string]bool{}, false
	m.keep(yamlx.Get(m.root, "skills"), func(s *yaml.Node) bool {
		id := yamlx.Get(s, "id")
		if ids[id.Value] {
			m.Warnf(id, "duplicate-id", "", "skill id %s is used twice: the second skill is left out", quote(id.Value))
			return false
		}
		ids[id.Value] = true
		if isDefault := yamlx.IsTrue(yamlx.Get(s, "default")); isDefault && hasDefault {
			yamlx.Take(s, "default")
		} else {
			hasDefault = hasDefault || isDefault
		}
		return true
	})
	uris := map[string]bool{}
	m.keep(yamlx.Get(yamlx.Get(m.root, "capabilities"), "extensions"), func(e *yaml.Node) bool {
		uri := yamlx.Text(yamlx.Get(e, "uri"))
		again := uris[uri]
		uris[uri] = true
		return !again
	})
	declared := map[string]bool{}
	for k := range yamlx.Pairs(yamlx.Get(m.root, "securitySchemes")) {
		declared[k.Value] = true
	}
	known := func(requirement *yaml.Node) bool {
		for k := range yamlx.Pairs(yamlx.Get(requirement, "schemes")) {
			if !declared[k.Value] {
				m.Warnf(k, "unknown-scheme", "", "security scheme %s is not declared: the requirement is left out", quote(k.Value))
				return false
			}
		}
		return true
	}
	for _, n := range append(slices.Clone(yamlx.Items(yamlx.Get(m.root, "skills"))), m.root) {
		requirements := yamlx.Get(n, "securityRequirements")
		m.keep(requirements, known)
		if requirements != nil && len(requirements.Content) == 0 {
			yamlx.Take(n, "securityRequirements")
		}
	}
}

// keep removes the elements of a list for which want is false.
func (m *importer) keep(list *yaml.Node, want func(*yaml.Node) bool) {
	if list != nil && list.Kind == yaml.SequenceNode {
		list.Content = slices.DeleteFunc(list.Content, func(n *yaml.Node) bool { return !want(n) })
	}
}

// drop removes keys from a map.
func drop(n *yaml.Node, keys ...string) {
	for _, key := range keys {
		yamlx.Take(n, key)
	}
}

// camelKeys renames the snake case keys of n that o knows in camel case, and so on inside; names that are the user's
// own (schemes, scopes, params) stay.
func camelKeys(n *yaml.Node, o *shape.Object) {
	for k, v := range yamlx.Pairs(n) {
		if strings.Contains(k.Value, "_") {
			if camel := camelCase(k.Value); (o.Field(camel) != nil || o.Foreign[camel] != "") && yamlx.Get(n, camel) == nil {
				k.Value = camel
			}
		}
		if f := o.Field(k.Value); f != nil {
			camelInside(v, f.Type)
		}
	}
}

func camelInside(n *yaml.Node, t *shape.Type) {
	switch t.Kind {
	case shape.Struct:
		camelKeys(n, t.Object)
	case shape.List:
		for _, item := range yamlx.Items(n) {
			camelInside(item, t.Elem)
		}
	case shape.Map:
		for _, v := range yamlx.Pairs(n) {
			camelInside(v, t.Elem)
		}
	}
}

// camelCase gives the ProtoJSON name of a field: "open_id_connect_url" gives "openIdConnectUrl".
func camelCase(s string) string {
	first, rest, _ := strings.Cut(s, "_")
	var b strings.Builder
	b.WriteString(first)
	for _, w := range strings.Split(rest, "_") {
		if w != "" {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}
