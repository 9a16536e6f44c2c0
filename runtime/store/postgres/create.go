package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Create implements [store.Store]. Whether the task is there already is found out by the write itself, or when the
// rules refuse it.
func (s *Store) Create(ctx context.Context, key store.Key, n store.New, view *store.View) (snap store.Snapshot, err error) {
	err = rounds(ctx, func(again bool) error {
		snap, err = s.create(ctx, key, &n, view, again)
		return err
	})
	return snap, err
}

func (s *Store) create(ctx context.Context, key store.Key, n *store.New, view *store.View, again bool) (snap store.Snapshot, err error) {
	start := stored.NewMeta(n)
	c := &change{Change: relational.Change{Change: stored.ForNew(s.base.Codec, n, s.me()), Key: key, Was: &start}, s: s}
	if again {
		s.ledger.forgetOwner(key.Owner) // a sweep may have deleted it
		if snap, err := s.existing(ctx, c, view); !errors.Is(err, store.ErrNotFound) {
			return snap, err
		}
	}
	if c.owner, err = s.ledger.owner(ctx, key.Owner); err != nil {
		return snap, err
	}
	if err := c.askFacts(ctx); err != nil {
		return snap, err
	}
	c.Ask(c.Was, nil)
	limits := s.options.limits()
	if err := c.Decide(c.Was, nil, s.now().UnixNano(), &limits); err != nil {
		return s.refused(ctx, c, view, err)
	}
	if err := c.reserve(ctx); err != nil {
		return s.refused(ctx, c, view, err)
	}
	return s.insert(ctx, c, view)
}

// refused says why a task is not made. That it is there already comes before any other reason.
func (s *Store) refused(ctx context.Context, c *change, view *store.View, why error) (store.Snapshot, error) {
	if snap, err := s.existing(ctx, c, view); !errors.Is(err, store.ErrNotFound) {
		return snap, err
	}
	return store.Snapshot{}, why
}

// existing answers the creation of a task that is there already; ErrNotFound: it is not.
func (s *Store) existing(ctx context.Context, c *change, view *store.View) (snap store.Snapshot, err error) {
	r, err := s.locked(ctx, ref{key: c.Key}, true)
	if err != nil {
		return snap, err
	}
	defer r.unlock()
	effects, again := r.Meta.Again(c.Rules.By, c.Rules.Stamp)
	if !again {
		return snap, store.ErrExists
	}
	return s.again(ctx, r, effects, view)
}

// insert sends a new task for which room is reserved.
func (s *Store) insert(ctx context.Context, c *change, view *store.View) (snap store.Snapshot, err error) {
	if err = s.ledger.makeOwner(ctx, &c.owner); err == nil {
		c.N, err = s.nextNumber(ctx)
	}
	if err != nil {
		s.ledger.settled(&c.delta, err)
		return snap, err
	}
	c.delta.owner = c.owner
	w := s.writeOf(c.N, c.Key, &c.Next.State)
	if err := c.write(ctx, w); err != nil {
		w.settle(err)
		return snap, err
	}
	s.insertTask(w, c)
	r := newRow(relational.Loaded{Row: &stored.Row{N: c.N, Key: c.Key}}, s.target.server.Load())
	r.Task = c.New.Task.View(nil, true) // a copy, since a caller that gets no answer sends its own again
	if err := s.send(ctx, w); err != nil {
		return snap, err
	}
	return c.publish(r, view), nil
}

// insertSQL makes the row of a task, unless there is one of its name or its owner was deleted meanwhile. It locks the owner,
// so that no sweep deletes it before the task is there for all to see.
const insertSQL = `INSERT INTO a2a.task(n, rev, owner, account, id, context, skill, clientid, trace, version, stamps, artifacts,
	artifactparts, log, since, charged, said, saidparts, laststatus, laststatusparts, oldest, snapshot, body, epoch, calls, done, runner,
	attempt, made, began, pushes, ticketed, asked, input, saved, rest, rested, state, at, wire, head)
	SELECT $1::bigint, 1, $2::bigint, $3::bigint, $4::text, $5::text, $6::text, $7::bool, $8::text, $9::bigint, $10::bytea, $11::bigint,
	$12::int, $13::bigint, $14::bigint, $15::bigint, $16::bigint, $17::int, $18::bigint, $19::int, $20::bigint, $21::bigint, $22::bigint,
	$23::bigint, $24::bigint, $25::bigint, $26::int, $27::int, $28::int, $29::bigint, $30::int, $31::bool, $32::bool, $33::bytea,
	$34::bytea, $35::smallint, $36::bigint, $37::smallint, $38::bigint, $39::int, $40::bytea
	FROM a2a.owner o WHERE o.n=$2 FOR KEY SHARE ON CONFLICT (owner, id) DO NOTHING`

func (s *Store) insertTask(w *write, c *change) {
	row := taskRow(c.N, c.owner.n, c.owner.account, c.Key.Task, &c.Next, s.base.Codec.Wire, c.Head)
	w.fence(insertSQL, slices.Delete(row, 1, 2)...) // the first revision is in the statement
}

// taskRow is a row of task, in the order of the dialect's columns.
func taskRow(n, owner, account int64, id string, m *stored.Meta, wire int64, head []byte) []any {
	row := []any{
		n, int64(1), owner, account, id, m.Context, m.Skill, m.ClientID, m.Trace, m.Version, relational.Stamps(&m.State), int64(m.Artifacts.Bytes),
		int32(m.Artifacts.Parts), m.Log, m.Since, m.Charged, //nolint:gosec // few
	}
	return append(append(row, stateArgs(m)...), int16(m.Status), m.At, int32(wire), head) //nolint:gosec // few
}
