package lower

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/spec"
)

// protoTable ends the name of the table that aligns the proto of a version whose JSON-RPC is defined by a schema.
const protoTable = "-proto"

// addProtos adds a wire to the versions whose proto has a table: the ProtoJSON that REST peers of an older version send
// (T31), or protobuf. A hub that has changed what the table speaks of gets none.
func addProtos(p *ir.Protocol, encoding ir.Encoding) {
	for _, v := range p.Versions[1:] {
		a := protoAligner(p, v.Name)
		if a == nil {
			continue
		}
		a.wire = newWire(v.Name, encoding)
		if encoding == ir.Proto {
			a.wire.Descriptor = a.old.Descriptor
		}
		if a.layOut(); len(a.errs) == 0 {
			a.wire.Operations = a.protoOperations(p.Versions[0], v)
			v.Wires = append(v.Wires, a.wire)
		}
	}
}

// protoOperations are the operations as the proto has them: the hub's, named for JSON-RPC as the version names them.
func (a *aligner) protoOperations(hub, v *ir.Version) (ops []*ir.Operation) {
	for _, o := range a.operations {
		src := operationOf(a.old, o.rpc)
		if src == nil && a.wire.Encoding == ir.ProtoJSON {
			src = &spec.Operation{Name: o.rpc} // which the text has, and the proto has not
		}
		i := slices.IndexFunc(hub.Operations, func(h *ir.Operation) bool { return h.Go == names.Go(o.hub) })
		if src == nil || i < 0 {
			continue // the hub has it no more
		}
		op := *hub.Operations[i]
		op.RPC, op.Aliases, op.GRPC, op.HTTP = src.Name, nil, "", nil
		if i := slices.IndexFunc(v.Operations, func(old *ir.Operation) bool { return old.Go == op.Go }); i >= 0 {
			op.RPC = v.Operations[i].RPC
		}
		if a.wire.Encoding == ir.Proto {
			op.GRPC = src.GRPC
		} else {
			for _, r := range slices.Concat(src.HTTP, o.routes) {
				op.HTTP = append(op.HTTP, ir.Route(r))
			}
		}
		if request := a.layouts[[2]string{src.Request.Name, op.Request.Name}]; request != nil && request.Variant != "" {
			op.RequestAs = request
		}
		ops = append(ops, &op)
	}
	return ops
}

func operationOf(doc *spec.Document, name string) *spec.Operation {
	for _, o := range doc.Operations {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// protoAligner prepares the table for the proto of a version; nil if there is none.
func protoAligner(p *ir.Protocol, version string) *aligner {
	table, ok, err := tableOf(version + protoTable)
	if err != nil || !ok {
		return nil
	}
	old, err := spec.ShippedProto(version)
	if err != nil || old == nil {
		return nil
	}
	base, err := spec.Shipped(hubVersion)
	if err != nil {
		return nil
	}
	l := &protocolLowering{types: map[string]*ir.Type{}, messages: map[string]*spec.Message{}}
	for _, t := range p.Types {
		l.types[t.Name] = t
	}
	if p.Versions[0].Name != hubVersion {
		l.base = base
	}
	for _, layout := range jsonLayouts(p.Versions[0]) {
		l.messages[layout.Name] = messageFrom(layout)
	}
	return &aligner{alignment: table, l: l, base: base, old: old, layouts: map[[2]string]*ir.Layout{}}
}

// jsonLayouts are those of a version's first JSON wire.
func jsonLayouts(v *ir.Version) []*ir.Layout {
	for _, w := range v.Wires {
		if w.Encoding == ir.JSON {
			return w.Layouts
		}
	}
	return nil
}

// messageFrom says what the definition behind a layout of the hub said: the names, numbers and types of its fields.
func messageFrom(l *ir.Layout) *spec.Message {
	m := &spec.Message{Name: l.Name}
	for _, f := range l.Fields {
		if f.Case != nil {
			m.Fields = append(m.Fields, &spec.Field{Name: f.Case.Name, JSON: f.Name, Number: f.Number, Type: typeFrom(f.Case.Type), Union: f.Field.Name})
		} else {
			m.Fields = append(m.Fields, &spec.Field{Name: f.Field.Name, JSON: f.Name, Number: f.Number, Type: typeFrom(f.Field.Type)})
		}
	}
	return m
}

func typeFrom(t ir.TypeRef) spec.Type {
	typ := spec.Type{Kind: spec.Kind(t.Kind), Name: t.Name}
	if t.Elem != nil {
		elem := typeFrom(*t.Elem)
		typ.Elem = &elem
	}
	if t.Key != nil {
		key := typeFrom(*t.Key)
		typ.Key = &key
	}
	return typ
}

// memberCalled finds a field by its JSON name.
func memberCalled(m *spec.Message, name string) *spec.Field {
	for _, f := range m.Fields {
		if f.JSON == name {
			return f
		}
	}
	return nil
}

// number completes a member of a proto: its number, its own name, which ProtoJSON reads too, and what it does not tell from
// its zero value. It is required if the table says so: a proto's required text may be empty, and is then not written.
func (a *aligner) number(m *ir.FieldLayout, line *alignedLine, src *spec.Message) {
	if a.old.Syntax != spec.Proto || src == nil {
		return
	}
	f := memberCalled(src, line.name)
	if f == nil {
		return
	}
	m.Number = f.Number
	if f.Name != f.JSON {
		m.Aliases = []string{f.Name}
	}
	m.Aliases = append(m.Aliases, line.also...)
	if m.Nested != nil {
		return
	}
	m.Required, m.Lenient = line.must, false
	zero := []ir.Kind{ir.KindString, ir.KindBool, ir.KindInt32}
	m.Implicit = m.Derived || m.Hook == "" && m.Case == nil && m.Field.Presence == ir.Explicit && !f.Optional && slices.Contains(zero, m.Field.Type.Kind)
	if m.Into != nil && !m.Implicit && a.wire.Encoding == ir.Proto {
		a.errorf(src.Name, nil, "member %s of %s stands one level higher than a field that does not tell not set from zero", line.name, src.Name)
	}
}

// AlignedProtos returns the names by which [AlignmentOf] knows the protos of versions that are defined by a schema: "0.3-proto".
func AlignedProtos() []string {
	files, _ := alignmentFiles.ReadDir("align") // embedded
	var names []string
	for _, f := range files {
		if name := strings.TrimSuffix(strings.TrimPrefix(f.Name(), "v"), ".txt"); strings.HasSuffix(name, protoTable) {
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	return names
}
