package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// queryFields are those fields of an operation's request that are no JSON string where it comes in a URL; none for one
// that always comes in a body.
func (t *versionTable) queryFields(op *ir.Operation) []jen.Code {
	inURL := func(r ir.Route) bool { return r.Body != "*" }
	if op.Request.Type == nil || !slices.ContainsFunc(op.HTTP, inURL) {
		return nil
	}
	return (&queryTable{layouts: layoutsOf(t.wire)}).fields("", op.Request.Type)
}

// queryTable collects the fields of a request and of the messages in it.
type queryTable struct {
	layouts
	within []*ir.Type // a message that is in itself has no end
}

func (q *queryTable) fields(prefix string, t *ir.Type) (rows []jen.Code) {
	l := q.first[t]
	if l == nil || slices.Contains(q.within, t) {
		return nil
	}
	q.within = append(q.within, t)
	defer func() { q.within = q.within[:len(q.within)-1] }()
	for _, m := range l.Fields {
		var ref ir.TypeRef
		switch {
		case m.Case != nil:
			ref = m.Case.Type
		case m.Field != nil:
			ref = m.Field.Type
		}
		if ref.Kind == ir.KindMessage {
			rows = append(rows, q.fields(prefix+m.Name+".", ref.Type)...)
			continue
		}
		list := ref.Kind == ir.KindList
		if list {
			ref = *ref.Elem
		}
		if list || isJSON(ref.Kind) {
			rows = append(rows, queryRow(prefix+m.Name, isJSON(ref.Kind), list))
		}
	}
	return rows
}

// queryRow prints a row.
func queryRow(name string, isJSON, list bool) jen.Code {
	row := members("Name", jen.Lit(name))
	if isJSON {
		row.set("JSON", jen.True())
	}
	if list {
		row.set("List", jen.True())
	}
	return jen.Values(row.code()...)
}

// isJSON reports whether values of the kind are never JSON strings.
func isJSON(k ir.Kind) bool {
	switch k {
	case ir.KindBool, ir.KindStruct, ir.KindValue, ir.KindListValue, ir.KindNullValue, ir.KindMap, ir.KindAny, ir.KindMessage:
		return true
	}
	return false
}
