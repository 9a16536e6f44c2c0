package schema

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/names"
)

// lowerer turns the schemas of one request into types. Their Go names come later, when all requests are known.
type lowerer struct {
	*compiler
	root    *schema
	rootKey string
	rootRef *ir.DataRef

	byKey  map[string]*named
	types  []*named         // in order of discovery: an owner before what it owns
	busy   map[string]*busy // lists and maps being lowered
	looked map[string]bool  // schemas in which mistakes were looked for although they cannot be lowered

	defs     map[string]string // key of a $ref target → name of its definition
	defTaken map[string]bool

	bundle    json.RawMessage
	questions []question
	exampled  map[string]bool // schemas whose examples were asked about
}

// busy is a list or map that is being lowered. It gets a name when it turns out to hold itself.
type busy struct{ self *named }

// named is a type that has no Go name yet.
type named struct {
	t     *ir.DataType
	hint  hint
	parts []*schema // for positions
}

// hint says what a type is to be called: the suffix behind its owner's name, or behind base when it has no owner.
type hint struct {
	owner  *named
	base   string
	suffix string
}

func (h hint) plus(suffix string) hint {
	h.suffix += suffix
	return h
}

// run lowers the root and everything it uses.
func (l *lowerer) run() {
	before := len(l.list)
	root := l.root.resolve()
	if root == nil {
		l.unresolved(l.root)
		return
	}
	doc := docOf([]*schema{l.root})
	l.root, l.rootKey = root, root.key
	n := &named{t: &ir.DataType{Doc: doc}, parts: []*schema{root}}
	l.types = append(l.types, n)
	l.byKey[l.rootKey] = n
	ref := l.value([]*schema{root}, hint{owner: n}, n)
	if n.t.Kind == "" { // not a type of its own: wrap it
		n.t.Kind, n.t.Of = ir.DataDefined, keep(ref)
		if ref.Null || ref.Kind == ir.DataNamed && ref.Type.Kind == ir.DataUnion {
			n.t.Kind = ir.DataWrapper
		}
	}
	l.rootRef = keep(ir.DataRef{Kind: ir.DataNamed, Type: n.t})
	if l.list[before:].HasErrors() {
		return
	}
	l.checkFinite()
}

// keep returns ref in memory of its own.
func keep(ref ir.DataRef) *ir.DataRef { return &ref }

// lower returns the type of a value for which all parts hold.
func (l *lowerer) lower(parts []*schema, h hint) ir.DataRef {
	parts = l.normal(parts)
	if parts == nil {
		return ir.DataRef{Kind: ir.DataAny}
	}
	if keyOf(parts) == l.rootKey {
		return l.use(l.byKey[l.rootKey])
	}
	if slices.ContainsFunc(parts, (*schema).isRaw) {
		return ir.DataRef{Kind: ir.DataAny}
	}
	if def := l.defName(parts); def != "" {
		h = hint{base: def}
	}
	return l.value(parts, h, nil)
}

// value lowers parts. self is the type to become when they are the root, else nil.
func (l *lowerer) value(parts []*schema, h hint, self *named) ir.DataRef {
	if len(parts) == 1 && parts[0].nullable {
		ref := l.single([]*schema{parts[0].notNull()}, h, nil) // a nullable root wraps its type
		ref.Null = ref.Kind != ir.DataAny
		return ref
	}
	if len(l.types) > maxTypes {
		l.limit(parts[0], "types", maxTypes)
	}
	if l.full {
		return ir.DataRef{Kind: ir.DataAny}
	}
	if slices.ContainsFunc(parts, (*schema).isRaw) {
		return ir.DataRef{Kind: ir.DataAny}
	}
	l.askExamples(parts)
	f := l.flatten(parts)
	if f.bad {
		l.lookInside(f, h)
		return ir.DataRef{Kind: ir.DataAny}
	}
	if f.union != nil {
		return l.union(f, parts, h, self)
	}
	if f.null {
		self = nil // a nullable root wraps its type
	}
	ref := l.plain(f, parts, h, self)
	ref.Null = ref.Null || f.null && ref.Kind != ir.DataAny
	return ref
}

// lookInside lowers what is inside a schema that cannot be lowered itself, so that all mistakes are found at once.
func (l *lowerer) lookInside(f *flat, h hint) {
	for _, a := range f.atoms {
		if l.looked[a.key] {
			continue
		}
		l.looked[a.key] = true
		inside := []*schema{a.items, a.additional}
		for _, p := range a.props {
			inside = append(inside, p.schema)
		}
		for _, s := range inside {
			if s != nil && (s.always == nil || *s.always) {
				l.lower([]*schema{s}, h.plus("Inside"))
			}
		}
	}
}

// plain lowers what is no anyOf or oneOf, null apart.
func (l *lowerer) plain(f *flat, parts []*schema, h hint, self *named) ir.DataRef {
	switch n := families(f.types); {
	case f.rawEnum:
		return listed(f.enum, f.null)
	case f.types == jsontype.All&^jsontype.Null && f.uses == 0:
		l.warnAny(f, parts)
		return ir.DataRef{Kind: ir.DataAny}
	case n == 0 && f.null:
		return listed(nil, true)
	case n == 0:
		f.errorf(f.at, nil, "conflict", "", "no value is valid here")
		return ir.DataRef{Kind: ir.DataAny}
	case n > 1:
		return l.typeUnion(f, parts, h)
	}
	switch {
	case f.types&jsontype.Object != 0:
		return l.object(f, parts, h, self)
	case f.types&jsontype.Array != 0:
		return l.collection(parts, h, func(h hint) ir.DataRef { return l.array(f, h) })
	case f.types&jsontype.String != 0:
		return l.text(f, parts, h, self)
	case f.types&jsontype.Number != 0:
		return l.number(f, parts, h, self)
	}
	ref := ir.DataRef{Kind: ir.DataBool}
	if len(f.enum) == 1 {
		ref.Checks = &ir.Checks{Values: []json.RawMessage{json.RawMessage(f.enum[0].json)}}
	}
	return ref
}

// listed is raw JSON of which only a few values are valid.
func listed(values []enumValue, null bool) ir.DataRef {
	checks := &ir.Checks{}
	for _, v := range values {
		checks.Values = append(checks.Values, json.RawMessage(v.json))
	}
	if null {
		checks.Values = append(checks.Values, json.RawMessage("null"))
	}
	return ir.DataRef{Kind: ir.DataAny, Checks: checks}
}

// warnAny points out a schema that takes anything without saying so.
func (l *lowerer) warnAny(f *flat, parts []*schema) {
	s := parts[0]
	if f.typed || s.always != nil || s.derived || len(s.node.Content) == 0 || l.list.HasErrors() {
		return
	}
	l.list.Warnf(s.doc.pos(s.node), "any-value", "add type, or write {} to mean it",
		"without type any value is valid here")
}

// collection lowers a list or map, which gets a name of its own only if it holds itself.
func (l *lowerer) collection(parts []*schema, h hint, lower func(hint) ir.DataRef) ir.DataRef {
	key := keyOf(parts)
	if n := l.named(parts); n != nil {
		return l.use(n)
	}
	if b := l.busy[key]; b != nil {
		if b.self == nil {
			b.self = l.declare(parts, ir.DataDefined, h)
		}
		return l.use(b.self)
	}
	b := &busy{}
	l.busy[key] = b
	ref := lower(h)
	delete(l.busy, key)
	if b.self == nil {
		return ref
	}
	b.self.t.Of = keep(ref)
	return l.use(b.self)
}

func (l *lowerer) array(f *flat, h hint) ir.DataRef {
	ref := ir.DataRef{Kind: ir.DataList, Checks: checksOrNil(ir.Checks{Limits: f.limitsOn(jsontype.Array)})}
	elem := ir.DataRef{Kind: ir.DataAny}
	switch {
	case f.prefix != nil:
		elem = l.tuple(f, &ref, h)
	case slices.ContainsFunc(f.items, (*schema).isFalse):
		ref.Checks = f.atMostItems(0)
	case len(f.items) > 0:
		elem = l.lower(f.items, h.plus("Item"))
	}
	ref.Elem = keep(elem)
	return ref
}

// atMostItems are the checks of a list that has no more than n elements because no other is valid.
func (f *flat) atMostItems(n int) *ir.Checks {
	return &ir.Checks{Limits: tighten(f.limitsOn(jsontype.Array), []ir.Limit{table["maxItems"].with(strconv.Itoa(n))})}
}

// slot is where a named type for parts is found. The root's own place is taken: what it wraps has another.
func (l *lowerer) slot(parts []*schema) string {
	if key := keyOf(parts); key != l.rootKey {
		return key
	}
	return l.rootKey + " value"
}

// named returns the named type for parts, or nil.
func (l *lowerer) named(parts []*schema) *named { return l.byKey[l.slot(parts)] }

// declare starts a named type.
func (l *lowerer) declare(parts []*schema, kind ir.DataTypeKind, h hint) *named {
	if h.owner != nil && h.suffix == "" { // what the root wraps
		h.suffix = "Value"
	}
	n := &named{t: &ir.DataType{Kind: kind, Doc: docOf(parts)}, hint: h, parts: parts}
	l.types = append(l.types, n)
	l.byKey[l.slot(parts)] = n
	return n
}

// declareOnce starts a named type, unless it was started before. self is the root to become it, or nil.
func (l *lowerer) declareOnce(parts []*schema, kind ir.DataTypeKind, h hint, self *named) (n *named, isNew bool) {
	if self != nil {
		self.t.Kind = kind
		return self, true
	}
	if n := l.named(parts); n != nil {
		return n, false
	}
	return l.declare(parts, kind, h), true
}

// use refers to a named type.
func (l *lowerer) use(n *named) ir.DataRef { return ir.DataRef{Kind: ir.DataNamed, Type: n.t} }

// normal follows pure references and drops repetitions. It is nil when a reference leads nowhere.
func (l *lowerer) normal(parts []*schema) []*schema {
	var out []*schema
	for _, p := range parts {
		s := p.resolve()
		if s == nil {
			l.unresolved(p)
			return nil
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// unresolved reports a chain of references that is a circle. One that leads nowhere was reported by lookup.
func (l *lowerer) unresolved(s *schema) {
	for seen := map[*schema]bool{}; !seen[s]; s = s.ref.target {
		if seen[s] = true; s.ref.target == nil {
			return
		}
	}
	l.errorf(s.doc, s.node, "endless-reference", "", "the schema refers to itself without end")
}

// keyOf identifies a conjunction of schemas.
func keyOf(parts []*schema) string {
	keys := make([]string, len(parts))
	for i, p := range parts {
		keys[i] = p.key
	}
	return strings.Join(keys, "+")
}

// defName returns the name of the definition that parts are, or "". Derived parts beside it do not count.
func (l *lowerer) defName(parts []*schema) string {
	s := parts[0]
	if !s.target || slices.ContainsFunc(parts[1:], func(p *schema) bool { return !p.derived }) {
		return ""
	}
	return l.nameDef(s)
}

// nameDef returns the name of the $ref target s, unique within the request.
func (l *lowerer) nameDef(s *schema) string {
	if name, ok := l.defs[s.key]; ok {
		return name
	}
	wanted := lastToken(s.ptr)
	if s.ptr == "" {
		wanted = strings.TrimSuffix(path.Base(s.doc.file), path.Ext(s.doc.file))
		wanted = strings.TrimSuffix(wanted, ".schema")
	}
	wanted = settled(wanted)
	name := wanted
	for i := 2; l.defTaken[name]; i++ {
		name = settled(wanted + strconv.Itoa(i))
	}
	l.defTaken[name] = true
	l.defs[s.key] = name
	return name
}

// settled is the Go name for text that is its own Go name: a bundle is read again, and its names must stay as they are.
func settled(text string) string {
	for again := names.Go(text); again != text; again = names.Go(text) {
		text = again
	}
	return text
}

// docOf returns the description of the first part that has one, following pure references, else a title.
func docOf(parts []*schema) string {
	title := ""
	for _, p := range parts {
		seen := map[*schema]bool{}
		for s := p; s != nil && !seen[s]; {
			seen[s] = true
			if s.description != "" {
				return s.description
			}
			if title == "" {
				title = s.title
			}
			if s.ref == nil {
				break
			}
			s = s.ref.target
		}
	}
	return title
}

// checksOrNil returns the checks, or nil when there are none.
func checksOrNil(c ir.Checks) *ir.Checks {
	if text, err := json.Marshal(c); err == nil && string(text) == "{}" {
		return nil
	}
	return &c
}
