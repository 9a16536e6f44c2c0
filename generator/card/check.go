package card

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
)

// checkCard reports contradictions between places of the card. It tolerates a tree with other mistakes.
func checkCard(c *shape.Checker, root *yaml.Node) {
	checkSkillIDs(c, root)
	checkSecurity(c, root)
	checkExtended(c, root)
	checkDefault(c, root)
	checkTwice(c, yamlx.Get(root, "supportedInterfaces"), "interface", func(n *yaml.Node) string {
		if n.Kind != yaml.MappingNode {
			return ""
		}
		return yamlx.Text(yamlx.Get(n, "url")) + " " + yamlx.Text(yamlx.Get(n, "protocolBinding")) + " " + yamlx.Text(yamlx.Get(n, "protocolVersion")) + " " + yamlx.Text(yamlx.Get(n, "tenant"))
	})
	checkTwice(c, yamlx.Get(yamlx.Get(root, "capabilities"), "extensions"), "extension", func(n *yaml.Node) string {
		if uri := yamlx.Text(yamlx.Get(n, "uri")); !runtime.IsSkillsExtension(uri) {
			return uri
		}
		return runtime.SkillsExtension
	})
}

// checkSkillIDs reports ids that occur twice and ids that become the same Go name.
func checkSkillIDs(c *shape.Checker, root *yaml.Node) {
	byID, byGo := map[string]*yaml.Node{}, map[string]*yaml.Node{}
	for _, s := range yamlx.Items(yamlx.Get(root, "skills")) {
		id := yamlx.Get(s, "id")
		if !named(yamlx.Text(id)) {
			continue // reported as what it is
		}
		goName := names.Go(id.Value)
		switch {
		case byID[id.Value] != nil:
			c.Add(twice(c, id, byID[id.Value], "duplicate-id", fmt.Sprintf("skill id %s is used twice", quote(id.Value)), ""))
		case byGo[goName] != nil:
			first := byGo[goName]
			c.Add(twice(c, id, first, "name-collision",
				fmt.Sprintf("skill ids %s and %s both become the Go name %s", quote(first.Value), quote(id.Value), goName), "make them differ in a letter or digit"))
		}
		if byID[id.Value] == nil {
			byID[id.Value] = id
		}
		if byGo[goName] == nil {
			byGo[goName] = id
		}
	}
}

// checkSecurity reports requirements that name a scheme the card does not declare.
func checkSecurity(c *shape.Checker, root *yaml.Node) {
	declared := map[string]bool{}
	var known []string // for suggestions
	for k := range yamlx.Pairs(yamlx.Get(root, "securitySchemes")) {
		declared[k.Value] = true
		if len(known) < 50 {
			known = append(known, k.Value)
		}
	}
	check := func(requirements *yaml.Node) {
		for _, r := range yamlx.Items(requirements) {
			for k := range yamlx.Pairs(yamlx.Get(r, "schemes")) {
				if declared[k.Value] || c.Full() {
					continue
				}
				hint := suggest.Key(k.Value, known)
				if len(known) == 0 {
					hint = "declare it under securitySchemes"
				}
				c.Errorf(k, "unknown-scheme", hint, "security scheme %s is not declared", quote(k.Value))
			}
		}
	}
	check(yamlx.Get(root, "securityRequirements"))
	for _, s := range yamlx.Items(yamlx.Get(root, "skills")) {
		check(yamlx.Get(s, "securityRequirements"))
	}
}

// checkExtended reports an extended card that the card denies, or promises without having it; that nobody can get,
// because only authenticated callers may (A2A 1.0 §3.1.11, R22); or that lists unknown skills.
func checkExtended(c *shape.Checker, root *yaml.Node) {
	says := yamlx.Get(yamlx.Get(root, "capabilities"), extendedCapability)
	key, more := yamlx.Pair(root, "extended")
	if more == nil {
		if yamlx.IsTrue(says) {
			c.Errorf(says, "contradiction", `say under "extended" what it has more than this card, or write false`,
				"the agent has no extended card")
		}
		return
	}
	if says != nil && !yamlx.IsTrue(says) {
		c.Errorf(says, "contradiction", `leave it out, or "extended"`, `the card has "extended" and denies it`)
	}
	if yamlx.Get(root, "securitySchemes") == nil {
		c.Errorf(key, "contradiction", "declare securitySchemes",
			"an extended card is for authenticated callers, but the card has no securitySchemes")
	}
	ids := map[string]bool{}
	var known []string
	for _, s := range yamlx.Items(yamlx.Get(root, "skills")) {
		id := yamlx.Text(yamlx.Get(s, "id"))
		if ids[id] = true; len(known) < 50 {
			known = append(known, id)
		}
	}
	list := yamlx.Get(more, "skills")
	for _, n := range yamlx.Items(list) {
		if id := yamlx.Text(n); id != "" && !ids[id] && !c.Full() {
			c.Errorf(n, "unknown-skill", suggest.Key(id, known), "there is no skill %s", quote(id))
		}
	}
	checkTwice(c, list, "skill", yamlx.Text)
}

// extendedCapability is the capability of an extended card.
const extendedCapability = "extendedAgentCard"

// checkDefault reports a second default skill.
func checkDefault(c *shape.Checker, root *yaml.Node) {
	var first *yaml.Node
	for _, s := range yamlx.Items(yamlx.Get(root, "skills")) {
		switch n := yamlx.Get(s, "default"); {
		case !yamlx.IsTrue(n):
		case first == nil:
			first = n
		default:
			c.Add(twice(c, n, first, "default", "two skills take plain text that fits none", "leave default out of one of them"))
		}
	}
}

// checkTwice reports equal elements of a list.
func checkTwice(c *shape.Checker, list *yaml.Node, what string, key func(*yaml.Node) string) {
	seen := map[string]*yaml.Node{}
	for _, n := range yamlx.Items(list) {
		k := key(n)
		if k == "" {
			continue
		}
		if first := seen[k]; first != nil {
			c.Add(twice(c, n, first, "duplicate", "the same "+what+" is listed twice", ""))
			continue
		}
		seen[k] = n
	}
}

// checkExtension rejects what a2agen writes itself.
func checkExtension(c *shape.Checker, n *yaml.Node) {
	if !c.Lenient {
		checkContract(c, n)
	}
	if params := yamlx.Get(n, "params"); params != nil && runtime.IsSkillsExtension(yamlx.Text(yamlx.Get(n, "uri"))) {
		c.Errorf(params, "contradiction", "remove it: a2agen publishes each skill's input and output here", "the params of this extension are made from the skills")
	}
}

func twice(c *shape.Checker, n, first *yaml.Node, code, message, hint string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: code, Severity: diag.Error, Pos: yamlx.Pos(c.File, n), Message: message, Hint: hint,
		Related: []diag.Related{{Pos: yamlx.Pos(c.File, first), Message: "first here"}},
	}
}

func quote(s string) string { return strconv.Quote(shape.Short(s)) }
