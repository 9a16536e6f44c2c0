package client

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Pauses between the attempts to take up a broken stream, unless the agent names one (SSE field retry, Retry-After).
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 10 * time.Second
	// lasting is how long a stream that brought events must have been open for its break not to count with those before it.
	lasting = maxPause
	// perAttempt limits the connections in a row that break before they lasted, also with new events, for each attempt that a caller grants.
	perAttempt = 20
)

// retries decides whether a broken stream is taken up again, and after which pause.
//
// Progress is an event that is known and new, or a connection that lasted and brought a known event at all: a task that works for hours is the
// same each time it is subscribed to. Attempts end after as many in a row without progress as the caller grants. Pauses grow until a
// connection lasts, so that an agent that closes after each event is not asked again at once.
type retries struct {
	limit    int                               // attempts in a row without progress
	attempts int                               // in a row without progress
	brief    int                               // connections in a row that did not last, and attempts that made none
	delay    time.Duration                     // that the agent asks for
	last     [runtime.EventArtifact + 1]uint64 // digest of the last event of each kind
}

// digests are compared within one process only.
var digests = maphash.MakeSeed()

// news reports whether an event is an update that differs from the last of its kind. A task is no progress: it may be the repeated answer to
// subscribing.
func (r *retries) news(kind runtime.EventKind, data []byte) bool {
	if kind != runtime.EventStatus && kind != runtime.EventArtifact {
		return false
	}
	digest := maphash.Bytes(digests, data)
	if r.last[kind] == digest {
		return false
	}
	r.last[kind] = digest
	return true
}

// ended accounts for a connection that ended.
func (r *retries) ended(c *conn) {
	r.delay = c.Retry()
	lasted := c.items > 0 && c.lasted()
	if lasted {
		r.brief = 0
	}
	if lasted || c.news {
		r.attempts = 0
	}
}

// lasted reports whether a connection has been open for long.
func (c *conn) lasted() bool { return time.Since(c.opened) >= lasting }

// next pauses before the next attempt. It reports false when there is none.
func (r *retries) next(ctx context.Context) (bool, error) {
	if r.attempts >= r.limit || r.brief >= r.limit*perAttempt {
		return false, nil
	}
	r.attempts, r.brief = r.attempts+1, r.brief+1
	return true, pause(ctx, min(max(r.delay, backoff(r.brief)), time.Minute))
}

// why adds the end of the attempts to cause.
func (r *retries) why(cause error) error {
	switch {
	case r.limit > 0 && r.attempts >= r.limit:
		return fmt.Errorf("%w; %d attempts in a row to take it up again brought nothing new", cause, r.attempts)
	case r.limit > 0 && r.brief >= r.limit*perAttempt:
		return fmt.Errorf("%w; it was taken up again %d times in a row, and never lasted %v", cause, r.brief, lasting)
	}
	return cause
}

// backoff doubles with each attempt, from 1, and spreads over its upper half.
func backoff(attempt int) time.Duration {
	d := min(firstPause<<min(attempt-1, 10), maxPause)
	return d/2 + rand.N(d/2)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// CallPolicy sets how often a request is made and how long a call may take. A zero field has its default: CallPolicy{} is six attempts, and no
// other time limit than the context's.
//
// A request is made again only if that cannot do anything twice: one of which nothing was sent, an operation that only reads, and
// a message to an agent whose card promises to recognize one that it got before. Streams that broke are taken up
// again by the rules of [Reattach].
type CallPolicy struct {
	// Attempts is how many times in a row a request is made; 1 is once. 0: 6
	Attempts int
	// Timeout limits a call with all its attempts, pauses and steps of a stream. It ends as by a deadline of its
	// context. 0: no limit.
	Timeout time.Duration
	// AttemptTimeout limits how long one request may take; it then counts as lost. It should be longer than the skill
	// works, unless the agent recognizes messages. Streams have [IdleTimeout] and [QuietTimeout] instead. 0: no limit.
	AttemptTimeout time.Duration
	// Retry reports whether a request that failed with err is made again, where that is safe and another attempt is
	// left. Nil: always.
	Retry func(err error) bool
}

// defaultAttempts is [CallPolicy.Attempts] when it is zero. The pauses between them come to two or three seconds,
// unless the agent asks for longer ones.
const defaultAttempts = 1 + defaultReattach

// Policy sets how calls are tried again and how long they may take.
func Policy(p CallPolicy) Option { return func(c *Client) { c.policy = p } }

// PolicyCall is [Policy] for one call.
func PolicyCall(p CallPolicy) CallOption { return func(c *call) { c.policy = p } }

// limit returns the context of a whole call. The caller calls done in the end.
func (p *CallPolicy) limit(ctx context.Context) (limited context.Context, done context.CancelFunc) {
	return within(ctx, p.Timeout, "the call")
}

// within limits a context where d is more than nothing.
func within(ctx context.Context, d time.Duration, what string) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, &overtime{what, d})
}

// overtime is the cause of a context that a [CallPolicy] ended.
type overtime struct {
	what  string
	limit time.Duration
}

// Error renders the limit.
func (e *overtime) Error() string { return fmt.Sprintf("%s took longer than %v", e.what, e.limit) }

// Unwrap returns context.DeadlineExceeded.
func (e *overtime) Unwrap() error { return context.DeadlineExceeded }

// Timeout is true, as of a net.Error.
func (e *overtime) Timeout() bool { return true }

// longestPause is the longest pause before another attempt: an agent that asks for a longer one gets no other attempt.
const longestPause = time.Minute

// again pauses before the next attempt after so many in a row that failed, the last one with err. It reports false when there is none: none
// is left, or the context ends before the pause does.
func (p *CallPolicy) again(ctx context.Context, failed int, err error) bool {
	most := p.Attempts
	if most <= 0 {
		most = defaultAttempts
	}
	delay := retryDelay(err)
	if failed >= most || delay > longestPause || ctx.Err() != nil || p.Retry != nil && !p.Retry(err) {
		return false
	}
	d := max(delay, backoff(failed))
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	return pause(ctx, d) == nil
}
