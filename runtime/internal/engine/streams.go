package engine

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
)

// What bindings see of package feed.
type (
	Coding   = feed.Coding
	Stream   = feed.Stream
	Sequence = feed.Sequence
	Step     = feed.Step
)

// The steps of a stream.
const (
	Over     = feed.Over
	Snapshot = feed.Snapshot
	Events   = feed.Events
	Silence  = feed.Silence
)

// AdmitStream counts an open stream that is none of a task, or refuses one too many. release counts it down.
func (e *Engine) AdmitStream() (release func(), err error) { return e.feed.Admit() }

// Tick is the number of the present tick of the engine's timer, from 1. It runs while there are streams, several times
// within [Limits.Stall].
func (e *Engine) Tick() int64 { return e.feed.Ticker.Number() }

// stream answers a message with the Task and then its events (R9, R10). The first event is the Task also for a message
// that continues one. The stream ends when the task does, or asks for input.
func (r *Request) stream(sent run.Sent) (Answer, error) {
	st, err := r.open(sent.Key())
	if err != nil {
		return Answer{}, err
	}
	st.Begin(sent.First())
	return Answer{Stream: st}, nil
}

// subscribe answers with the Task as it stands, then its events until it ends (R16, R17), or after [Request.After] with
// its events alone.
func (r *Request) subscribe(key store.Key) (Answer, error) {
	h, err := r.e.store.Head(r.e.soon(), key)
	if err != nil {
		return Answer{}, err
	}
	r.Subject.Skill, r.Subject.Context = h.Skill, h.Context
	st, err := r.open(key)
	if err != nil {
		return Answer{}, err
	}
	if err := st.Subscribe(r.After); err != nil {
		st.Close()
		return Answer{}, err
	}
	return Answer{Stream: st}, nil
}

// open opens a stream of a task.
func (r *Request) open(key store.Key) (*Stream, error) {
	topic, release := r.e.runner.Topic(key)
	return r.e.feed.Open(feed.Reading{
		Client: r.Context, Key: key, Version: r.Version.Version, Coding: r.Coding, Response: &r.Response, Warn: r.warn,
		Looks: r.e.runner.Looks(), Release: release,
	}, topic)
}

// items are the result of an operation of the agent's own that is a stream.
type items iter.Seq2[any, error]

// NewStreamOperation makes an operation of a typed function whose result is a stream: each item is sent as it comes. An
// error ends the stream and is answered as an [Operation]'s is. The sequence runs on a goroutine of its own; ctx ends
// when the client leaves, the server shuts down or the time limit of handlers is over, and the sequence has to end
// then.
func NewStreamOperation[In, Out any](run func(context.Context, *In) iter.Seq2[*Out, error]) Operation {
	return func(ctx context.Context, request any) (any, error) {
		in, _ := request.(*In) // nil where the operation takes nothing
		results := run(ctx, in)
		if results == nil {
			return nil, fmt.Errorf("a nil %T was returned", results)
		}
		return items(func(yield func(any, error) bool) {
			for item, err := range results {
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

// sequence answers with the items of an operation of the agent's own. A panic of the operation is an error.
func (r *Request) sequence(do Operation, params any) (Answer, error) {
	what := "operation " + r.Op.RPC
	run := func(ctx context.Context, yield func(any, error) bool) {
		defer func() {
			if p := recover(); p != nil {
				r.Logger().Error("request panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				yield(nil, runtime.ErrInternal)
			}
		}()
		result, err := do(ctx, params)
		list, ok := result.(items)
		if err == nil && !ok {
			err = fmt.Errorf("a %T was returned, not a stream", result)
		}
		if err != nil {
			yield(nil, byOwnCode(ctx, what, err))
			return
		}
		list(func(item any, err error) bool { return yield(item, byOwnCode(ctx, what, err)) })
	}
	q, err := r.e.feed.OpenSequence(r.Context, r.e.limits.Timeout, what, run)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Sequence: q}, nil
}
