package spread

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// Every place has a lease of its own. One that could not be renewed for two thirds of its time is given up: what runs under
// it stops, and it is not renewed before it is over, so that another instance can take that over.

// lease is that of a place.
type lease struct {
	mu      sync.Mutex
	granted store.Lease
	begun   time.Time // when it was renewed last; zero: it never was
	over    bool      // it is given up
	told    bool      // whoever runs tasks under it knows that
}

// may reports whether the lease may be renewed now.
func (l *lease) may(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.over || now.Sub(l.begun) >= l.granted.For
}

// renewed notes a lease that was granted when it was asked for at a time. It reports false if it was given up meanwhile.
func (l *lease) renewed(at time.Time, granted store.Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over && at.Sub(l.begun) < l.granted.For {
		l.begun, l.granted = time.Now(), granted
		return false
	}
	l.granted, l.begun, l.over, l.told = granted, at, false, false
	return true
}

// wakes reports whether who watches tasks of the place is woken after every change. Nobody watches one that was never reached.
func (l *lease) wakes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun.IsZero() || l.granted.Wakes
}

// missed reports whether the lease is to be given up now: its place was not reached for too long.
func (l *lease) missed(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.begun.IsZero() || l.granted.For == 0 || now.Sub(l.begun) < l.granted.For*2/3 {
		return false
	}
	l.over = true
	return true
}

// tell reports, once, that the lease is given up.
func (l *lease) tell() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	tell := l.over && !l.told
	l.told = l.over
	return tell
}

// errLapsing: the lease of the place is not over yet, and is not renewed.
var errLapsing = fmt.Errorf("%w: its lease was given up", store.ErrUnavailable)

// renewal is what a place has granted.
type renewal struct {
	store.Lease
	ok bool
}

// Renew implements [store.Store].
func (s *Store) Renew(ctx context.Context) (all store.Lease, err error) {
	answers := s.renewals.ask(ctx, s, s.places, func(ctx context.Context, p *place, in store.Store) (r renewal, err error) {
		at := time.Now()
		if !p.may(at) {
			return r, errLapsing
		}
		if r.Lease, err = in.Renew(ctx); err == nil {
			r.ok = p.renewed(at, r.Lease)
		}
		return r, err
	})
	all.Durable, all.Wakes = true, true
	for _, a := range answers {
		if a.err == nil && a.value.ok {
			all.Durable = all.Durable && a.value.Durable
			if all.For == 0 || a.value.For > 0 && a.value.For < all.For {
				all.For = a.value.For
			}
			all.Lost = append(all.Lost, a.value.Lost...)
		} else if a.place.missed(time.Now()) {
			s.log.Error("a database was not reached for too long: what runs here of its tasks is left to others",
				"name", a.place.name, "error", a.err)
		}
	}
	if err := failure(answers); err != nil {
		return all, err // the next one tells what was given up
	}
	lapsed := map[*place]bool{}
	for _, p := range s.places {
		all.Wakes = all.Wakes && p.wakes()
		if p.tell() {
			lapsed[p] = true
		}
	}
	if len(lapsed) > 0 {
		all.Over = func(key store.Key) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			p := s.known[key.Owner.Principal]
			return p == nil || lapsed[p]
		}
	}
	return all, nil
}
