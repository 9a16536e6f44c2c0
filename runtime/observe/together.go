package observe

import "context"

// Together makes a group of observers. failed is told of panics, which end there; it may be nil.
func Together(list []Observer, failed func(panicked any)) Group { return Group{list, failed} }

// Group are observers as who is observed calls them: they begin in their order, and end in the opposite one.
type Group struct {
	list   []Observer
	failed func(panicked any)
}

// None reports whether nobody observes. Then there is nothing to be called.
func (g *Group) None() bool { return len(g.list) == 0 }

// List returns the observers.
func (g *Group) List() []Observer { return g.list }

// Begin tells all that an activity begins.
func (g *Group) Begin(ctx context.Context, a *Activity) context.Context {
	for _, o := range g.list {
		g.contain(func() {
			if next := o.Begin(ctx, a); next != nil {
				ctx = next
			}
		})
	}
	return ctx
}

// End tells all that it is over.
func (g *Group) End(ctx context.Context, a *Activity) {
	for i := len(g.list) - 1; i >= 0; i-- {
		g.contain(func() { g.list[i].End(ctx, a) })
	}
}

// Inject returns the trace context of ctx as it is kept; "" if there is none.
func (g *Group) Inject(ctx context.Context) string {
	var t Trace
	for _, o := range g.list {
		if in, ok := o.(Injector); ok {
			g.contain(func() { in.Inject(ctx, &t) })
		}
	}
	return t.String()
}

// contain calls an observer.
func (g *Group) contain(call func()) {
	defer func() {
		if p := recover(); p != nil && g.failed != nil {
			g.failed(p)
		}
	}()
	call()
}
