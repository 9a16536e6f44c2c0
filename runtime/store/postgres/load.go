package postgres

import (
	"context"
	"errors"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// decoded are the tasks that this process holds decoded, and how they follow what other instances write.
type decoded struct {
	base   *relational.Base
	target *target
	cache  *stored.Cache[*row]
	looks  looks
}

// inMemory returns a task as it is now if it is in the cache, or is to be kept there: of a task whose events are read there will be
// more of them.
func (d *decoded) inMemory(ctx context.Context, key store.Key, keep bool) (*stored.Row, error) {
	if !keep && d.cache.Get(key) == nil {
		return nil, nil
	}
	r, err := d.row(ctx, relational.Ref{Key: key})
	if err != nil {
		return nil, err
	}
	return r.Row, nil
}

// row returns a task as it is now, and keeps it.
func (d *decoded) row(ctx context.Context, of relational.Ref) (*row, error) {
	for {
		r, current, err := d.cached(ctx, of)
		if err != nil || current {
			return r, err
		}
		if err = d.bringUp(ctx, r); !errors.Is(err, store.ErrNotFound) { // else it may be there by another number
			return r, err
		}
	}
}

// cached returns a task from the cache, or reads it. current: it was just read.
func (d *decoded) cached(ctx context.Context, of relational.Ref) (r *row, current bool, err error) {
	if of.Key == (store.Key{}) {
		if of.Key, err = d.base.KeyOf(ctx, of.N); err != nil {
			return nil, false, err
		}
	}
	if r = d.cache.Get(of.Key); r != nil {
		return r, false, nil
	}
	if r, err = d.read(ctx, relational.ByKey(of.Key)); err != nil {
		return nil, false, err
	}
	d.cache.Put(of.Key, r, r.Meta.Cost())
	return r, true, nil
}

// read reads a whole task as it is.
func (d *decoded) read(ctx context.Context, which relational.Which) (*row, error) {
	server := d.target.server.Load()
	is, err := d.base.LoadOne(ctx, relational.Latest, which)
	if err != nil {
		return nil, err
	}
	return newRow(is, server), nil
}

// bringUp makes a cached row what its task is now. Of one that is gone, or another by now, the key is read anew.
func (d *decoded) bringUp(ctx context.Context, r *row) error {
	rev, err := d.looks.rev(ctx, r.N)
	if err != nil || rev != 0 && d.shows(r, rev) {
		return err
	}
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer r.unlock()
	return d.refresh(ctx, r, rev)
}

// shows reports whether a row is what its task is at a revision, or later.
func (d *decoded) shows(r *row, rev int64) bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.rev >= rev && !r.dropped && d.isFrom(r)
}

// isFrom reports whether a row was read from the server that is there now.
func (d *decoded) isFrom(r *row) bool { return r.server == d.target.server.Load() }

// refresh brings a row up to a revision at least. Callers must have its turn.
func (d *decoded) refresh(ctx context.Context, r *row, rev int64) error {
	if rev == 0 || !d.isFrom(r) || r.isDropped() {
		d.forget(r)
		return store.ErrNotFound
	}
	if d.shows(r, rev) {
		return nil
	}
	next := relational.Loaded{Row: new(stored.Row)}
	var log []relational.Logged
	err := d.base.Ask(ctx, relational.Question{SQL: "SELECT " + relational.MetaColumns + " FROM a2a.task t WHERE t.n=$1", Args: []any{r.N},
		Row: func(row relational.Row) error { return d.base.ScanMeta(row, &next.N, &next.Rev, &next.Meta) }},
		relational.Question{SQL: "SELECT " + relational.LogColumns + " FROM a2a.event e WHERE e.task=$1 AND e.seq>$2 ORDER BY e.seq",
			Args: []any{r.N, r.Meta.Version}, Row: relational.ScanLog(&log)})
	if err != nil {
		return err
	}
	if next.N == 0 {
		d.forget(r)
		return store.ErrNotFound
	}
	return d.become(ctx, r, next, log)
}

// become makes a row another revision of itself, by the events in between. If they are gone, the whole task is read.
func (d *decoded) become(ctx context.Context, r *row, next relational.Loaded, log []relational.Logged) error {
	r.Mu.Lock()
	version, err := d.base.Replay(ctx, r.Row, log, r.Meta.Version, next.Meta.Version)
	if err == nil && version == next.Meta.Version {
		r.Meta, r.rev = next.Meta, next.Rev
		r.Mu.Unlock()
		d.cache.Put(r.Key, r, r.Meta.Cost())
		return nil
	}
	r.Mu.Unlock()
	is, err := d.base.LoadOne(ctx, relational.Latest, relational.ByNumber(r.N))
	if err != nil {
		d.forget(r)
		return err
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Meta, r.Task, r.Tail, r.rev = is.Meta, is.Task, is.Tail, is.Rev
	return nil
}

// locked returns a task whose turn the caller has, and must end with unlock. Unless it is to be fresh it may be what
// it was a while ago.
func (d *decoded) locked(ctx context.Context, of relational.Ref, fresh bool) (*row, error) {
	for {
		r, current, err := d.cached(ctx, of)
		if err != nil {
			return nil, err
		}
		if err := r.lock(ctx); err != nil {
			return nil, err
		}
		if !r.isDropped() && (fresh && !current || !d.isFrom(r)) {
			err = d.update(ctx, r)
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
func (d *decoded) update(ctx context.Context, r *row) error {
	rev, err := d.looks.rev(ctx, r.N)
	if err != nil {
		return err
	}
	return d.refresh(ctx, r, rev)
}

// forget takes a row out of use, whose task may be another by now.
func (d *decoded) forget(r *row) {
	d.cache.Drop(r.Key)
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.dropped = true
}
