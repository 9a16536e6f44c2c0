package relational

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// claims are the tasks that this instance has taken over, or may have, and that no call of Claim has returned.
type claims struct {
	claiming sync.Mutex
	mu       sync.Mutex
	taken    map[int64]store.Key
}

// claimers is how many tasks are claimed, or given back, at the same time.
const claimers = 16

// Claim implements [store.Store]. Each task is decided on by itself: another instance that was faster has it.
func (s *Store) Claim(ctx context.Context, skills []string, most int) ([]store.Run, error) {
	if len(skills) == 0 || most <= 0 {
		return nil, nil
	}
	s.claims.claiming.Lock()
	defer s.claims.claiming.Unlock()
	runs, err := s.claimed(ctx, most)
	tried := []int64{} // not NULL
	for len(runs) < most {
		orphans, failed := s.db.Orphans(ctx, skills, tried, most-len(runs))
		if err = cmp.Or(failed, err); failed != nil || len(orphans) == 0 {
			break
		}
		tried = slices.AppendSeq(tried, maps.Keys(orphans))
		claimed := each(maps.Keys(orphans), func(n int64) error { return s.claim(ctx, n, orphans[n]) })
		more, failed := s.claimed(ctx, most-len(runs))
		runs, err = append(runs, more...), cmp.Or(failed, claimed)
	}
	if len(runs) > 0 {
		return runs, nil // what failed is for the next call
	}
	return nil, err
}

// each does something for tasks, several at a time, and returns an error of one that is there.
func each(ns iter.Seq[int64], do func(n int64) error) (failed error) {
	var mu sync.Mutex
	var work sync.WaitGroup
	slots := make(chan struct{}, claimers)
	for n := range ns {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			if err := do(n); err != nil && !errors.Is(err, store.ErrNotFound) {
				mu.Lock()
				defer mu.Unlock()
				failed = err
			}
		})
	}
	work.Wait()
	return failed
}

// claim makes this instance the one that runs a task, if it is still as it was found. It is noted before: whether it
// was stored may remain unknown.
func (s *Store) claim(ctx context.Context, n int64, runner int32) error {
	q, me := &s.claims, s.db.Me()
	err := s.change(ctx, Ref{N: n}, func(_ context.Context, _ Tx, r *stored.Row, next *stored.Meta) (bool, error) {
		if r.Meta.Runner != runner || !r.Meta.Claim(&next.State, me, true) {
			return false, nil
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.taken == nil {
			q.taken = map[int64]store.Key{}
		}
		q.taken[n] = r.Key
		return true, nil
	})
	if err != nil && !errors.Is(err, store.ErrUnknown) {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.taken, n)
	}
	return err
}

// claimed returns what was taken over and not returned yet. A task that cannot be read is no reason to leave the
// others.
func (s *Store) claimed(ctx context.Context, most int) (runs []store.Run, failed error) {
	q := &s.claims
	q.mu.Lock()
	taken := maps.Clone(q.taken)
	q.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(taken)) {
		if len(runs) == most {
			break
		}
		run, mine, err := s.runOf(ctx, n, taken[n])
		if failed = cmp.Or(err, failed); err != nil && mayPass(err) {
			continue
		}
		q.mu.Lock()
		delete(q.taken, n)
		q.mu.Unlock()
		if err != nil {
			s.logger.Error("a task was taken over and cannot be read: it is not worked on (see \"a2agen tasks check\")",
				"task", taken[n].Task, "error", err)
		} else if mine {
			runs = append(runs, run)
		}
	}
	return runs, failed
}

// mayPass reports whether what could not be read may be read later: else it is damaged.
func mayPass(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown) || errors.Is(err, ErrStale)
}

// runOf reads a task that this instance may have taken over, with its call.
func (s *Store) runOf(ctx context.Context, n int64, key store.Key) (run store.Run, mine bool, err error) {
	err = Rounds(ctx, func(bool) error { // the call may be over before it is read
		r, err := s.Cached(ctx, key, true)
		if err == nil && r == nil {
			var one Loaded
			one, err = s.Base.LoadOne(ctx, Latest, ByNumber(n))
			r = one.Row
		}
		if err != nil {
			return err
		}
		r.Mu.Lock()
		meta := r.Meta
		run = store.Run{Key: r.Key, Snapshot: r.Snapshot(&store.View{History: new(int)})}
		r.Mu.Unlock()
		if mine = meta.Open() && meta.Runner == s.db.Me(); !mine {
			return nil
		}
		run.Call, err = s.Base.Began(ctx, n, &meta)
		run.Run = run.Call
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return run, false, nil
	}
	return run, mine, err
}

// GiveBack leaves what this instance runs to others, who count no attempt for it, but for some tasks. The database is asked what that
// is: the answer to a change may have been lost.
func GiveBack(ctx context.Context, s *Store, left []store.Key) error {
	ns, err := s.db.Running(ctx)
	if err != nil {
		return err
	}
	me := s.db.Me()
	return each(slices.Values(ns), func(n int64) error {
		return s.change(ctx, Ref{N: n}, func(_ context.Context, _ Tx, r *stored.Row, next *stored.Meta) (bool, error) {
			return !slices.Contains(left, r.Key) && r.Meta.GiveBack(&next.State, me), nil
		})
	})
}
