package spread

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/runtime/store"
)

// An account that a database has is there, whatever hashing says. A database knows which places are listed: "a b" says that
// an account whose first place is this one is here, or is known here as one that is away; with a "?" behind it that is not
// so for all accounts yet, and whoever knows nothing of one has to ask all places. A database that was alone so far is a list
// of one; one without accounts has none.

// unsettled is behind a list while accounts are moved to where it wants them.
const unsettled = " ?"

// What a call of a place needs of it.
type need uint8

const (
	tasks need = iota // tasks that are there
	fresh             // an account, made if there is none
	proof             // that the account is there still: that there is nothing is no error
)

// on calls do with the store that has a principal, and once more if that was moved meanwhile.
func on[T any](ctx context.Context, s *Store, principal string, n need, do func(store.Store) (T, error)) (v T, err error) {
	var before *place
	for {
		var nothing T
		p, sure, err := s.find(ctx, principal, n == fresh)
		if err != nil {
			return nothing, err
		}
		db, err := p.database()
		if err != nil {
			return nothing, err
		}
		v, err := do(db.Store)
		if sure && (errors.Is(err, store.ErrNotFound) || err == nil && n == proof) {
			if gone := p.gone(ctx, principal); gone != nil {
				err = gone
			}
		}
		if err != nil && (!errors.Is(err, ErrMoved) || p == before) {
			return nothing, err
		}
		if err == nil {
			return v, nil
		}
		before = p
		s.forget(principal, p)
	}
}

// gone returns ErrMoved when a place does not have a principal.
func (p *place) gone(ctx context.Context, principal string) error {
	db, err := p.database()
	if err != nil || db.Ledger == nil {
		return err
	}
	stand, err := db.Ledger.Find(ctx, principal)
	if err == nil && stand.Known && !stand.here() {
		err = ErrMoved
	}
	return err
}

// find returns the place of a principal, and remembers it. sure is false for one that no place has.
func (s *Store) find(ctx context.Context, principal string, fresh bool) (p *place, sure bool, err error) {
	s.mu.Lock()
	p = s.known[principal]
	s.mu.Unlock()
	if p != nil {
		return p, true, nil
	}
	p, sure, err = s.look(ctx, principal, fresh)
	if err == nil && sure {
		s.remember(principal, p)
	}
	return p, sure, err
}

// look asks the places for a principal.
func (s *Store) look(ctx context.Context, principal string, fresh bool) (p *place, sure bool, err error) {
	first := s.named(First(s.list, principal))
	db, err := first.database()
	if err == nil && db.Ledger == nil {
		return first, true, nil
	}
	stands := make([]Stand, len(s.places))
	failed := make([]error, len(s.places))
	ask := func(p *place) { stands[p.number], failed[p.number] = p.stand(ctx, principal) }
	if ask(first); failed[first.number] == nil {
		stand := stands[first.number]
		if stand.here() {
			return first, true, nil
		}
		if !stand.Known && stand.List == s.list {
			return s.admit(ctx, first, principal, stand.List, fresh)
		}
	}
	var group sync.WaitGroup
	for _, p := range s.places {
		if p != first {
			group.Go(func() { ask(p) })
		}
	}
	group.Wait()
	return s.judge(ctx, principal, fresh, stands, failed)
}

// judge finds the place of a principal by what all places say.
func (s *Store) judge(ctx context.Context, principal string, fresh bool, stands []Stand, failed []error) (p *place, sure bool, err error) {
	away := false
	for i, one := range s.places {
		if failed[i] != nil {
			err = failed[i]
			continue
		}
		away = away || stands[i].Known
		if stands[i].here() {
			if p != nil {
				return nil, false, fmt.Errorf("%w: databases %s and %s both have this owner", store.ErrUnavailable, p.name, one.name)
			}
			p = one
		}
	}
	switch {
	case p != nil:
		return p, true, nil
	case err != nil:
		return nil, false, err // it may be there
	case away:
		return nil, false, ErrMoved
	}
	list, err := s.agreed(stands)
	if err != nil {
		return nil, false, err
	}
	name := First(strings.TrimSuffix(list, unsettled), principal)
	if p = s.named(name); p == nil {
		return nil, false, fmt.Errorf("%w: the database %s has tasks of this agent, and is not in A2A_STORE", store.ErrUnavailable, name)
	}
	return s.admit(ctx, p, principal, list, fresh)
}

// agreed is the list that all databases have that have one, else that of this store.
func (s *Store) agreed(stands []Stand) (list string, err error) {
	for i := range stands {
		switch next := stands[i].List; {
		case next == "" || next == list:
		case list == "":
			list = next
		default:
			return "", fmt.Errorf("%w: the databases do not agree on which of them there are (%q and %q): \"a2agen tasks move --all\" is at "+
				"work, or was ended in the middle and must be run again", store.ErrUnavailable, list, next)
		}
	}
	return cmp.Or(list, s.list), nil
}

// admit makes the account of a principal in a place, if it is to be made.
func (s *Store) admit(ctx context.Context, p *place, principal, list string, fresh bool) (*place, bool, error) {
	if !fresh {
		return p, false, nil
	}
	db, err := p.database()
	if err == nil {
		err = db.Ledger.Admit(ctx, principal, list)
	}
	return p, true, err
}

// stand asks a place for a principal.
func (p *place) stand(ctx context.Context, principal string) (Stand, error) {
	db, err := p.database()
	if err != nil {
		return Stand{}, err
	}
	return db.Ledger.Find(ctx, principal)
}

func (s *Store) named(name string) *place {
	for _, p := range s.places {
		if p.name == name {
			return p
		}
	}
	return nil
}

// remember notes where a principal is, and watches its tasks there.
func (s *Store) remember(principal string, p *place) {
	s.mu.Lock()
	if len(s.known) >= mostKnown {
		clear(s.known)
	}
	s.known[principal] = p
	woken := s.watchAt(principal, p)
	s.mu.Unlock()
	for _, w := range woken {
		w.wake()
	}
}

// forget drops what is known of a principal, unless that is something else by now.
func (s *Store) forget(principal string, p *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[principal] == p {
		delete(s.known, principal)
	}
}
