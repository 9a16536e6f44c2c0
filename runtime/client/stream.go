package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/a2agen/a2agen/runtime"
)

// Stream runs an operation whose result is a stream, when the sequence is iterated. The items are generated values. An error is the sequence's last element. The
// sequence ends when the agent ends the stream; ending the loop early, or the context, closes the connection and does not cancel
// the task.
//
// When the connection breaks, or the agent ends it, before the task came to a terminal or interrupted state, the client
// subscribes to the task with Last-Event-ID (see [Reattach]). The sequence then goes on with the missed events or, with agents that
// keep none, with the task as it is now. The task also comes in the place of events that are missing in a stream whose events have
// generations. Errors: *runtime.Error, *HTTPError, *StreamError.
func (c *Client) Stream(ctx context.Context, m Method, request any, opts ...CallOption) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		cl := c.newCall(opts)
		cl.safe = c.agent.keys && cl.key != ""
		ctx, done := cl.policy.limit(ctx)
		defer done()
		for e, err := range c.stream(ctx, m, c.complete(request), cl) {
			if !yield(runtime.Generated(e), err) {
				return
			}
		}
	}
}

func (c *Client) stream(ctx context.Context, m Method, request any, cl *call) iter.Seq2[runtime.Event, error] {
	return func(yield func(runtime.Event, error) bool) {
		s := &stream{client: c, method: m, call: cl, yield: yield, taskID: cl.taskID, lastID: cl.lastEventID}
		s.retries.limit = cl.reattach
		if err := s.run(ctx, request); err != nil && err != errStopped {
			yield(nil, fmt.Errorf("%s: %w", c.links.name(m), err))
		}
	}
}

// errStopped: the consumer ended the loop.
var errStopped = errors.New("stopped")

// stream is one iteration of a stream, over any number of connections.
type stream struct {
	client  *Client
	method  Method
	request any
	call    *call
	yield   func(runtime.Event, error) bool

	taskID, lastID string
	lastLink       *link // that lastID is from
	bytes, events  int   // of what a whole answer consists of
	state          runtime.State
	generation     int64 // of the task, by the events so far; 0: they have none
	ended          bool  // nothing may follow: a Message, or a terminal state
	retries        retries
}

func (s *stream) run(ctx context.Context, request any) error {
	s.request = request
	conn, err := s.client.open(ctx, openPatient, s.method, request, s.call)
	if err != nil {
		return err
	}
	var cause error // of the break that conn is to mend
	for {
		err := s.pump(ctx, conn)
		if s.taskID != "" && s.call.rejected(err) { // the credentials ended while the stream was open
			err = &LinkError{Err: err}
		}
		var broken *LinkError
		mute := cause != nil && conn.items == 0 && s.taskID != ""
		switch {
		case mute && s.client.links.refused(err):
			return s.finish(ctx, cause)
		case err != nil && !errors.As(err, &broken):
			return err
		case s.ended || s.state.Interrupted() || s.method.Role == runtime.RoleOther && err == nil:
			return nil
		case err == nil:
			cause = io.ErrUnexpectedEOF // the agent ended the stream although the task goes on
		default:
			cause = broken.Err
		}
		if mute && (s.client.links.version.Rules.Final || conn.lasted()) { // a subscription need not begin with the task
			if over, err := s.look(ctx, conn); err != nil || over {
				return err
			}
		}
		s.retries.ended(conn)
		if conn, err = s.resume(ctx, cause); err != nil || conn == nil {
			return err
		}
	}
}

// pump yields the events of one connection. It returns nil at the end of the stream and a *LinkError when it broke.
func (s *stream) pump(ctx context.Context, conn *conn) (err error) {
	defer func() {
		conn.Close()
		if err == errStopped {
			conn.seen.end(nil)
			return
		}
		conn.seen.end(err)
	}()
	for {
		e, err := conn.next(&s.generation)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		s.lastLink = conn.link
		conn.seen.got(e.Event)
		conn.news = s.retries.news(e.EventInfo().Kind, e.data) || conn.news
		if e.gap {
			if e, err = s.whole(ctx, e); err != nil {
				return err
			}
		}
		if err := s.note(e); err != nil {
			return err
		}
		if !s.yield(e.Event, nil) {
			return errStopped
		}
		if s.ended {
			conn.Drain()
			return nil
		}
	}
}

// whole returns the task in the place of an event of it before which others are missing. An error that may pass is a broken
// connection.
func (s *stream) whole(ctx context.Context, e item) (item, error) {
	info := e.EventInfo()
	task, err := s.client.task(ctx, patient, info.TaskID, s.call)
	if err == nil && task.EventInfo().Generation < info.Generation {
		err = fmt.Errorf("the agent says that the task has generation %d", task.EventInfo().Generation)
	}
	switch {
	case err == nil:
		s.generation = task.EventInfo().Generation
		return item{Event: task, id: e.id, data: e.data}, nil
	case ctx.Err() == nil && temporary(err):
		err = &LinkError{Err: fmt.Errorf("the event of generation %d came after that of %d: %w", info.Generation, s.generation, err)}
	}
	return item{}, err
}

// note records e, so that the stream can be taken up after it. A stream is of one task.
func (s *stream) note(e item) error {
	s.lastID = e.id
	info := e.EventInfo()
	if info.TaskID != "" && s.taskID != "" && info.TaskID != s.taskID {
		return invalid("stream", fmt.Errorf("an event of task %s in the stream of task %s", Printable(info.TaskID), Printable(s.taskID)))
	}
	if info.TaskID != "" && info.Kind != runtime.EventMessage {
		s.taskID = info.TaskID
	}
	switch info.Kind {
	case runtime.EventMessage:
		s.ended = true // exactly one Message (A2A 1.0 §3.1.2)
	case runtime.EventTask, runtime.EventStatus:
		s.state = info.State
		s.ended = info.State.Terminal()
	}
	if info.Kind == runtime.EventTask { // it replaces all events before it
		s.bytes, s.events = 0, 0
	}
	s.bytes, s.events = s.bytes+len(e.data), s.events+1
	switch {
	case s.call.whole && s.bytes > s.client.maxResponse:
		return tooLarge(s.client.maxResponse, "bytes")
	case s.call.whole && s.events > s.client.maxEvents:
		return tooLarge(s.client.maxEvents, "events")
	}
	return nil
}

// resume takes up the stream after cause. It returns neither connection nor error if the task has settled.
func (s *stream) resume(ctx context.Context, cause error) (*conn, error) {
	s.call.note(faultLost)
	if s.taskID == "" && !s.call.safe || s.method.Role == runtime.RoleOther {
		return nil, s.broken(cause)
	}
	method, request := s.method, s.request // the agent recognizes a message without an answer by its key
	if s.taskID != "" {
		method, request = s.client.ofTask(runtime.RoleSubscribe, s.taskID)
	}
	for {
		again, err := s.retries.next(ctx)
		if err != nil {
			return nil, err
		}
		if !again {
			return nil, s.broken(s.retries.why(cause))
		}
		s.call.lastEventID, s.call.lastLink = s.lastID, s.lastLink
		conn, err := s.client.open(ctx, openOnce, method, request, s.call)
		switch {
		case err == nil:
			return conn, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case s.taskID != "" && s.client.links.refused(err):
			return nil, s.finish(ctx, cause)
		case !temporary(err):
			return nil, err
		}
		s.retries.delay = max(s.retries.delay, retryDelay(err))
	}
}

// finish ends a stream whose task cannot be subscribed to: it ended or waits, as its state shows.
func (s *stream) finish(ctx context.Context, cause error) error {
	over, err := s.settle(ctx, patient)
	if err == nil && !over {
		return s.broken(s.retries.why(cause))
	}
	return err
}

// look asks for the task where a connection brought no event. An answer counts as one.
func (s *stream) look(ctx context.Context, conn *conn) (over bool, err error) {
	over, err = s.settle(ctx, once)
	switch {
	case err == nil:
		conn.items++
	case ctx.Err() == nil && temporary(err):
		return false, nil
	}
	return over, err
}

// settle gets the task and yields it if it ended or waits.
func (s *stream) settle(ctx context.Context, steps []step) (over bool, err error) {
	task, err := s.client.task(ctx, steps, s.taskID, s.call)
	if err != nil || !settled(task.TaskInfo().State) {
		return false, err
	}
	if err := s.note(item{Event: task}); err != nil {
		return false, err
	}
	if !s.yield(task, nil) {
		return false, errStopped
	}
	return true, nil
}

func (s *stream) broken(cause error) error {
	return &StreamError{TaskID: s.taskID, LastEventID: s.lastID, Err: cause}
}
