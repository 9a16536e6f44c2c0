package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// StoreTime is how long a call of the store may take at least before it is given up, and half of what it may take at
// most.
const StoreTime = 10 * time.Second

// deadlines gives the calls of the store their context. A context with a timer for each would cost more than a call of
// a store in memory: those of a while share one.
type deadlines struct {
	current atomic.Pointer[context.Context]
	mu      sync.Mutex
}

// Soon returns a context for a call of the store that begins now.
func (d *deadlines) Soon() context.Context {
	if ctx := d.current.Load(); ctx != nil {
		return *ctx
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx := d.current.Load(); ctx != nil {
		return *ctx
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*StoreTime)
	context.AfterFunc(ctx, cancel)
	d.current.Store(&ctx)
	time.AfterFunc(StoreTime, func() { d.current.Store(nil) })
	return ctx
}
