// Package observing is what observed code needs of observers: it calls them as a group, keeps trace contexts, and
// passes them on in messages.
package observing

import (
	"context"

	"github.com/a2agen/a2agen/runtime/observe"
)

// Together makes a group of observers. failed is called with their panics, which go no further; it may be nil.
func Together(list []observe.Observer, failed func(panicked any)) Group { return Group{list, failed} }

// Group calls observers: Begin in their order, End in the opposite one.
type Group struct {
	List   []observe.Observer // nobody changes it
	failed func(panicked any)
}

// Begin calls all observers' Begin.
func (g *Group) Begin(ctx context.Context, a *observe.Activity) context.Context {
	for _, o := range g.List {
		g.contain(func() {
			if next := o.Begin(ctx, a); next != nil {
				ctx = next
			}
		})
	}
	return ctx
}

// End calls all observers' End.
func (g *Group) End(ctx context.Context, a *observe.Activity) {
	for i := len(g.List) - 1; i >= 0; i-- {
		g.contain(func() { g.List[i].End(ctx, a) })
	}
}

// Inject returns the trace context of ctx as it is kept; "" if there is none.
func (g *Group) Inject(ctx context.Context) string {
	var t Trace
	for _, o := range g.List {
		if in, ok := o.(observe.Injector); ok {
			g.contain(func() { in.Inject(ctx, &t) })
		}
	}
	return t.String()
}

// CardChanged tells the observers that watch cards.
func (g *Group) CardChanged(ctx context.Context, c *observe.CardChange) {
	for _, o := range g.List {
		if watcher, ok := o.(observe.CardWatcher); ok {
			g.contain(func() { watcher.CardChanged(ctx, c) })
		}
	}
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
