package scaffold

import (
	"errors"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/schema"
)

// constraints are the checks of a value, those of its field and those of its type. Nil entries are no checks.
type constraints []*ir.Checks

// each calls f for every set of checks.
func (cs constraints) each(f func(c *ir.Checks)) {
	for _, c := range cs {
		if c != nil {
			f(c)
		}
	}
}

// pick returns the index-th of the allowed values, if they are listed.
func (cs constraints) pick(index int) (string, bool) {
	var got string
	cs.each(func(c *ir.Checks) {
		if len(c.Values) > 0 {
			got = string(c.Values[index%len(c.Values)])
		}
	})
	return got, got != ""
}

// limits returns the limits of all checks.
func (cs constraints) limits() []ir.Limit {
	var list []ir.Limit
	cs.each(func(c *ir.Checks) { list = append(list, c.Limits...) })
	return list
}

// number returns the index-th allowed number, from zero or the smallest one upwards.
func (cs constraints) number(unsigned bool, index int) (string, error) {
	return (&schema.Draft{Index: index, Unsigned: unsigned}).NumberText(cs.limits())
}

// text returns the index-th allowed string: the property's name, unless the limits rule it out.
func (cs constraints) text(name string, index int) (string, error) {
	d := schema.Draft{Text: "sample " + name}
	if index > 0 {
		d.Text += fmt.Sprintf(" %d", index+1)
	}
	if !d.Keep(cs.limits()) {
		return "", errors.New("no text was found that satisfies the schema")
	}
	return d.Text, nil
}

// size returns the nearest allowed number of elements or properties.
func (cs constraints) size(name string, n int) (int, error) {
	d := schema.Draft{Size: n}
	if !d.Keep(cs.limits()) || d.Size > maxElements {
		return 0, fmt.Errorf("%s needs %d elements", name, d.Size)
	}
	return d.Size, nil
}

// keys returns the properties that checks require in addition to those that fields require: the first choice of each
// group.
func (cs constraints) keys() map[string]bool {
	keys := map[string]bool{}
	cs.each(func(c *ir.Checks) {
		for _, k := range c.Required {
			keys[k] = true
		}
		for _, g := range c.Groups {
			if len(g.Sets) > 0 {
				for _, k := range g.Sets[0] {
					keys[k] = true
				}
			}
		}
	})
	return keys
}

// depend adds the keys that the given ones require. It reports whether there were any.
func (cs constraints) depend(wanted map[string]bool) (changed bool) {
	cs.each(func(c *ir.Checks) {
		for _, d := range c.DependentRequired {
			for _, k := range d.Then {
				if wanted[d.If] && !wanted[k] {
					wanted[k], changed = true, true
				}
			}
		}
	})
	return changed
}

// mapKeys returns keys of a map in a fixed order: the required ones, then as many as are needed.
func (cs constraints) mapKeys() ([]string, error) {
	var keys []string
	cs.each(func(c *ir.Checks) { keys = append(keys, c.Required...) })
	n, err := cs.size("a map", len(keys))
	for i := 1; len(keys) < n; i++ {
		keys = append(keys, fmt.Sprintf("key%d", i))
	}
	return keys, err
}

// sure reports whether a sample that was changed to fit the limits satisfies the constraints.
func (cs constraints) sure() bool {
	sure := true
	cs.each(func(c *ir.Checks) {
		sure = sure && len(c.Values)+len(c.DependentRequired)+len(c.Groups) == 0 && c.PropertyNames == nil &&
			!slices.ContainsFunc(c.Limits,
				func(l ir.Limit) bool { return l.Form == ir.ArgElements || l.Form == ir.ArgKeys })
	})
	return sure
}
