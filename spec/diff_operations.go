package spec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
)

func (d *differ) operations() {
	if !d.both(Proto, Schema) {
		return
	}
	pairs := pairOperations(d.old, d.new)
	kept := map[*Operation]bool{}
	for _, op := range d.old.Operations {
		now := pairs[op]
		kept[now] = true
		if now == nil {
			name := operationName(d.old, op)
			d.change(false, true, op.Pos, "operation-removed", name, "operation %s was removed", name)
			continue
		}
		d.operation(op, now)
	}
	for _, op := range d.new.Operations {
		if !kept[op] {
			name := operationName(d.new, op)
			d.change(false, false, op.Pos, "operation-added", name, "operation %s was added", name)
		}
	}
}

func (d *differ) operation(op, now *Operation) {
	name := operationName(d.old, op)
	if was, is := method(d.old, op), method(d.new, now); was != is && was != "" && is != "" {
		d.change(true, true, now.Pos, "method-changed", name, "operation %s has JSON-RPC method %s instead of %s", name, is, was)
	}
	if was, is := grpcMethod(d.old, op), grpcMethod(d.new, now); was != is && was != "" && is != "" {
		d.change(true, true, now.Pos, "grpc-method-changed", name, "operation %s has gRPC method %s instead of %s", name, is, was)
	}
	d.signature(name, "request", op.Request, now.Request, now.Pos)
	d.signature(name, "response", op.Response, now.Response, now.Pos)
	if op.Stream != now.Stream {
		what := map[bool]string{true: "a stream", false: "one response"}
		d.change(true, true, now.Pos, "stream-changed", name, "operation %s answers with %s instead of %s", name, what[now.Stream], what[op.Stream])
	}
	if op.RequestStream != now.RequestStream {
		what := map[bool]string{true: "a stream of requests", false: "one request"}
		d.change(true, true, now.Pos, "stream-changed", name, "operation %s takes %s instead of %s", name, what[now.RequestStream], what[op.RequestStream])
	}
	if op.Foreign != now.Foreign {
		d.change(true, true, now.Pos, "operand-changed", name, "operation %s takes or answers %s instead of %s", name, operandOf(now), operandOf(op))
	}
	if d.deprecated(op.Deprecated, now.Deprecated) {
		d.change(false, false, now.Pos, "operation-deprecated", name, "operation %s is deprecated", name)
	}
	if d.both(Proto) {
		d.routes(op, now)
	}
}

// operandOf names what an operation takes or answers besides messages of the definition.
func operandOf(op *Operation) string { return cmp.Or(op.Foreign, "messages of the definition") }

// method returns the JSON-RPC method of an operation. Since 1.0 it is the name of the rpc; before, protos, whose package was
// a2a.v1, did not say.
func method(doc *Document, op *Operation) string {
	if op.RPC == "" && doc.Syntax == Proto && doc.Package != "a2a.v1" {
		return op.Name
	}
	return op.RPC
}

// grpcMethod returns the gRPC path of an operation without the package.
func grpcMethod(doc *Document, op *Operation) string {
	return strings.TrimPrefix(strings.TrimPrefix(op.GRPC, "/"), doc.Package+".")
}

func (d *differ) signature(name, what string, was, is Type, pos diag.Pos) {
	switch {
	case d.same(was, is):
	case d.superset(was, is):
		d.change(false, false, pos, what+"-extended", name, "the %s of operation %s is %s, which has all of it", what, name, insteadOf(is, was))
	default:
		d.change(true, true, pos, what+"-changed", name, "the %s of operation %s is %s", what, name, insteadOf(is, was))
	}
}

// superset reports whether whoever reads one type reads the other too, because readers ignore members they do not know: the new one is a message with
// the fields of the old one and more that need not be there, or a choice of nothing else.
func (d *differ) superset(was, is Type) bool {
	if is.Kind == ChoiceOf {
		for _, c := range d.new.Choices {
			if c.Name == is.Name {
				return !slices.ContainsFunc(c.Types, func(t Type) bool { return !d.same(was, t) && !d.superset(was, t) })
			}
		}
	}
	m, now := messagesByName(d.old)[was.Name], messagesByName(d.new)[is.Name]
	if was.Kind != MessageOf || is.Kind != MessageOf || m == nil || now == nil {
		return false
	}
	had, has := fieldsByJSON(m), fieldsByJSON(now)
	for _, f := range m.Fields {
		n := has[f.JSON]
		if n == nil || !d.same(f.Type, n.Type) || f.Required != n.Required || f.Number != n.Number && d.both(Proto) || f.Const != n.Const {
			return false
		}
	}
	return !slices.ContainsFunc(now.Fields, func(n *Field) bool { return had[n.JSON] == nil && (n.Required || n.Union != "") })
}

// routes compares the HTTP bindings of an operation.
func (d *differ) routes(op, now *Operation) {
	name := operationName(d.old, op)
	same := func(r Route) func(Route) bool {
		return func(o Route) bool { return o.Verb == r.Verb && o.Path == r.Path }
	}
	lost := 0
	for _, r := range op.HTTP {
		if !slices.ContainsFunc(now.HTTP, same(r)) {
			lost++
		}
	}
	for _, r := range op.HTTP {
		i := slices.IndexFunc(now.HTTP, same(r))
		switch {
		case i < 0: // when no route stays, clients of the new definition do not find old servers either
			d.change(lost == len(op.HTTP) && len(now.HTTP) > 0, true, now.Pos, "route-removed", name, "operation %s is no longer at %s %s", name, r.Verb, r.Path)
		case now.HTTP[i].Body != r.Body:
			d.change(true, true, now.Pos, "body-changed", name, "the body of %s %s is %s instead of %s", r.Verb, r.Path, bodyOf(now.HTTP[i]), bodyOf(r))
		}
	}
	for _, r := range now.HTTP {
		if !slices.ContainsFunc(op.HTTP, same(r)) {
			d.change(false, false, now.Pos, "route-added", name, "operation %s is at %s %s", name, r.Verb, r.Path)
		}
	}
}

func bodyOf(r Route) string {
	switch r.Body {
	case "":
		return "empty"
	case "*":
		return "the whole request"
	default:
		return "the field " + r.Body
	}
}
