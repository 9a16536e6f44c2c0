package store

import "context"

// Ref is one task of a store. Its methods are those of [Store] without the key.
type Ref interface {
	Apply(ctx context.Context, expect int64, u Update, view *View) (Snapshot, error)
	Events(ctx context.Context, after int64, max int) ([]*Record, error)
}

// Finder is a store that looks a task up once for many calls on it, which saves the store in memory a good part of its work for the events of a
// stream. Find returns nil if there is no such task.
type Finder interface{ Find(key Key) Ref }

// Find returns a task of s, for many calls on it. A store that is no [Finder] gets the key with every call. Without such a task the methods of the
// Ref fail with ErrNotFound.
func Find(s Store, key Key) Ref {
	if f, ok := s.(Finder); ok {
		if r := f.Find(key); r != nil {
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

func (k *keyed) Events(ctx context.Context, after int64, max int) ([]*Record, error) {
	return k.store.Events(ctx, k.key, after, max)
}
