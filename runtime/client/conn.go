package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/sse"
)

// linger is how long a stream may stay open after its last event, so that the connection can be used again.
const linger = time.Second

// conn is one open stream: the connection of one request.
type conn struct {
	version *runtime.Version
	op      *runtime.Operation
	id      int64
	body    io.ReadCloser
	events  *sse.Reader
	single  []byte // the JSON body that came instead of events, until it is read
	watch   *watchdog
	cancel  context.CancelCauseFunc
	opened  time.Time
	items   int // events decoded
}

// open sends a streaming request. An error the agent gives as a JSON body comes out of next, like one it gives as an event.
func (c *Client) open(ctx context.Context, op *runtime.Operation, request any, cl *call) (*conn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &conn{version: c.version, op: op, watch: newWatchdog(c.idle, cancel), cancel: cancel, opened: time.Now()}
	s.watch.start()
	resp, id, err := c.post(ctx, op, request, cl, sse.ContentType+", application/json")
	s.watch.stop()
	if err != nil {
		err = causeOf(ctx, err)
		s.close()
		return nil, err
	}
	s.id, s.body = id, resp.Body
	if err := s.begin(resp, c, cl.lastEventID); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// begin looks at what kind of answer came.
func (s *conn) begin(resp *http.Response, c *Client, lastID string) error {
	if isEvents(resp.Header.Get("Content-Type")) {
		s.events = sse.NewReader(&watched{src: s.body, watch: s.watch}, c.maxEvent)
		s.events.Resume(lastID)
		return nil
	}
	body, err := readBody(resp, c.maxEvent)
	if err != nil {
		return err
	}
	if _, err := readResponse(body); err != nil {
		return explain(resp, body, invalid("response", err))
	}
	s.single = body
	return nil
}

// next returns the next item and its event id. io.EOF is the end the agent made, *breakError a broken connection; any other error is final.
func (s *conn) next(ctx context.Context) (runtime.Event, string, error) {
	if s.events == nil {
		if s.single == nil {
			return nil, "", io.EOF
		}
		e, err := s.decode(s.single)
		s.single = nil
		if errors.Is(err, runtime.ErrUnknownEvent) {
			return nil, "", io.EOF
		}
		return e, "", err
	}
	for {
		e, err := s.events.Next()
		switch {
		case err == io.EOF:
			return nil, "", io.EOF
		case errors.Is(err, sse.ErrTooLong):
			return nil, "", invalid("event", err)
		case err != nil:
			return nil, "", s.broke(ctx, err)
		case len(bytes.TrimSpace(e.Data)) == 0:
			continue // a heartbeat in the form of an empty event
		}
		item, err := s.decode(e.Data)
		if errors.Is(err, runtime.ErrUnknownEvent) {
			continue
		}
		if err == nil {
			s.items++
		}
		if err != nil && e.Unfinished && errors.Is(err, runtime.ErrInvalidAgentResponse) {
			return nil, "", &breakError{io.ErrUnexpectedEOF} // cut in the middle of an event
		}
		return item, string(e.ID), err
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
	return Item{Value: v}, nil
}

// Item is an item of a streaming operation that the runtime does not know: the generated value.
type Item struct{ Value any }

// EventInfo says that nothing is known of the item.
func (Item) EventInfo() runtime.EventInfo { return runtime.EventInfo{} }

// broke makes the error of a failed read: the context's if the caller gave up, else a breakError.
func (s *conn) broke(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.watch.fired() {
		err = ErrIdle
	}
	return &breakError{err}
}

// close ends the stream. The agent's task goes on.
func (s *conn) close() {
	s.watch.stop()
	s.cancel(nil)
	if s.body != nil {
		_ = s.body.Close() // nothing more is wanted of it
	}
}

// drain gives the agent a moment to end the stream after the last event, so that the connection can be used again.
func (s *conn) drain() {
	if s.events == nil {
		return
	}
	s.watch.arm(linger)
	_, _ = io.Copy(io.Discard, io.LimitReader(s.body, 64<<10))
}

// breakError is a broken connection, as opposed to an error the agent gave.
type breakError struct{ err error }

func (e *breakError) Error() string { return fmt.Sprintf("connection broken: %v", e.err) }
func (e *breakError) Unwrap() error { return e.err }

// causeOf replaces the error of a request that its own watchdog ended.
func causeOf(ctx context.Context, err error) error {
	if context.Cause(ctx) == ErrIdle {
		return fmt.Errorf("no answer to the request: %w", ErrIdle)
	}
	return err
}

// watchdog cancels a stream on which nothing arrives. It runs only while a read waits, so that a slow consumer is no idle agent.
type watchdog struct {
	idle   time.Duration // ≤ 0: never
	timer  *time.Timer
	cancel context.CancelCauseFunc
	bitten chan struct{}
}

func newWatchdog(idle time.Duration, cancel context.CancelCauseFunc) *watchdog {
	return &watchdog{idle: idle, cancel: cancel, bitten: make(chan struct{}, 1)}
}

func (w *watchdog) start() {
	if w.idle > 0 {
		w.arm(w.idle)
	}
}

func (w *watchdog) arm(d time.Duration) {
	if w.timer != nil {
		w.timer.Reset(d)
		return
	}
	w.timer = time.AfterFunc(d, func() {
		select {
		case w.bitten <- struct{}{}:
		default:
		}
		w.cancel(ErrIdle)
	})
}

func (w *watchdog) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// fired reports whether the watchdog ended the stream.
func (w *watchdog) fired() bool { return len(w.bitten) > 0 }

// watched is a body whose reads the watchdog watches.
type watched struct {
	src   io.Reader
	watch *watchdog
}

// Read reads from the body.
func (r *watched) Read(p []byte) (int, error) {
	r.watch.start()
	defer r.watch.stop()
	return r.src.Read(p)
}
