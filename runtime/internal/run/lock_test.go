package run

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestALockIsHeldByOneAtATimeInTheOrderOfComing(t *testing.T) {
	var l lock
	n := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10_000 {
				l.Lock()
				n++
				l.Unlock()
			}
		})
	}
	if all.Wait(); n != 80_000 || l.state.Load() != lockFree {
		t.Errorf("counted to %d, in state %d", n, l.state.Load())
	}
	synctest.Test(t, func(t *testing.T) {
		var order []int
		l.Lock()
		for i := range 5 {
			go func() {
				l.Lock()
				defer l.Unlock()
				order = append(order, i)
			}()
			synctest.Wait() // it waits, as the clock of the test knows
		}
		time.Sleep(time.Second)
		l.Unlock()
		synctest.Wait()
		for i, got := range order {
			if got != i {
				t.Errorf("in the order %v", order)
			}
		}
	})
}
