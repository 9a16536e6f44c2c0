package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// mostRounds is how often a change is decided anew when others are faster.
const mostRounds = 100

// errBusy: the task changes all the time.
var errBusy = fmt.Errorf("%w: too many others change the task", store.ErrUnavailable)

// rounds calls do until nobody was faster. again: it is not the first time.
func rounds(ctx context.Context, do func(again bool) error) error {
	for i := range mostRounds {
		if err := do(i > 0); !errors.Is(err, relational.ErrStale) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w", store.ErrUnavailable, context.Cause(ctx))
		}
	}
	return errBusy
}

// change changes a task without an event. decide gets the task as it is, whose turn the caller has, puts into w what
// is to be sent, and makes next what the task becomes. errNothing of it leaves everything as it is.
func (s *Store) change(ctx context.Context, of ref, decide func(r *row, next *stored.Meta, w *write) error) error {
	return rounds(ctx, func(bool) error {
		r, err := s.locked(ctx, of, true)
		if err != nil {
			return err
		}
		defer r.unlock()
		next := r.Meta
		w := s.writeOf(r.N, r.Key, &next.State)
		w.server, w.runner, w.rev = r.server, r.Meta.Runner, r.rev
		if err := decide(r, &next, w); err != nil {
			if w.settle(err); errors.Is(err, errNothing) {
				return nil
			}
			return err
		}
		s.updateTask(w, r, &next, nil)
		if err := s.send(ctx, w); err != nil {
			s.failed(r, err)
			return err
		}
		r.Mu.Lock()
		defer r.Mu.Unlock()
		r.Meta, r.rev = next, r.rev+1
		return nil
	})
}

// failed takes a row out of use when it is no longer known what its task is.
func (s *Store) failed(r *row, err error) {
	if errors.Is(err, store.ErrUnknown) {
		s.forget(r)
	}
}

const (
	// chunkSQL is for what changes nothing but the content.
	chunkSQL = `UPDATE a2a.task SET rev=rev+1, version=$3, stamps=$4, artifacts=$5, artifactparts=$6, log=$7, since=$8, charged=$9
		WHERE n=$1 AND rev=$2`
	stateSQL = `UPDATE a2a.task SET rev=rev+1, version=$3, stamps=$4, artifacts=$5, artifactparts=$6, log=$7, since=$8, charged=$9,
		said=$10, saidparts=$11, laststatus=$12, laststatusparts=$13, oldest=$14, snapshot=$15, body=$16, epoch=$17, calls=$18, done=$19,
		runner=$20, attempt=$21, made=$22, began=$23, pushes=$24, ticketed=$25, asked=$26, input=$27, saved=$28, rest=$29, rested=$30`
	updateSQL = stateSQL + " WHERE n=$1 AND rev=$2"
	statusSQL = stateSQL + ", state=$31, at=$32, wire=$33, head=$34 WHERE n=$1 AND rev=$2"
)

// updateTask sets the statement of a task's row. head is the task without history and artifacts, if there is a new
// status.
func (s *Store) updateTask(w *write, r *row, m *stored.Meta, head []byte) {
	args := []any{
		r.N, r.rev, m.Version, relational.Stamps(&m.State), int64(m.Artifacts.Bytes), int32(m.Artifacts.Parts), m.Log, m.Since, m.Charged, //nolint:gosec // few
	}
	if onlyContent(&r.Meta, m) && head == nil {
		w.fence(chunkSQL, args...)
		return
	}
	args = append(args, stateArgs(m)...)
	if head == nil {
		w.fence(updateSQL, args...)
		return
	}
	w.fence(statusSQL, append(args, int16(m.Status), m.At, int32(s.base.Codec.Wire), head)...) //nolint:gosec // few
}

// stateArgs are the arguments of stateSQL from $10 on.
func stateArgs(m *stored.Meta) []any {
	return []any{
		int64(m.Messages.Bytes), int32(m.Messages.Parts), int64(m.LastStatus.Bytes), int32(m.LastStatus.Parts), m.Oldest, m.Snapshot, m.Body, //nolint:gosec // few
		m.Epoch, m.Calls, m.Done, m.Runner, m.Attempt, m.Made, int64(m.Began), m.Pushes, m.Ticketed, m.Asked, m.Input, m.Saved, //nolint:gosec // bits
		int16(m.Rest()), m.Rested,
	}
}

// onlyContent reports whether a change is that of most chunks of an artifact.
func onlyContent(was, is *stored.Meta) bool {
	a, b := was.State, is.State
	a.Version, a.Stamps, a.Artifacts = b.Version, b.Stamps, b.Artifacts
	return a == b && was.Oldest == is.Oldest && was.Snapshot == is.Snapshot && was.Asked == is.Asked &&
		sameBytes(was.Input, is.Input) && sameBytes(was.Saved, is.Saved)
}

// sameBytes reports whether two slices are one, or both empty.
func sameBytes(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// change is a new task, or an update of one.
type change struct {
	relational.Change
	s     *Store
	owner owner
	rev   int64 // that it was decided on
	delta delta
}

// askFacts finds out what the rules must know of other rows.
func (c *change) askFacts(ctx context.Context) (err error) {
	u, r := c.U, &c.Rules
	if u.Repeat != nil {
		if r.Facts.Repeated = c.s.repeated(ctx, c.owner, u.Repeat); r.Facts.Repeated != nil && store.Unsure(r.Facts.Repeated) {
			return r.Facts.Repeated
		}
	}
	if u.Redeem != nil {
		if r.Facts.NoTicket = c.s.base.Admits(ctx, c.N, *u.Redeem); r.Facts.NoTicket != nil && store.Unsure(r.Facts.NoTicket) {
			return r.Facts.NoTicket
		}
	}
	if u.Push != nil {
		return c.s.pushFacts(ctx, c.owner, c.N, u.Push, r.Push)
	}
	return nil
}

// sure returns an error if the change cannot be made any more: no task must be evicted for it then.
func (c *change) sure(ctx context.Context) error {
	if c.Was.Version == 0 {
		n, err := c.s.base.Number(ctx, c.Key)
		if err == nil && n != 0 {
			err = store.ErrExists
		}
		return err
	}
	rev, err := c.s.looks.rev(ctx, c.N)
	if err == nil && rev != c.rev {
		err = relational.ErrStale
	}
	return err
}

// reserve makes room for the next version, and counts the change in.
func (c *change) reserve(ctx context.Context) error {
	limits := c.s.options.limits()
	more, ok := c.Charge(c.Was, &limits)
	if ok {
		c.Next.Charged = int64(c.Effects.Held)
	}
	c.delta = delta{owner: c.owner, task: c.N, first: c.sure}
	c.delta.move(c.Was, &c.Next)
	if c.Rules.Push != nil && c.Rules.Push.New {
		c.delta.pushes++
	}
	if !ok {
		c.s.ledger.count(&c.delta)
		return nil
	}
	var stays taskstate.Holding
	if c.Was.Rest() != taskstate.Active {
		stays = c.Was.Holding()
	}
	return c.s.ledger.reserve(ctx, &c.delta, stays, more, c.Effects.Must)
}

// write puts into w all of the change but the row of its task.
func (c *change) write(ctx context.Context, w *write) error {
	w.sums = append(w.sums, &c.delta)
	c.Owner, c.Account = c.owner.n, c.owner.account
	if err := c.s.base.Write(ctx, &c.Change, w); err != nil || c.U.Repeat == nil {
		return err
	}
	c.s.roomForRepeat(w, c.owner)
	c.s.base.AddRepeat(&c.Change, w)
	return nil
}

// publish shows the change to readers, and returns the answer. The caller has the turn of the row.
func (c *change) publish(r *row, view *store.View) store.Snapshot {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if err := c.Publish(c.s.base.Codec, r.Row); err != nil { // it fitted when it was prepared
		c.s.options.Logger.Error("an event does not fit its task", "task", r.Key.Task, "error", err)
		r.dropped = true
	}
	if r.rev++; r.dropped {
		c.s.cache.Drop(r.Key)
	} else {
		c.s.cache.Put(r.Key, r, r.Meta.Cost())
	}
	snap := r.Snapshot(view)
	snap.Run = c.Run
	return snap
}

// confirmSQL is a transaction that changes nothing, and commits as one that does.
const confirmSQL = "SELECT pg_logical_emit_message(true, 'a2a', '')"

// confirmed returns when what was found to be stored is where commits have to be. A commit whose connection was lost while it
// waited for a standby is there for everybody to see, although the standby may not have it.
func (s *Store) confirmed(ctx context.Context) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	_, err := s.pool.Exec(ctx, confirmSQL)
	return writeFailed(err, false) // it is done again
}

// again answers a change that was made before, with the task as it is now and the call that the caller must begin.
func (s *Store) again(ctx context.Context, r *row, e taskstate.Effects, view *store.View) (snap store.Snapshot, err error) {
	if err := s.confirmed(ctx); err != nil {
		return store.Snapshot{}, err
	}
	var run *store.Call
	if e.Begin != 0 {
		if run, err = s.base.Began(ctx, r.N, &r.Meta); err != nil {
			return snap, err
		}
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	snap = r.Snapshot(view)
	snap.Run = run
	return snap, nil
}
