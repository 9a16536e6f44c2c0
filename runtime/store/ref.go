package store

import "context"

// Ref is one task of a store. Its methods are those of [Store] without the key.
type Ref interface {
	Apply(ctx context.Context, expect int64, u Update, view *View) (Snapshot, error)
	Events(ctx context.Context, after int64) ([]*Record, error)
}

// Find returns a task of s, for many calls on it: a [Memory] looks it up this once, which for the events of a stream is
// a good part of its work. Other stores get the key with every call. A task that is not there gives a Ref whose methods
// say so.
func Find(s Store, key Key) Ref {
	if m, ok := s.(*Memory); ok {
		if r := m.lookup(key); r != nil {
			return r
		}
	}
	return &keyed{s, key}
}

// keyed is the Ref of any store.
type keyed struct {
	store Store
	key   Key
}

func (k *keyed) Apply(ctx context.Context, expect int64, u Update, view *View) (Snapshot, error) {
	return k.store.Apply(ctx, k.key, expect, u, view)
}

func (k *keyed) Events(ctx context.Context, after int64) ([]*Record, error) {
	return k.store.Events(ctx, k.key, after)
}
