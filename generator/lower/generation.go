package lower

import (
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
)

// markGenerations sets the rule of the versions whose tasks say their generations.
func markGenerations(p *ir.Protocol) {
	field := p.Bindings.Fields["Task.generation"]
	if field == nil {
		return
	}
	for _, v := range p.Versions {
		if slices.ContainsFunc(v.Wires, func(w *ir.Wire) bool { return w.Encoding == ir.JSON && hasField(w, p.Bindings.Task, field) }) {
			v.Rules = append(v.Rules, ir.Rule{Name: "Generations"})
		}
	}
}

// hasField reports whether a wire has a field of a message.
func hasField(w *ir.Wire, of *ir.Type, field *ir.Field) bool {
	return slices.ContainsFunc(w.Layouts, func(l *ir.Layout) bool {
		return l.Type == of && slices.ContainsFunc(l.Fields, func(f *ir.FieldLayout) bool { return f.Field == field })
	})
}
