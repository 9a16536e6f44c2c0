package lower

import (
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

// AddWires adds the wires of further encodings to each version of p that has what they need. JSON is always there;
// [ir.ProtoJSON] is what REST peers of a version send whose JSON-RPC has another dialect; for
// [ir.Proto] every member must have a field number, which definitions in JSON Schema do not give: of these only a version whose
// proto has a table of its own gets the wire. Who does not speak gRPC leaves it
// out: the codec of a wire is code in every agent that links it.
func AddWires(p *ir.Protocol, encodings ...ir.Encoding) {
	if slices.Contains(encodings, ir.ProtoJSON) {
		addProtos(p, ir.ProtoJSON)
	}
	if slices.Contains(encodings, ir.Proto) {
		addNumbered(p)
		addProtos(p, ir.Proto)
	}
	nameWires(p)
}

// addNumbered adds the protobuf twins of JSON wires: the same members, known by their numbers. Their JSON names serve in
// errors.
func addNumbered(p *ir.Protocol) {
	for _, v := range p.Versions {
		for _, w := range v.Wires {
			if w.Encoding == ir.JSON && numbered(w) {
				twin := newWire(v.Name, ir.Proto)
				twin.Layouts = w.Layouts
				twin.Operations, twin.Descriptor = overGRPC(v.Operations), v.Descriptor
				v.Wires = append(v.Wires, twin)
				break
			}
		}
	}
}

// overGRPC are operations as gRPC has them, which has no routes.
func overGRPC(ops []*ir.Operation) (list []*ir.Operation) {
	for _, o := range ops {
		if o.GRPC != "" {
			op := *o
			op.HTTP, op.Aliases = nil, nil
			list = append(list, &op)
		}
	}
	return list
}

// WithWire are the shipped versions that have wires of an encoding beside JSON, newest first.
func WithWire(e ir.Encoding) []string {
	return slices.DeleteFunc(spec.Versions(), func(v string) bool {
		_, aligned, _ := tableOf(v + protoTable)
		return !aligned && (e != ir.Proto || !slices.Contains(spec.Hubs(), v))
	})
}

// numbered reports whether all members of all messages have field numbers and need no more than a plain codec.
func numbered(w *ir.Wire) bool {
	for _, l := range w.Layouts {
		for _, m := range l.Fields {
			if m.Number <= 0 || m.Hook != "" {
				return false
			}
		}
	}
	return true
}
