package yamlx

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
)

var tooDeep = fmt.Sprintf("nested deeper than %d levels", MaxDepth)

// normalizer resolves aliases, checks keys and tags and respells numbers, in place.
type normalizer struct {
	file  string
	list  *diag.List
	seen  map[*yaml.Node]measure // maps and lists already walked, or being walked
	nodes int                    // total, aliases expanded
	full  bool                   // MaxNodes was reported
}

// measure is the size of a subtree with its aliases expanded.
type measure struct {
	nodes, height int
	open          bool // being walked: an alias to it is a cycle
}

// walk normalizes the subtree at n, which lies depth levels below the document, and returns its measure.
func (z *normalizer) walk(n *yaml.Node, depth int) measure {
	if depth > MaxDepth {
		z.errorf(n, "too-deep", "", "%s", tooDeep)
		n.Content = nil
		return measure{nodes: 1, height: 1}
	}
	m := measure{nodes: 1, height: 1, open: true}
	z.nodes++
	switch n.Kind {
	case yaml.ScalarNode:
		z.scalar(n)
		return m
	case yaml.MappingNode:
		z.seen[n] = m
		z.collection(n, "!!map")
		z.keys(n)
		for i := 1; i < len(n.Content); i += 2 {
			m = m.plus(z.child(n, i, depth))
		}
		n.Content = present(n.Content, 2)
	default:
		z.seen[n] = m
		z.collection(n, "!!seq")
		for i := range n.Content {
			m = m.plus(z.child(n, i, depth))
		}
		n.Content = present(n.Content, 1)
	}
	m.open = false
	z.seen[n] = m
	return m
}

func (m measure) plus(child measure) measure {
	m.nodes += child.nodes
	m.height = max(m.height, child.height+1)
	return m
}

// present drops the groups, of size contents each, whose last content a refused alias left empty.
func present(content []*yaml.Node, size int) []*yaml.Node {
	kept := content[:0]
	for i := size - 1; i < len(content); i += size {
		if content[i] != nil {
			kept = append(kept, content[i+1-size:i+1]...)
		}
	}
	return kept
}

// child normalizes the i-th content of n, putting the target in the place of an alias, or nil if the alias is refused.
func (z *normalizer) child(n *yaml.Node, i, depth int) measure {
	c := n.Content[i]
	if c.Kind != yaml.AliasNode {
		return z.walk(c, depth+1)
	}
	target := c.Alias
	m, walked := z.seen[target]
	switch {
	case walked && m.open:
		z.errorf(c, "alias-cycle", "", "alias *%s is inside what it stands for", c.Value)
		n.Content[i] = nil
		return measure{nodes: 1, height: 1}
	case target.Kind == yaml.ScalarNode || !walked:
		m = z.walk(target, depth+1)
	default:
		z.nodes += m.nodes
	}
	if depth+m.height > MaxDepth {
		z.errorf(c, "too-deep", "", "%s", tooDeep)
		n.Content[i] = nil
		return measure{nodes: 1, height: 1}
	}
	if z.nodes > MaxNodes {
		if !z.full {
			z.errorf(c, "too-large", "", "aliases expand to more than %d values", MaxNodes)
		}
		z.full = true
		n.Content[i] = nil
		return measure{nodes: 1, height: 1}
	}
	n.Content[i] = target
	return m
}

// keys makes every key of a mapping text, and reports and removes those that cannot be or that repeat.
func (z *normalizer) keys(n *yaml.Node) {
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	kept := make([]*yaml.Node, 0, len(n.Content))
	var merged []*yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.AliasNode {
			k = &yaml.Node{Kind: k.Alias.Kind, Tag: k.Alias.Tag, Value: k.Alias.Value, Line: k.Line, Column: k.Column}
		}
		z.nodes++
		switch {
		case k.Kind != yaml.ScalarNode || k.Tag == "!!null":
			z.errorf(k, "bad-key", "", "a key must be text")
			continue
		case k.Tag == "!!merge":
			z.errorf(k, "merge-key", "write the keys out", "merge keys (<<) are not supported")
			merged = append(merged, n.Content[i+1])
			continue
		}
		k.Tag = "!!str"
		if before := first[k.Value]; before != nil {
			z.list.Add(diag.Diagnostic{
				Code: "duplicate-key", Severity: diag.Error, Pos: Pos(z.file, k), Message: fmt.Sprintf("key %q is written twice", short(k.Value)),
				Related: []diag.Related{{Pos: Pos(z.file, before), Message: "first here"}},
			})
			continue
		}
		first[k.Value] = k
		kept = append(kept, k, n.Content[i+1])
	}
	for _, m := range merged {
		kept = z.mergeKeys(kept, first, m)
	}
	n.Content = kept
	if z.nodes > MaxNodes && !z.full {
		z.full = true
		z.errorf(n, "too-large", "", "the file holds more than %d values", MaxNodes)
	}
}

// mergeKeys adds what a refused merge key would bring, so that nobody reports it as missing.
func (z *normalizer) mergeKeys(kept []*yaml.Node, first map[string]*yaml.Node, from *yaml.Node) []*yaml.Node {
	if from.Kind == yaml.AliasNode {
		from = from.Alias
	}
	if from.Kind != yaml.MappingNode {
		return kept
	}
	for i := 0; i+1 < len(from.Content) && z.nodes <= MaxNodes; i += 2 {
		k, v := from.Content[i], from.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Tag != "!!str" || first[k.Value] != nil {
			continue
		}
		if v.Kind != yaml.AliasNode {
			v = &yaml.Node{Kind: yaml.AliasNode, Alias: v, Value: k.Value, Line: k.Line, Column: k.Column} // counted as often as used
		}
		z.nodes++
		first[k.Value] = k
		kept = append(kept, k, v)
	}
	return kept
}

func (z *normalizer) collection(n *yaml.Node, tag string) {
	if n.Tag != tag && n.Tag != "" {
		z.errorf(n, "bad-tag", "remove it", "tag %s is not supported", short(n.Tag))
	}
	n.Tag = tag
}

// scalar checks the tag of a scalar and spells numbers as JSON does.
func (z *normalizer) scalar(n *yaml.Node) {
	switch n.Tag {
	case "!!str", "!!null":
	case "!!bool":
		n.Value = strings.ToLower(n.Value)
	case "!!timestamp":
		n.Tag = "!!str"
	case "!!int":
		z.integer(n)
	case "!!float":
		z.float(n)
	case "!!merge": // << as a value is text
		n.Tag = "!!str"
	default:
		z.errorf(n, "bad-tag", "remove it", "tag %s is not supported", short(n.Tag))
		n.Tag = "!!str"
	}
}

// integer spells an integer in decimal. 012 is refused: it is ten in YAML 1.1 and twelve in YAML 1.2.
func (z *normalizer) integer(n *yaml.Node) {
	if isJSONNumber(n.Value) {
		return
	}
	digits := strings.TrimLeft(n.Value, "+-")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		z.errorf(n, "bad-number", "put it in quotes, or leave out the leading zero", "%s may mean an octal or a decimal number", short(n.Value))
		n.Value = "0"
		return
	}
	v, ok := new(big.Int).SetString(strings.TrimPrefix(n.Value, "+"), 0)
	if !ok {
		z.errorf(n, "bad-number", "put it in quotes", "%s is not a whole number", short(n.Value))
		n.Value = "0"
		return
	}
	n.Value = v.String()
}

func (z *normalizer) float(n *yaml.Node) {
	if isJSONNumber(n.Value) {
		return
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		z.errorf(n, "bad-number", "put it in quotes", "%s is not a number that JSON can hold", short(n.Value))
		n.Value = "0"
		return
	}
	n.Value = strconv.FormatFloat(v, 'g', -1, 64)
}

func (z *normalizer) errorf(n *yaml.Node, code, hint, format string, args ...any) {
	z.list.Errorf(Pos(z.file, n), code, hint, format, args...)
}

// short cuts a text from a file to what fits into a message.
func short(s string) string {
	if rs := []rune(s); len(rs) > 60 {
		return string(rs[:59]) + "…"
	}
	return s
}
