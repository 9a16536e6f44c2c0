package lower

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
)

// extras are what the hub's types have although its definition does not: what drafts of older versions brought along.
type extras struct {
	types map[string]bool
	// members are fields, and values of enums, behind the name of their type.
	members map[[2]string]bool
}

// whole is a version with all that the types have, of which hide takes the extras; nil when there are none.
func (x extras) whole(v *ir.Version) *ir.Version {
	if len(x.types)+len(x.members) == 0 {
		return nil
	}
	w := *v
	w.Name, w.Wires = v.Name+"-whole", nil
	for _, wire := range v.Wires {
		if wire.Encoding != ir.JSON {
			continue
		}
		own := *wire
		own.Name, own.File = w.Name+"/json", strings.TrimSuffix(wire.File, "_json")+"_whole_json"
		own.Layouts = make([]*ir.Layout, len(wire.Layouts))
		for i, l := range wire.Layouts {
			layout := *l
			layout.Fields, layout.Values = slices.Clone(l.Fields), slices.Clone(l.Values)
			own.Layouts[i] = &layout
		}
		w.Wires = append(w.Wires, &own)
	}
	return &w
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
