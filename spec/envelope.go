package spec

import (
	"slices"
	"strconv"
	"strings"
)

// classify finds out what each definition is for. Those of JSON-RPC are known by their form, not by their names: a request
// has a constant method, a response has "jsonrpc", an error a constant code, and a choice between such things is one too.
func (r *schemaReader) classify() {
	for _, d := range r.order {
		d.role = r.form(d)
	}
	for again := !r.bundle; again; {
		again = false
		for _, d := range r.order {
			if d.role == roleChoice && r.allEnvelopes(d.node) {
				d.role, again = roleEnvelope, true
			}
		}
	}
}

func (r *schemaReader) form(d *definition) role {
	if r.bundle {
		if _, ok := r.wellKnownShape(d); ok || d.node.kind != '{' {
			return roleAlias
		}
	} else if role := jsonRPC(d.node); role != roleAlias {
		return role
	}
	options, _ := alternatives(d.node)
	switch {
	case d.node.has("$ref") || onlyPart(d.node) != nil:
		return roleAlias
	case isMessage(d.node):
		return roleMessage
	case len(options) > 1:
		return roleChoice
	case len(options) == 0 && isEnum(d.node) && constant(d.node) == nil:
		return roleEnum
	}
	return roleAlias
}

// jsonRPC returns the part that a definition plays in JSON-RPC, roleAlias when it plays none.
func jsonRPC(n *node) role {
	properties := n.get("properties")
	code := properties.get("code")
	switch {
	case properties == nil:
		return roleAlias
	case properties.has("method") && constant(properties.get("method")) != nil:
		return roleRequest
	case properties.has("jsonrpc") && properties.has("result"):
		return roleResponse
	case properties.has("jsonrpc"):
		return roleEnvelope
	case code != nil && properties.has("message") && constant(code) != nil && constant(code).kind == '0':
		return roleError
	case code.get("type").str() == "integer" && properties.has("message") && onlyMembers(properties, "code", "message", "data"):
		return roleEnvelope
	}
	return roleAlias
}

func onlyMembers(n *node, names ...string) bool {
	return !slices.ContainsFunc(n.props(), func(m member) bool { return !slices.Contains(names, m.name) })
}

// allEnvelopes reports whether all alternatives of a schema are definitions of JSON-RPC.
func (r *schemaReader) allEnvelopes(n *node) bool {
	options, _ := alternatives(n)
	for _, o := range options {
		d := r.definition(o.get("$ref"))
		if d == nil || d.role != roleRequest && d.role != roleResponse && d.role != roleEnvelope && d.role != roleError {
			return false
		}
	}
	return true
}

// operations makes an operation of each request. One that streams and has no response of its own, as those that follow a
// task again, answers with what the other streams answer.
func (r *schemaReader) operations() {
	var stream *Type
	var open []*Operation
	for _, d := range r.order {
		if d.role != roleRequest {
			continue
		}
		op, answered := r.schemaOperation(d)
		r.doc.Operations = append(r.doc.Operations, op)
		switch {
		case !answered:
			open = append(open, op)
		case op.Stream && stream == nil:
			stream = &op.Response
		}
	}
	for _, op := range open {
		if !op.Stream || stream == nil {
			r.problems.Errorf(op.Pos, "no-response", "define "+op.Name+"Response with a result", "the operation %s has no response", op.Name)
			continue
		}
		op.Response = *stream
	}
}

func (r *schemaReader) schemaOperation(d *definition) (op *Operation, answered bool) {
	properties := d.node.get("properties")
	op = &Operation{
		Name: strings.TrimSuffix(d.name, "Request"), RPC: constant(properties.get("method")).str(), Comment: describe(d.node), Pos: d.pos,
		Deprecated: d.node.get("deprecated").isTrue(), Request: Type{Kind: Empty},
	}
	op.Stream = streams(op.RPC)
	if params := properties.get("params"); params != nil {
		op.Request, _ = r.typeOf(params, d.name+".params", params.pos)
	}
	for _, suffix := range []string{"SuccessResponse", "Response"} {
		if answer := r.defs[op.Name+suffix]; answer != nil && answer.role == roleResponse {
			result := answer.node.get("properties").get("result")
			op.Response, _ = r.typeOf(result, answer.name+".result", result.pos)
			return op, true
		}
	}
	return op, false
}

// streams reports whether a method answers with a sequence: a schema says so only by the method's name.
func streams(method string) bool {
	verb := strings.ToLower(method[strings.LastIndexByte(method, '/')+1:])
	return strings.Contains(verb, "stream") || strings.Contains(verb, "subscribe")
}

func (r *schemaReader) errorCode(d *definition) {
	properties := d.node.get("properties")
	code, err := strconv.ParseInt(constant(properties.get("code")).compact(), 10, 32)
	if err != nil {
		r.problems.Errorf(properties.get("code").pos, "invalid-schema", "", "the code of %s is not a whole number", d.name)
		return
	}
	message := properties.get("message")
	text := message.get("default").str()
	if c := constant(message); c != nil {
		text = c.str()
	}
	r.doc.Errors = append(r.doc.Errors, &ErrorCode{Name: d.name, Code: int32(code), Message: text, Comment: describe(d.node), Pos: d.pos})
}
