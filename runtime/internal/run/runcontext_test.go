package run

import (
	"context"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

type keyOfRequest struct{}

func newCallContext() (*callContext, *runContext) {
	c := new(call)
	c.ctx.values = values{context.WithValue(context.Background(), keyOfRequest{}, "there"), &runtime.SendRequest{Source: "the request"}, &runtime.Caller{ID: "ann"}}
	c.run = runContext{&c.ctx, time.Now().Add(time.Hour), (*chain)(c)}
	return &c.ctx, &c.run
}

func TestAHandlerLearnsWhyItsContextEnds(t *testing.T) {
	for _, asks := range []string{"before the end", "after it"} {
		t.Run(asks, func(t *testing.T) {
			c, handler := newCallContext()
			var child context.Context = handler
			if asks == "before the end" {
				ctx, stop := context.WithTimeout(handler, time.Minute)
				defer stop()
				child = ctx
			}
			if context.Cause(child) != nil || child.Err() != nil {
				t.Fatal("it has ended already")
			}
			c.cancel(ErrCanceled)
			c.cancel(ErrShutdown) // the first cause counts
			<-child.Done()
			<-handler.Done()
			if context.Cause(child) != ErrCanceled || context.Cause(handler) != ErrCanceled || c.Cause() != ErrCanceled {
				t.Errorf("it ended with %v, %v and %v", context.Cause(child), context.Cause(handler), c.Cause())
			}
			if child.Err() != context.Canceled || handler.Err() != context.Canceled {
				t.Errorf("errors %v and %v", child.Err(), handler.Err())
			}
			late, stop := context.WithCancel(handler)
			defer stop()
			<-late.Done()
			if context.Cause(late) != ErrCanceled {
				t.Errorf("a context that is made later ends with %v", context.Cause(late))
			}
		})
	}
}

func TestAHandlersContextHasTheRequestsValues(t *testing.T) {
	c, handler := newCallContext()
	if handler.Value(keyOfRequest{}) != "there" || Source(handler) != "the request" || CallerFrom(handler).ID != "ann" {
		t.Error("values are missing")
	}
	if at, ok := handler.Deadline(); !ok || !at.Equal(handler.deadline) {
		t.Errorf("deadline %v, %v", at, ok)
	}
	if at, ok := c.Deadline(); ok {
		t.Errorf("before the handler is called there is the deadline %v", at)
	}
}

// What cancels a context takes memory of its own: a handler that does not wait for it does without.
func TestAHandlerThatDoesNotWaitNeedsNothingToBeCanceled(t *testing.T) {
	c, handler := newCallContext()
	if handler.Err() != nil || CallerFrom(handler) == nil {
		t.Fatal("it has ended")
	}
	c.cancel(nil)
	if c.std != nil || c.Cause() != context.Canceled {
		t.Errorf("the standard library's context was made; cause %v", c.Cause())
	}
}
