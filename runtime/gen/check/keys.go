package check

import (
	"slices"
	"strings"
)

// Keys are the rules on which keys an object has.
type Keys struct {
	Names    []string // known properties
	Required []bool   // by index of Names; nil: none
	Closed   bool     // no other properties
	Min, Max int      // number of properties; Max 0: no limit, -1: none allowed
	// Others are required keys that are no known properties.
	Others     []string
	Dependents []Dependent
	Groups     []Group
	// Name checks the names of other properties; nil: no rule.
	Name func(c *Checker, name string)
	// Nulls are, by index of Names, the properties that may be written as null where they are absent; nil: none.
	Nulls []bool
}

// Dependent says that key If demands the keys Then.
type Dependent struct {
	If   string
	Then []string
}

// Group is a choice of key sets: at least one of them as a whole, or exactly one when One is set.
type Group struct {
	Sets [][]string
	One  bool
}

// Unknown skips a member that k does not know: a violation if k is closed.
func (r *Reader) Unknown(key []byte, k *Keys) {
	r.ignored++
	if k.Closed && r.full() {
		// what would be said of it is not kept
	} else if k.Closed {
		if near := nearest(string(key), k.Names); near != "" {
			r.Failf("unknown property, did you mean %q?", near)
		} else {
			r.Failf("unknown property")
		}
	} else if k.Name != nil {
		k.Name(&r.Checker, string(key))
	}
	r.in.Unknown(key)
}

// Keys checks the keys of the object just read: which known ones were seen, and how many others; has reports whether
// one of the others is there, and may be nil.
func (r *Reader) Keys(k *Keys, seen []bool, others int, has func(string) bool) {
	if r.in.Err() == nil {
		r.keys(k, seen, others, has)
	}
}

// Keys checks the keys of an object that was not just read. present says which known ones will be written.
func (c *Checker) Keys(k *Keys, present []bool, others int, has func(string) bool) {
	if !c.decoded {
		c.keys(k, present, others, has)
	}
}

func (c *Checker) keys(k *Keys, present []bool, others int, has func(string) bool) {
	there := func(name string) bool {
		if i := slices.Index(k.Names, name); i >= 0 {
			return present[i]
		}
		return has != nil && has(name)
	}
	count := others
	for i, p := range present {
		if p {
			count++
		} else if k.Required != nil && k.Required[i] {
			c.Missing(k.Names[i])
		}
	}
	for _, name := range k.Others {
		if !there(name) {
			c.Missing(name)
		}
	}
	if count < k.Min {
		c.Failf("must have at least %d properties", k.Min)
	}
	if k.Max != 0 && count > max(k.Max, 0) {
		c.Failf("must have at most %d properties", max(k.Max, 0))
	}
	for _, d := range k.Dependents {
		c.dependent(d, there)
	}
	for _, g := range k.Groups {
		c.group(g, there)
	}
}

func (c *Checker) dependent(d Dependent, there func(string) bool) {
	if !there(d.If) {
		return
	}
	for _, name := range d.Then {
		if !there(name) {
			c.Enter(name)
			c.Failf("required because of %q, but missing", d.If)
			c.Leave()
		}
	}
}

func (c *Checker) group(g Group, there func(string) bool) {
	whole := 0
	for _, set := range g.Sets {
		if !slices.ContainsFunc(set, func(name string) bool { return !there(name) }) {
			whole++
		}
	}
	var sets []string
	for _, set := range g.Sets {
		sets = append(sets, strings.Join(set, " and "))
	}
	switch choice := strings.Join(sets, ", or "); {
	case whole == 0:
		c.Failf("one of these properties is required: %s", choice)
	case whole > 1 && g.One:
		c.Failf("only one of these properties may be given: %s", choice)
	}
}

// MapKeys checks the keys of a map.
func MapKeys[T any](c *Checker, k *Keys, m map[string]T) {
	has := func(name string) bool { _, ok := m[name]; return ok }
	c.keys(k, nil, len(m), has)
	EachName(c, k, m)
}

// EachName checks the names in a map, which must not be those of known properties. Those that were read are not.
func EachName[T any](c *Checker, k *Keys, m map[string]T) {
	if c.decoded && k.Name == nil {
		return
	}
	for name := range Entries(c, m) {
		c.Enter(name)
		c.Text(name)
		if slices.Contains(k.Names, name) {
			c.Failf("is a property of its own")
		}
		if k.Name != nil {
			k.Name(c, name)
		}
		c.Leave()
	}
}

// Has returns a function that reports whether m has a key.
func Has[T any](m map[string]T) func(string) bool {
	return func(name string) bool { _, ok := m[name]; return ok }
}

// nearest returns the known name that differs from name by case, separators or about one letter in four, or "".
func nearest(name string, known []string) string {
	if len(name) > 64 {
		return ""
	}
	best, least := "", max(len(name)/4, 1)+1
	for _, k := range known {
		if strings.EqualFold(name, k) {
			return k
		}
		if len(k) > 64 {
			continue
		}
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements of bytes that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j]+1, row[j+1]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
