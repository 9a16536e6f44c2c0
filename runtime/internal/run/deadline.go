package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// storeTime is how long a call of the store may take at least before it is given up, and half of what it may take at
// most.
const storeTime = 10 * time.Second

// deadlines gives the calls of the store their context. A context with a timer for each would cost more than a call of
// a store in memory: those of a while share one.
type deadlines struct {
	current atomic.Pointer[context.Context]
	mu      sync.Mutex
}

// soon returns a context for a call of the store that begins now.
func (d *deadlines) soon() context.Context {
	if ctx := d.current.Load(); ctx != nil {
		return *ctx
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx := d.current.Load(); ctx != nil {
		return *ctx
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*storeTime)
	context.AfterFunc(ctx, cancel)
	d.current.Store(&ctx)
	time.AfterFunc(storeTime, func() { d.current.Store(nil) })
	return ctx
}
