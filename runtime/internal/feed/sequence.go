package feed

import (
	"context"
	"fmt"
	"time"
)

// Sequence is the stream of an operation of the agent's own, which the runtime does not know: its binding asks for one
// item after the other. Close it.
type Sequence struct {
	f      *Feed
	what   string
	client context.Context
	ctx    context.Context // the client's, within the time limit
	cancel context.CancelFunc
	items  <-chan item
	timer  *time.Ticker // of the heartbeat
	at     item
	over   bool // the operation has ended it
}

// item is an item of a sequence, or the error that ends it.
type item struct {
	value any
	err   error
}

// OpenSequence opens a sequence. run runs on a goroutine of its own and yields the items, or one error at last; it must
// end soon when its context does, which is the client's within the time limit, and after yield has returned false. what
// names the operation.
func (f *Feed) OpenSequence(
	client context.Context, limit time.Duration, what string,
	run func(ctx context.Context, yield func(item any, err error) bool),
) (*Sequence, error) {
	if err := f.admit(); err != nil {
		return nil, err
	}
	f.Ticker.Start()
	items := make(chan item)
	q := &Sequence{f: f, what: what, client: client, items: items, timer: time.NewTicker(f.Heartbeat)}
	q.ctx, q.cancel = context.WithTimeout(client, limit)
	go func() {
		defer close(items)
		run(q.ctx, func(value any, err error) bool {
			select {
			case items <- item{value, err}:
				return err == nil
			case <-q.ctx.Done():
				return false
			}
		})
	}()
	return q, nil
}

// Next waits for what comes next: an item is [Events].
func (q *Sequence) Next() Step {
	select {
	case next, more := <-q.items:
		q.at = next
		if !more {
			q.over = q.ctx.Err() == nil
			return Over
		}
	case <-q.timer.C:
		return Silence
	case <-q.f.Closing:
		return Over
	case <-q.ctx.Done():
		if q.client.Err() != nil {
			return Over
		}
		q.at = item{err: fmt.Errorf("%s: %w", q.what, q.ctx.Err())}
	}
	q.timer.Reset(q.f.Heartbeat)
	return Events
}

// Complete reports whether the client has been given everything, to the end.
func (q *Sequence) Complete() bool { return q.over }

// Item returns the item at hand, or the error that ends the sequence.
func (q *Sequence) Item() (any, error) { return q.at.value, q.at.err }

// Close ends the sequence. Its goroutine ends before this returns.
func (q *Sequence) Close() {
	q.timer.Stop()
	q.cancel()
	for range q.items { // the goroutine ends before the request does
	}
	q.f.streams.Add(-1)
}
