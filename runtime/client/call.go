package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Call runs an operation that has one result. request and result are the generated ones. A request that names no
// tenant gets that of the interface. Errors: *runtime.Error from the agent, *HTTPError, or those of transport and
// context.
func (c *Client) Call(ctx context.Context, m Method, request any, opts ...CallOption) (any, error) {
	cl := c.newCall(opts)
	cl.safe = c.agent.keys && cl.key != ""
	ctx, done := cl.policy.limit(ctx)
	defer done()
	c = c.cards.current(ctx, c)
	result, err := c.persist(ctx, m, c.complete(request), cl)
	if err != nil {
		next, changed := c.cards.noticed(ctx, c, "", cl, err)
		if next == nil {
			return nil, changed
		}
		if result, err = next.persist(ctx, m, next.complete(request), cl); err != nil {
			return nil, err
		}
	}
	return runtime.Generated(result), nil
}

func (c *Client) call(ctx context.Context, m Method, request any, cl *call) (result any, err error) {
	err = c.links.try(m, func(l *link, op *runtime.Operation) error {
		cl.via = l
		attempt, done := cl.policy.one(ctx)
		defer done()
		attempt, a := c.observed(attempt, l, op, cl)
		err = c.credentials.authorized(attempt, cl, func() error {
			result, err = c.callLink(attempt, l, op, a, request, cl)
			return err
		})
		if cl.policy.AttemptTimeout > 0 && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = &LinkError{Err: &overtime{"one attempt of the call", cl.policy.AttemptTimeout}}
		}
		a.got(result)
		a.end(err)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.links.name(m), err)
	}
	return result, nil
}

// callLink is call over one link.
func (c *Client) callLink(
	ctx context.Context, l *link, op *runtime.Operation, a *attempt, request any, cl *call,
) (any, error) {
	r, err := c.request(ctx, l, op, a, request, cl)
	if err != nil {
		return nil, err
	}
	body, err := l.conn.Call(ctx, r)
	if err != nil {
		return nil, err
	}
	result, err := c.agent.readResult(ctx, c.links.version, op, body)
	var untrusted *CardError
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &untrusted):
		return nil, err
	case ctx.Err() != nil: // then an answer may be cut off, and that is nothing to blame the agent for
		return nil, context.Cause(ctx)
	}
	return nil, invalid("result", err)
}

// conn is one open stream: the connection of one request.
type conn struct {
	Stream
	link    *link
	op      *runtime.Operation
	opened  time.Time
	items   int      // events decoded
	news    bool     // one of them was new
	seen    *attempt // by observers, to the end of the stream
	timeout eventTimeout
	limit   int   // bytes in a row that are no event that is known
	numbers bool  // of events say what is missing
	last    int64 // number of the last event that is known to the caller, on a connection before this one at first; 0: none
}

// Close ends the request.
func (s *conn) Close() {
	s.Stream.Close()
	s.timeout.cancel(nil)
}

// open sends a streaming request.
func (c *Client) open(ctx context.Context, m Method, request any, cl *call) (s *conn, err error) {
	err = c.links.try(m, func(l *link, op *runtime.Operation) error {
		cl.via = l
		ctx, a := c.observed(ctx, l, op, cl)
		ctx, cancel := context.WithCancelCause(ctx)
		var stream Stream
		err := c.credentials.authorized(ctx, cl, func() error {
			r, err := c.request(ctx, l, op, a, request, cl)
			if err == nil {
				stream, err = l.conn.Open(ctx, r)
			}
			return err
		})
		if err != nil {
			cancel(nil)
			a.end(err)
			return err
		}
		s = &conn{Stream: stream, link: l, op: op, opened: time.Now(), seen: a, limit: between(c.maxEvent)}
		s.numbers = !c.links.version.Rules.UpdatesOnly // there a task that skips numbers looks like any update
		if cl.lastLink == nil || cl.lastLink == l {
			s.last = eventNumber(cl.lastEventID)
		}
		s.timeout = eventTimeout{time: c.quiet, ctx: ctx, cancel: cancel}
		return nil
	})
	return s, err
}

// request encodes a request for a link.
func (c *Client) request(
	ctx context.Context, l *link, op *runtime.Operation, a *attempt, request any, cl *call,
) (*Request, error) {
	uris := c.urisOf(op, cl)
	if err := c.demands(uris); err != nil {
		return nil, err
	}
	body, err := op.AppendRequest(nil, a.marked(request))
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	r := &Request{Operation: op, Body: body, Header: cl.header.Clone()}
	r.Header.Set("A2A-Version", c.links.version.Name) // R150
	if len(uris) > 0 {
		r.Header.Set("A2A-Extensions", strings.Join(uris, ", "))
		if c.links.version.Rules.PlainErrors { // what 0.2 and 0.3 call it
			r.Header.Set("X-A2A-Extensions", strings.Join(uris, ", "))
		}
	}
	if cl.key != "" && op.Role.Sends() {
		markRepeat(r.Header, cl)
	}
	if cl.lastLink == nil || cl.lastLink == l {
		r.LastEventID = cl.lastEventID
	}
	a.send(r)
	if c.credentials.authorizer != nil {
		err = c.credentials.authorizer.authorize(ctx, l, r, cl)
	}
	return r, err
}

// item is an event of a stream.
type item struct {
	runtime.Event
	id   string // by which the stream can be taken up again; "" without
	data []byte // as it came; valid until the next item is read
	gap  bool   // events before it are missing, which the task has
}

// next returns the next item. known is the generation of the task that the caller knows, and becomes that of the item. io.EOF is the
// end the agent made, *LinkError a broken connection or one that brings no event that is known; any other error is final.
func (s *conn) next(known *int64) (item, error) {
	s.timeout.start()
	defer s.timeout.stop()
	for unknown := 0; unknown <= s.limit; {
		i, err := s.Next()
		if err != nil {
			return item{}, s.timeout.cause(err)
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

// place takes note of the number of an event, by which the stream can be taken up again, or else of its generation. An error is a
// broken connection: what is missing comes on the next one. Where there are only generations the task has what is missing.
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
	if s.op.Role == runtime.RoleOther && s.op.Read != nil {
		return s.decodeOther(src)
	}
	e, err := s.link.table.ReadEvent(src)
	if errors.Is(err, runtime.ErrUnknownEvent) {
		return nil, err
	}
	if err != nil {
		return nil, invalid("event", err)
	}
	return e, nil
}

// decodeOther reads an item of a streaming operation that the runtime does not know.
func (s *conn) decodeOther(src []byte) (runtime.Event, error) {
	v, err := s.op.Read(src)
	if err != nil {
		return nil, invalid("event", err)
	}
	if e, ok := v.(runtime.Event); ok {
		return e, nil
	}
	return unknown{v}, nil
}

// unknown is an item of a streaming operation that the runtime does not know.
type unknown struct{ value any }

func (u unknown) Generated() any { return u.value }

// EventInfo says that nothing is known of the item.
func (unknown) EventInfo() runtime.EventInfo { return runtime.EventInfo{} }

// errInvalid is the error of an answer that breaks the protocol. Like all A2A errors that the client makes it counts as
// received: in a handler it is no answer to the handler's own caller.
var errInvalid = runtime.ErrInvalidAgentResponse.AsReceived()

// invalid is the error of an answer that breaks the protocol.
func invalid(what string, err error) error { return fmt.Errorf("%w: %s: %w", errInvalid, what, err) }

// distinct drops empty and repeated values, keeping the order.
func distinct(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
