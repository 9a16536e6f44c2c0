package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
)

// namer gives the types of all requests their Go names. A type that wants the name of one with the same structure is
// that type.
type namer struct {
	scope *names.Scope
	held  map[string]*ir.DataType // by Go name
	local map[*ir.DataType]string // each type's own content before it had names
	types []*ir.DataType
}

func newNamer(reserved []string, reqs []Request) *namer {
	n := &namer{scope: names.NewScope(reserved...), held: map[string]*ir.DataType{}, local: map[*ir.DataType]string{}}
	for _, req := range reqs {
		n.scope.Take(req.Go + string(req.Role))
	}
	return n
}

// maxTypeName is the longest name of a nested type, in bytes: deep nesting does not make longer ones.
const maxTypeName = 100

// assign names the types of one request.
func (n *namer) assign(l *lowerer) {
	for i, t := range l.types {
		text, _ := json.Marshal(t.t) // plain data: cannot fail
		n.local[t.t] = string(text)
		if i == 0 {
			n.local[t.t] += l.rootGo
		}
	}
	same := map[*ir.DataType]*ir.DataType{}
	var fresh []*ir.DataType
	for i, t := range l.types {
		if other := same[t.t]; other != nil {
			t.t = other
			continue
		}
		if i == 0 {
			t.t.Go, t.t.Root = l.rootGo, true
		} else if other := n.place(t, l.rootGo, same); other != nil {
			t.t = other
			continue
		}
		n.held[t.t.Go] = t.t
		fresh = append(fresh, t.t)
	}
	for _, t := range fresh {
		n.finish(t, same)
	}
	l.rootRef.Name = l.rootRef.Type.Go
	n.types = append(n.types, fresh...)
}

// place gives t its name, or returns the type that has it already and is the same.
func (n *namer) place(t *named, rootGo string, same map[*ir.DataType]*ir.DataType) *ir.DataType {
	wanted := t.hint.base
	if t.hint.owner != nil {
		wanted = t.hint.owner.t.Go
	}
	wanted = capName(wanted + t.hint.suffix)
	for {
		other := n.held[wanted]
		if other != nil && n.unify(t.t, other, same) {
			return other
		}
		if other == nil && !n.scope.Has(wanted) || strings.HasPrefix(wanted, rootGo) {
			break
		}
		wanted = capName(rootGo + wanted)
	}
	t.t.Go = n.scope.Take(wanted)
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
	used, others := uses(a), uses(b)
	for i := range used {
		if i >= len(others) || !n.equal(used[i], others[i], pairs) {
			return false
		}
	}
	return len(used) == len(others)
}

// uses lists the named types that t refers to directly, in a fixed order.
func uses(t *ir.DataType) []*ir.DataType {
	var out []*ir.DataType
	eachRef(t, func(r *ir.DataRef) {
		if r.Type != nil {
			out = append(out, r.Type)
		}
	})
	for _, c := range t.Cases {
		out = append(out, c.Type)
	}
	return out
}

// eachRef visits every reference in t, elements included.
func eachRef(t *ir.DataType, visit func(*ir.DataRef)) {
	var walk func(r *ir.DataRef)
	walk = func(r *ir.DataRef) {
		for ; r != nil; r = r.Elem {
			visit(r)
			for _, place := range r.Prefix {
				walk(place)
			}
			walk(r.Rest)
		}
	}
	for _, f := range t.Fields {
		walk(&f.Type)
	}
	walk(t.Extra)
	walk(t.Of)
}

// finish resolves the names that t mentions and names what belongs to it.
func (n *namer) finish(t *ir.DataType, same map[*ir.DataType]*ir.DataType) {
	eachRef(t, func(r *ir.DataRef) {
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
	for i := range t.Values {
		v := &t.Values[i]
		v.Go = n.scope.Take(t.Go + valueName(v.Value))
	}
	if t.Kind == ir.DataUnion {
		t.Marker = "is" + t.Go
	}
}
