package card

import (
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
)

// Cards say what goes into a skill and comes out of it in several ways, none of which is A2A's. These are read: the extension of
// a2agen; the schema contract extension (A2A#2180); skill-direct-invoke (A2A#2178) and any other extension that lists schemas by skill;
// and schemas that are members of the skill. What does not say exactly one thing is left out, and reported.

// The extensions, by what their URIs have in common.
const (
	schemaContracts = "https://w3id.org/a2a-schema-contract/"
	directInvoke    = "skill-direct-invoke"
)

// contracts moves the schemas of skills to the skills, as input and output, and notes how the skills are called.
func (m *importer) contracts() {
	m.calls = map[string]ir.Convention{}
	exts := yamlx.Get(yamlx.Get(m.root, "capabilities"), "extensions")
	kept := []*yaml.Node{}
	for _, ext := range yamlx.Items(exts) {
		uri := yamlx.Text(yamlx.Get(ext, "uri"))
		params := yamlx.Get(ext, "params")
		switch {
		case runtime.IsSkillsExtension(uri):
			m.extended = true
			m.ownContracts(yamlx.Get(params, "skills"))
			m.repeats = repeatsOf(yamlx.Get(params, "idempotency"))
			continue
		case strings.HasPrefix(uri, schemaContracts):
			m.catalog(ext, uri, yamlx.Get(params, "catalog"))
		default:
			m.listed(ext, uri, yamlx.Get(params, "skills"))
		}
		kept = append(kept, ext)
	}
	if yamlx.Items(exts) != nil {
		exts.Content = kept
	}
	m.members()
	for _, ext := range kept {
		if uri := yamlx.Text(yamlx.Get(ext, "uri")); strings.Contains(uri, directInvoke) {
			m.eachSkill(func(id string, s *yaml.Node) {
				if yamlx.Get(s, "input") != nil && m.calls[id].Func == "" && !m.extended {
					m.calls[id] = ir.Convention{Func: "ByInvocation", Args: []string{uri}}
				}
			})
		}
	}
}

// eachSkill calls f for the skills that are maps, with their ids.
func (m *importer) eachSkill(f func(id string, s *yaml.Node)) {
	for _, s := range yamlx.Items(yamlx.Get(m.root, "skills")) {
		if id := yamlx.Text(yamlx.Get(s, "id")); id != "" && s.Kind == yaml.MappingNode {
			f(id, s)
		}
	}
}

// give gives a skill a schema, unless it has one, and reports whether it did.
func give(s *yaml.Node, side string, schema *yaml.Node) bool {
	if schema == nil || yamlx.Get(s, side) != nil {
		return false
	}
	yamlx.Set(s, side, schema)
	return true
}

// repeatsOf is for how long an agent promises to know a message by its idempotency key; 0 without a promise.
func repeatsOf(promise *yaml.Node) time.Duration {
	window := yamlx.Get(promise, "window")
	if window == nil {
		return 0
	}
	seconds, err := strconv.ParseUint(window.Value, 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// ownContracts takes what the a2agen extension publishes.
func (m *importer) ownContracts(published *yaml.Node) {
	m.eachSkill(func(id string, s *yaml.Node) {
		contract := yamlx.Get(published, id)
		give(s, "input", yamlx.Get(contract, "input"))
		give(s, "output", yamlx.Get(contract, "output"))
	})
}

// sides are the members in which schemas stand that are not ours.
var sides = []struct{ side, member string }{{"input", "inputSchema"}, {"output", "outputSchema"}}

// listed takes the schemas that an extension lists by skill: in a map by id, or in a list of what has an id.
func (m *importer) listed(ext *yaml.Node, uri string, published *yaml.Node) {
	byID := map[string]*yaml.Node{}
	for k, v := range yamlx.Pairs(published) {
		byID[k.Value] = v
	}
	for _, v := range yamlx.Items(published) {
		byID[orElse(yamlx.Text(yamlx.Get(v, "id")), yamlx.Text(yamlx.Get(v, "skillId")))] = v
	}
	took := false
	m.eachSkill(func(id string, s *yaml.Node) {
		for _, x := range sides {
			took = give(s, x.side, mapping(yamlx.Get(byID[id], x.member))) || took
		}
	})
	if took {
		m.note(ext, "schemas of skills are taken from the extension %s", quote(uri))
	}
}

// members takes the schemas that skills have as members, which A2A does not know.
func (m *importer) members() {
	m.eachSkill(func(id string, s *yaml.Node) {
		for _, x := range sides {
			k, schema := yamlx.Take(s, x.member)
			if mapping(schema) != nil && give(s, x.side, schema) {
				m.note(k, "the %s of skill %s is taken for its schema", x.member, quote(id))
			}
		}
	})
}

// mapping returns a schema if it is written as an object: a name of a file says nothing to a stranger.
func mapping(n *yaml.Node) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	return n
}

// catalog takes the contracts of the schema contract extension: of each skill that exactly one contract names.
func (m *importer) catalog(ext *yaml.Node, uri string, catalog *yaml.Node) {
	const state = "state the schemas of its skills under skills in a2agen.yaml"
	inline := yamlx.Get(catalog, "inline")
	if inline == nil {
		m.note(ext, "the contracts of the extension %s are not in the card, and are not fetched: %s", quote(uri), state)
		return
	}
	bySkill := map[string][]*yaml.Node{}
	for _, contract := range yamlx.Items(yamlx.Get(inline, "contracts")) {
		for _, id := range yamlx.Texts(yamlx.Get(contract, "skillIds")) {
			bySkill[id] = append(bySkill[id], contract)
		}
	}
	m.eachSkill(func(id string, s *yaml.Node) {
		switch contracts := bySkill[id]; len(contracts) {
		case 0:
		case 1:
			m.contract(id, s, uri, contracts[0])
		default:
			m.note(contracts[1], "skill %s has %d contracts, and the card does not say which one is meant: they are left out",
				quote(id), len(contracts))
		}
	})
}

// contract takes one contract of a skill.
func (m *importer) contract(id string, s *yaml.Node, uri string, contract *yaml.Node) {
	name := yamlx.Text(yamlx.Get(contract, "id"))
	in, inSchema, ok := m.representation(id, yamlx.Get(contract, "input"))
	out, outSchema, fine := m.representation(id, yamlx.Get(contract, "output"))
	if name == "" || !ok || !fine || m.extended {
		return
	}
	give(s, "input", inSchema)
	give(s, "output", outSchema)
	m.calls[id] = ir.Convention{Func: "ByContract", Args: []string{uri, name, in, out}}
	m.note(contract, "skill %s is called by the contract %s", quote(id), quote(name))
}

// representation returns the form of a contract's input or output that a client uses: the only one in JSON, with its schema, or
// else the only one there is; "" where nothing goes that way. It is not ok if there are several.
func (m *importer) representation(skill string, direction *yaml.Node) (id string, schema *yaml.Node, ok bool) {
	list := yamlx.Items(yamlx.Get(direction, "representations"))
	var found []*yaml.Node
	for _, r := range list {
		if inJSON(yamlx.Text(yamlx.Get(r, "mediaType"))) && mapping(yamlx.Get(yamlx.Get(r, "schema"), "inline")) != nil {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		found = list
	}
	if len(found) > 1 {
		m.note(found[1], "a contract of skill %s has %d forms that a client could use: it is left out", quote(skill), len(found))
		return "", nil, false
	}
	if len(found) == 0 {
		return "", nil, true
	}
	return yamlx.Text(yamlx.Get(found[0], "id")), mapping(yamlx.Get(yamlx.Get(found[0], "schema"), "inline")), true
}

// inJSON reports whether a media type is JSON: "application/json", "application/vnd.acme.trip+json; v=1".
func inJSON(mediaType string) bool {
	essence, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	essence = strings.TrimSpace(essence)
	return essence == runtime.MediaJSON || strings.HasSuffix(essence, "+json")
}

// conventions notes how the skills of the card are called, but for those whose schemas could not be compiled.
func (m *importer) conventions(card *Card, dropped map[*Skill]bool) {
	for _, s := range card.Skills {
		if !dropped[s] {
			s.Convention = m.calls[s.ID]
		}
	}
}
