package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime/sse"
)

// leastItem is what an event of an unknown kind counts at least, in bytes: about what it takes to read it.
const leastItem = 256

// quiet ends a stream on which no event that is known arrives for a time, however much else does. It runs only while an event is waited for,
// so that a slow consumer is no quiet agent.
type quiet struct {
	time   time.Duration // ≤ 0: never
	timer  *time.Timer
	ctx    context.Context // of the request, which cancel ends
	cancel context.CancelCauseFunc
}

func (q *quiet) start() {
	switch {
	case q.time <= 0:
	case q.timer != nil:
		q.timer.Reset(q.time)
	default:
		q.timer = time.AfterFunc(q.time, func() { q.cancel(fmt.Errorf("%w for %v", ErrNoEvent, q.time)) })
	}
}

func (q *quiet) stop() {
	if q.timer != nil {
		q.timer.Stop()
	}
}

// cause is the break of the connection where err comes of the quiet, else err.
func (q *quiet) cause(err error) error {
	if why := context.Cause(q.ctx); errors.Is(why, ErrNoEvent) && errors.Is(err, ErrNoEvent) {
		return &LinkError{Err: why}
	}
	return err
}

// between is how many bytes may come between two events that are known, for the largest event.
func between(event int) int { return max(event, sse.LeastBetween) }

// overdue is the break of a connection that brought as many bytes as an event may have, and none that is known.
func overdue(limit int) error {
	return &LinkError{Err: fmt.Errorf("%w in %d bytes", ErrNoEvent, limit)}
}
