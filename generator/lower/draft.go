package lower

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/spec"
)

// A draft is a JSON Schema in the shape of 0.1, 0.2 or 0.3 that is none of them. What it has in common with the nearest one
// means what it means there, and is read and written by its table; what is new gets a line in the table and a place in the
// types of the hub. So a draft is a version like its model, with more in it.
type draft struct {
	doc *spec.Document
	// was is its model, and table the model's, which becomes its own.
	was   *spec.Document
	table *alignment
	base  *spec.Document // 1.0
	added []*spec.Operation
	// warned are the places that a problem was reported for: what several messages share has one.
	warned   map[diag.Pos]bool
	problems diag.List
	hub      *spec.Document
	extra    extras
}

// draftOf finds the model of a schema: of the versions whose way of sending a message it has, the one that its table has
// the least to add to.
func draftOf(doc, base *spec.Document) (*draft, diag.List) {
	d := &draft{doc: doc, base: base, warned: map[diag.Pos]bool{}}
	fewest := 0
	for _, version := range AlignedVersions() {
		table, _, err := alignmentOf(version)
		if err != nil {
			d.problems.Errorf(diag.Pos{File: doc.Path}, "unaligned-version", "", "%v", err)
			return nil, d.problems
		}
		was, err := spec.Shipped(version)
		if err != nil {
			d.problems.Errorf(diag.Pos{File: doc.Path}, "unaligned-version", "", "%v", err)
			return nil, d.problems
		}
		if operationCalled(doc, table.rpcOf("SendMessage")) == nil {
			continue
		}
		if n := len(table.gaps(doc, base)); d.was == nil || n < fewest {
			d.was, d.table, fewest = was, table, n
		}
	}
	if d.was == nil {
		d.problems.Errorf(diag.Pos{File: doc.Path}, "unknown-shape", "give the .proto, or a schema with a request whose method is message/send",
			"the schema is in the shape of no version that is known: it has no operation to send a message")
		return nil, d.problems
	}
	return d, nil
}

// rpcOf returns the method for an operation of 1.0.
func (a *alignment) rpcOf(hub string) string {
	for _, o := range a.operations {
		if o.hub == hub {
			return o.rpc
		}
	}
	return ""
}

func operationCalled(doc *spec.Document, rpc string) *spec.Operation {
	for _, o := range doc.Operations {
		if o.RPC == rpc {
			return o
		}
	}
	return nil
}

// version lowers the draft by its completed table.
func (d *draft) version(l *protocolLowering, hub *ir.Version) *ir.Version {
	a := &aligner{alignment: d.table, l: l, base: d.base, old: d.doc, layouts: map[[2]string]*ir.Layout{}}
	a.wire = newWire(d.doc.Version, ir.JSON)
	a.layOut()
	v := &ir.Version{Name: d.doc.Version, Wires: []*ir.Wire{a.wire}, Rules: a.rules, Operations: a.alignedOperations(hub)}
	scope := names.NewScope()
	for _, op := range v.Operations {
		scope.Take(op.Go)
	}
	for _, o := range d.added {
		op := d.operation(l, a, o)
		op.Go = scope.Take(op.Go)
		v.Operations = append(v.Operations, op)
	}
	l.problems.Add(a.errs...)
	return v
}

// operation lowers an operation that the model does not have.
func (d *draft) operation(l *protocolLowering, a *aligner, o *spec.Operation) *ir.Operation {
	ref := func(t spec.Type) ir.TypeRef {
		if t.Kind != spec.MessageOf {
			return ir.TypeRef{Kind: ir.KindEmpty}
		}
		hub := d.table.message(t.Name, "").hub
		if layout := a.layouts[[2]string{t.Name, hub}]; layout == nil || layout.Variant != "" {
			l.problems.Errorf(o.Pos, "unsuitable-operation", "define a message of its own for it", "%s cannot be what operation %s takes or answers: it is only a part of something in 1.0", t.Name, o.RPC)
		}
		return l.typeRef(spec.Type{Kind: spec.MessageOf, Name: hub}, o.Pos)
	}
	return &ir.Operation{
		Role: ir.RoleOther, Go: names.Go(o.Name), RPC: o.RPC, Doc: deprecation(o.Comment, o.Deprecated), Stream: o.Stream,
		Request: ref(o.Request), Response: ref(o.Response), Null: o.Response.Kind == spec.Empty,
	}
}

// checkOperations adds new operations, drops missing ones, and rejects those that have changed.
func (d *draft) checkOperations() {
	for _, o := range d.doc.Operations {
		was := operationCalled(d.was, o.RPC)
		switch {
		case was != nil && (!sameType(was.Request, o.Request) || !sameType(was.Response, o.Response)):
			d.errorf(o.Pos, "changed-operation", "give what is new another method", "operation %s takes or answers something else than in version %s", o.RPC, d.was.Version)
		case was == nil && d.suits(o, o.Request) && d.suits(o, o.Response):
			d.added = append(d.added, o)
		}
	}
	d.table.operations = slices.DeleteFunc(d.table.operations, func(o *alignedOperation) bool {
		return operationCalled(d.was, o.rpc) != nil && operationCalled(d.doc, o.rpc) == nil
	})
}

// suits reports whether a new operation can take or answer type t, and reports a mistake if not.
func (d *draft) suits(o *spec.Operation, t spec.Type) bool {
	if t.Kind == spec.MessageOf {
		if known := d.table.message(t.Name, ""); known != nil && known.kind == "message" && known.hub != "" {
			return true
		}
	} else if t.Kind == spec.Empty {
		return true
	}
	d.errorf(o.Pos, "unsuitable-operation", "let it be an object with members", "what operation %s takes and answers must be an object or nothing; here it is %s", o.RPC, t)
	return false
}

func (d *draft) errorf(pos diag.Pos, code, hint, format string, args ...any) {
	if !d.warned[pos] {
		d.warned[pos] = true
		d.problems.Errorf(pos, code, hint, format, args...)
	}
}

// needs reports whether the runtime needs field name of hub message msg.
func (d *draft) needs(msg, name string) bool {
	outer, inner, deeper := strings.Cut(name, ".")
	if deeper {
		if m := messageOf(d.base, msg); m != nil && memberOf(m, outer) != nil {
			return d.needs(memberOf(m, outer).Type.Name, inner)
		}
	}
	return slices.ContainsFunc(neededFields(), func(f [2]string) bool { return f == [2]string{msg, name} })
}

// neededFields returns the fields that the runtime needs, by message.
func neededFields() [][2]string {
	var list [][2]string
	for _, p := range parts {
		for _, f := range p.fields {
			if f.need == needed {
				list = append(list, [2]string{hubNameOf(p.meaning), f.name})
			}
		}
	}
	return append(list, [2]string{"SendMessageRequest", "message"}, [2]string{"GetTaskRequest", "id"}, [2]string{"CancelTaskRequest", "id"}, [2]string{"SubscribeToTaskRequest", "id"})
}

// hubNameOf returns the 1.0 name of a part.
func hubNameOf(meaning string) string {
	switch meaning {
	case "SendResult":
		return "SendMessageResponse"
	case "StreamItem":
		return "StreamResponse"
	}
	if name := typeNames[meaning]; name != "" {
		return name
	}
	return meaning
}
