package lower

import (
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
)

// extras are what the hub's types have although its definition does not: what drafts of older versions brought along.
type extras struct {
	types map[string]bool
	// members are fields, and values of enums, behind the name of their type.
	members map[[2]string]bool
}

func newExtras() extras {
	return extras{types: map[string]bool{}, members: map[[2]string]bool{}}
}

// hide takes the extras off the wires of the version that is the hub, so that it says what its definition says.
func (x extras) hide(v *ir.Version) {
	if len(x.types)+len(x.members) == 0 {
		return
	}
	for _, w := range v.Wires {
		w.Layouts = slices.DeleteFunc(w.Layouts, func(l *ir.Layout) bool { return x.types[l.Name] })
		for _, l := range w.Layouts {
			l.Fields = slices.DeleteFunc(l.Fields, func(f *ir.FieldLayout) bool {
				if f.Case != nil {
					return x.members[[2]string{l.Name, f.Case.Name}]
				}
				return x.members[[2]string{l.Name, f.Field.Name}]
			})
			l.Values = slices.DeleteFunc(l.Values, func(v *ir.ValueLayout) bool { return x.members[[2]string{l.Name, v.Value.Name}] })
		}
	}
}
