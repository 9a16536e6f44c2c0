package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Head implements [store.Store].
func (s *Store) Head(ctx context.Context, key store.Key) (store.Head, error) {
	if s.cache.Get(key) != nil {
		r, err := s.row(ctx, ref{key: key})
		if err != nil {
			return store.Head{}, err
		}
		r.Mu.Lock()
		defer r.Mu.Unlock()
		return r.Meta.ToHead(), nil
	}
	var m stored.Meta
	found := false
	err := s.query(ctx, "SELECT "+metaColumns+" FROM a2a.task t WHERE $1::bigint>0 AND "+byKey, func(rows pgx.Rows) error {
		found = true
		return scanMeta(rows, new(int64), new(int64), &m)
	}, latest, key.Owner.Principal, key.Owner.Tenant, key.Task)
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return m.ToHead(), err
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, key store.Key, view store.View) (store.Snapshot, error) {
	if s.cache.Get(key) != nil {
		r, err := s.row(ctx, ref{key: key})
		if err != nil {
			return store.Snapshot{}, err
		}
		r.Mu.Lock()
		snap, ok, err := r.Get(&view)
		r.Mu.Unlock()
		if ok || err != nil {
			return snap, err
		}
	}
	at := latest
	if view.At != 0 {
		at = view.At
	}
	r, err := s.read(ctx, key, at)
	if err != nil {
		return store.Snapshot{}, err
	}
	if view.At > r.Meta.Version {
		return store.Snapshot{}, store.ErrTrimmed
	}
	r.Meta.Version = min(at, r.Meta.Version)
	return r.Snapshot(&view), nil
}

// snapshots reads tasks as view asks, in one round trip. One that is gone has no Task.
func (s *Store) snapshots(ctx context.Context, _ []store.Key, ns []int64, view *store.View) ([]store.Snapshot, error) {
	var rows []*row
	var err error
	if !view.Artifacts && view.History != nil && *view.History <= 0 {
		rows, err = s.heads(ctx, ns)
	} else {
		rows, err = s.load(ctx, latest, byNumbers, ns)
	}
	if err != nil {
		return nil, err
	}
	byN := make(map[int64]*row, len(rows))
	for _, r := range rows {
		byN[r.N] = r
	}
	snaps := make([]store.Snapshot, len(ns))
	for i, n := range ns {
		if r := byN[n]; r != nil {
			snaps[i] = r.Snapshot(view)
		}
	}
	return snaps, nil
}

// heads reads tasks without their history and artifacts.
func (s *Store) heads(ctx context.Context, ns []int64) (list []*row, err error) {
	type doc struct {
		wire int64
		head []byte
	}
	var docs []doc
	err = s.query(ctx, "SELECT "+metaColumns+", t.wire, t.head FROM a2a.task t WHERE t.n=ANY($1)", func(rows pgx.Rows) error {
		r, d := s.newRow(0, store.Key{}), doc{}
		err := scanMeta(rows, &r.N, &r.rev, &r.Meta, &d.wire, &d.head)
		list, docs = append(list, r), append(docs, d)
		return err
	}, ns)
	for i, d := range docs {
		if err == nil {
			err = s.base.KnowWire(ctx, d.wire)
		}
		if err == nil {
			list[i].Task, err = s.base.Codec.ReadTask(d.wire, d.head)
		}
	}
	return list, err
}

// Events implements [store.Store]. A task whose events are read is kept: there will be more of them.
func (s *Store) Events(ctx context.Context, key store.Key, after int64, max int) ([]*store.Record, error) {
	r, err := s.row(ctx, ref{key: key})
	if err != nil {
		return nil, err
	}
	r.Mu.Lock()
	records, ok, err := r.Events(after, max)
	version := r.Meta.Version
	r.Mu.Unlock()
	if ok || err != nil {
		return records, err
	}
	if max <= 0 || int64(max) > version-after {
		max = int(version - after)
	}
	return s.readEvents(ctx, r.N, after, max)
}

// readEvents reads records. The first event of a task is the task: it is none that a reader could get.
func (s *Store) readEvents(ctx context.Context, n, after int64, max int) (records []*store.Record, err error) {
	var log []logged
	err = s.query(ctx, "SELECT "+logColumns+" FROM a2a.event e WHERE e.task=$1 AND e.seq>$2 ORDER BY e.seq LIMIT $3", func(rows pgx.Rows) error {
		var l logged
		err := scanLog(rows, &l)
		log = append(log, l)
		return err
	}, n, after, int64(max))
	if err != nil {
		return nil, err
	}
	for i := range log {
		if err := s.base.KnowWire(ctx, log[i].wire); err != nil {
			return nil, err
		}
		list, err := log[i].Split(log[i].doc)
		if err != nil {
			return nil, err
		}
		for j := 0; j < len(list) && len(records) < max; j++ {
			if list[j].Seq <= after {
				continue
			}
			rec, err := s.base.Codec.ReadRecord(&list[j], log[i].wire)
			if err != nil {
				return nil, err
			}
			records = append(records, rec)
		}
	}
	if len(records) == 0 || records[0].Seq != after+1 {
		return nil, store.ErrTrimmed
	}
	return records, nil
}
