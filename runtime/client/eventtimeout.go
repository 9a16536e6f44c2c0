package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/internal/sse"
)

// leastItem is what an event of an unknown kind counts at least, in bytes: about what it takes to read it.
const leastItem = 256

// eventTimeout ends a stream on which no known event arrives for a time, whatever else does. It runs only while an event is
// waited for, so that a slow consumer does not end it.
type eventTimeout struct {
	time   time.Duration // ≤ 0: never
	timer  *time.Timer
	ctx    context.Context // of the request, which cancel ends
	cancel context.CancelCauseFunc
}

func (t *eventTimeout) start() {
	switch {
	case t.time <= 0:
	case t.timer != nil:
		t.timer.Reset(t.time)
	default:
		t.timer = time.AfterFunc(t.time, func() { t.cancel(fmt.Errorf("%w for %v", ErrNoEvent, t.time)) })
	}
}

func (t *eventTimeout) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

// cause returns the error for an err of the stream: a broken connection if the timeout ended it.
func (t *eventTimeout) cause(err error) error {
	if why := context.Cause(t.ctx); errors.Is(why, ErrNoEvent) && errors.Is(err, ErrNoEvent) {
		return &LinkError{Err: why}
	}
	return err
}

// between is how many bytes may come between two known events, from the size of the largest event.
func between(event int) int { return max(event, sse.LeastBetween) }

// overdue is the error of a connection that brought as many bytes as an event may have, and no known event.
func overdue(limit int) error {
	return &LinkError{Err: fmt.Errorf("%w in %d bytes", ErrNoEvent, limit)}
}
