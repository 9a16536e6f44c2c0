package sqlite

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// fourEvents is a task as most are: created at work, a word on the way, an artifact, the end.
func fourEvents(b *testing.B, s *Store, id string, took func(time.Duration)) {
	k := key(id)
	m := proto.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: "m" + id,
			User: true}, Parts: []runtime.Part{runtime.Text("What is the weather like in Berlin?")},
	})
	task := proto.NewTask(id, "c"+id, time.Now())
	task.AddMessage(m)
	do := func(call func() (store.Snapshot, error)) store.Snapshot {
		begin := time.Now()
		snap, err := call()
		if err != nil {
			b.Error(err)
		}
		took(time.Since(begin))
		return snap
	}
	size := store.SizeOfMessage(m, m.Contents())
	n := store.New{
		Task: task, Private: store.Private{Skill: "weather", Input: []byte(`{"city":"Berlin"}`)}, Size: size, Stamp: 1,
		Call: &store.Call{Input: []byte(`{"city":"Berlin"}`), Request: &runtime.SendRequest{Message: m}},
	}
	snap := do(func() (store.Snapshot, error) { return s.Create(ctx, k, n, nil) })
	say := func(u store.Update, view *store.View) {
		u.Epoch = snap.Epoch
		do(func() (store.Snapshot, error) { return s.Apply(ctx, k, 0, u, view) })
	}
	state := func(state runtime.State, text string) store.Update {
		m := proto.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "a" + id},
			Parts: []runtime.Part{runtime.Text(text)}})
		return store.Update{Event: proto.NewStatus(id, "c"+id, state, m, time.Now())}
	}
	say(state(runtime.StateWorking, "Looking at the sky"), nil)
	data := runtime.ArtifactData{ID: "artifact-1", Name: "forecast",
		Parts: []runtime.Part{runtime.Text(strings.Repeat("sunny ", 10))}}
	say(store.Update{Event: proto.NewArtifact(id, "c"+id, data)}, nil)
	end := state(runtime.StateCompleted, "It is going to be sunny.")
	end.Done = 1
	say(end, &store.Full)
}

// BenchmarkTask is durable tasks of four events, each call of which waits for its answer.
func BenchmarkTask(b *testing.B) {
	for _, full := range []bool{false, true} {
		for _, callers := range []int{1, 16, 64} {
			name := fmt.Sprintf("callers=%d", callers)
			if full {
				name += "/full"
			}
			b.Run(name, func(b *testing.B) {
				s := open(b, fresh(b), Options{Full: full})
				var next atomic.Int64
				var mu sync.Mutex
				var all []time.Duration
				var wg sync.WaitGroup
				b.ReportAllocs()
				b.ResetTimer()
				for range callers {
					wg.Go(func() {
						var mine []time.Duration
						for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
							fourEvents(b, s, fmt.Sprintf("task-%08x-%08x", uint32(i)*2654435761, i),
								func(d time.Duration) { mine = append(mine, d) })
						}
						mu.Lock()
						defer mu.Unlock()
						all = append(all, mine...)
					})
				}
				wg.Wait()
				b.StopTimer()
				slices.Sort(all)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
				b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				if info, err := os.Stat(s.path); err == nil {
					b.ReportMetric(float64(info.Size())/float64(b.N), "file-B/task")
				}
			})
		}
	}
}

// BenchmarkLongTask is one task of 10,000 events: ns/event is the same for a tenth of them, or it is not linear.
func BenchmarkLongTask(b *testing.B) {
	for _, events := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("events=%d", events), func(b *testing.B) {
			for range b.N {
				s := open(b, fresh(b), Options{})
				create(b, s, "t")
				said := strings.Repeat("x", 150)
				for v := range events {
					apply(b, s, "t", int64(v)+1, chunk("t", said))
				}
				_ = s.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
		})
	}
}
