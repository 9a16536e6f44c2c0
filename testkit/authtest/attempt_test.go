package authtest

import (
	"slices"
	"testing"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
)

// TestEveryOperationIsTried: a request can be made of each that the runtime knows, in every version and binding.
func TestEveryOperationIsTried(t *testing.T) {
	p := a2awires.Protocol()
	for _, v := range p.Versions {
		for _, binding := range runtime.Bindings {
			if v.Over(binding.Name) == nil {
				continue
			}
			x := &trial{host: &host{Agent: &Agent{Protocol: p}}, face: face{version: v, binding: binding}, t: t}
			tried := x.attempts("task")
			for _, op := range x.operations() {
				is := func(a attempt) bool { return a.op == op }
				if op.Role != runtime.RoleOther && !slices.ContainsFunc(tried, is) {
					t.Errorf("%s %s: %s is not tried", binding.Name, v.Name, op.RPC)
				}
			}
			for _, a := range tried {
				if _, err := a.op.AppendRequest(nil, a.request); err != nil {
					t.Errorf("%s %s: %s: %v", binding.Name, v.Name, a.name, err)
				}
			}
		}
	}
}
