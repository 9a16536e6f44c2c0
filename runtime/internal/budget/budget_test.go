package budget

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestABudgetLeavesRoomForSmallerShares(t *testing.T) {
	b := Budget{Limit: 100}
	for _, c := range []struct {
		n    int64
		want bool
	}{{40, true}, {50, false}, {40, true}, {12, false}, {10, true}, {5, true}, {3, false}, {2, true}} {
		if got := b.Try(c.n); got != c.want {
			t.Fatalf("%d of %d: %v", c.n, b.Limit-b.used, got)
		}
	}
	b.Release(b.used)
	if !b.Try(1000) {
		t.Error("one that is larger than all never fits")
	}
	if b.Try(1) {
		t.Error("beside it another one fits")
	}
}

func TestAWaitForABudgetEndsWithItsContextAndGivesNothingAway(t *testing.T) {
	b := Budget{Limit: 100}
	b.Add(100)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { first <- b.Acquire(ctx, 50) }()
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		waiting = b.queue.Len()
		b.mu.Unlock()
	}
	second := make(chan error, 1)
	go func() { second <- b.Acquire(t.Context(), 10) }()
	for waiting := 0; waiting < 2; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		waiting = b.queue.Len()
		b.mu.Unlock()
	}
	b.Release(30) // enough for the second, but the first is before it
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first ends with %v", err)
	}
	if err := <-second; err != nil {
		t.Errorf("the second ends with %v", err)
	}
	b.Release(70)
	b.Release(10)
	if b.used != 0 || b.queue.Len() != 0 {
		t.Errorf("%d bytes and %d claims are left", b.used, b.queue.Len())
	}
}

func TestABudgetIsNeverOverdrawnByWaiters(t *testing.T) {
	b := Budget{Limit: 100}
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Millisecond)
			defer cancel()
			n := int64(i%40 + 1)
			if b.Acquire(ctx, n) != nil {
				return
			}
			b.mu.Lock()
			if b.used > b.Limit {
				t.Errorf("%d bytes are used", b.used)
			}
			b.mu.Unlock()
			b.Release(n)
		})
	}
	all.Wait()
	if b.used != 0 || b.queue.Len() != 0 {
		t.Errorf("%d bytes and %d claims are left", b.used, b.queue.Len())
	}
}
