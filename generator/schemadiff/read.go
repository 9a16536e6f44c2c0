package schemadiff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/runtime/wire"
)

// document is one JSON Schema with all that its references lead to.
type document struct {
	root     any
	text     []byte
	start    *node
	nodes    map[string]*node // by JSON pointer
	loose    bool             // it has keywords that the evaluator does not know
	refAlone bool             // no other keyword counts beside $ref: so it is up to draft 7
	eval     *schema.Evaluator
	unjudged error // why there is no evaluator
}

// read reads a schema.
func read(text []byte) (*document, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	if depth(root, maxDepth) > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxDepth)
	}
	d := &document{root: root, text: text, nodes: map[string]*node{}}
	if m, ok := root.(map[string]any); ok {
		dialect, _ := m["$schema"].(string)
		d.refAlone = strings.Contains(dialect, "/draft-04/") || strings.Contains(dialect, "/draft-06/") ||
			strings.Contains(dialect, "/draft-07/")
	}
	var err error
	d.start, err = d.node("", root)
	return d, err
}

// depth returns how deep a value is nested, or something above most.
func depth(v any, most int) int {
	if most < 0 {
		return 1
	}
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			deepest = max(deepest, depth(e, most-1))
		}
	case map[string]any:
		for _, e := range v {
			deepest = max(deepest, depth(e, most-1))
		}
	default:
		return 0
	}
	return deepest + 1
}

// node reads the schema at a JSON pointer, once.
func (d *document) node(ptr string, v any) (*node, error) {
	if n := d.nodes[ptr]; n != nil {
		return n, nil
	}
	if len(d.nodes) >= maxNodes {
		return nil, fmt.Errorf("it holds more than %d schemas", maxNodes)
	}
	n := &node{id: len(d.nodes), doc: d, ptr: ptr, types: jsontype.All, own: map[string]string{}, kids: map[string]*node{},
		sizes: map[string]int{}}
	d.nodes[ptr] = n
	switch v := v.(type) {
	case bool:
		n.never = !v
		n.own["bool"] = strconv.FormatBool(v)
		return n, nil
	case map[string]any:
		return n, d.keywords(n, v)
	}
	return nil, fmt.Errorf("no schema at #%s", ptr)
}

// keywords reads the members of a schema. What has not the form that its keyword demands is opaque.
func (d *document) keywords(n *node, m map[string]any) error {
	if _, isRef := m["$ref"].(string); isRef && d.refAlone {
		m = map[string]any{"$ref": m["$ref"]}
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		ok, err := n.read(k, m)
		if err != nil {
			return err
		}
		if !ok {
			n.opaque = append(n.opaque, k)
			n.own[k] = canonical(m[k])
		}
	}
	n.opaque = slices.Compact(slices.Sorted(slices.Values(n.opaque)))
	return nil
}

// kid reads a schema inside of n.
func (n *node) kid(v any, path ...string) (*node, error) {
	ptr := n.ptr
	for _, p := range path {
		ptr += "/" + wire.EscapePointer(p)
	}
	k, err := n.doc.node(ptr, v)
	n.kids[strings.Join(path, "/")] = k
	return k, err
}

// list reads the schemas in a list.
func (n *node) list(k string, v any) (list []*node, ok bool, err error) {
	items, ok := v.([]any)
	if !ok {
		return nil, false, nil
	}
	for i, item := range items {
		kid, err := n.kid(item, k, strconv.Itoa(i))
		if err != nil {
			return nil, false, err
		}
		list = append(list, kid)
	}
	return list, true, nil
}

// byName reads the schemas in a map.
func (n *node) byName(k string, v any) (byName map[string]*node, ok bool, err error) {
	members, ok := v.(map[string]any)
	if !ok {
		return nil, false, nil
	}
	byName = map[string]*node{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if byName[name], err = n.kid(members[name], k, name); err != nil {
			return nil, false, err
		}
	}
	return byName, true, nil
}

// follow reads what a reference leads to; nil for one that leads nowhere, out of the document or to an anchor.
func (d *document) follow(ref string) (*node, error) {
	fragment, local := strings.CutPrefix(ref, "#")
	ptr, err := url.PathUnescape(fragment)
	if !local || err != nil || ptr != "" && ptr[0] != '/' {
		return nil, nil
	}
	at, v := "", d.root
	for _, token := range strings.Split(ptr, "/")[1:] {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, nil
			}
			v = in[i]
		default:
			v = nil
		}
		if v == nil {
			return nil, nil
		}
		at += "/" + wire.EscapePointer(name)
	}
	return d.node(at, v)
}

// problem says why a value does not fit the schema n, "" if it does. The error tells that this cannot be said.
func (d *document) problem(n *node, value string) (string, error) {
	if d.eval == nil && d.unjudged == nil {
		d.eval, d.unjudged = schema.NewEvaluator(d.text)
	}
	if d.loose && d.unjudged == nil {
		d.unjudged = errors.New("the evaluator does not know dependencies")
	}
	if d.unjudged != nil {
		return "", d.unjudged
	}
	return d.eval.Problem(d.judged(n.ptr), []byte(value))
}

// judged is the pointer of a schema in the document that the evaluator reads: it has the words of draft 2019-09 for the
// elements of a list.
func (d *document) judged(ptr string) string {
	at, there := "", ""
	for _, token := range strings.Split(ptr, "/")[1:] {
		word := url.PathEscape(token)
		if n := d.nodes[at]; n != nil && n.kids["prefixItems/0"] != nil {
			switch token {
			case "prefixItems":
				word = "items"
			case "items":
				word = "additionalItems"
			}
		}
		at, there = at+"/"+token, there+"/"+word
	}
	return there
}

// canonical is the JSON text of a value, equal for equal values: 1.0 and 1 are the same number.
func canonical(v any) string {
	switch v := v.(type) {
	case json.Number:
		if r, ok := schema.ParseNumber(v.String()); ok {
			return numberText(r)
		}
		return v.String()
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, canonical(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, quote(k)+":"+canonical(v[k]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case string:
		return quote(v)
	}
	text, _ := json.Marshal(v) // true, false or null: cannot fail
	return string(text)
}

// quote is s as a JSON string.
func quote(s string) string {
	text, _ := json.Marshal(s) // cannot fail
	return string(text)
}

// numberText spells a number as JSON does.
func numberText(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, exact := r.Float64()
	if !exact {
		if digits, all := r.FloatPrec(); all && digits < 40 {
			return r.FloatString(digits)
		}
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
