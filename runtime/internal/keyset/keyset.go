// Package keyset has the keys that somebody publishes, by their ids, and asks for them as seldom as it can.
package keyset

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Set has the keys of one publisher. All who need a key that it does not have wait for the same request, of which there
// is at most one an interval. When the publisher cannot be reached, the keys it last had go on being good.
type Set[K any] struct {
	Fetch    func(ctx context.Context) (map[string]K, error)
	Interval time.Duration // between two requests, at least
	// MaxAge is when keys are asked for anew: one that was withdrawn is refused then, as long as the publisher answers.
	MaxAge time.Duration

	mu      sync.Mutex
	keys    map[string]K
	fetched time.Time       // when keys were last had
	tried   time.Time       // when they were last asked for
	failure error           // of the last try
	unknown map[string]bool // ids that the publisher did not have when keys were last had
	pending chan struct{}   // closed when the request on its way is over; nil: there is none
}

// Limits of what is remembered, and of a request.
const (
	mostUnknown = 1024
	fetchTime   = 5 * time.Second
	keep        = 24 * time.Hour // for which keys are used when the publisher cannot be reached
)

// ErrUnknown: the publisher does not have the key.
var ErrUnknown = errors.New("it was made with a key that its maker does not have")

// Unavailable says that the publisher may have the key.
type Unavailable struct {
	After time.Duration // when to ask again
	Err   error
}

func (u *Unavailable) Error() string { return u.Err.Error() }

// Unwrap returns why.
func (u *Unavailable) Unwrap() error { return u.Err }

// Key returns the key of an id. An error is ErrUnknown, or an [Unavailable], whose Err is ErrUnknown when the publisher
// did not have the key a moment ago.
func (s *Set[K]) Key(ctx context.Context, id string) (key K, err error) {
	asked := false
	for {
		s.mu.Lock()
		key, found, err := s.look(id, asked)
		if found || err != nil {
			s.mu.Unlock()
			return key, err
		}
		if ctx.Err() != nil { // asked first: a select picks either way when both are over
			s.mu.Unlock()
			return key, &Unavailable{After: time.Second, Err: context.Cause(ctx)}
		}
		pending := s.refresh()
		s.mu.Unlock()
		select {
		case <-pending:
			asked = true
		case <-ctx.Done():
			return key, &Unavailable{After: time.Second, Err: context.Cause(ctx)}
		}
	}
}

// look decides with what there is. Neither a key nor an error: the keys have to be asked for. asked says that they just
// were. The caller holds mu.
func (s *Set[K]) look(id string, asked bool) (key K, found bool, err error) {
	key, found = s.keys[id]
	had, age := !s.fetched.IsZero(), time.Since(s.fetched)
	wait := s.Interval - time.Since(s.tried)
	switch {
	case found && age < s.MaxAge:
		return key, true, nil
	case found && age < keep && s.failure != nil: // who waited for this in vain lets others go on
		if wait <= 0 {
			s.refresh()
		}
		return key, true, nil
	case !found && had && age < s.MaxAge && s.unknown[id]:
		return key, false, ErrUnknown
	case !asked && (s.pending != nil || wait <= 0):
		return key, false, nil
	case found && age < keep:
		return key, true, nil
	case asked && s.failure == nil: // the answer is new enough to say so
		if len(s.unknown) < mostUnknown {
			s.unknown[id] = true
		}
		return key, false, ErrUnknown
	case s.failure != nil:
		return key, false, &Unavailable{After: wait, Err: s.failure}
	}
	return key, false, &Unavailable{After: wait, Err: ErrUnknown}
}

// refresh asks for the keys, unless that is on its way. The caller holds mu.
func (s *Set[K]) refresh() (over <-chan struct{}) {
	if s.pending == nil {
		s.pending = make(chan struct{})
		s.tried = time.Now()
		go s.fetch(s.pending)
	}
	return s.pending
}

// fetch does so for all who wait, so that none of them can end it.
func (s *Set[K]) fetch(over chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTime)
	defer cancel()
	keys, err := s.Fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure = err; err == nil {
		s.keys, s.fetched, s.unknown = keys, time.Now(), map[string]bool{}
	}
	s.pending = nil
	close(over)
}
