package push

import (
	"context"
	"slices"
	"time"
)

// deliver hands a notification over when its turn has come. nil: it was, now or before.
func (r *Receiver) deliver(ctx context.Context, a *arrival) error {
	r.mu.Lock()
	l := r.lane(laneKey{a.note.TaskID, a.note.Config})
	if l == nil || r.held >= r.limits.Held || len(l.waiting) >= r.limits.Waiting {
		r.mu.Unlock()
		return putOff(time.Second, "too many notifications wait for their turn")
	}
	if r.double(l, a) {
		r.mu.Unlock()
		return nil
	}
	if twin := l.twin(a); twin != nil {
		r.mu.Unlock()
		return twin.outcome(ctx)
	}
	l.waiting = append(l.waiting, a)
	r.held++
	r.advance(l)
	r.mu.Unlock()
	if yes, err := r.await(ctx, l, a); !yes {
		return err
	}
	return r.handOver(ctx, l, a)
}

// await waits for the turn of a notification. false: it must not be handed over.
func (r *Receiver) await(ctx context.Context, l *lane, a *arrival) (bool, error) {
	patience := time.NewTimer(r.limits.Gap)
	defer patience.Stop()
	for {
		select {
		case yes := <-a.turn:
			return yes, nil
		case <-patience.C:
			r.mu.Lock()
			a.overdue = true
			r.advance(l)
			r.mu.Unlock()
		case <-ctx.Done():
			if r.leave(l, a) {
				return false, notWaited()
			}
			return <-a.turn, nil // it came in the same moment
		}
	}
}

// notWaited is the answer to a sender that is gone.
func notWaited() error { return putOff(time.Second, "the sender did not wait for its turn") }

// leave takes a notification out of its lane. false: it is no longer there.
func (r *Receiver) leave(l *lane, a *arrival) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, w := range l.waiting {
		if w == a {
			r.remove(l, i)
			a.end(notWaited())
			return true
		}
	}
	return false
}

// remove takes the i-th waiting notification out. The caller holds mu.
func (r *Receiver) remove(l *lane, i int) *arrival {
	a := l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1) // lets it go, too
	r.held--
	return a
}

// outcome waits for the end of a notification that a repeat of it found on its way.
func (a *arrival) outcome(ctx context.Context) error {
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return notWaited()
	}
}

// advance gives the turn to the next notification of a lane, if there is one whose turn it is. The caller holds mu.
func (r *Receiver) advance(l *lane) {
	for l.busy == nil {
		i := l.pick()
		if i < 0 {
			return
		}
		a := r.remove(l, i)
		if r.double(l, a) { // by now
			a.end(nil)
			a.turn <- false
			continue
		}
		a.gap = l.reach(a.note)
		l.busy = a
		a.turn <- true
	}
}

// double reports whether a notification was handed over before. The caller holds mu.
func (r *Receiver) double(l *lane, a *arrival) bool {
	return r.seen.has(l.key, a.note.ID) || l.passed(a)
}

// handOver calls the functions for the notification whose turn it is, and gives the turn on.
func (r *Receiver) handOver(ctx context.Context, l *lane, a *arrival) error {
	err := r.hand(ctx, l, a)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.seen.add(l.key, a.note.ID)
		l.pass(a)
	}
	l.busy = nil
	r.weigh(l, a)
	a.end(err)
	r.advance(l)
	return err
}

// lane returns the lane of a key, which it makes if there is none; nil if all are at work. The caller holds mu.
func (r *Receiver) lane(key laneKey) *lane {
	now := time.Now()
	l := r.lanes[key]
	if l == nil {
		if !r.makeRoom(now) {
			return nil
		}
		l = &lane{key: key}
		l.place = r.order.PushFront(l)
		r.lanes[key] = l
	}
	l.used = now
	r.order.MoveToFront(l.place)
	return l
}

// makeRoom forgets lanes that were not used for long and, if there are too many, the one longest unused. false: all of
// them are at work. The caller holds mu.
func (r *Receiver) makeRoom(now time.Time) bool {
	for e := r.order.Back(); e != nil; {
		l := e.Value.(*lane)
		if now.Sub(l.used) < r.limits.Memory && len(r.lanes) < r.limits.Tasks {
			return true
		}
		before := e.Prev()
		if l.busy == nil && len(l.waiting) == 0 {
			r.forget(l)
			r.order.Remove(e)
			delete(r.lanes, l.key)
		}
		e = before
	}
	return len(r.lanes) < r.limits.Tasks
}
