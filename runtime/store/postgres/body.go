package postgres

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// compact writes the body of a task when one is due, and drops those that nobody needs any more. Then it trims old
// events.
func (c *change) compact(ctx context.Context, w *write, r *row) error {
	m, o := &c.Next, &c.s.options
	doc := c.Body(c.s.base.Codec, r.Task)
	if doc != nil {
		w.add("INSERT INTO a2a.body(task, version, wire, doc) VALUES($1,$2,$3,$4)", c.n, m.Version, int32(c.s.base.Codec.Wire), doc) //nolint:gosec // few
	}
	upTo, least := m.Trim(o.Events, o.TaskBytes)
	if doc == nil && upTo == 0 {
		return nil
	}
	needed, err := c.needed(ctx)
	if err != nil {
		return err
	}
	if doc != nil {
		w.add("DELETE FROM a2a.body WHERE task=$1 AND version<$2", c.n, needed)
	}
	if upTo == 0 {
		return nil
	}
	return c.trim(ctx, w, min(upTo, needed), least)
}

// needed is the version of the body from which all notifications still to be sent can be shown: the last one if there
// are none, 0 if they need the whole log.
func (c *change) needed(ctx context.Context) (v int64, err error) {
	m := &c.Next
	if m.Pushes == 0 {
		return m.Snapshot, nil
	}
	var next int64
	_, err = c.s.one(ctx, `SELECT coalesce((SELECT min(next) FROM a2a.push WHERE task=$1 AND dead IS NULL), $2),
		coalesce((SELECT max(version) FROM a2a.body WHERE task=$1 AND version<coalesce((SELECT min(next) FROM a2a.push WHERE task=$1
		AND dead IS NULL), $2)), 0)`, []any{c.n, m.Version + 1}, &next, &v)
	if m.Snapshot < next { // it may be new, and not stored yet
		v = max(v, m.Snapshot)
	}
	return v, err
}

// trim drops the rows of events up to a version that a body contains and that no notification still needs, unless those
// are at most least events.
func (c *change) trim(ctx context.Context, w *write, upTo, least int64) error {
	m := &c.Next
	if upTo-m.Oldest <= least {
		return nil
	}
	var last, gone int64 // of the rows that end there or before
	_, err := c.s.one(ctx, `SELECT coalesce(max(seq), 0), coalesce(sum($1+octet_length(doc)+coalesce(octet_length(messages), 0)), 0)::bigint
		FROM a2a.event WHERE task=$2 AND seq<=$3`, []any{int64(stored.EventBytes), c.n, upTo}, &last, &gone)
	if err != nil || last == 0 {
		return err
	}
	w.add("DELETE FROM a2a.event WHERE task=$1 AND seq<=$2", c.n, last)
	m.Oldest, m.Log = last, m.Log-gone
	return nil
}
