// Package spread makes one store of several databases. Every owner's tasks are in one of them.
//
// A principal with all its tenants, which is what quotas are for, is in the place that rendezvous hashing of its name and
// the names of the places finds, unless it was moved elsewhere. When a place is added to the list, principals that are
// there already stay where they are until they are moved ([Move]); see docs/store.md.
//
// A place that is away does not stop the others: calls for its owners fail with [store.ErrUnavailable].
package spread

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// ErrMoved is the error of a store about an owner whom it does not have, or not yet, or no longer: who has the answer
// from a [Ledger] looks there again.
var ErrMoved = fmt.Errorf("%w: its owner is being moved to another database", store.ErrUnavailable)

// Place is one of the databases.
type Place struct {
	Name string // owners are spread by it: it never changes
	// Open opens it. When it cannot be reached, that is tried again. Its context ends when the store is closed.
	Open func(ctx context.Context) (Database, error)
}

// Database is an open place.
type Database struct {
	Store store.Store
	// Ledger knows which owners are there; nil: they are where hashing finds them, and are never moved.
	Ledger Ledger
}

// Ledger knows which principals a database has.
type Ledger interface {
	Find(ctx context.Context, principal string) (Stand, error)
	// Admit makes the account of a principal, unless it is there. It fails with ErrMoved when the database has another
	// list of places; one that has none takes this one.
	Admit(ctx context.Context, principal, list string) error
}

// Stand is what a database knows of a principal.
type Stand struct {
	Known bool
	Steps int64  // of moves; by four, see the constants
	List  string // of the places, as the database has it; "": it has none, and no account
}

// Where an account is, by the steps of its moves: the rest of a division by four.
const (
	Here     = 0
	Draining = 1 // handlers may still write, clients may not
	Closed   = 2 // it is read, and not written
	Away     = 3 // it is in another place, or is still arriving in this one
)

// here reports whether the place has the account.
func (s Stand) here() bool { return s.Known && s.Steps%4 != Away }

// Store is a [store.Store] over several places.
type Store struct {
	places  []*place
	list    string // names of all
	log     *slog.Logger
	patient time.Duration
	ctx     context.Context // of what opens places
	closing context.CancelFunc
	opening sync.WaitGroup
	ended   sync.Once
	closed  error // what Close returned

	claims   round[[]store.Run]
	renewals round[renewal]
	dues     round[due]
	sweeps   round[swept]

	turns     atomic.Uint32
	claimed   pile[store.Run]
	delivered pile[claimedDelivery]

	mu      sync.Mutex
	known   map[string]*place // where principals were found
	watches map[string]map[*watch]struct{}
}

var _ store.Store = (*Store)(nil)

// mostKnown is for how many principals the place is remembered.
const mostKnown = 100_000

// patience is how long a call that goes to all places waits for one that does not answer.
const patience = time.Second

// againAfter is how long it takes until a place that could not be opened is tried again.
const againAfter = 5 * time.Second

// New opens the places. One that cannot be reached is opened later, if another can; any other error is returned.
func New(list []Place, log *slog.Logger) (*Store, error) {
	s := &Store{
		log: cmp.Or(log, slog.Default()), patient: patience, known: map[string]*place{}, watches: map[string]map[*watch]struct{}{},
	}
	s.ctx, s.closing = context.WithCancel(context.Background())
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Name
		s.places = append(s.places, &place{name: p.Name, open: p.Open, number: i})
	}
	var err error
	if s.list, err = ListOf(names); err != nil {
		return nil, err
	}
	if err := s.openAll(); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// ListOf is how a database writes down the names of all places.
func ListOf(names []string) (string, error) {
	names = slices.Sorted(slices.Values(names))
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, " ?") {
			return "", fmt.Errorf("%q cannot be the name of a database", name)
		}
		if i > 0 && name == names[i-1] {
			return "", fmt.Errorf("two of the databases have the name %s: a2a_name=… in their addresses gives them others", name)
		}
	}
	return strings.Join(names, " "), nil
}

// openAll opens the places, at the same time.
func (s *Store) openAll() error {
	var group sync.WaitGroup
	failed := make([]error, len(s.places))
	for i, p := range s.places {
		group.Go(func() { failed[i] = p.connect(s.ctx) })
	}
	group.Wait()
	away := 0
	for i, err := range failed {
		if errors.Is(err, store.ErrUnavailable) {
			away++
			s.log.Error("a database of the tasks cannot be reached", "name", s.places[i].name, "error", err)
		} else if err != nil {
			return err
		}
	}
	if away == len(s.places) {
		return errors.Join(failed...)
	}
	for i, p := range s.places {
		if failed[i] != nil {
			s.opening.Go(func() { s.openLater(p) })
		}
	}
	return nil
}

// openLater opens a place as soon as it can be reached.
func (s *Store) openLater(p *place) {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(againAfter):
		}
		if err := p.connect(s.ctx); err == nil {
			s.log.Info("a database of the tasks can be reached again", "name", p.name)
			return
		} else if !errors.Is(err, store.ErrUnavailable) {
			s.log.Error("a database of the tasks cannot be used", "name", p.name, "error", err)
		}
	}
}

// Close implements [store.Store].
func (s *Store) Close(left ...store.Key) error {
	s.ended.Do(func() {
		s.closing()
		s.opening.Wait()
		var group sync.WaitGroup
		failed := make([]error, len(s.places))
		for i, p := range s.places {
			if db, err := p.database(); err == nil {
				group.Go(func() { failed[i] = db.Store.Close(left...) })
			}
		}
		group.Wait()
		s.closed = errors.Join(failed...)
	})
	return s.closed
}

// place is one of the databases.
type place struct {
	name   string
	number int
	open   func(context.Context) (Database, error)

	mu sync.Mutex
	db *Database // nil: it could not be opened so far

	lease
}

// connect opens the place.
func (p *place) connect(ctx context.Context) error {
	db, err := p.open(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.db = &db
	return nil
}

// database returns what is open.
func (p *place) database() (*Database, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.db == nil {
		return nil, fmt.Errorf("%w: the database %s could not be opened so far", store.ErrUnavailable, p.name)
	}
	return p.db, nil
}

// First returns the name of the place that rendezvous hashing finds for a principal: of all that are listed the one
// whose hash with the principal is the largest.
func First(list, principal string) string {
	return slices.MaxFunc(strings.Fields(list), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(a, principal), weight(b, principal)), strings.Compare(a, b))
	})
}

func weight(name, principal string) uint64 {
	sum := sha256.Sum256([]byte(name + "\x00" + principal))
	return binary.BigEndian.Uint64(sum[:])
}
