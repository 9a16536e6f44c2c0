package yamlx

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"
)

// Get returns the value of a key of a mapping, or nil.
func Get(n *yaml.Node, key string) *yaml.Node {
	_, v := Pair(n, key)
	return v
}

// Pair returns a key of a mapping with its value, or nils.
func Pair(n *yaml.Node, key string) (k, v *yaml.Node) {
	for k, v := range Pairs(n) {
		if k.Value == key {
			return k, v
		}
	}
	return nil, nil
}

// Pairs yields the keys and values of a mapping as written; of anything else, nothing.
func Pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// Items returns the elements of a list; of anything else, nothing.
func Items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// IsText reports whether n is a string.
func IsText(n *yaml.Node) bool { return n != nil && n.Kind == yaml.ScalarNode && n.Tag == "!!str" }

// Text returns the value of a string, and "" for anything else.
func Text(n *yaml.Node) string {
	if !IsText(n) {
		return ""
	}
	return n.Value
}

// Texts returns the strings of a list.
func Texts(n *yaml.Node) []string {
	var ss []string
	for _, item := range Items(n) {
		if IsText(item) {
			ss = append(ss, item.Value)
		}
	}
	return ss
}

// IsNull reports whether n is null, as an empty value is.
func IsNull(n *yaml.Node) bool { return n != nil && n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// Describe names the kind of a value for a message: "text", "a number", "a list".
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!int", n.Tag == "!!float":
		return "the number " + short(n.Value)
	case n.Tag == "!!bool":
		return n.Value
	case n.Tag == "!!null":
		return "nothing"
	default:
		return "the text " + strconv.Quote(short(n.Value))
	}
}

// JSON returns a node that [Parse] found no error in as compact JSON, keys in the order written.
func JSON(n *yaml.Node) json.RawMessage { return AppendJSON(nil, n) }

// AppendJSON appends n as compact JSON.
func AppendJSON(dst []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		dst = append(dst, '{')
		for k, v := range Pairs(n) {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = appendText(dst, k.Value)
			dst = AppendJSON(append(dst, ':'), v)
		}
		return append(dst, '}')
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, item := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, item)
		}
		return append(dst, ']')
	}
	switch n.Tag {
	case "!!int", "!!float", "!!bool", rawTag:
		return append(dst, n.Value...)
	case "!!null":
		return append(dst, "null"...)
	default:
		return appendText(dst, n.Value)
	}
}

func appendText(dst []byte, s string) []byte {
	quoted, err := jsontext.AppendQuote(dst, s)
	if err != nil { // not UTF-8: cannot come out of Parse
		quoted, _ = jsontext.AppendQuote(dst, string(bytes.ToValidUTF8([]byte(s), []byte("\ufffd"))))
	}
	return quoted
}

// isJSONNumber reports whether s is spelled as JSON spells a number.
func isJSONNumber(s string) bool {
	v := jsontext.Value(s)
	return len(s) > 0 && v.IsValid() && v.Kind() == '0' && s[0] != ' ' && s[len(s)-1] != ' '
}

// IsTrue reports whether n is true.
func IsTrue(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && n.Tag == "!!bool" && n.Value == "true"
}

// Int returns a whole number that an int holds, and 0 for anything else.
func Int(n *yaml.Node) int {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		return 0
	}
	v, err := strconv.Atoi(n.Value)
	if err != nil {
		return 0
	}
	return v
}
