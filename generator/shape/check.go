package shape

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// Checker collects the mistakes of one file.
type Checker struct {
	File string
	List diag.List
	// Lenient takes what somebody else wrote: values that do not fit are removed from the tree and reported as
	// warnings, unless a required key is lost with them.
	Lenient bool

	errs int // errors found and not forgiven
}

// maxReports limits the mistakes that are reported: nobody reads more, and a hostile file has many.
const maxReports = 500

// Check reports all differences of the mapping n from o.
func (c *Checker) Check(n *yaml.Node, o *Object) {
	c.value(n, &Type{Kind: Struct, Object: o}, o.Name)
}

// Errorf reports a mistake at n.
func (c *Checker) Errorf(n *yaml.Node, code, hint, format string, args ...any) {
	c.Add(diag.Diagnostic{Code: code, Severity: diag.Error, Pos: yamlx.Pos(c.File, n), Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// Add reports a mistake with more detail than Errorf takes.
func (c *Checker) Add(d diag.Diagnostic) {
	if !c.Full() || c.errs == 0 { // the first error counts, however many warnings there are
		c.List.Add(d)
	}
	c.errs++
}

// Full reports whether the limit of reports is reached, so that no hint needs to be computed.
func (c *Checker) Full() bool { return len(c.List) >= maxReports }

// Warnf reports something that is allowed but probably a mistake.
func (c *Checker) Warnf(n *yaml.Node, code, hint, format string, args ...any) {
	if !c.Full() {
		c.List.Warnf(yamlx.Pos(c.File, n), code, hint, format, args...)
	}
}

// mark is a position in the list of reports.
type mark struct{ list, errs int }

func (c *Checker) mark() mark { return mark{len(c.List), c.errs} }

// failed reports whether errors were found since m.
func (c *Checker) failed(m mark) bool { return c.errs > m.errs }

// forgive turns the errors since m into warnings that say that the value is left out.
func (c *Checker) forgive(m mark) {
	for i := m.list; i < len(c.List); i++ {
		if d := &c.List[i]; d.Severity == diag.Error {
			d.Severity, d.Hint = diag.Warning, ""
			d.Message += ": left out"
		}
	}
	c.List = c.List[:min(len(c.List), max(m.list, maxReports))]
	c.errs = m.errs
}

// value checks n against t. label names the value in messages: a quoted key, or what it is an element of.
func (c *Checker) value(n *yaml.Node, t *Type, label string) {
	m := c.mark()
	if t.Or != nil && n.Kind == yaml.MappingNode {
		if t.Or.Object != nil {
			label = t.Or.Object.Name
		}
		c.value(n, t.Or, label)
		return
	}
	switch t.Kind {
	case Struct:
		c.object(n, t, label)
		return // runs its own checks
	case List:
		c.list(n, t, label)
	case Map:
		c.mapping(n, t, label)
	case Free:
		c.is(n, yaml.MappingNode, "!!map", label, "a map", "")
	case Bool:
		c.is(n, yaml.ScalarNode, "!!bool", label, "true or false", "")
	case Int:
		c.integer(n, t, label)
	case Schema:
		switch {
		case n.Kind == yaml.MappingNode, yamlx.IsText(n) && n.Value != "", n.Tag == "!!bool":
		default:
			c.is(n, yaml.MappingNode, "!!map", label, "a JSON Schema or the name of a file that holds one", "")
		}
	default:
		c.text(n, t, label)
	}
	if t.Check != nil && !c.failed(m) {
		t.Check(c, n)
	}
}

// is checks the kind of n.
func (c *Checker) is(n *yaml.Node, kind yaml.Kind, tag, label, want, hint string) bool {
	if n.Kind == kind && n.Tag == tag {
		return true
	}
	if yamlx.IsNull(n) {
		c.Errorf(n, "no-value", "write "+want+", or remove the key", "%s has no value", label)
		return false
	}
	c.Errorf(n, "wrong-type", hint, "%s must be %s, not %s", label, want, yamlx.Describe(n))
	return false
}

func (c *Checker) object(n *yaml.Node, t *Type, label string) {
	o := t.Object
	if !c.is(n, yaml.MappingNode, "!!map", label, "a map", "") {
		return
	}
	m := c.mark()
	kept := n.Content[:0:0]
	for k, v := range yamlx.Pairs(n) {
		m := c.mark()
		ok := c.pair(k, v, o)
		if !ok && c.Lenient {
			c.forgive(m)
			continue
		}
		kept = append(kept, k, v)
	}
	if c.Lenient {
		n.Content = kept
	}
	c.required(n, o, label)
	if o.OneOf {
		c.oneOf(n, o, label)
	}
	if c.failed(m) {
		return
	}
	if o.Check != nil {
		o.Check(c, n)
	}
	if t.Check != nil {
		t.Check(c, n)
	}
}

// pair checks one key of an object and reports whether it may stay.
func (c *Checker) pair(k, v *yaml.Node, o *Object) bool {
	f := o.Field(k.Value)
	if f != nil {
		m := c.mark()
		if c.Lenient && yamlx.IsNull(v) {
			return false // null is absent, which is nobody's mistake
		}
		c.value(v, f.Type, strconv.Quote(f.Key))
		if c.Lenient && !f.Required && f.Type.Kind == List && len(v.Content) < f.Type.Min {
			return false // what was in it has been reported
		}
		return !c.failed(m)
	}
	if hint := o.Foreign[k.Value]; hint != "" {
		c.Errorf(k, "foreign-key", hint, "key %q does not belong in %s", k.Value, o.Name)
		return false
	}
	hint := ""
	if !c.Full() {
		hint = suggest.Key(k.Value, o.Keys())
	}
	c.Errorf(k, "unknown-key", hint, "unknown key %q in %s", Short(k.Value), o.Name)
	if meant := o.Field(suggest.Nearest(k.Value, o.Keys())); hint != "" && meant != nil && !c.Lenient {
		c.value(v, meant.Type, strconv.Quote(meant.Key)) // what is wrong below a misspelt key is said in the same run
	}
	return false
}

// required reports missing keys, at the map that lacks them. A misspelt key was reported as such.
func (c *Checker) required(n *yaml.Node, o *Object, label string) {
	misspelt := map[string]bool{}
	tries := 100 // enough for a user; a hostile map has any number of keys
	if c.Full() {
		tries = 0
	}
	for k := range yamlx.Pairs(n) {
		if tries > 0 && o.Field(k.Value) == nil {
			tries--
			misspelt[suggest.Nearest(k.Value, o.Keys())] = true
		}
	}
	for _, f := range o.Fields {
		if f.Required && !misspelt[f.Key] && yamlx.Get(n, f.Key) == nil {
			c.Errorf(n, "missing-key", "", "%s lacks the key %q", label, f.Key)
		}
	}
}

func (c *Checker) oneOf(n *yaml.Node, o *Object, label string) {
	var known []*yaml.Node
	for k := range yamlx.Pairs(n) {
		if o.Field(k.Value) != nil {
			known = append(known, k)
		}
	}
	if len(known) == 0 && len(n.Content) == 0 {
		c.Errorf(n, "missing-key", suggest.OneOf(o.Keys()), "%s is empty", label)
	}
	for _, k := range known[min(1, len(known)):] {
		c.Add(diag.Diagnostic{
			Code: "one-of", Severity: diag.Error, Pos: yamlx.Pos(c.File, k), Hint: o.OneOfHint,
			Message: fmt.Sprintf("%q and %q exclude each other", known[0].Value, k.Value),
			Related: []diag.Related{{Pos: yamlx.Pos(c.File, known[0]), Message: "first here"}},
		})
	}
}

func (c *Checker) list(n *yaml.Node, t *Type, label string) {
	hint := ""
	if n.Kind == yaml.ScalarNode && t.Elem.Kind != Struct && !yamlx.IsNull(n) {
		hint = "write [" + plainText(n.Value) + "]"
	}
	if !c.is(n, yaml.SequenceNode, "!!seq", label, "a list", hint) {
		return
	}
	c.count(n, len(n.Content), t, label, "elements")
	elem := "an element of " + label
	if t.Elem.Kind == Struct {
		elem = t.Elem.Object.Name
	}
	kept := n.Content[:0:0]
	for _, item := range n.Content {
		m := c.mark()
		c.value(item, t.Elem, elem)
		if c.Lenient && c.failed(m) {
			c.forgive(m)
			continue
		}
		kept = append(kept, item)
	}
	n.Content = kept
}

func (c *Checker) mapping(n *yaml.Node, t *Type, label string) {
	if !c.is(n, yaml.MappingNode, "!!map", label, "a map", "") {
		return
	}
	c.count(n, len(n.Content)/2, t, label, "keys")
	kept := n.Content[:0:0]
	for k, v := range yamlx.Pairs(n) {
		m := c.mark()
		switch {
		case k.Value == "":
			c.Errorf(k, "empty", "", "a key of %s is empty", label)
		case utf8.RuneCountInString(k.Value) > maxText:
			c.Errorf(k, "too-long", "", "a key of %s is longer than %d characters", label, maxText)
		}
		c.value(v, t.Elem, strconv.Quote(Short(k.Value)))
		if c.Lenient && c.failed(m) {
			c.forgive(m)
			continue
		}
		kept = append(kept, k, v)
	}
	n.Content = kept
}

// count checks the number of elements.
func (c *Checker) count(n *yaml.Node, count int, t *Type, label, what string) {
	if count > t.max() {
		c.Errorf(n, "too-many", "", "%s has %d %s, more than %d", label, count, what, t.max())
	}
	if count < t.Min && !c.Lenient {
		hint := ""
		if t.Elem.Kind == Struct {
			hint = "write at least one " + t.Elem.Object.Name
		}
		c.Errorf(n, "empty", hint, "%s is empty", label)
	}
}

func (c *Checker) integer(n *yaml.Node, t *Type, label string) {
	if !c.is(n, yaml.ScalarNode, "!!int", label, "a whole number", "") {
		return
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || v < int64(t.Min) || v > int64(t.max()) {
		c.Errorf(n, "out-of-range", "", "%s must be between %d and %d, not %s", label, t.Min, t.max(), Short(n.Value))
	}
}

// plainText returns s as YAML writes a text: in quotes if it would be a number without them.
func plainText(s string) string {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return strconv.Quote(s)
	}
	return Short(s)
}

// Short shortens a text from a file for a message.
func Short(s string) string {
	if rs := []rune(s); len(rs) > 60 {
		return string(rs[:59]) + "…"
	}
	return s
}
