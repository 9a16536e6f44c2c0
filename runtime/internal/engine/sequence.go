package engine

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// sequence is the result of an operation that the runtime does not know and whose result is a stream.
type sequence iter.Seq2[any, error]

// NewStreamOperation makes an operation of a typed function whose result is a stream: each item is sent as it comes. An
// error ends the stream and is answered as an [Operation]'s is. The sequence runs on a goroutine of its own; ctx ends
// when the client leaves, the server shuts down or the time limit of handlers is over, and the sequence has to end
// then.
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

// Sequence is the stream of an operation that the runtime does not know: its binding asks for one item after the other.
// Close it.
type Sequence struct {
	r      *Request
	ctx    context.Context
	cancel context.CancelFunc
	steps  <-chan step
	beat   *time.Ticker
	at     step
	over   bool // the operation has ended it
}

// step is an item of a sequence, or the error that ends it.
type step struct {
	item any
	err  error
}

// sequence answers an operation that the runtime does not know with the items of its stream.
func (r *Request) sequence(do Operation, params any) (Answer, error) {
	if err := r.e.admitStream(); err != nil {
		return Answer{}, err
	}
	r.e.beat.start()
	q := &Sequence{r: r, beat: time.NewTicker(r.e.limits.Heartbeat)}
	q.ctx, q.cancel = context.WithTimeout(r.Context, r.e.limits.Timeout)
	q.steps = q.run(do, params)
	return Answer{Sequence: q}, nil
}

// run runs the operation and hands over its steps until it ends, fails, or its time is over. A panic is an error.
func (q *Sequence) run(do Operation, params any) <-chan step {
	steps := make(chan step)
	hand := func(item any, err error) bool {
		err = byOwnCode(q.ctx, "operation "+q.r.Op.RPC, err)
		select {
		case steps <- step{item, err}:
			return err == nil
		case <-q.ctx.Done():
			return false
		}
	}
	go func() {
		defer close(steps)
		defer func() {
			if p := recover(); p != nil {
				q.r.Logger().Error("request panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				hand(nil, runtime.ErrInternal)
			}
		}()
		result, err := do(q.ctx, params)
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

// Next waits for what comes next: an item is [Events].
func (q *Sequence) Next() Step {
	select {
	case s, more := <-q.steps:
		q.at = s
		if !more {
			q.over = q.ctx.Err() == nil
			return Over
		}
	case <-q.beat.C:
		return Silence
	case <-q.r.e.closing:
		return Over
	case <-q.ctx.Done():
		if q.r.Context.Err() != nil {
			return Over
		}
		q.at = step{err: fmt.Errorf("operation %s: %w", q.r.Op.RPC, q.ctx.Err())}
	}
	q.beat.Reset(q.r.e.limits.Heartbeat)
	return Events
}

// Complete reports whether the client has been given everything, to the end.
func (q *Sequence) Complete() bool { return q.over }

// Item returns the item at hand, which the operation's Append takes, or the error that ends the sequence.
func (q *Sequence) Item() (any, error) { return q.at.item, q.at.err }

// Close ends the sequence. Its goroutine ends before this returns.
func (q *Sequence) Close() {
	q.beat.Stop()
	q.cancel()
	for range q.steps { // the goroutine ends before the request does
	}
	q.r.e.streams.Add(-1)
}
