package postgres

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
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
	_, _, m, err := s.base.MetaOf(ctx, relational.ByKey(key))
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
	return s.base.Get(ctx, relational.ByKey(key), &view)
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
	return s.base.Events(ctx, r.N, after, max)
}
