package engine

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
)

// introduce makes the caller known to what is called with the request's context.
func (r *Request) introduce(owner store.Owner) {
	if r.Caller != nil && run.CallerFrom(r.Context) == nil {
		r.Context = run.WithCaller(r.Context, called(r.Caller, owner))
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
