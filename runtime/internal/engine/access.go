package engine

import (
	"errors"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
)

// Who may do what: whose tasks a request means, and which skills there are for its caller.

// ActsFor returns the tenant for which the caller acts, for a Permit.
func (r *Request) ActsFor() string { return r.Subject.Tenant }

// owner returns whose tasks the request means. The tenants that its frame and its parameters name must be the same.
func (r *Request) owner(tenant string) (store.Owner, error) {
	switch {
	case tenant == "":
		tenant = r.Tenant
	case r.Tenant != "" && r.Tenant != tenant:
		return store.Owner{}, invalid.Field("tenant", "is not what A2A-Tenant says")
	}
	if r.e.tenants != nil && !r.e.tenants[tenant] {
		return store.Owner{}, invalid.Field("tenant", "is not a tenant of this agent")
	}
	if r.Caller != nil && !r.Caller.MayActFor(tenant) {
		return store.Owner{}, runtime.ErrPermissionDenied.With("the caller may not act for this tenant")
	}
	if len(tenant) > maxName {
		return store.Owner{}, checkName("tenant", tenant)
	}
	r.Subject.Tenant = tenant
	return store.Owner{Tenant: tenant, Principal: r.Caller.Principal()}, nil
}

// sees returns the skills that exist for the caller.
func (r *Request) sees() *route.Catalog {
	if r.Barred != nil {
		return r.e.skills.Public
	}
	return r.e.skills.All
}

// permit returns what says why the caller may not use a skill; nil: the caller may use all. Hidden skills and their
// tasks, which a caller may have from when the skill was not hidden, are reported as not found.
func (r *Request) permit() Permit {
	if r.sees() == r.e.skills.All {
		return r.Permit
	}
	return func(skill string) error {
		if r.e.skills.Hidden(skill) {
			return store.ErrNotFound
		}
		if r.Permit == nil {
			return nil
		}
		return r.Permit(skill)
	}
}

// may refuses a caller who may not use the skill of a task. A task that does not exist is refused as somebody else's
// is.
func (r *Request) may(key store.Key) error {
	permit := r.permit()
	if permit == nil {
		return nil
	}
	h, err := r.e.store.Head(r.e.soon(), key)
	if err != nil {
		return err
	}
	r.Subject.Skill = h.Skill
	return permit(h.Skill)
}

// Foreign reports whether the request asks for a task whose id its client chose. Where several versions have one name
// for an operation, this tells a client of an older version, whose words are those of [Engine.ByClient].
func (r *Request) Foreign(p *runtime.TaskRequest) bool {
	owner, err := r.owner(p.Tenant)
	if err != nil {
		return false
	}
	key := store.Key{Owner: owner, Task: p.ID}
	h, err := r.e.store.Head(r.e.soon(), key)
	return err == nil && h.ClientID && !errors.Is(r.may(key), store.ErrNotFound)
}

// refused returns the skills that the caller may not use.
func (r *Request) refused() (ids []string) {
	permit := r.permit()
	if permit == nil {
		return nil
	}
	return r.e.skills.IDs(func(id string) bool { return permit(id) != nil })
}

// introduce puts the caller into the request's context, for hooks and for operations of the agent's own.
func (r *Request) introduce(owner store.Owner) {
	if r.Caller != nil && run.CallerFrom(r.Context) == nil {
		r.Context = run.WithCaller(r.Context, callerFor(r.Caller, owner))
	}
}

// frameOwner is owner for operations whose parameters name no tenant.
func (r *Request) frameOwner() (store.Owner, error) {
	if r.Tenant == "" {
		return store.Owner{Principal: r.Caller.Principal()}, nil
	}
	return r.owner("")
}

// callerFor returns the caller as handlers see it: acting for the owner's tenant.
func callerFor(c *runtime.Caller, owner store.Owner) *runtime.Caller {
	if c == nil || c.Tenant == owner.Tenant {
		return c
	}
	seen := *c
	seen.Tenant = owner.Tenant
	return &seen
}
