package emit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// Fields that a query has as texts are not listed, whatever they are: the codec reads them from JSON strings.
func TestQueryFieldsAreThoseThatAreNoText(t *testing.T) {
	field := func(name string, ref ir.TypeRef) *ir.FieldLayout {
		return &ir.FieldLayout{Field: &ir.Field{Name: name, Type: ref}, Name: name}
	}
	list := func(k ir.Kind) ir.TypeRef { return ir.TypeRef{Kind: ir.KindList, Elem: &ir.TypeRef{Kind: k}} }
	filter, request := &ir.Type{Name: "Filter"}, &ir.Type{Name: "Request"}
	w := &ir.Wire{Encoding: ir.JSON, Layouts: []*ir.Layout{
		{Type: filter, Fields: []*ir.FieldLayout{
			field("isOpen", ir.TypeRef{Kind: ir.KindBool}), field("self", ir.TypeRef{Kind: ir.KindMessage, Type: filter}),
		}},
		{Type: request, Fields: []*ir.FieldLayout{
			field("text", ir.TypeRef{Kind: ir.KindString}), field("size", ir.TypeRef{Kind: ir.KindInt32}),
			field("raw", ir.TypeRef{Kind: ir.KindBytes}), field("at", ir.TypeRef{Kind: ir.KindTimestamp}),
			field("state", ir.TypeRef{Kind: ir.KindEnum}), field("labels", list(ir.KindString)),
			field("flags", list(ir.KindBool)), field("filter", ir.TypeRef{Kind: ir.KindMessage, Type: filter}),
			field("extra", ir.TypeRef{Kind: ir.KindStruct}),
		}},
	}}
	op := &ir.Operation{Request: ir.TypeRef{Type: request}, HTTP: []ir.Route{{Verb: "GET", Path: "/x"}}}
	var got []string
	for _, row := range (&versionTable{wire: w}).queryFields(op) {
		got = append(got, fmt.Sprintf("%#v", jen.Id("x").Add(row)))
	}
	want := `x{Name: "labels", List: true} x{Name: "flags", JSON: true, List: true} x{Name: "filter.isOpen", JSON: true} x{Name: "extra", JSON: true}`
	if text := strings.Join(got, " "); strings.Join(strings.Fields(text), " ") != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if op.HTTP[0].Body = "*"; len((&versionTable{wire: w}).queryFields(op)) > 0 {
		t.Error("a request that is a body has query fields")
	}
}
