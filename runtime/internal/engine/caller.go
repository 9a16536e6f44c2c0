package engine

import (
	"context"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

type callerKey struct{}

// CallerFrom returns who sent the request that is being served, for a context of a hook, a handler or an operation of
// the agent's own; nil for nobody who is known.
func CallerFrom(ctx context.Context) *runtime.Caller {
	c, _ := ctx.Value(callerKey{}).(*runtime.Caller)
	return c
}

// introduce makes the caller known to what is called with the request's context.
func (r *Request) introduce(owner store.Owner) {
	if r.Caller != nil && CallerFrom(r.Context) == nil {
		r.Context = context.WithValue(r.Context, callerKey{}, called(r.Caller, owner))
	}
}

// framed is whose tasks the request means as far as its frame says: of operations whose parameters name no tenant.
func (r *Request) framed() (store.Owner, error) {
	if r.Tenant == "" {
		return store.Owner{Principal: r.Caller.Principal()}, nil
	}
	return r.owner("")
}

// called is the caller as the handler of a message sees him.
func called(c *runtime.Caller, owner store.Owner) *runtime.Caller {
	if c == nil || c.Tenant == owner.Tenant {
		return c
	}
	seen := *c
	seen.Tenant = owner.Tenant
	return &seen
}

// permitted refuses a message for a skill that its sender may not use.
func (c *call) permitted(skill string) error {
	if c.permit == nil {
		return nil
	}
	return c.permit(skill)
}
