package engine

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/store"
)

// longestPoll is how long GetTask waits for a later generation at most: proxies give a request up after 30 seconds or
// more.
const longestPoll = 25 * time.Second

// awaitGeneration waits until a task has a later generation than the client has it in; nil: the client does not wait. It
// returns without one for a task that has ended, after [longestPoll], and when the server shuts down: the answer is the
// task as it is. A request that waits counts as an open stream.
func (r *Request) awaitGeneration(key store.Key, known *int64) error {
	if known == nil || r.Silent {
		return nil
	}
	if over, err := r.isPast(key, *known); over || err != nil {
		return err
	}
	leave, err := r.e.feed.Admit()
	if err != nil {
		return err
	}
	defer leave()
	topic, release := r.e.runner.Topic(key)
	defer release()
	reader := feed.NewReader(r.e.runner.Looks())
	topic.Attach(reader)
	defer topic.Detach(reader)
	ctx, cancel := context.WithTimeout(r.Context, longestPoll)
	defer cancel()
	for {
		// The reader is attached: a change that comes after this look wakes it.
		if over, err := r.isPast(key, *known); over || err != nil {
			return err
		}
		select {
		case <-reader.Wake():
		case <-ctx.Done():
			return context.Cause(r.Context)
		case <-r.e.feed.Closing:
			return nil
		}
	}
}

// isPast reports whether a task has a later generation, or can have none any more.
func (r *Request) isPast(key store.Key, known int64) (bool, error) {
	h, err := r.e.store.Head(r.e.soon(), key)
	return err == nil && (h.Version > known || h.State.Terminal()), err
}
