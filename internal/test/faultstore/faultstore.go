// Package faultstore wraps a store for tests: its calls fail, or wait, as the test says.
package faultstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// ErrDown is what a failing call gives: the store says nothing of what happened.
var ErrDown = errors.New("the store does not answer")

// Call is a call of a store.
type Call struct {
	Op    string // the method's name in lower case
	Key   store.Key
	Event runtime.Event // the last one of an apply, or of what a create stores after the task; nil: there is none
}

// Ends reports whether the call is the write that ends a task.
func (c Call) Ends() bool { return c.Event != nil && c.Event.EventInfo().State.Terminal() }

func last(first runtime.Event, then []store.Change) runtime.Event {
	if len(then) == 0 {
		return first
	}
	return then[len(then)-1].Event
}

// Fault says how a call fails. The zero Fault does not.
type Fault struct {
	Refuse error           // fails with this error of the store's own, and does nothing
	Before bool            // fails, and does nothing
	After  bool            // does what it is to do, and fails
	Wait   <-chan struct{} // waits before it does anything
	Late   <-chan struct{} // waits before it answers
	Hang   bool            // does nothing until its context ends, and fails as a store does that was not reached
}

// Away are the ways in which a store is not there: it refuses, it does not answer, its answers are lost.
var Away = map[string]Fault{
	"refuses": {Refuse: store.ErrUnavailable},
	"hangs":   {Hang: true},
	"forgets": {Refuse: store.ErrUnknown},
}

// Store fails as Plan says, which is asked before every call, one at a time.
type Store struct {
	store.Store
	mu   sync.Mutex
	plan func(Call) Fault
	// taken is what was claimed without telling.
	taken []store.Run
}

// New wraps s. Without a plan nothing fails.
func New(s store.Store, plan func(Call) Fault) *Store { return &Store{Store: s, plan: plan} }

// Plan replaces the plan.
func (s *Store) Plan(plan func(Call) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = plan
}

// Times makes a plan in which the first n calls that match have the fault.
func Times(n int, f Fault, match func(Call) bool) func(Call) Fault {
	return func(c Call) Fault {
		if n == 0 || !match(c) {
			return Fault{}
		}
		n--
		return f
	}
}

func (s *Store) fault(c Call) Fault {
	s.mu.Lock()
	var f Fault
	if s.plan != nil {
		f = s.plan(c)
	}
	s.mu.Unlock()
	if f.Wait != nil {
		<-f.Wait
	}
	return f
}

// Always makes a plan in which every call has the fault.
func Always(f Fault) func(Call) Fault { return func(Call) Fault { return f } }

// do makes one call.
func do[T any](ctx context.Context, s *Store, c Call, call func() (T, error)) (T, error) {
	f := s.fault(c)
	var none T
	if f.Hang {
		<-ctx.Done()
		return none, fmt.Errorf("%w: %w", store.ErrUnavailable, context.Cause(ctx))
	}
	if f.Refuse != nil {
		return none, f.Refuse
	}
	if f.Before {
		return none, ErrDown
	}
	out, err := call()
	if f.Late != nil {
		<-f.Late
	}
	if f.After && err == nil {
		return none, ErrDown
	}
	return out, err
}

// SetNote implements [store.Store]. The key of its call names the owner alone.
func (s *Store) SetNote(ctx context.Context, owner store.Owner, context string, value []byte, expect int64) (int64, error) {
	return do(ctx, s, Call{Op: "setnote", Key: store.Key{Owner: owner}}, func() (int64, error) {
		return s.Store.SetNote(ctx, owner, context, value, expect)
	})
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	return do(ctx, s, Call{"create", key, last(nil, n.Then)}, func() (store.Snapshot, error) { return s.Store.Create(ctx, key, n, view) })
}

// Apply implements [store.Store].
func (s *Store) Apply(ctx context.Context, key store.Key, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	return do(ctx, s, Call{"apply", key, last(u.Event, u.Then)}, func() (store.Snapshot, error) { return s.Store.Apply(ctx, key, expect, u, view) })
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, key store.Key, view store.View) (store.Snapshot, error) {
	return do(ctx, s, Call{Op: "get", Key: key}, func() (store.Snapshot, error) { return s.Store.Get(ctx, key, view) })
}

// Head implements [store.Store].
func (s *Store) Head(ctx context.Context, key store.Key) (store.Head, error) {
	return do(ctx, s, Call{Op: "head", Key: key}, func() (store.Head, error) { return s.Store.Head(ctx, key) })
}

// Events implements [store.Store].
func (s *Store) Events(ctx context.Context, key store.Key, after int64, max int) ([]*store.Record, error) {
	return do(ctx, s, Call{Op: "events", Key: key}, func() ([]*store.Record, error) { return s.Store.Events(ctx, key, after, max) })
}

// List implements [store.Store]. The key of its call, and of those of Note, names the owner alone.
func (s *Store) List(ctx context.Context, owner store.Owner, q store.Query) (store.Page, error) {
	return do(ctx, s, Call{Op: "list", Key: store.Key{Owner: owner}}, func() (store.Page, error) { return s.Store.List(ctx, owner, q) })
}

// Note implements [store.Store].
func (s *Store) Note(ctx context.Context, owner store.Owner, context string) (store.Note, error) {
	return do(ctx, s, Call{Op: "note", Key: store.Key{Owner: owner}}, func() (store.Note, error) { return s.Store.Note(ctx, owner, context) })
}

// Claim implements [store.Store].
func (s *Store) Claim(ctx context.Context, skills []string, max int) ([]store.Run, error) {
	taken, err := do(ctx, s, Call{Op: "claim"}, func() ([]store.Run, error) {
		runs, err := s.Store.Claim(ctx, skills, max)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, run := range runs { // what it has taken anew is not what it had
			s.taken = slices.DeleteFunc(s.taken, func(old store.Run) bool { return old.Key == run.Key })
		}
		s.taken = append(s.taken, runs...)
		return s.taken, err
	})
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken = nil
	}
	return taken, err
}

// Ticket implements [store.Store].
func (s *Store) Ticket(ctx context.Context, hash [32]byte) (key store.Key, t store.Ticket, err error) {
	_, err = do(ctx, s, Call{Op: "ticket"}, func() (struct{}, error) {
		key, t, err = s.Store.Ticket(ctx, hash)
		return struct{}{}, err
	})
	return key, t, err
}

// Renew implements [store.Store].
func (s *Store) Renew(ctx context.Context) (store.Lease, error) {
	return do(ctx, s, Call{Op: "renew"}, func() (store.Lease, error) { return s.Store.Renew(ctx) })
}

// SetPush implements [store.Store].
func (s *Store) SetPush(ctx context.Context, key store.Key, p store.Push) error {
	_, err := do(ctx, s, Call{Op: "setpush", Key: key}, func() (struct{}, error) { return struct{}{}, s.Store.SetPush(ctx, key, p) })
	return err
}

// Pushes implements [store.Store].
func (s *Store) Pushes(ctx context.Context, key store.Key) ([]store.Push, error) {
	return do(ctx, s, Call{Op: "pushes", Key: key}, func() ([]store.Push, error) { return s.Store.Pushes(ctx, key) })
}

// DeletePush implements [store.Store].
func (s *Store) DeletePush(ctx context.Context, key store.Key, id string) error {
	_, err := do(ctx, s, Call{Op: "deletepush", Key: key}, func() (struct{}, error) { return struct{}{}, s.Store.DeletePush(ctx, key, id) })
	return err
}

// Sweep implements [store.Store].
func (s *Store) Sweep(ctx context.Context) (dropped int, more bool, err error) {
	dropped, err = do(ctx, s, Call{Op: "sweep"}, func() (dropped int, err error) {
		dropped, more, err = s.Store.Sweep(ctx)
		return dropped, err
	})
	return dropped, more, err
}

// Due implements [store.Store].
func (s *Store) Due(ctx context.Context, max int, hold time.Duration) (due []store.Delivery, next time.Duration, err error) {
	due, err = do(ctx, s, Call{Op: "due"}, func() (due []store.Delivery, err error) {
		due, next, err = s.Store.Due(ctx, max, hold)
		return due, err
	})
	return due, next, err
}

// Settle implements [store.Store].
func (s *Store) Settle(ctx context.Context, d store.Delivery, o store.Outcome) error {
	_, err := do(ctx, s, Call{Op: "settle", Key: d.Key}, func() (struct{}, error) { return struct{}{}, s.Store.Settle(ctx, d, o) })
	return err
}

// Close implements [store.Store].
func (s *Store) Close(left ...store.Key) error {
	_, err := do(context.Background(), s, Call{Op: "close"}, func() (struct{}, error) { return struct{}{}, s.Store.Close(left...) })
	return err
}
