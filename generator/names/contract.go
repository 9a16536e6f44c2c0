package names

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
)

// Contract is the input or output of a skill: the types of one schema, which have no Go names yet.
type Contract struct {
	Go    string         // what the type of the whole is called: "ForecastInput"
	Root  *ir.DataRef    // to it
	Types []*ir.DataType // it, then those that it uses: an owner before what it owns
}

// Contracts names the types of contracts that share a package, their fields and their constants, and returns the types
// by name. Two types of one name and one structure are one type. Names that the scope has are not
// taken.
func Contracts(scope *Scope, contracts []Contract) []*ir.DataType {
	n := &namer{scope: scope, held: map[string]*ir.DataType{}, local: map[*ir.DataType]string{}}
	for _, c := range contracts {
		n.scope.Take(c.Go)
	}
	for _, c := range contracts {
		n.assign(c)
	}
	slices.SortFunc(n.types, func(a, b *ir.DataType) int { return strings.Compare(a.Go, b.Go) })
	return n.types
}

// namer is the state of naming the types of a package.
type namer struct {
	scope *Scope
	held  map[string]*ir.DataType // by Go name
	local map[*ir.DataType]string // each type's own content before it had names
	types []*ir.DataType
}

// maxTypeName is the longest name of a nested type, in bytes: deep nesting does not make longer ones.
const maxTypeName = 100

// assign names the types of one contract.
func (n *namer) assign(c Contract) {
	for i, t := range c.Types {
		text, _ := json.Marshal(t) // plain data: cannot fail
		n.local[t] = string(text)
		if i == 0 {
			n.local[t] += c.Go
		}
	}
	same := map[*ir.DataType]*ir.DataType{}
	var fresh []*ir.DataType
	for i, t := range c.Types {
		switch {
		case same[t] != nil:
			continue
		case i == 0:
			t.Go, t.Root = c.Go, true
		default:
			if other := n.place(t, c.Go, same); other != nil {
				same[t] = other
				continue
			}
		}
		n.held[t.Go] = t
		fresh = append(fresh, t)
	}
	for _, t := range fresh {
		n.finish(t, same)
	}
	c.Root.Name = c.Root.Type.Go
	n.types = append(n.types, fresh...)
}

// place gives t its name, or returns the type that has it already and is the same.
func (n *namer) place(t *ir.DataType, rootGo string, same map[*ir.DataType]*ir.DataType) *ir.DataType {
	wanted := t.Wants.Base
	for owner := t.Wants.Owner; owner != nil; owner = same[owner] {
		wanted = owner.Go
	}
	wanted = capName(wanted + t.Wants.Suffix)
	for {
		other := n.held[wanted]
		if other != nil && n.unify(t, other, same) {
			return other
		}
		if other == nil && !n.scope.Has(wanted) || strings.HasPrefix(wanted, rootGo) {
			break
		}
		wanted = capName(rootGo + wanted)
	}
	t.Go = n.scope.Take(wanted)
	return nil
}

func capName(name string) string {
	if len(name) <= maxTypeName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:maxTypeName-8], "") + hex.EncodeToString(sum[:4])
}

// unify reports whether a and b have the same structure, and if so notes in same what becomes of a and all it uses.
func (n *namer) unify(a, b *ir.DataType, same map[*ir.DataType]*ir.DataType) bool {
	pairs := map[*ir.DataType]*ir.DataType{}
	if !n.equal(a, b, pairs) {
		return false
	}
	for x, y := range pairs {
		same[x] = y
	}
	return true
}

// equal compares structures, taking for equal what is being compared already.
func (n *namer) equal(a, b *ir.DataType, pairs map[*ir.DataType]*ir.DataType) bool {
	if a == b {
		return true
	}
	if known, ok := pairs[a]; ok {
		return known == b
	}
	if n.local[a] != n.local[b] {
		return false
	}
	pairs[a] = b
	used, others := a.Uses(), b.Uses()
	for i := range used {
		if i >= len(others) || !n.equal(used[i], others[i], pairs) {
			return false
		}
	}
	return len(used) == len(others)
}

// finish resolves the names that t mentions and names what belongs to it.
func (n *namer) finish(t *ir.DataType, same map[*ir.DataType]*ir.DataType) {
	t.EachRef(func(r *ir.DataRef) {
		if other := same[r.Type]; other != nil {
			r.Type = other
		}
		if r.Type != nil {
			r.Name = r.Type.Go
		}
	})
	for _, c := range t.Cases {
		if other := same[c.Type]; other != nil {
			c.Type = other
		}
		c.Go = c.Type.Go
	}
	if !t.One {
		seen := map[*ir.DataType]bool{}
		t.Cases = slices.DeleteFunc(t.Cases, func(c *ir.DataCase) bool {
			defer func() { seen[c.Type] = true }()
			return seen[c.Type]
		})
	}
	name := Value
	if areCodes(t.Values) {
		name = func(value json.RawMessage) string { return strings.Trim(string(value), `"`) }
	}
	for i := range t.Values {
		v := &t.Values[i]
		v.Go = n.scope.Take(t.Go + name(v.Value))
	}
	fields := NewScope(dataMethods...)
	for _, f := range t.Fields {
		if f.Const == nil {
			f.Go = fields.Take(Go(f.Name))
		}
	}
	if t.Extra != nil {
		t.ExtraGo = fields.Take("AdditionalProperties")
	}
	if t.Kind == ir.DataUnion {
		t.Marker = "is" + t.Go
	}
}

// code is an abbreviation, or a word that is as short, in capitals: "EMEA", "A4".
var code = regexp.MustCompile(`^"[A-Z][A-Z0-9]{1,4}"$`)

// areCodes reports whether all values are codes, whose names are spelled as they are: [EMEA, APAC]. Where others are
// among them they are words in capitals: [LOW, MEDIUM].
func areCodes(values []ir.DataValue) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(v ir.DataValue) bool { return !code.Match(v.Value) })
}

// Value is the Go name of an enumerated value behind its type's name: "celsius" gives "Celsius", -1.5 "Minus1_5".
func Value(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		if s == "" {
			return "Empty"
		}
		return trimX(Go(s), s)
	}
	text := ""
	for _, r := range string(value) {
		switch r {
		case '-':
			text += "Minus"
		case '+':
		case '.':
			text += "_"
		case 'e', 'E':
			text += "e"
		default:
			text += string(r)
		}
	}
	return text
}

// trimX takes away the X that Go puts before a digit: behind a type's name it is not needed.
func trimX(name, source string) string {
	if len(name) > 1 && name[0] == 'X' && name[1] >= '0' && name[1] <= '9' && source != "" && source[0] != 'x' &&
		source[0] != 'X' {
		return name[1:]
	}
	return name
}
