package spread

import (
	"context"
	"errors"
	"sync"

	"github.com/a2agen/a2agen/runtime/store"
)

// none is the result of calls that return an error alone.
type none struct{}

func only(err error) (none, error) { return none{}, err }

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	return on(ctx, s, key.Owner.Principal, fresh, func(in store.Store) (store.Snapshot, error) { return in.Create(ctx, key, n, view) })
}

// Apply implements [store.Store].
func (s *Store) Apply(ctx context.Context, key store.Key, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	return on(ctx, s, key.Owner.Principal, tasks, func(in store.Store) (store.Snapshot, error) {
		return in.Apply(ctx, key, expect, u, view)
	})
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, key store.Key, view store.View) (store.Snapshot, error) {
	return on(ctx, s, key.Owner.Principal, tasks, func(in store.Store) (store.Snapshot, error) { return in.Get(ctx, key, view) })
}

// Head implements [store.Store].
func (s *Store) Head(ctx context.Context, key store.Key) (store.Head, error) {
	return on(ctx, s, key.Owner.Principal, tasks, func(in store.Store) (store.Head, error) { return in.Head(ctx, key) })
}

// Events implements [store.Store].
func (s *Store) Events(ctx context.Context, key store.Key, after int64, max int) ([]*store.Record, error) {
	return on(ctx, s, key.Owner.Principal, tasks, func(in store.Store) ([]*store.Record, error) {
		return in.Events(ctx, key, after, max)
	})
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, owner store.Owner, q store.Query) (store.Page, error) {
	return on(ctx, s, owner.Principal, proof, func(in store.Store) (store.Page, error) { return in.List(ctx, owner, q) })
}

// SetPush implements [store.Store].
func (s *Store) SetPush(ctx context.Context, key store.Key, p store.Push) error {
	_, err := on(ctx, s, key.Owner.Principal, tasks, func(in store.Store) (none, error) { return only(in.SetPush(ctx, key, p)) })
	return err
}

// Pushes implements [store.Store].
func (s *Store) Pushes(ctx context.Context, key store.Key) ([]store.Push, error) {
	return on(ctx, s, key.Owner.Principal, tasks, func(in store.Store) ([]store.Push, error) { return in.Pushes(ctx, key) })
}

// DeletePush implements [store.Store].
func (s *Store) DeletePush(ctx context.Context, key store.Key, id string) error {
	_, err := on(ctx, s, key.Owner.Principal, tasks, func(in store.Store) (none, error) { return only(in.DeletePush(ctx, key, id)) })
	return err
}

// Settle implements [store.Store]. A delivery that was claimed before its owner was moved is lost.
func (s *Store) Settle(ctx context.Context, d store.Delivery, o store.Outcome) error {
	_, err := on(ctx, s, d.Key.Owner.Principal, tasks, func(in store.Store) (none, error) { return only(in.Settle(ctx, d, o)) })
	return err
}

// Note implements [store.Store].
func (s *Store) Note(ctx context.Context, owner store.Owner, context string) (store.Note, error) {
	return on(ctx, s, owner.Principal, proof, func(in store.Store) (store.Note, error) { return in.Note(ctx, owner, context) })
}

// SetNote implements [store.Store].
func (s *Store) SetNote(ctx context.Context, owner store.Owner, context string, value []byte, expect int64) (int64, error) {
	return on(ctx, s, owner.Principal, fresh, func(in store.Store) (int64, error) {
		return in.SetNote(ctx, owner, context, value, expect)
	})
}

// Ticket implements [store.Store]. A ticket does not say whose it is, so that all places are asked, and again if none knows it: it may have
// been moved from one that was slow to one that was fast.
func (s *Store) Ticket(ctx context.Context, hash [32]byte) (key store.Key, t store.Ticket, err error) {
	if key, t, err = s.ticket(ctx, hash); errors.Is(err, store.ErrTicket) {
		key, t, err = s.ticket(ctx, hash)
	}
	return key, t, err
}

func (s *Store) ticket(ctx context.Context, hash [32]byte) (store.Key, store.Ticket, error) {
	type found struct {
		key    store.Key
		ticket store.Ticket
		err    error
	}
	answers := make(chan found, len(s.places))
	for _, p := range s.places {
		go func() {
			var f found
			db, err := p.database()
			if f.err = err; err == nil {
				f.key, f.ticket, f.err = db.Store.Ticket(ctx, hash)
			}
			answers <- f
		}()
	}
	missing := error(store.ErrTicket)
	for range s.places {
		f := <-answers
		if f.err == nil {
			return f.key, f.ticket, nil
		}
		if !errors.Is(f.err, store.ErrTicket) {
			missing = f.err
		}
	}
	return store.Key{}, store.Ticket{}, missing
}

// watch is what somebody watches.
type watch struct {
	key  store.Key
	wake func()
	at   *place // nil: it is not known where the task is
	stop func()
}

// Watch implements [store.Store]. Where the task is may not be known yet: whoever reads it then finds that out.
func (s *Store) Watch(key store.Key, wake func()) (stop func()) {
	w, principal := &watch{key: key, wake: wake}, key.Owner.Principal
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches[principal] == nil {
		s.watches[principal] = map[*watch]struct{}{}
	}
	s.watches[principal][w] = struct{}{}
	if p := s.known[principal]; p != nil {
		w.attach(p)
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			w.detach()
			if delete(s.watches[principal], w); len(s.watches[principal]) == 0 {
				delete(s.watches, principal)
			}
		})
	}
}

// watchAt watches the tasks of a principal where that is now, and returns those that were watched elsewhere, or not at
// all. Callers must hold s.mu.
func (s *Store) watchAt(principal string, p *place) (moved []*watch) {
	for w := range s.watches[principal] {
		if w.at != p {
			w.detach()
			w.attach(p)
			moved = append(moved, w)
		}
	}
	return moved
}

func (w *watch) attach(p *place) {
	if db, err := p.database(); err == nil {
		w.at, w.stop = p, db.Store.Watch(w.key, w.wake)
	}
}

func (w *watch) detach() {
	if w.at != nil {
		w.stop()
		w.at = nil
	}
}
