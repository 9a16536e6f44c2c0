package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/sse"
)

// conn is one open stream: the connection of one request.
type conn struct {
	*reply
	version *runtime.Version
	op      *runtime.Operation
	events  *sse.Reader
	single  []byte // the JSON body that came instead of events, until it is read
	opened  time.Time
	items   int // events decoded
}

// open sends a streaming request. An error the agent gives as a JSON body comes out of next, like one it gives as an event.
func (c *Client) open(ctx context.Context, op *runtime.Operation, request any, cl *call) (*conn, error) {
	r, err := c.post(ctx, op, request, cl, sse.ContentType+", application/json")
	if err != nil {
		return nil, err
	}
	s := &conn{reply: r, version: c.version, op: op, opened: time.Now()}
	if err := s.begin(c, cl.lastEventID); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// begin looks at what kind of answer came.
func (s *conn) begin(c *Client, lastID string) error {
	if isEvents(s.resp.Header.Get("Content-Type")) {
		s.watch.lines = true
		s.events = sse.NewReader(s.body, c.maxEvent)
		s.events.Resume(lastID)
		return nil
	}
	body, err := s.read(c.maxEvent)
	if err != nil {
		return err
	}
	if _, err := readResponse(body); err != nil {
		return explain(s.resp, body, invalid("response", err))
	}
	s.single = body
	return nil
}

// item is an event of a stream.
type item struct {
	runtime.Event
	id   string // by which the stream can be taken up again; "" without
	size int    // bytes
}

// next returns the next item. io.EOF is the end the agent made, *breakError a broken connection; any other error is final.
func (s *conn) next(ctx context.Context) (item, error) {
	if s.events == nil {
		if s.single == nil {
			return item{}, io.EOF
		}
		e, err := s.decode(s.single)
		size := len(s.single)
		s.single = nil
		if errors.Is(err, runtime.ErrUnknownEvent) {
			return item{}, io.EOF
		}
		return item{Event: e, size: size}, err
	}
	for {
		e, err := s.events.Next()
		switch {
		case err == io.EOF:
			return item{}, io.EOF
		case errors.Is(err, sse.ErrTooLong):
			return item{}, invalid("event", err)
		case err != nil:
			return item{}, broke(ctx, err)
		case len(bytes.TrimSpace(e.Data)) == 0:
			continue // a heartbeat in the form of an empty event
		}
		got, err := s.decode(e.Data)
		if errors.Is(err, runtime.ErrUnknownEvent) {
			continue
		}
		if err == nil {
			s.items++
		}
		if err != nil && e.Unfinished && errors.Is(err, runtime.ErrInvalidAgentResponse) {
			return item{}, &breakError{io.ErrUnexpectedEOF} // cut in the middle of an event
		}
		return item{got, string(e.ID), len(e.Data)}, err
	}
}

// decode reads the JSON-RPC response that every event is.
func (s *conn) decode(src []byte) (runtime.Event, error) {
	result, err := resultOf(src, s.id)
	if err != nil {
		return nil, err
	}
	if result == nil {
		return nil, runtime.ErrInvalidAgentResponse.With("an event without result")
	}
	if s.op.Role == runtime.RoleOther && s.op.Read != nil {
		return s.decodeOther(result)
	}
	e, err := s.version.ReadEvent(result)
	if errors.Is(err, runtime.ErrUnknownEvent) {
		return nil, err
	}
	if err != nil {
		return nil, invalid("event", err)
	}
	return e, nil
}

// decodeOther reads an item of a streaming operation that the runtime does not know.
func (s *conn) decodeOther(result []byte) (runtime.Event, error) {
	v, err := s.op.Read(result)
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

// broke makes the error of a failed read: the context's if the caller gave up, else a breakError.
func broke(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &breakError{err}
}

// drain gives the agent a moment to end the stream after the last event, so that the connection can be used again.
func (s *conn) drain() {
	if s.events != nil {
		s.reply.drain()
	}
}

// breakError is a broken connection, as opposed to an error the agent gave.
type breakError struct{ err error }

func (e *breakError) Error() string { return fmt.Sprintf("connection broken: %v", e.err) }
func (e *breakError) Unwrap() error { return e.err }
