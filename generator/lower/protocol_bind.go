package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
)

// binder finds what the runtime's interfaces need, by the tables of this package.
type binder struct {
	*protocolLowering
	b        ir.Bindings
	byRole   map[ir.Role]*ir.Operation
	bindings map[string]**ir.Type // where the type of a meaning goes
}

// bind finds all types and fields that the runtime needs, and reports what is missing or has another type, at the
// message in question.
func (l *protocolLowering) bind(ops []*ir.Operation) ir.Bindings {
	x := &binder{protocolLowering: l, byRole: map[ir.Role]*ir.Operation{}}
	x.b.Fields, x.b.Cases, x.b.Values = map[string]*ir.Field{}, map[string]*ir.Case{}, map[string]*ir.Value{}
	x.b.Members = map[string][]ir.Member{}
	x.bindings = map[string]**ir.Type{
		"Task": &x.b.Task, "TaskStatus": &x.b.TaskStatus, "TaskState": &x.b.TaskState, "Message": &x.b.Message, "MessageRole": &x.b.MessageRole,
		"Part": &x.b.Part, "Artifact": &x.b.Artifact, "StatusUpdate": &x.b.StatusUpdate, "ArtifactUpdate": &x.b.ArtifactUpdate,
		"SendResult": &x.b.SendResult, "StreamItem": &x.b.StreamItem, "AgentCard": &x.b.AgentCard, "Interface": &x.b.Interface,
		"Capabilities": &x.b.Capabilities, "Extension": &x.b.Extension, "SendConfig": &x.b.SendConfig,
		"PushConfig": &x.b.PushConfig, "PushAuth": &x.b.PushAuth,
	}
	for _, op := range ops {
		x.byRole[op.Role] = op
	}
	if !x.operationTypes() || !x.namedTypes() {
		return x.b
	}
	for _, p := range parts {
		x.part(p, *x.bindings[p.meaning])
	}
	for _, p := range requestFields() {
		role, result := strings.CutSuffix(p.meaning, "Result")
		op := x.byRole[ir.Role(role)]
		switch {
		case op == nil:
		case result:
			x.part(p, op.Response.Type)
		default:
			x.part(p, op.Request.Type)
		}
	}
	x.cases()
	x.values()
	return x.b
}

// operationTypes finds the results of the two operations that every agent needs.
func (x *binder) operationTypes() bool {
	for _, want := range []struct {
		role    ir.Role
		meaning string
	}{{ir.RoleSend, "SendResult"}, {ir.RoleStream, "StreamItem"}} {
		op := x.byRole[want.role]
		if op == nil || op.Response.Type == nil {
			x.problems.Errorf(diag.Pos{File: x.doc.Path}, "missing-operation", "declare it as 1.0 does, with messages of the names that it has there", "the definition has no operation to %s a message", want.role)
			return false
		}
		*x.bindings[want.meaning] = op.Response.Type
	}
	for _, op := range x.byRole {
		if op.Role != ir.RoleOther && op.Request.Type == nil {
			x.problems.Errorf(x.operationPos(op), "unsuitable-request", "take a message of the definition", "operation %s takes no request", op.RPC)
			return false
		}
	}
	return true
}

func (x *binder) operationPos(op *ir.Operation) diag.Pos {
	for _, o := range x.doc.Operations {
		if o.GRPC == op.GRPC {
			return o.Pos
		}
	}
	return diag.Pos{File: x.doc.Path}
}

// namedTypes finds the other types by their names.
func (x *binder) namedTypes() bool {
	ok := true
	for meaning, dst := range x.bindings {
		if *dst != nil {
			continue
		}
		name := cmp.Or(typeNames[meaning], meaning)
		if *dst = x.types[name]; *dst == nil && !slices.Contains(dispensable, meaning) {
			x.problems.Errorf(diag.Pos{File: x.doc.Path}, "missing-type", "keep it under the name that it has in 1.0", "the definition has no type %s, which the runtime needs", name)
			ok = false
		}
	}
	return ok
}

// keepIt is the hint for something that is missing. A schema has names only.
const keepIt = "keep it, under the name or the number that it has in 1.0"

// part finds the fields of one message.
func (x *binder) part(p part, t *ir.Type) {
	if t == nil {
		return
	}
	for _, want := range p.fields {
		f := fieldOf(t, x.hubName(t.Name, want.name))
		switch {
		case f == nil && want.need == needed:
			x.problems.Errorf(x.typePos(t), "missing-field", keepIt, "message %s has no field %s, which the runtime needs", t.Name, want.name)
		case f == nil, want.need == later && !x.is(f.Type, want.is):
		case !x.is(f.Type, want.is):
			x.problems.Errorf(x.fieldPos(t, f), "unsuitable-field", "", "field %s of message %s has another type than the runtime needs, which is %s", f.Name, t.Name, x.describe(want.is))
		default:
			meaning := p.meaning + "." + want.name
			if x.b.Fields[meaning] = f; want.member != "" {
				x.b.Members[p.meaning] = append(x.b.Members[p.meaning], ir.Member{Meaning: meaning, Is: want.is, Name: want.member})
			}
		}
	}
}

// is reports whether a field of type t is what the tables call is.
func (x *binder) is(t ir.TypeRef, is string) bool {
	if elem, list := strings.CutPrefix(is, "[]"); list {
		return t.Kind == ir.KindList && x.is(*t.Elem, elem)
	}
	switch is {
	case "strings":
		return t.Kind == ir.KindList && t.Elem.Kind == ir.KindString
	case "object":
		return t.Kind == ir.KindStruct
	case "time":
		return t.Kind == ir.KindTimestamp
	}
	if dst := x.bindings[is]; dst != nil {
		return t.Type != nil && t.Type == *dst
	}
	return string(t.Kind) == is
}

// describe says in words what the tables call is.
func (x *binder) describe(is string) string {
	elem, list := strings.CutPrefix(is, "[]")
	if x.bindings[elem] != nil {
		elem = cmp.Or(typeNames[elem], elem)
	}
	if list {
		return "a list of " + elem
	}
	return elem
}

func (x *binder) cases() {
	for _, want := range cases {
		t := *x.bindings[want.union]
		f := unionOf(t)
		if f == nil {
			continue // reported as a missing field
		}
		c := caseOf(f.Union, x.hubName(t.Name, want.name))
		if c == nil || !x.is(c.Type, want.is) || (x.bindings[want.is] != nil && !c.Direct) {
			x.problems.Errorf(x.typePos(t), "missing-field", keepIt, "message %s has no member %s of type %s in %s, which the runtime needs", t.Name, want.name, x.describe(want.is), f.Name)
			continue
		}
		x.b.Cases[want.union+"."+want.name] = c
	}
}

func (x *binder) values() {
	for _, want := range values {
		t := *x.bindings[want.enum]
		v := x.valueOf(t, want.name)
		if v == nil {
			x.problems.Errorf(x.typePos(t), "missing-value", keepIt, "enum %s has no value %s, which the runtime needs", t.Name, want.name)
			continue
		}
		v = cmp.Or(v.Alias, v)
		for _, other := range values {
			if x.b.Values[other.enum+"."+other.meaning] == v {
				x.problems.Errorf(x.typePos(t), "repeated-value", "give them different numbers", "values %s and %s of enum %s are one: the runtime tells them apart", other.name, want.name, t.Name)
			}
		}
		x.b.Values[want.enum+"."+want.meaning] = v
	}
}

// valueOf finds the value that 1.0 calls name.
func (x *binder) valueOf(t *ir.Type, name string) *ir.Value {
	if x.base != nil {
		for _, e := range x.base.Enums {
			for _, v := range e.Values {
				if e.Name == t.Name && v.Name == name {
					return counterpartValue(t, v, e)
				}
			}
		}
	}
	return valueOf(t, name)
}

func (x *binder) typePos(t *ir.Type) diag.Pos {
	if m := x.messages[t.Name]; m != nil {
		return m.Pos
	}
	for _, e := range x.doc.Enums {
		if e.Name == t.Name {
			return e.Pos
		}
	}
	return diag.Pos{File: x.doc.Path}
}

func (x *binder) fieldPos(t *ir.Type, f *ir.Field) diag.Pos {
	if src := x.fields[f]; src != nil {
		return src.Pos
	}
	return x.typePos(t)
}

func fieldOf(t *ir.Type, name string) *ir.Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// unionOf returns the first union of t.
func unionOf(t *ir.Type) *ir.Field {
	for _, f := range t.Fields {
		if f.Union != nil {
			return f
		}
	}
	return nil
}

func caseOf(u *ir.Union, name string) *ir.Case {
	for _, c := range u.Cases {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func valueOf(t *ir.Type, name string) *ir.Value {
	for _, v := range t.Values {
		if v.Name == name {
			return v
		}
	}
	return nil
}
