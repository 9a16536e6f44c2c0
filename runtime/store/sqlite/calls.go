package sqlite

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/a2agen/a2agen/runtime/store"
)

// Calls are rows until they are done, so that the table has nothing but work that is open. A task with open calls whose
// runner is another instance has nobody who does them: one process at a time works on the file, and the others are
// dead.

// artifacts is how many the task has after the change.
func (c *change) artifacts() (int, error) {
	after := c.r.task.View(new(int), true)
	if err := after.Apply(c.u.Event); err != nil {
		return 0, err
	}
	return after.TaskInfo().Artifacts, nil
}

// writeCalls puts what hand decided into the file.
func (c *change) writeCalls(w *writer) (err error) {
	from, m, n := &c.r.meta, &c.next, c.r.n
	switch {
	case m.state.Terminal():
		if from.calls > from.done {
			_, err = w.exec("DELETE FROM call WHERE task=?", n)
		}
	case m.done > from.done:
		if _, err = w.exec("DELETE FROM call WHERE task=? AND n=?", n, m.done); err != nil || m.done == m.calls {
			return err
		}
		made, err := c.artifacts()
		if err != nil {
			return err
		}
		if _, err := w.exec("UPDATE call SET attempt=1, made=?, stamp=? WHERE task=? AND n=?", made, c.u.Stamp, n,
			m.done+1); err != nil {
			return err
		}
		c.run, err = w.call(n, m.done+1)
		return err
	case m.calls > from.calls:
		return c.takeOn(w)
	}
	return err
}

// unbegun is what a call's row has for Made before its first handler begins.
const unbegun = -1

// takeOn writes a new call, which is to begin now if nobody was at work.
func (c *change) takeOn(w *writer) (err error) {
	call := c.u.Call
	call.N, call.Attempt, call.Made = c.next.calls, 0, 0
	if c.r.meta.calls > c.r.meta.done {
		return w.insertCall(c.r.n, call, unbegun, 0, c.request)
	}
	if call.Made, err = c.artifacts(); err != nil {
		return err
	}
	call.Attempt, c.run = 1, call
	return w.insertCall(c.r.n, call, call.Made, c.u.Stamp, c.request)
}

// call reads one.
func (w *writer) call(task, n int64) (call *store.Call, err error) {
	err = w.query("SELECT attempt, made, input, wire, request, value FROM call WHERE task=? AND n=?", func(v []value) error {
		call = &store.Call{N: n, Attempt: int(num(v[0])), Made: int(num(v[1])), Input: blob(v[2]), Value: blob(v[5])}
		call.Request, err = w.s.codec.readRequest(num(v[3]), blob(v[4]))
		return err
	}, task, n)
	return call, err
}

// begun returns the call at work if the change of that stamp brought it up.
func (w *writer) begun(r *row, stamp uint64) (*store.Call, error) {
	if r.meta.runner != w.s.me {
		return nil, nil
	}
	n, found, err := w.one("SELECT n FROM call WHERE task=? AND n=? AND stamp=?", r.n, r.meta.done+1, stamp)
	if err != nil || !found {
		return nil, err
	}
	return w.call(r.n, n)
}

// orphansSQL finds the first open calls of the tasks that no living instance runs.
const orphansSQL = `SELECT t.n, min(c.n) FROM call c CROSS JOIN task t ON t.n=c.task
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
	// It is waited for: nobody would know what it took over.
	err = s.write(context.WithoutCancel(ctx), func(w *writer) (err error) {
		runs, err = w.claim(string(names), max)
		return err
	})
	return runs, err
}

type orphan struct{ task, call int64 }

func (w *writer) claim(skills string, max int) (runs []store.Run, err error) {
	var orphans []orphan
	err = w.query(orphansSQL, func(v []value) error {
		if _, ok := w.touched[num(v[0])]; !ok {
			orphans = append(orphans, orphan{num(v[0]), num(v[1])})
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
	for i, o := range orphans {
		if err := w.takeOver(o, &runs[i]); err != nil {
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
func (w *writer) takeOver(o orphan, run *store.Run) error {
	key, err := w.keyOf(o.task)
	if err != nil {
		return err
	}
	r, err := w.row(key, o.task, nil)
	if err != nil {
		return err
	}
	next := r.meta
	next.epoch++
	next.runner = w.s.me
	if _, err := w.exec("UPDATE task SET epoch=?, runner=? WHERE n=?", next.epoch, next.runner, r.n); err != nil {
		return err
	}
	made := r.task.TaskInfo().Artifacts
	if _, err := w.exec("UPDATE call SET attempt=attempt+1, stamp=0, made=CASE WHEN made<0 THEN ? ELSE made END WHERE task=? AND n=?",
		made, r.n, o.call); err != nil {
		return err
	}
	call, err := w.call(r.n, o.call)
	if err != nil {
		return err
	}
	w.touched[r.n] = struct{}{}
	w.then(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.meta = next
		*run = store.Run{Key: key, Snapshot: r.snapshot(&store.View{History: new(int)}), Call: call}
		run.Run = call
	})
	return nil
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
	for part := range slices.Chunk(running, 1000) {
		list, err := json.Marshal(part)
		if err != nil {
			return err
		}
		const tasks = "(SELECT value FROM json_each(?))"
		if _, err := w.exec("UPDATE call SET attempt=max(attempt-1,0) WHERE attempt>0 AND task IN "+tasks,
			string(list)); err != nil {
			return err
		}
		if _, err := w.exec("UPDATE task SET runner=NULL WHERE n IN "+tasks, string(list)); err != nil {
			return err
		}
	}
	return nil
}
