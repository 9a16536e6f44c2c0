package emit

import (
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
)

func TestShapedCodecRefusesWhatItCannotPrint(t *testing.T) {
	tests := []struct {
		name   string
		change func(w *ir.Wire, m *ir.FieldLayout)
		want   string
	}{
		{"unknown hook", func(_ *ir.Wire, m *ir.FieldLayout) { m.Hook = "Sideways" }, `emit codec 9.9/json: Leaf.name: no hook "Sideways"`},
		{"fallback without one", func(_ *ir.Wire, m *ir.FieldLayout) { m.Hook, m.Fallback = "Schemes", true }, `emit codec 9.9/json: Leaf.name: hook "Schemes" does not say what absence means`},
		{"a message without a layout", func(_ *ir.Wire, m *ir.FieldLayout) {
			m.Field = &ir.Field{Name: "other", Type: ir.TypeRef{Kind: ir.KindMessage, Name: "Other", Type: &ir.Type{Name: "Other", Go: "Other", Kind: ir.Message}}}
		}, `emit codec 9.9/json: Leaf.name: Other has no layout on this wire`},
		{"too many members", func(w *ir.Wire, m *ir.FieldLayout) {
			for range perSeen {
				w.Layouts[1].Fields = append(w.Layouts[1].Fields, m)
			}
		}, `emit codec 9.9/json: Leaf.name: more than 64 members`},
		{"a tag on what is no message", func(w *ir.Wire, m *ir.FieldLayout) {
			w.Layouts[1].Tag, m.Case = "kind", &ir.Case{Name: "text", Type: ir.TypeRef{Kind: ir.KindString}}
		}, `emit codec 9.9/json: Leaf.name: a case of kind is not a message of its own`},
		{"unknown kind", func(_ *ir.Wire, m *ir.FieldLayout) { m.Field = &ir.Field{Type: ir.TypeRef{Kind: "thing"}} }, `emit codec 9.9/json: Leaf.name: no codec for kind "thing"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, w := sinkProtocol()
			w.Shaped = true
			w.Layouts = w.Layouts[:2]
			tt.change(w, w.Layouts[1].Fields[0])
			_, err := Codec(p, w, Paths{Protocol: "example.com/a2a"})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
