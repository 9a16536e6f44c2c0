package postgres

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// orphansSQL finds tasks with open calls that no instance runs which is there, and that this program can read. A
// lease that is over is never renewed, so that this does not change before they are claimed. The runners are few: the
// index is looked at once for each.
const orphansSQL = `WITH RECURSIVE runner(n) AS (
	SELECT min(runner) FROM a2a.task WHERE done<calls
	UNION ALL SELECT (SELECT min(t.runner) FROM a2a.task t WHERE t.done<t.calls AND t.runner>runner.n) FROM runner WHERE runner.n IS NOT NULL)
	SELECT n, runner FROM a2a.task t WHERE done<calls AND skill=ANY($1) AND n<>ALL($2) AND wire<>ALL($4)
		AND NOT EXISTS(SELECT 1 FROM a2a.call c WHERE c.task=t.n AND c.wire=ANY($4)) AND runner=ANY(ARRAY(
		SELECT r.n FROM runner r WHERE NOT EXISTS(SELECT 1 FROM a2a.instance i WHERE i.n=r.n AND i.lease>clock_timestamp())))
	ORDER BY n LIMIT $3`

// claimers is how many tasks are claimed, or given back, at the same time.
const claimers = 16

// Claim implements [store.Store]. Each task is decided on by itself: another instance that was faster has it.
func (s *Store) Claim(ctx context.Context, skills []string, most int) ([]store.Run, error) {
	if len(skills) == 0 || most <= 0 {
		return nil, nil
	}
	i := &s.self
	i.claiming.Lock()
	defer i.claiming.Unlock()
	runs, err := s.claimed(ctx, most)
	tried := []int64{} // not NULL
	for len(runs) < most {
		orphans, failed := s.orphans(ctx, skills, tried, most-len(runs))
		if err = cmp.Or(failed, err); failed != nil || len(orphans) == 0 {
			break
		}
		tried = slices.AppendSeq(tried, maps.Keys(orphans))
		each(maps.Keys(orphans), func(n int64) { s.claim(ctx, n, orphans[n]) })
		var more []store.Run
		more, err = s.claimed(ctx, most-len(runs))
		runs = append(runs, more...)
	}
	if len(runs) > 0 {
		return runs, nil // what failed is for the next call
	}
	return nil, err
}

// orphans returns tasks to claim, with who ran them; 0: nobody.
func (s *Store) orphans(ctx context.Context, skills []string, but []int64, most int) (map[int64]int32, error) {
	runners := map[int64]int32{}
	err := s.query(ctx, orphansSQL, func(row relational.Row) error {
		var n int64
		var runner int32
		err := row.Scan(&n, &runner)
		runners[n] = runner
		return err
	}, skills, but, int64(most), append([]int64{}, s.base.Codec.Foreign()...)) // not NULL
	return runners, err
}

// each does something for tasks, several at a time.
func each(ns iter.Seq[int64], do func(n int64)) {
	var work sync.WaitGroup
	defer work.Wait()
	slots := make(chan struct{}, claimers)
	for n := range ns {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			do(n)
		})
	}
}

// claim makes this instance the one that runs a task, if it is still as it was found. It is noted before: whether it
// was stored may remain unknown.
func (s *Store) claim(ctx context.Context, n int64, runner int32) {
	i, me, noted := &s.self, s.me(), false
	err := s.change(ctx, ref{n: n}, func(r *row, next *stored.Meta, _ *write) error {
		if r.Meta.Runner != runner || !r.Meta.Claim(&next.State, me, true) {
			return errNothing
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		i.taken[n], noted = r.Key, true
		return nil
	})
	if noted && err != nil && !errors.Is(err, store.ErrUnknown) {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.taken, n)
	}
}

// claimed returns what was taken over and not returned yet. A task that cannot be read is no reason to leave the
// others.
func (s *Store) claimed(ctx context.Context, most int) (runs []store.Run, failed error) {
	i := &s.self
	i.mu.Lock()
	ns := slices.Sorted(maps.Keys(i.taken))
	i.mu.Unlock()
	for _, n := range ns {
		if len(runs) == most {
			break
		}
		run, mine, err := s.runOf(ctx, n)
		if failed = cmp.Or(err, failed); err != nil && mayPass(err) {
			continue
		}
		i.mu.Lock()
		key := i.taken[n]
		delete(i.taken, n)
		i.mu.Unlock()
		if err != nil {
			s.options.Logger.Error("a task was taken over and cannot be read: it is not worked on (see \"a2agen tasks check\")",
				"task", key.Task, "error", err)
		} else if mine {
			runs = append(runs, run)
		}
	}
	return runs, failed
}

// mayPass reports whether what could not be read may be read later: else it is damaged.
func mayPass(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown) || errors.Is(err, relational.ErrStale)
}

// runOf reads a task that this instance may have taken over, with its call.
func (s *Store) runOf(ctx context.Context, n int64) (run store.Run, mine bool, err error) {
	err = rounds(ctx, func(bool) error { // the call may be over before it is read
		r, err := s.row(ctx, ref{n: n})
		if err != nil {
			return err
		}
		r.Mu.Lock()
		meta := r.Meta
		run = store.Run{Key: r.Key, Snapshot: r.Snapshot(&store.View{History: new(int)})}
		r.Mu.Unlock()
		if mine = meta.Open() && meta.Runner == s.me(); !mine {
			return nil
		}
		run.Call, err = s.base.Began(ctx, n, &meta)
		run.Run = run.Call
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return run, false, nil
	}
	return run, mine, err
}

// giveBack leaves what this instance runs to others, who count no attempt for it, but for some tasks. The database is
// asked what that is: the answer to a write may have been lost.
func (s *Store) giveBack(ctx context.Context, left []store.Key) error {
	me := s.me()
	var ns []int64
	err := s.query(ctx, "SELECT n FROM a2a.task WHERE runner=$1 AND done<calls", func(row relational.Row) error {
		var n int64
		err := row.Scan(&n)
		ns = append(ns, n)
		return err
	}, me)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	each(slices.Values(ns), func(n int64) {
		failed := s.change(ctx, ref{n: n}, func(r *row, next *stored.Meta, _ *write) error {
			if slices.Contains(left, r.Key) || !r.Meta.GiveBack(&next.State, me) {
				return errNothing
			}
			return nil
		})
		if failed != nil && !errors.Is(failed, store.ErrNotFound) {
			mu.Lock()
			defer mu.Unlock()
			err = failed
		}
	})
	return err
}
