package grpcserver

import (
	"strings"

	"google.golang.org/grpc"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// method is one method of a service. Versions may share it: what a client asks for says more then.
type method struct {
	t    *transport
	rows []row
}

// row is a method as a version has it.
type row struct {
	version *engine.Version
	op      *runtime.Operation
	coding  engine.Coding // of events
}

// in returns the method as a version has it; nil if it does not.
func (m *method) in(v *engine.Version) *row {
	for i := range m.rows {
		if m.rows[i].version == v {
			return &m.rows[i]
		}
	}
	return nil
}

// services describes the services of all spoken versions.
func (t *transport) services() []*grpc.ServiceDesc {
	var all []*grpc.ServiceDesc
	methods := map[string]*method{}
	for _, v := range t.agent.Versions() {
		table := v.Over(runtime.BindingGRPC)
		if table == nil {
			continue
		}
		for _, op := range table.Operations {
			if op.GRPC == "" {
				continue
			}
			m := methods[op.GRPC]
			if m == nil {
				m = &method{t: t}
				methods[op.GRPC] = m
				all = addMethod(all, op, m)
			}
			m.rows = append(m.rows, row{v, op, v.Coding(table)})
		}
	}
	return all
}

// addMethod adds a method to its service. Calls of one answer are served as streams of one message, as grpc-go does
// itself: so the caller is known before his message is read.
func addMethod(all []*grpc.ServiceDesc, op *runtime.Operation, m *method) []*grpc.ServiceDesc {
	service, name := split(op.GRPC)
	stream := grpc.StreamDesc{StreamName: name, Handler: m.serve, ServerStreams: op.Stream}
	for _, desc := range all {
		if desc.ServiceName == service {
			desc.Streams = append(desc.Streams, stream)
			return all
		}
	}
	return append(all, &grpc.ServiceDesc{ServiceName: service, Streams: []grpc.StreamDesc{stream}})
}

// split takes a full method, "/lf.a2a.v1.A2AService/GetTask", to pieces.
func split(full string) (service, name string) {
	full = strings.TrimPrefix(full, "/")
	i := strings.LastIndexByte(full, '/')
	return full[:max(i, 0)], full[i+1:]
}
