package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// One process at a time works on the file, so a task with open calls whose runner is another instance has no runner.

// orphansSQL finds the first open calls of the tasks that no living instance runs.
const orphansSQL = `SELECT t.n FROM call c CROSS JOIN task t ON t.n=c.task
	WHERE (t.runner IS NULL OR t.runner<>?) AND t.skill IN (SELECT value FROM json_each(?)) GROUP BY c.task ORDER BY c.task`

// Claim implements [store.Store].
func (s *Store) Claim(ctx context.Context, skills []string, max int) (runs []store.Run, err error) {
	names, err := json.Marshal(skills)
	if err != nil || len(skills) == 0 || max <= 0 {
		return nil, err
	}
	found := false
	err = s.reading(ctx, func(c *conn) error {
		err := c.query(orphansSQL, func([]value) error { found = true; return errStop }, s.me, string(names))
		return unlessStopped(err)
	})
	if err != nil || !found {
		return nil, err
	}
	// The wait for the answer must not be cut short: what was claimed would be unknown.
	err = s.write(context.WithoutCancel(ctx), func(w *writer) (err error) {
		runs, err = w.claim(string(names), max)
		return err
	})
	return runs, err
}

func (w *writer) claim(skills string, max int) (runs []store.Run, err error) {
	var orphans []int64
	err = w.query(orphansSQL, func(v []value) error {
		if _, ok := w.changed[num(v[0])]; !ok {
			orphans = append(orphans, num(v[0]))
		}
		if len(orphans) == max {
			return errStop
		}
		return nil
	}, w.s.me, skills)
	if err := unlessStopped(err); err != nil {
		return nil, err
	}
	runs = make([]store.Run, len(orphans))
	for i, n := range orphans {
		if err := w.takeOver(n, &runs[i]); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func unlessStopped(err error) error {
	if err == errStop {
		return nil
	}
	return err
}

// takeOver makes this instance the one that runs a task. The attempt is counted before it begins.
func (w *writer) takeOver(n int64, run *store.Run) error {
	key, err := w.base.KeyOf(context.Background(), n)
	if err != nil {
		return err
	}
	r, err := w.row(key, n, nil)
	if err != nil {
		return err
	}
	next := r.Meta
	if !r.Meta.Claim(&next.State, int32(w.s.me), true) { //nolint:gosec // instances are few
		return fmt.Errorf("task %d has an open call, and cannot be claimed", n)
	}
	if err := w.writeRunner(r.N, &next.State); err != nil {
		return err
	}
	call, err := w.base.Began(context.Background(), r.N, &next)
	if err != nil {
		return err
	}
	w.changed[r.N] = struct{}{}
	w.then(func() {
		r.Mu.Lock()
		defer r.Mu.Unlock()
		r.Meta = next
		*run = store.Run{Key: key, Snapshot: r.Snapshot(&store.View{History: new(int)}), Call: call}
		run.Run = call
	})
	return nil
}

// writeRunner notes who runs a task, and which attempt of the call at work that is.
func (w *writer) writeRunner(n int64, s *taskstate.State) error {
	if _, err := w.exec("UPDATE task SET epoch=?, runner=? WHERE n=?", s.Epoch, orNull(int64(s.Runner)), n); err != nil {
		return err
	}
	_, err := w.exec("UPDATE call SET attempt=?, stamp=? WHERE task=? AND n=?", s.Attempt, s.Began, n, s.Done+1)
	return err
}

// Renew implements [store.Store]: the lock of the file is the lease.
func (s *Store) Renew(context.Context) (store.Lease, error) { return store.Lease{Durable: true}, nil }

// Watch implements [store.Store]: nobody else changes a task.
func (s *Store) Watch(store.Key, func()) (stop func()) { return func() {} }

// giveBack leaves what this instance runs for the next, which counts no attempt for it, but for some tasks.
func (w *writer) giveBack(left []store.Key) error {
	var running []int64
	const all = `SELECT DISTINCT c.task, o.tenant, a.principal, t.id FROM call c CROSS JOIN task t ON t.n=c.task
		CROSS JOIN owner o ON o.n=t.owner CROSS JOIN account a ON a.n=o.account WHERE t.runner=?`
	err := w.query(all, func(v []value) error {
		key := store.Key{Owner: store.Owner{Tenant: text(v[1]), Principal: text(v[2])}, Task: text(v[3])}
		if !slices.Contains(left, key) {
			running = append(running, num(v[0]))
		}
		return nil
	}, w.s.me)
	if err != nil {
		return err
	}
	for _, n := range running {
		_, _, m, err := w.base.MetaOf(context.Background(), relational.ByNumber(n))
		if err != nil {
			return err
		}
		if next := m.State; m.GiveBack(&next, m.Runner) {
			if err := w.writeRunner(n, &next); err != nil {
				return err
			}
		}
	}
	return nil
}
