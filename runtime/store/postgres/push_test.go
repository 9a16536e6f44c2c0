package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

func TestADeliveryThatIsSettledWhileAnEventComesLeavesNothingBehind(t *testing.T) {
	const events = 60
	all := replicas(t, 3, Options{})
	k := keyOf("p", "t")
	if err := begin(all[0], k, 1); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		id := fmt.Sprint("p", i)
		if err := all[0].SetPush(bg, k, store.Push{ID: id, Version: "1.0", Config: runtime.PushConfig{ID: id, URL: "https://example.com"}}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	var mu sync.Mutex
	next := map[string]int64{"p0": 2, "p1": 2, "p2": 2, "p3": 2}
	deliver := func(s *Store) bool {
		due, _, err := s.Due(bg, 10, time.Hour)
		if err != nil {
			t.Error(err)
		}
		for _, d := range due {
			mu.Lock()
			if next[d.Push.ID] != d.Next {
				t.Errorf("%s is due from %d, and was sent up to %d", d.Push.ID, d.Next, next[d.Push.ID])
			}
			next[d.Push.ID] = d.Next + 1
			mu.Unlock()
			if err := s.Settle(bg, d, store.Outcome{Sent: d.Next}); err != nil {
				t.Errorf("settle: %v", err)
			}
		}
		return len(due) > 0
	}
	for _, s := range all[1:] {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					deliver(s)
				}
			}
		})
	}
	for i := range events {
		e := a2a.Protocol().NewArtifact(k.Task, "c", runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text("x")}, Append: i > 0})
		if _, err := all[0].Apply(bg, k, int64(i+1), store.Update{Event: e, Stamp: uint64(i + 2)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
	for deliver(all[0]) {
	}
	for id, n := range next {
		if n != events+2 {
			t.Errorf("%s sleeps and was sent up to %d of %d", id, n-1, events+1)
		}
	}
}
