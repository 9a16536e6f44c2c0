package schema

import (
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// tuple lowers the elements of a list whose first ones have schemas of their own: the element is one of all of them,
// and each place is checked.
func (l *lowerer) tuple(f *flat, ref *ir.DataRef, h hint) ir.DataRef {
	rest, places := f.items, f.prefix
	if slices.ContainsFunc(rest, (*schema).isFalse) {
		ref.Checks, rest = f.atMostItems(len(places)), nil
	}
	most, limited := ref.Checks.Size("maxItems")
	open := !limited || most > len(places)
	any := made(f.at, "any")
	elem := made(f.at, keyOf(f.atoms)+"p")
	elem.derived, elem.anyOf, elem.places = true, slices.Clone(places), true
	switch {
	case open && len(rest) == 1:
		elem.anyOf = append(elem.anyOf, rest[0])
	case open && len(rest) == 0:
		elem.anyOf = append(elem.anyOf, any)
	case open:
		all := made(f.at, keyOf(f.atoms)+"q")
		all.derived, all.allOf = true, rest
		elem.anyOf = append(elem.anyOf, all)
	}
	alike := !slices.ContainsFunc(elem.anyOf, func(s *schema) bool {
		return s.node.Kind != elem.anyOf[0].node.Kind ||
			string(yamlx.JSON(s.node)) != string(yamlx.JSON(elem.anyOf[0].node)) || s.key == "any"
	})
	if alike {
		return l.lower(elem.anyOf[:1], h.plus("Item"))
	}
	element := l.lower([]*schema{elem}, h.plus("Item"))
	for _, p := range places {
		ref.Prefix = append(ref.Prefix, keep(l.lower([]*schema{p}, h.plus("Item"))))
	}
	if open && len(rest) > 0 {
		ref.Rest = keep(l.lower(rest, h.plus("Item")))
	}
	return element
}
