package postgres

import (
	"context"
	"errors"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// inMemory returns a task as it is now if it is in the cache, or is to be kept there: of a task whose events are read there will be
// more of them.
func (s *Store) inMemory(ctx context.Context, key store.Key, keep bool) (*stored.Row, error) {
	if !keep && s.cache.Get(key) == nil {
		return nil, nil
	}
	r, err := s.row(ctx, relational.Ref{Key: key})
	if err != nil {
		return nil, err
	}
	return r.Row, nil
}

// row returns a task as it is now, and keeps it.
func (s *Store) row(ctx context.Context, of relational.Ref) (*row, error) {
	for {
		r, current, err := s.cached(ctx, of)
		if err != nil || current {
			return r, err
		}
		if err = s.bringUp(ctx, r); !errors.Is(err, store.ErrNotFound) { // else it may be there by another number
			return r, err
		}
	}
}

// cached returns a task from the cache, or reads it. current: it was just read.
func (s *Store) cached(ctx context.Context, of relational.Ref) (r *row, current bool, err error) {
	if of.Key == (store.Key{}) {
		if of.Key, err = s.base.KeyOf(ctx, of.N); err != nil {
			return nil, false, err
		}
	}
	if r = s.cache.Get(of.Key); r != nil {
		return r, false, nil
	}
	if r, err = s.read(ctx, relational.ByKey(of.Key)); err != nil {
		return nil, false, err
	}
	s.cache.Put(of.Key, r, r.Meta.Cost())
	return r, true, nil
}

// read reads a whole task as it is.
func (s *Store) read(ctx context.Context, which relational.Which) (*row, error) {
	server := s.target.server.Load()
	is, err := s.base.LoadOne(ctx, relational.Latest, which)
	if err != nil {
		return nil, err
	}
	return newRow(is, server), nil
}

// bringUp makes a cached row what its task is now. Of one that is gone, or another by now, the key is read anew.
func (s *Store) bringUp(ctx context.Context, r *row) error {
	rev, err := s.looks.rev(ctx, r.N)
	if err != nil || rev != 0 && s.shows(r, rev) {
		return err
	}
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer r.unlock()
	return s.refresh(ctx, r, rev)
}

// shows reports whether a row is what its task is at a revision, or later.
func (s *Store) shows(r *row, rev int64) bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.rev >= rev && !r.dropped && s.isFrom(r)
}

// isFrom reports whether a row was read from the server that is there now.
func (s *Store) isFrom(r *row) bool { return r.server == s.target.server.Load() }

// refresh brings a row up to a revision at least. Callers must have its turn.
func (s *Store) refresh(ctx context.Context, r *row, rev int64) error {
	if rev == 0 || !s.isFrom(r) || r.isDropped() {
		s.forget(r)
		return store.ErrNotFound
	}
	if s.shows(r, rev) {
		return nil
	}
	next := relational.Loaded{Row: new(stored.Row)}
	var log []relational.Logged
	err := s.base.Ask(ctx, relational.Question{SQL: "SELECT " + relational.MetaColumns + " FROM a2a.task t WHERE t.n=$1", Args: []any{r.N},
		Row: func(row relational.Row) error { return s.base.ScanMeta(row, &next.N, &next.Rev, &next.Meta) }},
		relational.Question{SQL: "SELECT " + relational.LogColumns + " FROM a2a.event e WHERE e.task=$1 AND e.seq>$2 ORDER BY e.seq",
			Args: []any{r.N, r.Meta.Version}, Row: relational.ScanLog(&log)})
	if err != nil {
		return err
	}
	if next.N == 0 {
		s.forget(r)
		return store.ErrNotFound
	}
	return s.become(ctx, r, next, log)
}

// become makes a row another revision of itself, by the events in between. If they are gone, the whole task is read.
func (s *Store) become(ctx context.Context, r *row, next relational.Loaded, log []relational.Logged) error {
	r.Mu.Lock()
	version, err := s.base.Replay(ctx, r.Row, log, r.Meta.Version, next.Meta.Version)
	if err == nil && version == next.Meta.Version {
		r.Meta, r.rev = next.Meta, next.Rev
		r.Mu.Unlock()
		s.cache.Put(r.Key, r, r.Meta.Cost())
		return nil
	}
	r.Mu.Unlock()
	is, err := s.base.LoadOne(ctx, relational.Latest, relational.ByNumber(r.N))
	if err != nil {
		s.forget(r)
		return err
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Meta, r.Task, r.Tail, r.rev = is.Meta, is.Task, is.Tail, is.Rev
	return nil
}

// locked returns a task whose turn the caller has, and must end with unlock. Unless it is to be fresh it may be what
// it was a while ago.
func (s *Store) locked(ctx context.Context, of relational.Ref, fresh bool) (*row, error) {
	for {
		r, current, err := s.cached(ctx, of)
		if err != nil {
			return nil, err
		}
		if err := r.lock(ctx); err != nil {
			return nil, err
		}
		if !r.isDropped() && (fresh && !current || !s.isFrom(r)) {
			err = s.update(ctx, r)
		}
		if err == nil && !r.isDropped() {
			return r, nil
		}
		gone := r.isDropped()
		r.unlock()
		if !gone { // else it may be there by another number
			return nil, err
		}
	}
}

// update is bringUp for callers who have the turn.
func (s *Store) update(ctx context.Context, r *row) error {
	rev, err := s.looks.rev(ctx, r.N)
	if err != nil {
		return err
	}
	return s.refresh(ctx, r, rev)
}
