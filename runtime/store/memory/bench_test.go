package memory_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

func BenchmarkAppendAChunk(b *testing.B) {
	m := memory.New(memory.Limits{Bytes: math.MaxInt})
	u := chunk("t", "one more word")
	u.Unread, u.Size = true, store.Size{Bytes: 45, Parts: 1}
	for i := range b.N {
		version := int64(i % 10_000)
		if version == 0 { // a task only grows so far
			b.StopTimer()
			m = memory.New(memory.Limits{Bytes: math.MaxInt})
			if _, err := m.Create(ctx, store.Key{Task: "t"}, store.New{Task: proto.NewTask("t", "c", start)}, nil); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		if _, err := m.Apply(ctx, store.Key{Task: "t"}, version+1, u, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
}

// A task that is made, works, says something and ends, as the engine has it.
func BenchmarkTaskOfFourEvents(b *testing.B) {
	m := memory.New(memory.Limits{})
	b.ReportAllocs()
	for i := range b.N {
		id := fmt.Sprint("t", i)
		key, at := store.Key{Task: id}, start.Add(time.Duration(i))
		n := store.New{Task: proto.NewTask(id, "c", at), Stamp: 1, Call: &store.Call{}}
		if _, err := m.Create(ctx, key, n, nil); err != nil {
			b.Fatal(err)
		}
		for step, u := range []store.Update{
			{Event: proto.NewStatus(id, "c", runtime.StateWorking, nil, at)},
			{Event: proto.NewArtifact(id, "c", runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text("done")}})},
			{Event: proto.NewStatus(id, "c", runtime.StateCompleted, nil, at), Done: 1},
		} {
			u.Epoch, u.Stamp, u.Unread = 1, uint64(step+2), true
			if _, err := m.Apply(ctx, key, 0, u, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
