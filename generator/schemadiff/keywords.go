package schemadiff

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/schema"
)

// reader reads the keyword k of the schema m into n. It is false for a value that cannot be compared.
type reader func(n *node, k string, m map[string]any) (ok bool, err error)

// readers are those of the keywords of which package schema's table does not say enough: what they mean to a node. It
// is filled when the program starts, because readers look others up.
var readers map[string]reader

func init() {
	readers = map[string]reader{
		"$ref": readRef, "type": readType, "enum": readEnum, "const": readEnum,
		"allOf": readAllOf, "anyOf": readUnion, "oneOf": readUnion,
		"multipleOf": readStep, "pattern": readPattern, "format": readFormat, "contentEncoding": readEncoding, "uniqueItems": readUnique,
		"prefixItems": readPrefix, "items": readItems, "additionalItems": readAdditionalItems,
		"properties": readProperties, "patternProperties": readPatterns, "required": readRequired,
		"additionalProperties": one(func(n *node) **node { return &n.others }),
		"propertyNames":        one(func(n *node) **node { return &n.names }),
		"dependentRequired":    readDepends, "dependencies": readDepends,
	}
}

// read reads a keyword: by its reader, or by its row in the table of keywords.
func (n *node) read(k string, m map[string]any) (ok bool, err error) {
	row := schema.Lookup(k)
	switch {
	case readers[k] != nil:
		return readers[k](n, k, m)
	case row.Compared != schema.ByMeaning:
		n.opaque = append(n.opaque, k)
		switch row.Holds {
		case schema.HoldsOne:
			_, err = n.kid(m[k], k)
			return true, err
		case schema.HoldsByName:
			_, ok, err = n.byName(k, m[k])
			return ok, err
		}
		return false, nil
	case row.Limit == nil: // it says nothing about values
		return true, nil
	case row.On == jsontype.Number:
		return n.readBound(row, m), nil
	}
	return n.readSize(k, m[k]), nil
}

// one reads a keyword whose value is a schema into its place.
func one(place func(*node) **node) reader {
	return func(n *node, k string, m map[string]any) (bool, error) {
		kid, err := n.kid(m[k], k)
		*place(n) = kid
		return true, err
	}
}

func readRef(n *node, k string, m map[string]any) (bool, error) {
	text, _ := m[k].(string)
	target, err := n.doc.follow(text)
	if err != nil || target == nil {
		return false, err
	}
	n.ref, n.kids[k] = target, target
	return true, nil
}

func readType(n *node, k string, m map[string]any) (bool, error) {
	names, isList := m[k].([]any)
	if !isList {
		names = []any{m[k]}
	}
	n.types = 0
	for _, name := range names {
		word, _ := name.(string)
		t := jsontype.Of(word)
		if t == 0 {
			return false, nil
		}
		n.types |= t
	}
	if n.types&jsontype.Number == jsontype.Integer {
		n.integers(m["format"])
	}
	if m["nullable"] == true { // OpenAPI
		n.types |= jsontype.Null
	}
	n.own[k] = n.types.String()
	return true, nil
}

// integers sets the limits that integers have by their size, which is 64 bits where no format says another one.
func (n *node) integers(format any) {
	name, _ := format.(string)
	kind, low, high := schema.IntegerRange(name)
	n.limit(true, &bound{at: new(big.Rat).SetInt(low), keyword: "format", size: string(kind)})
	n.limit(false, &bound{at: new(big.Rat).SetInt(high), keyword: "format", size: string(kind)})
}

// limit adds a lower or an upper bound, of which the stricter holds.
func (n *node) limit(lower bool, b *bound) {
	to := &n.upper
	if lower {
		to = &n.lower
	}
	if *to == nil || stricter(b, *to, lower) {
		*to = b
	}
	if b.size == "" {
		n.own[b.keyword] = b.text()
	} else {
		n.own["size of integers"] = b.size
	}
}

func number(v any) (*big.Rat, bool) {
	text, isNumber := v.(json.Number)
	if !isNumber {
		return nil, false
	}
	return schema.ParseNumber(text.String())
}

func readEnum(n *node, k string, m map[string]any) (bool, error) {
	items, isList := m[k].([]any)
	if k == "const" {
		items, isList = []any{m[k]}, true
	}
	if !isList {
		return false, nil
	}
	if m["nullable"] == true && m["type"] != nil {
		items = append(slices.Clone(items), nil)
	}
	var list []string
	for _, v := range items {
		if text := canonical(v); n.values == nil || n.values.set[text] {
			list = append(list, text)
		}
	}
	n.values = newChoice(list)
	n.own[k] = strings.Join(slices.Sorted(slices.Values(list)), ",")
	return true, nil
}

func readAllOf(n *node, k string, m map[string]any) (ok bool, err error) {
	n.allOf, ok, err = n.list(k, m[k])
	return ok, err
}

func readUnion(n *node, k string, m map[string]any) (bool, error) {
	list, ok, err := n.list(k, m[k])
	if !ok || err != nil {
		return ok, err
	}
	u := &union{keyword: k, branches: list, texts: map[[sha256.Size]byte]int{}}
	for i, v := range m[k].([]any) {
		list[i].text = sha256.Sum256([]byte(canonical(v)))
		u.texts[list[i].text] = i
	}
	n.unions = append(n.unions, u)
	return true, nil
}

func (n *node) readBound(row schema.Keyword, m map[string]any) bool {
	v, lower := m[row.Name], row.Limit.Sign > 0
	if on, isFlag := v.(bool); isFlag && row.Limit.Open { // draft 4
		at, ok := number(m[strings.ToLower(strings.TrimPrefix(row.Name, "exclusive"))])
		if on && ok {
			n.limit(lower, &bound{at: at, open: true, keyword: row.Name})
		}
		return ok || !on
	}
	at, ok := number(v)
	if ok {
		n.limit(lower, &bound{at: at, open: row.Limit.Open, keyword: row.Name})
	}
	return ok
}

func readStep(n *node, k string, m map[string]any) (ok bool, err error) {
	if n.step, ok = number(m[k]); !ok || n.step.Sign() <= 0 {
		n.step = nil
		return false, nil
	}
	n.own[k] = numberText(n.step)
	return true, nil
}

func (n *node) readSize(k string, v any) bool {
	size, ok := number(v)
	if !ok || !size.IsInt() || size.Sign() < 0 || !size.Num().IsInt64() || size.Num().Int64() > 1<<53 {
		return false
	}
	n.sizes[k] = int(size.Num().Int64())
	n.own[k] = strconv.Itoa(n.sizes[k])
	return true
}

func readPattern(n *node, k string, m map[string]any) (ok bool, err error) {
	n.pattern, ok = m[k].(string)
	n.own[k] = quote(n.pattern)
	return ok, nil
}

func readFormat(n *node, k string, m map[string]any) (bool, error) {
	name, isText := m[k].(string)
	if isText && schema.IsChecked(name) {
		n.format = name
		n.own[k] = name
	}
	return isText, nil
}

// readEncoding reads base64 as the format that has the same texts.
func readEncoding(n *node, k string, m map[string]any) (bool, error) {
	if name, _ := m[k].(string); strings.EqualFold(name, "base64") && n.format == "" {
		n.own[k] = "base64"
		if _, other := m["format"].(string); other && schema.IsChecked(m["format"].(string)) {
			return m["format"] == "byte", nil
		}
		n.format = "byte"
	}
	return true, nil
}

func readUnique(n *node, k string, m map[string]any) (ok bool, err error) {
	n.unique, ok = m[k].(bool)
	if n.unique {
		n.own[k] = "true"
	}
	return ok, nil
}

func readPrefix(n *node, k string, m map[string]any) (ok bool, err error) {
	n.prefix, ok, err = n.list(k, m[k])
	return ok, err
}

// readItems reads items, which before 2020-12 may be a list.
func readItems(n *node, k string, m map[string]any) (ok bool, err error) {
	if _, isList := m[k].([]any); isList {
		n.prefix, ok, err = n.list(k, m[k])
		return ok, err
	}
	n.items, err = n.kid(m[k], k)
	return true, err
}

func readAdditionalItems(n *node, k string, m map[string]any) (_ bool, err error) {
	if _, isList := m["items"].([]any); isList {
		n.items, err = n.kid(m[k], k)
	}
	return true, err
}

func readProperties(n *node, k string, m map[string]any) (ok bool, err error) {
	n.props, ok, err = n.byName(k, m[k])
	return ok, err
}

func readPatterns(n *node, k string, m map[string]any) (bool, error) {
	byName, ok, err := n.byName(k, m[k])
	for _, text := range sortedKeys(byName) {
		n.patterns = append(n.patterns, newPattern(text, byName[text]))
	}
	return ok, err
}

func readRequired(n *node, k string, m map[string]any) (bool, error) {
	names, ok := texts(m[k])
	n.required = map[string]bool{}
	for _, name := range names {
		n.required[name] = true
	}
	n.own[k] = quote(strings.Join(sortedKeys(n.required), "\x00"))
	return ok, nil
}

// readDepends reads dependentRequired, and dependencies of draft 7 where its values are lists.
func readDepends(n *node, k string, m map[string]any) (bool, error) {
	members, ok := m[k].(map[string]any)
	n.doc.loose = n.doc.loose || k == "dependencies"
	if n.depends == nil {
		n.depends = map[string][]string{}
	}
	for name, v := range members {
		list, isList := texts(v)
		ok = ok && isList
		n.depends[name] = append(n.depends[name], list...)
	}
	n.own[k] = canonical(m[k])
	return ok, nil
}

// texts are the elements of a list of texts.
func texts(v any) (list []string, ok bool) {
	items, ok := v.([]any)
	for _, item := range items {
		text, isText := item.(string)
		if list = append(list, text); !isText {
			return nil, false
		}
	}
	return list, ok
}
