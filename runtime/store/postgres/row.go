package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// row is a decoded task, at a rev of its row in the database.
type row struct {
	stored.Row
	rev     int64 // guarded by Mu
	dropped bool  // it is no longer the task's: it must be read anew. Guarded by Mu
	server  int32 // from which it was read: after a failover another knows less, and counts on from there
	// turn is for whoever changes the task, or applies what others have changed, from before the decision until the
	// answer. Nobody else changes the row.
	turn chan struct{}
}

// ref names a task: by its number, or by its key if that is 0.
type ref struct {
	key store.Key
	n   int64
}

func (s *Store) newRow(n int64, key store.Key) *row {
	r := &row{turn: make(chan struct{}, 1), server: s.target.server.Load()}
	r.N, r.Key = n, key
	return r
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

// forget takes a row out of use, whose task may be another by now.
func (s *Store) forget(r *row) {
	s.cache.Drop(r.Key)
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.dropped = true
}

func (r *row) isDropped() bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.dropped
}

// errNothing says that there is nothing to change.
var errNothing = errors.New("nothing to do")

// stampsOf writes the stamps of a task, without those that it does not have yet.
func stampsOf(s *taskstate.State) []byte {
	b := make([]byte, 0, 8*len(s.Stamps))
	for _, stamp := range s.Stamps {
		if stamp == 0 {
			break
		}
		b = binary.BigEndian.AppendUint64(b, stamp)
	}
	return b
}

func readStamps(b []byte, s *taskstate.State) {
	for i := range s.Stamps {
		if len(b) < 8 {
			return
		}
		s.Stamps[i], b = binary.BigEndian.Uint64(b), b[8:]
	}
}
