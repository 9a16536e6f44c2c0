package schema

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// document is one tree that JSON pointers start from: a file, or a schema written inline.
type document struct {
	file      string // for positions and relative references
	root      *yaml.Node
	schemas   map[string]*schema // by JSON pointer
	resources []resource         // the root first
	anchors   []anchor
	draft     int  // of JSON Schema, by $schema: 4, 6 or 7; 0 is a later one, or none is named
	foreign   bool // somebody else wrote it: what only looks like a mistake is a warning
}

// newDocument is the document of a file or of a schema inside of one. Foreign: it came with somebody else's card.
func newDocument(file string, root *yaml.Node, foreign bool) *document {
	doc := &document{file: file, root: root, schemas: map[string]*schema{}, foreign: foreign}
	if mark := yamlx.Get(root, "x-third-party"); mark != nil && mark.Value == "true" {
		doc.foreign = true
	}
	doc.draft = dialects[dialectName(yamlx.Text(yamlx.Get(root, "$schema")))]
	return doc
}

// idKey is the keyword that names a schema.
func (d *document) idKey() string {
	if d.draft == 4 {
		return "id"
	}
	return "$id"
}

// refAlone reports whether no other keyword counts where n has a $ref: so it is up to draft 7.
func (d *document) refAlone(n *yaml.Node) bool {
	return d.draft != 0 && yamlx.IsText(yamlx.Get(n, "$ref"))
}

func (d *document) pos(n *yaml.Node) diag.Pos {
	if n == nil {
		return diag.Pos{File: d.file}
	}
	return yamlx.Pos(d.file, n)
}

// schema is one schema object as written, its keywords read but nothing merged yet.
type schema struct {
	origin
	annotations
	anyValue
	members
	elements
	choices

	always *bool      // true and false as schemas
	ref    *reference // $ref
	refs   references // x-go: raw
	forms  forms
}

// origin is where a schema stands.
type origin struct {
	doc  *document
	ptr  string // JSON pointer in doc
	node *yaml.Node
	key  string // identifies the schema among all that were read; derived schemas add a letter
	// target: some $ref points here.
	target  bool
	derived bool // made by us, not read
	bad     bool // a keyword of its own was reported
}

// annotations are what a schema says to people.
type annotations struct {
	title, description string
	deprecated         bool
	def                *yaml.Node // default
	examples           []*yaml.Node
}

// anyValue is what a schema says of values of any type.
type anyValue struct {
	types    jsontype.Set // as written; 0: no "type"
	nullable bool         // OpenAPI
	enum     []enumValue
	isConst  bool
	hasEnum  bool
	format   *yaml.Node
	base64   bool         // contentEncoding
	checks   ir.Checks    // of the value itself, names excluded
	uses     jsontype.Set // JSON types that the assertion keywords speak of
}

// members is what a schema says of the properties of an object.
type members struct {
	props      []*property
	required   []*yaml.Node
	additional *schema
	names      *schema // propertyNames
}

// elements is what a schema says of the elements of an array.
type elements struct {
	items  *schema
	prefix []*schema // of the first ones
}

// choices are the schemas that are combined.
type choices struct {
	allOf, anyOf, oneOf []*schema
	discriminator       *discriminator
	// places: the alternatives are those of the places of a tuple. A value may fit several of them:
	// which of them it must fit its place says.
	places bool
}

// references are what the $refs inside a schema name that stays raw JSON.
type references map[*yaml.Node]*schema

// forms are schemas derived from one, when they were asked for.
type forms struct{ alone, withoutUnion, notNull *schema }

// made is a schema of our own, for what holds at the place of another one.
func made(at *schema, key string) *schema {
	return &schema{origin: origin{doc: at.doc, node: at.node, key: key}}
}

// reference is a $ref.
type reference struct {
	target *schema // nil if it could not be resolved
}

// property is one entry of properties.
type property struct {
	name   string
	key    *yaml.Node
	schema *schema
}

// enumValue is one scalar of enum or const, as JSON.
type enumValue struct {
	node *yaml.Node
	json string
	doc  string
	from *schema
}

// discriminator is OpenAPI's hint which property tells the cases of a union apart.
type discriminator struct {
	node     *yaml.Node
	property string
	mapping  []mappingEntry
}

type mappingEntry struct {
	value  string
	node   *yaml.Node
	target *schema
}

// ignores reports whether a keyword of s has no effect because it stands beside $ref in draft 7 or before.
func (s *schema) ignores(name string) bool {
	row := table[name]
	return row != nil && !row.note && name != "$ref" && name != "$defs" && name != "definitions" && s.doc.refAlone(s.node)
}

// asserts reports whether s says anything about values beside a reference and a type.
func (s *schema) asserts() bool {
	return s.always != nil || s.hasEnum || s.uses != 0 || s.nullable || len(s.allOf)+len(s.anyOf)+len(s.oneOf) > 0 ||
		s.format != nil || s.base64
}

// pure reports whether s is nothing but a reference, apart from annotations.
func (s *schema) pure() bool { return s.ref != nil && s.types == 0 && !s.asserts() }

// isRaw reports whether s stays raw JSON: x-go: raw.
func (s *schema) isRaw() bool { return s.refs != nil }

// isFalse reports whether no value is valid by s, a reference included.
func (s *schema) isFalse() bool {
	s = s.resolve()
	return s != nil && s.always != nil && !*s.always
}

// forbidsNull reports whether s itself says that null is not valid.
func (s *schema) forbidsNull() bool {
	if s.nullable {
		return false
	}
	return s.types != 0 && s.types&jsontype.Null == 0 || s.hasEnum &&
		!slices.ContainsFunc(s.enum, func(v enumValue) bool { return v.json == "null" })
}

// alone is s without what it pulls in from elsewhere: reference and allOf.
func (s *schema) alone() *schema {
	if s.ref == nil && len(s.allOf) == 0 {
		return s
	}
	if s.forms.alone == nil {
		s.forms.alone = s.derive("o")
		s.forms.alone.ref, s.forms.alone.allOf = nil, nil
	}
	return s.forms.alone
}

// notNull is s without nullable. It keeps the key: the Go type is the same.
func (s *schema) notNull() *schema {
	if s.forms.notNull == nil {
		s.forms.notNull = s.derive("")
		s.forms.notNull.nullable = false
	}
	return s.forms.notNull
}

func (s *schema) derive(mark string) *schema {
	d := *s
	d.key += mark
	d.forms = forms{}
	return &d
}

// resolve follows pure references to the schema that says something. A cycle, or a reference to nowhere, gives nil.
func (s *schema) resolve() *schema {
	seen := map[*schema]bool{}
	for s != nil && s.pure() {
		if seen[s] {
			return nil
		}
		seen[s] = true
		s = s.ref.target
	}
	return s
}
