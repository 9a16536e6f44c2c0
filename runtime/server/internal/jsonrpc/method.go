package jsonrpc

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// unknownMethod returns the error for a method that the request's version does not have. It names the versions that
// have it, and those that are spoken here. A request without a version, and with a method of before 1.0, is one of a
// version that is not spoken here (R72, R73).
func (q *request) unknownMethod(method []byte, asked string) *runtime.Error {
	if age := methodAges[string(method)]; age != "" && asked == "" && !q.Version.Unnamed() {
		return q.Agent.NotSpoken(engine.ImpliedVersion).With("%s is a method of A2A %s, and the request names no version; this agent speaks %s",
			method, age, q.Agent.SpokenNames())
	}
	if age := methodAges[string(method)]; age != "" {
		return runtime.ErrMethodNotFound.With("%s is a method of A2A %s, the request is one of %s; this agent speaks %s",
			method, age, q.Version.Name, q.Agent.SpokenNames())
	}
	return runtime.ErrMethodNotFound.With("there is no %.100q in A2A %s", method, q.Version.Name)
}

// methodsOf are the operations of a version by method.
func methodsOf(v *engine.Version) map[string]*runtime.Operation {
	methods := make(map[string]*runtime.Operation, len(v.Operations))
	for _, op := range v.Operations {
		methods[op.RPC] = op
	}
	return methods
}
