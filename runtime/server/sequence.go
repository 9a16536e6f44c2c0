package server

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/sse"
)

// sequence is the result of an operation that the runtime does not know and whose result is a stream.
type sequence iter.Seq2[any, error]

// NewStreamOperation makes an operation of a typed function whose result is a stream: each item is sent as it comes. An error ends the
// stream and is answered as an [Operation]'s is. The sequence runs on a goroutine of its own; ctx ends when the client leaves,
// the server shuts down or the time limit of handlers is over, and the sequence has to end then.
func NewStreamOperation[In, Out any](run func(context.Context, *In) iter.Seq2[*Out, error]) Operation {
	return func(ctx context.Context, request any) (any, error) {
		in, _ := request.(*In) // nil where the operation takes nothing
		items := run(ctx, in)
		if items == nil {
			return nil, fmt.Errorf("a nil %T was returned", items)
		}
		return sequence(func(yield func(any, error) bool) {
			for item, err := range items {
				if err == nil && item == nil {
					err = fmt.Errorf("neither a %T nor an error was yielded", item)
				}
				if !yield(item, err) {
					return
				}
			}
		}), nil
	}
}

// step is an item of a sequence, or the error that ends it.
type step struct {
	item any
	err  error
}

// follow runs a sequence and hands over its steps until it ends, fails, or ctx is over. A panic is an error.
func (q *request) follow(ctx context.Context, do Operation, params any) <-chan step {
	steps := make(chan step)
	hand := func(item any, err error) bool {
		select {
		case steps <- step{item, err}:
			return err == nil
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(steps)
		defer func() {
			if p := recover(); p != nil {
				q.s.logger.Error("request panicked", "method", q.op.RPC, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				hand(nil, runtime.ErrInternal)
			}
		}()
		result, err := do(ctx, params)
		items, ok := result.(sequence)
		switch {
		case err != nil:
			hand(nil, err)
		case !ok:
			hand(nil, fmt.Errorf("a %T was returned, not a stream", result))
		default:
			items(hand)
		}
	}()
	return steps
}

// sequence answers an operation that the runtime does not know with the items of its stream.
func (q *request) sequence(do Operation, params any) {
	if !q.admit() {
		return
	}
	defer q.s.streams.Add(-1)
	q.release()
	ctx, cancel := context.WithTimeout(q.r.Context(), q.s.limits.Timeout)
	steps := q.follow(ctx, do, params)
	defer func() {
		cancel()
		for range steps { // the goroutine ends before the request does
		}
	}()
	out := itemWriter{q: q, rc: http.NewResponseController(q.w)}
	defer out.close()
	beat := time.NewTicker(q.s.limits.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case s, more := <-steps:
			if !more || !out.step(s) {
				return
			}
			beat.Reset(q.s.limits.Heartbeat)
		case <-beat.C:
			if !out.write(sse.AppendComment(nil, "")) {
				return
			}
		case <-q.s.closing:
			return
		case <-ctx.Done():
			if q.r.Context().Err() == nil {
				out.step(step{err: fmt.Errorf("operation %s: %w", q.op.RPC, ctx.Err())})
			}
			return
		}
	}
}

// itemWriter writes the items of a sequence as server-sent events without ids: the server keeps none of them.
type itemWriter struct {
	q     *request
	rc    *http.ResponseController
	begun bool
}

// step writes an item or an error. It reports whether the stream goes on.
func (w *itemWriter) step(s step) bool {
	err := s.err
	if err == nil {
		var sent bool
		if sent, err = w.item(s.item); err == nil {
			return sent
		}
	}
	if !w.begun {
		w.q.fail(err)
		w.begun = true
		return false
	}
	e, known := toError(err)
	if !known {
		w.q.s.logger.Error("request failed", "method", w.q.op.RPC, "error", err)
	}
	w.write(sse.AppendEvent(nil, "", w.q.appendError(nil, e)))
	return false
}

// item writes an item, which has its room in the budget of answers when it is large. It reports whether the client took it.
func (w *itemWriter) item(item any) (sent bool, err error) {
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	b, room, err := w.q.s.within(w.q.r.Context(), buf, func(b []byte) ([]byte, error) {
		b, err := w.q.op.Append(w.q.beginFrame(sse.Begin(b)), item)
		if err != nil {
			return b, err
		}
		oneLine(b[len(sse.Begin(nil)):])
		return w.q.endFrame(b), nil
	})
	if err != nil {
		return false, err
	}
	defer w.q.s.answers.release(room)
	return w.write(b), nil
}

// write sends b at once. It reports success; a client that does not take it within the stall limit is given up.
func (w *itemWriter) write(b []byte) bool {
	if !w.begun {
		w.begun = true
		w.q.streamHeader()
	}
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.q.s.limits.Stall))
	if w.q.put(w.rc, b) != nil {
		return false
	}
	return w.rc.Flush() == nil
}

// close ends the stream: one without items is empty, not something else.
func (w *itemWriter) close() {
	if !w.begun {
		w.q.streamHeader()
		return
	}
	_ = w.rc.SetWriteDeadline(time.Time{}) // the connection may serve further requests
}
