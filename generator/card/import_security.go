package card

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime/auth"
)

// authentication converts 0.1's list of scheme names to security schemes, as far as a name is enough. Credentials in
// the card are never copied (R247).
func (m *importer) authentication() {
	k, old := yamlx.Take(m.root, "authentication")
	if k == nil || yamlx.Get(m.root, "securitySchemes") != nil {
		return
	}
	schemes, requirements := yamlx.NewMap(k), yamlx.NewList(k)
	for _, n := range yamlx.Items(yamlx.Get(old, "schemes")) {
		scheme := strings.ToLower(yamlx.Text(n))
		if scheme != "bearer" && scheme != "basic" && scheme != "digest" {
			m.note(n, "authentication scheme %s is left out: 0.1 does not say enough to make a security scheme of it", quote(n.Value))
			continue
		}
		inner, outer := yamlx.NewMap(n), yamlx.NewMap(n)
		yamlx.Set(inner, "scheme", yamlx.NewText(n, scheme))
		yamlx.Set(outer, string(HTTPAuth), inner)
		yamlx.Set(schemes, scheme, outer)
		requirements.Content = append(requirements.Content, newRequirement(n, scheme, yamlx.NewList(n)))
	}
	if len(requirements.Content) > 0 {
		yamlx.Set(m.root, "securitySchemes", schemes)
		yamlx.Set(m.root, "securityRequirements", requirements)
	}
}

func newRequirement(at *yaml.Node, scheme string, scopes *yaml.Node) *yaml.Node {
	list := yamlx.NewMap(at)
	if len(scopes.Content) > 0 {
		yamlx.Set(list, "list", scopes)
	}
	schemes, r := yamlx.NewMap(at), yamlx.NewMap(at)
	yamlx.Set(schemes, scheme, list)
	yamlx.Set(r, "schemes", schemes)
	return r
}

// security converts schemes and requirements to the 1.0 form (A2A 1.0 §4.5, T4, T22).
func (m *importer) security() {
	schemes := yamlx.Get(m.root, "securitySchemes")
	split := m.schemes(schemes)
	m.requirements(m.root, split)
	for _, s := range yamlx.Items(yamlx.Get(m.root, "skills")) {
		m.requirements(s, split)
	}
}

// schemes converts every scheme and returns, for each that had several OAuth flows, the schemes it became.
func (m *importer) schemes(schemes *yaml.Node) map[string][]string {
	split := map[string][]string{}
	if schemes == nil || schemes.Kind != yaml.MappingNode {
		return split
	}
	var content []*yaml.Node
	for k, v := range yamlx.Pairs(schemes) {
		v = m.scheme(v)
		flows := knownFlows(v)
		if len(flows) < 2 {
			content = append(content, k, v)
			continue
		}
		m.note(k, "security scheme %s has several OAuth flows: made one scheme of each", quote(k.Value))
		for _, flowKey := range flows {
			one := yamlx.Copy(v)
			alone := yamlx.NewMap(flowKey)
			yamlx.Set(alone, flowKey.Value, yamlx.Get(yamlx.Get(yamlx.Get(one, string(OAuth2)), "flows"), flowKey.Value))
			yamlx.Set(yamlx.Get(one, string(OAuth2)), "flows", alone)
			name := k.Value + "-" + flowKey.Value
			split[k.Value] = append(split[k.Value], name)
			content = append(content, yamlx.NewText(k, name), one)
		}
	}
	schemes.Content = content
	return split
}

// knownFlows returns the keys of a scheme's OAuth flows, as written.
func knownFlows(scheme *yaml.Node) (keys []*yaml.Node) {
	for k := range yamlx.Pairs(yamlx.Get(yamlx.Get(scheme, string(OAuth2)), "flows")) {
		if oauthFlows.Field(k.Value) != nil {
			keys = append(keys, k)
		}
	}
	return keys
}

// scheme converts one scheme from the OpenAPI style of 0.2 and 0.3.
func (m *importer) scheme(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode || yamlx.Get(n, "type") == nil {
		return n
	}
	written := yamlx.Text(yamlx.Get(n, "type"))
	i := slices.IndexFunc(auth.Kinds, func(k auth.KindInfo) bool { return strings.EqualFold(k.Type, written) })
	if i < 0 {
		return n // reported as it stands
	}
	yamlx.Take(n, "type")
	if k, v := yamlx.Take(n, "in"); k != nil {
		yamlx.Set(n, "location", v)
	}
	outer := yamlx.NewMap(n)
	yamlx.Set(outer, auth.Kinds[i].Key, n)
	camelKeys(outer, securityScheme)
	return outer
}

// requirements converts security and securityRequirements of a card or a skill. A requirement of a scheme that was
// split becomes one alternative for each flow.
func (m *importer) requirements(n *yaml.Node, split map[string][]string) {
	k, old := yamlx.Take(n, "security")
	list := yamlx.Get(n, "securityRequirements")
	if k != nil && list == nil {
		list = old
	}
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	var converted []*yaml.Node
	for _, r := range list.Content {
		converted = append(converted, alternatives(m.wrapRequirement(r), split)...)
	}
	list.Content = converted
	yamlx.Set(n, "securityRequirements", list)
}

// wrapRequirement turns {scheme: [scopes]}, and {schemes: {scheme: [scopes]}} as the official Go servers write it, into
// {schemes: {scheme: {list: [scopes]}}}.
func (m *importer) wrapRequirement(r *yaml.Node) *yaml.Node {
	if r.Kind != yaml.MappingNode {
		return r
	}
	from := r
	if s := yamlx.Get(r, "schemes"); s != nil && s.Kind == yaml.MappingNode {
		from = s
	}
	schemes := yamlx.NewMap(r)
	for k, scopes := range yamlx.Pairs(from) {
		yamlx.Set(schemes, k.Value, wrapScopes(k, scopes))
		m.lists = m.lists || from != r && scopes.Kind != yaml.MappingNode
	}
	if from != r {
		from.Content = schemes.Content
		return r
	}
	wrapped := yamlx.NewMap(r)
	if len(schemes.Content) > 0 {
		yamlx.Set(wrapped, "schemes", schemes)
	}
	return wrapped
}

// wrapScopes returns the scopes of the scheme at k in the form of 1.0.
func wrapScopes(k, scopes *yaml.Node) *yaml.Node {
	list := yamlx.NewMap(k)
	switch {
	case scopes.Kind == yaml.MappingNode:
		return scopes
	case yamlx.IsNull(scopes), scopes.Kind == yaml.SequenceNode && len(scopes.Content) == 0:
	default:
		yamlx.Set(list, "list", scopes)
	}
	return list
}

// maxAlternatives limits the alternatives of one requirement of several split schemes.
const maxAlternatives = 16

func alternatives(r *yaml.Node, split map[string][]string) []*yaml.Node {
	out := []*yaml.Node{r}
	for k := range yamlx.Pairs(yamlx.Get(r, "schemes")) {
		targets := split[k.Value]
		if len(targets) == 0 || len(out)*len(targets) > maxAlternatives {
			continue
		}
		var next []*yaml.Node
		for _, base := range out {
			for _, target := range targets {
				alt := yamlx.Copy(base)
				key, _ := yamlx.Pair(yamlx.Get(alt, "schemes"), k.Value)
				key.Value = target
				next = append(next, alt)
			}
		}
		out = next
	}
	return out
}
