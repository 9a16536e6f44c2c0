package schemadiff

import (
	"crypto/sha256"
	"math/big"
	"regexp"

	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/schema"
)

// node is one schema as written, its references resolved and nothing merged.
type node struct {
	id  int
	doc *document
	ptr string // JSON pointer in the document

	text   [sha256.Size]byte // of an alternative: the digest of what is written
	never  bool              // false as a schema
	own    map[string]string // the keywords that hold no schemas, canonical
	kids   map[string]*node  // the schemas in it, by keyword and name: "properties/city", "anyOf/0"
	types  jsontype.Set      // jsontype.All without "type"
	values *choice           // of enum and const; nil without
	lower  *bound
	upper  *bound
	step   *big.Rat // multipleOf

	sizes    map[string]int // minLength, maxItems, …
	pattern  string
	format   string // one that is checked
	unique   bool
	prefix   []*node
	items    *node // of the elements behind prefix
	props    map[string]*node
	patterns []patternProperty
	others   *node // additionalProperties
	names    *node // propertyNames
	required map[string]bool
	depends  map[string][]string // dependentRequired
	ref      *node
	allOf    []*node
	unions   []*union
	opaque   []string // groups of keywords that are compared only as a whole
}

// bound is a limit of a number.
type bound struct {
	at   *big.Rat
	open bool // the limit itself is not valid
	// keyword is where it stands; size is that of integers where it comes from that: "int32".
	keyword, size string
}

// choice is a list of values, by their canonical text, in the order in which they are written.
type choice struct {
	list []string
	set  map[string]bool
}

// patternProperty is an entry of patternProperties; re is nil if it is no expression that Go has.
type patternProperty struct {
	text string
	re   *regexp.Regexp
	node *node
}

// union is anyOf or oneOf.
type union struct {
	keyword  string
	branches []*node
	// tag is a property that all branches require, each with values of its own, and tagged are the branches by these
	// values; "" without such a property.
	tag      string
	tagged   map[string]int
	texts    map[[sha256.Size]byte]int // the branches by their texts
	indexed  bool
	types    jsontype.Set // of all branches
	disjoint bool         // no value fits two branches
}

func newChoice(list []string) *choice {
	c := &choice{list: list, set: map[string]bool{}}
	for _, v := range list {
		c.set[v] = true
	}
	return c
}

// matches reports whether an entry speaks of a name, and whether that is known.
func (p *patternProperty) matches(name string) (yes, known bool) {
	if p.re == nil {
		return false, false
	}
	return p.re.MatchString(name), true
}

func newPattern(text string, n *node) patternProperty {
	re, err := regexp.Compile(schema.FromECMA(text))
	if err != nil {
		re = nil
	}
	return patternProperty{text, re, n}
}
