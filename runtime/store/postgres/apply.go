package postgres

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Apply implements [store.Store]. What is decided on a task from the cache is checked by the write itself, or, if it
// is refused, by a look whether the task is still that one.
func (s *Store) Apply(ctx context.Context, key store.Key, expect int64, u store.Update, view *store.View) (snap store.Snapshot, err error) {
	err = rounds(ctx, func(again bool) error {
		snap, err = s.apply(ctx, key, expect, &u, view, again)
		return err
	})
	return snap, err
}

func (s *Store) apply(ctx context.Context, key store.Key, expect int64, u *store.Update, view *store.View,
	fresh bool) (snap store.Snapshot, err error) {
	r, err := s.locked(ctx, ref{key: key}, fresh)
	if err != nil {
		return snap, err
	}
	defer r.unlock()
	c := &change{Change: relational.Change{Key: key, N: r.N, Was: &r.Meta}, s: s, rev: r.rev}
	c.Change.Change = stored.ForUpdate(s.base.Codec, u, expect, s.me(), r.Task.View(new(int), false))
	if c.owner, err = s.ledger.owner(ctx, key.Owner); err != nil {
		return snap, err
	}
	if err := c.askFacts(ctx); err != nil {
		return snap, err
	}
	c.Ask(c.Was, r.Task)
	limits := s.options.limits()
	if err := c.Decide(c.Was, r.Task, s.now().UnixNano(), &limits); err != nil || c.Effects.Again {
		if !fresh { // is that still so?
			if rev, failed := s.looks.rev(ctx, r.N); failed != nil || rev != r.rev {
				return snap, orStale(failed)
			}
		}
		if err != nil {
			return snap, err
		}
		return s.again(ctx, r, c.Effects, view)
	}
	return s.store(ctx, c, r, view)
}

// store sends an update that the rules have decided on.
func (s *Store) store(ctx context.Context, c *change, r *row, view *store.View) (snap store.Snapshot, err error) {
	w := s.writeOf(r.N, c.Key, &c.Next.State)
	w.server, w.runner, w.rev = r.server, r.Meta.Runner, r.rev
	if err := s.base.Compact(ctx, &c.Change, r.Row, w, s.options.Events, s.options.TaskBytes); err != nil {
		return snap, err
	}
	if err := c.reserve(ctx); err != nil {
		return snap, err
	}
	if err := c.write(ctx, w); err != nil {
		w.settle(err)
		return snap, err
	}
	s.updateTask(w, r, &c.Next, c.Head)
	if err := s.send(ctx, w); err != nil {
		s.failed(r, err)
		return snap, err
	}
	return c.publish(r, view), nil
}

func orStale(err error) error {
	if err == nil {
		return relational.ErrStale
	}
	return err
}
