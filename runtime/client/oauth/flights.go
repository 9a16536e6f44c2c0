package oauth

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
)

// flights lets one goroutine at a time get the token of a target. The others wait for its result.
type flights struct {
	mu  sync.Mutex
	all map[target]*flight
}

// flight gets one token. It ends early only when nobody waits for it any more.
type flight struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{} // closed when entry and err are set
	entry   entry
	err     error
}

// do returns what get returns, or the cause of the context when that ends first.
func (f *flights) do(
	ctx context.Context, t target, get func(context.Context, target) (entry, error),
) (entry, error) {
	f.mu.Lock()
	one := f.all[t]
	if one == nil {
		going, cancel := context.WithCancel(context.WithoutCancel(ctx))
		one = &flight{cancel: cancel, done: make(chan struct{})}
		if f.all == nil {
			f.all = map[target]*flight{}
		}
		f.all[t] = one
		go func() {
			defer cancel()
			one.entry, one.err = get(going, t)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.forget(t, one)
			close(one.done)
		}()
	}
	one.waiting++
	f.mu.Unlock()
	select {
	case <-one.done:
		return one.entry, one.err
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.waiting--; one.waiting == 0 {
		one.cancel()
		f.forget(t, one)
	}
	return entry{}, context.Cause(ctx)
}

// forget lets the next caller start another flight. Callers must hold mu.
func (f *flights) forget(t target, one *flight) {
	if f.all[t] == one {
		delete(f.all, t)
	}
}

// rejected holds hashes of the last tokens that agents rejected.
type rejected [][sha256.Size]byte

const mostRejected = 64

func (r *rejected) add(token string) {
	if token == "" || r.has(token) {
		return
	}
	if len(*r) >= mostRejected {
		*r = slices.Delete(*r, 0, 1)
	}
	*r = append(*r, sha256.Sum256([]byte(token)))
}

func (r rejected) has(token string) bool {
	return len(r) > 0 && slices.Contains(r, sha256.Sum256([]byte(token)))
}
