package postgres

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// row is a decoded task, at a rev of its row in the database.
type row struct {
	*stored.Row
	rev     int64 // guarded by Mu
	dropped bool  // it is no longer the task's: it must be read anew. Guarded by Mu
	server  int32 // from which it was read: after a failover another knows less, and counts on from there
	// turn is for whoever changes the task, or applies what others have changed, from before the decision until the
	// answer. Nobody else changes the row.
	turn chan struct{}
}

// newRow is a task as it was read from a server.
func newRow(is relational.Loaded, server int32) *row {
	return &row{Row: is.Row, rev: is.Rev, turn: make(chan struct{}, 1), server: server}
}

// lock waits for the turn.
func (r *row) lock(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", store.ErrUnavailable, context.Cause(ctx))
	}
}

func (r *row) unlock() { <-r.turn }

func (r *row) isDropped() bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.dropped
}
