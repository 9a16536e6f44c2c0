package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
)

// conn is one open stream: the connection of one request.
type conn struct {
	Stream
	link    *link
	op      *runtime.Operation
	opened  time.Time
	items   int       // events decoded
	news    bool      // one of them was new
	seen    *observed // by observers, to the end of the stream
	limit   int       // bytes in a row without a known event
	numbers bool      // of events show which are missing
	last    int64     // number of the last event that is known to the caller, on a connection before this one at first; 0: none

	// The request ends if no known event arrives for the quiet time while next waits for one.
	quiet  time.Duration // ≤ 0: never
	timer  *time.Timer
	ctx    context.Context // of the request, which cancel ends
	cancel context.CancelCauseFunc
}

// Close ends the request.
func (s *conn) Close() {
	s.Stream.Close()
	s.cancel(nil)
}

// item is an event of a stream.
type item struct {
	runtime.Event
	id   string // by which the stream can be taken up again; "" without
	data []byte // as it came; valid until the next item is read
	gap  bool   // events before it are missing, whose content the task has
}

// next returns the next item. known is the generation of the task that the caller knows, and becomes that of the item. io.EOF is the
// end the agent made, *LinkError a broken connection or one that brings no event that is known; any other error is final.
func (s *conn) next(known *int64) (item, error) {
	if s.quiet > 0 {
		if s.timer == nil {
			s.timer = time.AfterFunc(s.quiet, func() { s.cancel(fmt.Errorf("%w for %v", ErrNoEvent, s.quiet)) })
		} else {
			s.timer.Reset(s.quiet)
		}
		defer s.timer.Stop()
	}
	for unknown := 0; unknown <= s.limit; {
		i, err := s.Next()
		if err != nil {
			if why := context.Cause(s.ctx); errors.Is(why, ErrNoEvent) && errors.Is(err, ErrNoEvent) {
				err = &LinkError{Err: why}
			}
			return item{}, err
		}
		e, err := s.decode(i.Data)
		if errors.Is(err, runtime.ErrUnknownEvent) {
			unknown += max(i.Read, len(i.Data), leastItem)
			continue
		}
		if err != nil && i.Cut {
			return item{}, &LinkError{Err: io.ErrUnexpectedEOF}
		}
		if err != nil {
			return item{}, err
		}
		place, err := s.place(i.Number, e.EventInfo(), known)
		if err != nil {
			return item{}, err
		}
		if place == twice {
			unknown += max(i.Read, len(i.Data), leastItem)
			continue
		}
		s.items++
		return item{e, i.ID, i.Data, place == gapped}, nil
	}
	return item{}, overdue(s.limit)
}

// place records the number of an event, by which the stream can be taken up again, or else its generation. An error is a
// broken connection: the missing events come on the next one. Where there are only generations the task has their content.
func (s *conn) place(number int64, info runtime.EventInfo, known *int64) (order, error) {
	if number == 0 || !s.numbers {
		return orderBy(info.Generation, known, info.Kind), nil
	}
	before := s.last
	place := orderBy(number, &s.last, info.Kind)
	switch {
	case place == gapped && before == 0:
		return place, &LinkError{Err: fmt.Errorf("event %d came before the task", number)}
	case place == gapped:
		return place, &LinkError{Err: fmt.Errorf("event %d came after event %d", number, before)}
	case place == inPlace && info.Generation > 0:
		*known = info.Generation
	}
	return place, nil
}

// order is how an event follows those before it.
type order uint8

const (
	inPlace order = iota
	twice         // it came before
	gapped        // events before it are missing
)

// orderBy says how an event with a number follows the one that came last, whose number becomes its own where it does; 0 is no number.
func orderBy(number int64, last *int64, kind runtime.EventKind) order {
	switch {
	case number == 0:
		return inPlace
	case kind == runtime.EventTask && number >= *last, kind == runtime.EventMessage, *last > 0 && number == *last+1:
		*last = number
		return inPlace
	case kind != runtime.EventTask && number <= *last:
		return twice
	}
	return gapped
}

// eventNumber reads the id of an event that is numbered; 0 if it is no number.
func eventNumber(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// decode reads an item.
func (s *conn) decode(src []byte) (runtime.Event, error) {
	if s.op.Role == runtime.RoleOther && s.op.Read != nil { // an operation that the runtime does not know
		v, err := s.op.Read(src)
		if err != nil {
			return nil, invalid("event", err)
		}
		if e, ok := v.(runtime.Event); ok {
			return e, nil
		}
		return unknown{v}, nil
	}
	e, err := s.link.table.ReadEvent(src)
	if err != nil && !errors.Is(err, runtime.ErrUnknownEvent) {
		return nil, invalid("event", err)
	}
	return e, err
}

// unknown is an item of a streaming operation that the runtime does not know.
type unknown struct{ value any }

func (u unknown) Generated() any { return u.value }

// EventInfo returns nothing.
func (unknown) EventInfo() runtime.EventInfo { return runtime.EventInfo{} }

// leastItem is the least that an event of an unknown kind counts, in bytes: about the cost of reading it.
const leastItem = 256

// between is how many bytes may come between two known events, from the size of the largest event.
func between(event int) int { return max(event, sse.LeastBetween) }

// overdue is the error of a connection that brought as many bytes as an event may have, and no known event.
func overdue(limit int) error {
	return &LinkError{Err: fmt.Errorf("%w in %d bytes", ErrNoEvent, limit)}
}
