package client

import (
	"context"
	"fmt"
	"time"
)

// CallPolicy says how often a request is made and how long a call may take. A zero field has its default, so that
// CallPolicy{} is what a client does unasked: six attempts, and no other time limit than the context's.
//
// Only what cannot be done twice is tried again: a request of which nothing was sent, an operation that only reads, and
// a message to an agent whose card says that it recognizes one that it got before. Streams that broke are taken up
// again as [Reattach] says.
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
// unless the agent wishes longer ones.
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
		return ctx, unlimited
	}
	return context.WithTimeoutCause(ctx, d, &overtime{what, d})
}

func unlimited() {}

// overtime is the cause of a context that a [CallPolicy] ended.
type overtime struct {
	what  string
	limit time.Duration
}

// Error says what took longer than its policy allows.
func (e *overtime) Error() string { return fmt.Sprintf("%s took longer than %v", e.what, e.limit) }

// Unwrap returns context.DeadlineExceeded.
func (e *overtime) Unwrap() error { return context.DeadlineExceeded }

// Timeout is true: it is a net.Error's word for it.
func (e *overtime) Timeout() bool { return true }

// longestPause is the longest pause before another attempt: an agent that wishes a longer one gets no other attempt.
const longestPause = time.Minute

// tries are the attempts of one request in a row.
type tries struct {
	policy *CallPolicy
	failed int
}

// again pauses before the next attempt after one that failed with err. It reports false when there is none: none is
// left, or the context ends before the pause does.
func (t *tries) again(ctx context.Context, err error) bool {
	t.failed++
	most := t.policy.Attempts
	if most <= 0 {
		most = defaultAttempts
	}
	wish := pauseWished(err)
	if t.failed >= most || wish > longestPause || ctx.Err() != nil || t.policy.Retry != nil && !t.policy.Retry(err) {
		return false
	}
	d := max(wish, backoff(t.failed))
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	return pause(ctx, d) == nil
}
