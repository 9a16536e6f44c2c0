package yamlx

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// maxFlow is the widest list that is written on one line, in characters.
const maxFlow = 100

// Block renders the pairs of a map as block YAML, indent blanks deep, that [Parse] reads back as the same values. Text
// that YAML could take for anything else is quoted. The result ends in a line break.
func Block(n *yaml.Node, indent int) string {
	var w writer
	w.pairs(n, indent)
	return w.String()
}

// Item renders one element of a list as block YAML, its hyphen indent blanks deep.
func Item(n *yaml.Node, indent int) string {
	var w writer
	w.item(n, indent)
	return w.String()
}

// Scalar renders text as a YAML scalar on one line.
func Scalar(s string) string { return scalarText(s, plainBlock) }

type writer struct{ strings.Builder }

func (w *writer) pairs(n *yaml.Node, indent int) {
	for k, v := range Pairs(n) {
		w.pad(indent)
		w.pair(k, v, indent)
	}
}

// pair writes a key and its value; the cursor stands where the key goes.
func (w *writer) pair(k, v *yaml.Node, indent int) {
	w.WriteString(Scalar(k.Value) + ":")
	switch flow, short := flowList(v); {
	case v.Kind == yaml.MappingNode && len(v.Content) > 0:
		w.WriteString("\n")
		w.pairs(v, indent+2)
	case v.Kind == yaml.MappingNode:
		w.WriteString(" {}\n")
	case v.Kind == yaml.SequenceNode && short:
		w.WriteString(" " + flow + "\n")
	case v.Kind == yaml.SequenceNode:
		w.WriteString("\n")
		for _, item := range v.Content {
			w.item(item, indent+2)
		}
	default:
		w.WriteString(" " + scalar(v, plainBlock) + "\n")
	}
}

func (w *writer) item(n *yaml.Node, indent int) {
	w.pad(indent)
	w.WriteString("-")
	switch flow, short := flowList(n); {
	case n.Kind == yaml.MappingNode && len(n.Content) > 0:
		w.WriteString(" ")
		first := true
		for k, v := range Pairs(n) {
			if !first {
				w.pad(indent + 2)
			}
			first = false
			w.pair(k, v, indent+2)
		}
	case n.Kind == yaml.MappingNode:
		w.WriteString(" {}\n")
	case n.Kind == yaml.SequenceNode && short:
		w.WriteString(" " + flow + "\n")
	case n.Kind == yaml.SequenceNode:
		w.WriteString("\n")
		for _, item := range n.Content {
			w.item(item, indent+2)
		}
	default:
		w.WriteString(" " + scalar(n, plainBlock) + "\n")
	}
}

func (w *writer) pad(indent int) { w.WriteString(strings.Repeat(" ", indent)) }

// flowList renders a list of scalars on one line, if it is short enough.
func flowList(n *yaml.Node) (string, bool) {
	if n.Kind != yaml.SequenceNode {
		return "", false
	}
	items := make([]string, len(n.Content))
	for i, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return "", false
		}
		items[i] = scalar(item, plainFlow)
	}
	line := "[" + strings.Join(items, ", ") + "]"
	return line, len(line) <= maxFlow
}

func scalar(n *yaml.Node, plain *regexp.Regexp) string {
	switch n.Tag {
	case "!!null":
		return "null"
	case "!!str":
		return scalarText(n.Value, plain)
	default:
		return n.Value
	}
}

// What may stand without quotes: it begins with a letter and holds nothing that means something to YAML.
var (
	plainBlock = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9 _.,;/()'*+&=!?$%@-]*[A-Za-z0-9_./()'*+&=!?$%@-])?$`)
	plainFlow  = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9 _./()'*+-]*[A-Za-z0-9_./()'*+-])?$`)
	words      = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n)$`)
)

func scalarText(s string, plain *regexp.Regexp) string {
	if plain.MatchString(s) && !words.MatchString(s) {
		return s
	}
	if strings.ContainsAny(s, `"\\`) && !strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || !unicode.IsPrint(r) }) {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
