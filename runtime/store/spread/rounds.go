package spread

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// A call that goes to all places waits for a moment for those that do not answer, and leaves them out then: what they say
// later is the answer of the next such call. So a place that is away stops none of the others.

// round is such a call.
type round[T any] struct {
	mu    sync.Mutex
	busy  map[*place]bool
	ready []answer[T]
}

// answer is what a place has answered.
type answer[T any] struct {
	place *place
	value T
	err   error
}

// errBusy: the place has not answered the last call.
var errBusy = errors.New("it does not answer")

// ask calls those of the places that have answered before, and returns what is there in a moment.
func (r *round[T]) ask(
	ctx context.Context, s *Store, places []*place, call func(ctx context.Context, p *place, in store.Store) (T, error),
) []answer[T] {
	asked, came := 0, make(chan struct{}, len(places))
	r.mu.Lock()
	if r.busy == nil {
		r.busy = map[*place]bool{}
	}
	for _, p := range places {
		if r.busy[p] {
			continue
		}
		db, err := p.database()
		if err != nil {
			r.ready = append(r.ready, answer[T]{place: p, err: err})
			continue
		}
		r.busy[p] = true
		asked++
		go func() {
			own, cancel := detached(ctx)
			defer cancel()
			v, err := call(own, p, db.Store)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.ready, r.busy[p] = append(r.ready, answer[T]{p, v, err}), false
			came <- struct{}{}
		}()
	}
	r.mu.Unlock()
	timer := time.NewTimer(s.patient)
	defer timer.Stop()
	for waiting := asked; waiting > 0; waiting-- {
		select {
		case <-came:
		case <-timer.C:
			waiting = 0
		case <-ctx.Done():
			waiting = 0
		}
	}
	return r.take(places)
}

// take returns the answers that are there, and an error for each place that is busy.
func (r *round[T]) take(places []*place) []answer[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.ready
	r.ready = nil
	for _, p := range places {
		if r.busy[p] {
			list = append(list, answer[T]{place: p, err: errors.Join(store.ErrUnavailable, errBusy)})
		}
	}
	return list
}

// detached is a context that goes on when the caller does, for as long as the caller's would.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	own := context.WithoutCancel(ctx)
	if end, ok := ctx.Deadline(); ok {
		return context.WithDeadline(own, end)
	}
	return context.WithCancel(own)
}

// failure is the error of a round: none as long as one place has answered.
func failure[T any](answers []answer[T]) error {
	var all []error
	for _, a := range answers {
		if a.err == nil {
			return nil
		}
		all = append(all, a.err)
	}
	return errors.Join(all...)
}

// Claim implements [store.Store]: it asks one place after the other, another one first each time.
func (s *Store) Claim(ctx context.Context, skills []string, max int) (runs []store.Run, err error) {
	var answers []answer[[]store.Run]
	for _, p := range s.turn() {
		left := max - s.claimed.len()
		if left <= 0 {
			break
		}
		came := s.claims.ask(ctx, s, []*place{p}, func(ctx context.Context, _ *place, in store.Store) ([]store.Run, error) {
			return in.Claim(ctx, skills, left)
		})
		for _, a := range came {
			for _, run := range a.value {
				s.remember(run.Key.Owner.Principal, a.place)
			}
			s.claimed.add(a.value)
		}
		answers = append(answers, came...)
	}
	if runs = s.claimed.take(max); len(runs) > 0 {
		return runs, nil
	}
	return nil, failure(answers)
}

// turn returns the places, beginning with another one each time.
func (s *Store) turn() []*place {
	n := int(s.turns.Add(1)) % len(s.places)
	return slices.Concat(s.places[n:], s.places[:n])
}

// pile is what places have given and nobody has taken yet: what came late, or was more than was asked for.
type pile[T any] struct {
	mu   sync.Mutex
	list []T
}

func (p *pile[T]) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.list)
}

func (p *pile[T]) add(list []T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, list...)
}

func (p *pile[T]) keep(good func(T) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.DeleteFunc(p.list, func(one T) bool { return !good(one) })
}

func (p *pile[T]) take(max int) (list []T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(max, len(p.list))
	list, p.list = p.list[:n:n], p.list[n:]
	return list
}

// due is what a place has to send.
type due struct {
	list []store.Delivery
	next time.Duration
	end  time.Time // of the claim, soon
}

// claimedDelivery is a delivery that was claimed until a time.
type claimedDelivery struct {
	store.Delivery
	end time.Time
}

// lookAgain is when a place that did not answer is asked again for what is due.
const lookAgain = 5 * time.Second

// Due implements [store.Store].
func (s *Store) Due(ctx context.Context, max int, hold time.Duration) (list []store.Delivery, next time.Duration, err error) {
	next = -1
	s.delivered.keep(func(d claimedDelivery) bool { return time.Now().Before(d.end) }) // others are about to be due again
	var answers []answer[due]
	for _, p := range s.turn() {
		left := min(max-s.delivered.len(), max)
		came := s.dues.ask(ctx, s, []*place{p}, func(ctx context.Context, _ *place, in store.Store) (d due, err error) {
			d.end = time.Now().Add(hold / 2)
			d.list, d.next, err = in.Due(ctx, left, hold)
			return d, err
		})
		for _, a := range came {
			wait := a.value.next
			if a.err != nil {
				wait = lookAgain
			}
			if wait >= 0 && (next < 0 || wait < next) {
				next = wait
			}
			for _, d := range a.value.list {
				s.delivered.add([]claimedDelivery{{d, a.value.end}})
			}
		}
		answers = append(answers, came...)
	}
	for _, d := range s.delivered.take(max) {
		list = append(list, d.Delivery)
	}
	if len(list) > 0 {
		return list, next, nil
	}
	return nil, next, failure(answers)
}

// swept is what a sweep of a place has done.
type swept struct {
	dropped int
	more    bool
}

// Sweep implements [store.Store].
func (s *Store) Sweep(ctx context.Context) (dropped int, more bool, err error) {
	answers := s.sweeps.ask(ctx, s, s.places, func(ctx context.Context, _ *place, in store.Store) (w swept, err error) {
		w.dropped, w.more, err = in.Sweep(ctx)
		return w, err
	})
	for _, a := range answers {
		dropped, more = dropped+a.value.dropped, more || a.value.more
	}
	return dropped, more, failure(answers)
}
