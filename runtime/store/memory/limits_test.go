package memory_test

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

func words(size int) runtime.Message {
	parts := []runtime.Part{runtime.Text(strings.Repeat("x", size))}
	return proto.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m"}, Parts: parts})
}

// speak is a status update with a message.
func speak(id string, state runtime.State, size int) store.Update {
	return store.Update{Event: proto.NewStatus(id, "c", state, words(size), start)}
}

// artifact is an update with a whole artifact.
func artifact(task, id string, size int) store.Update {
	parts := []runtime.Part{runtime.Text(strings.Repeat("x", size))}
	return store.Update{Event: proto.NewArtifact(task, "c", runtime.ArtifactData{ID: id, Parts: parts})}
}

// fill applies updates until the task is full, and returns how many it took.
func fill(t *testing.T, m *memory.Store, key store.Key, version int64, u func() store.Update) int64 {
	t.Helper()
	for n := range int64(10_000) {
		if _, err := m.Apply(ctx, key, version+n, u(), nil); errors.Is(err, store.ErrTooLarge) {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the task grows without end")
	return 0
}

// Whatever a task grows by, it is full one day. It can be ended then.
func TestATaskOnlyGrowsUpToItsLimit(t *testing.T) {
	unread := func(u store.Update) store.Update { u.Unread = true; return u }
	for _, c := range []struct {
		name     string
		u        func() store.Update
		min, max int64
	}{
		{"chunks", func() store.Update { return chunk("t", strings.Repeat("x", 10_000)) }, 90, 99},
		{"chunks that nobody reads", func() store.Update { return unread(chunk("t", strings.Repeat("x", 10_000))) }, 90, 99},
		{"tiny chunks", func() store.Update { return chunk("t", "x") }, 2000, 6500},
		{"tiny chunks that nobody reads", func() store.Update { return unread(chunk("t", "x")) }, 3000, 6500},
		{"progress", func() store.Update { return speak("t", runtime.StateWorking, 10_000) }, 80, 98},
		{"follow-ups", func() store.Update {
			u := speak("t", runtime.StateInputRequired, 1000)
			u.Messages = []runtime.Message{words(9000)}
			return u
		}, 80, 98},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := memory.New(memory.Limits{TaskBytes: 1_000_000})
			key := create(t, m, store.Owner{}, "t", "c", start)
			n := fill(t, m, key, 1, c.u)
			if n < c.min || n > c.max || m.Bytes() > 1_000_000 {
				t.Errorf("%d fit, not %d to %d; %d bytes are kept", n, c.min, c.max, m.Bytes())
			}
			n += fill(t, m, key, n+1, func() store.Update { return chunk("t", "x") }) // to the brim
			if _, err := m.Apply(ctx, key, n+1, speak("t", runtime.StateFailed, 100_000), nil); !errors.Is(err, store.ErrTooLarge) {
				t.Errorf("an end with many words: %v", err)
			}
			apply(t, m, key, n+1, speak("t", runtime.StateFailed, 1000))
		})
	}
}

func TestATaskThatBeginsTooLargeIsRefused(t *testing.T) {
	m := memory.New(memory.Limits{TaskBytes: 10_000})
	for _, n := range []store.New{
		{Task: proto.NewTask("t", "c", start), Size: store.Size{Bytes: 10_000}},
		{Task: proto.NewTask("t", "c", start), Size: store.Size{Bytes: 1000, Parts: 1000}}, // 1,000 times {"text":""}
		{Task: proto.NewTask("t", "c", start), Private: store.Private{Input: make([]byte, 10_000)}},
	} {
		if _, err := m.Create(ctx, store.Key{Task: "t"}, n, nil); !errors.Is(err, store.ErrTooLarge) {
			t.Errorf("size %v: %v", n.Size, err)
		}
	}
}

// The log serves readers that come late: it gives way before the task is called full.
func TestTheLogNeverFillsATask(t *testing.T) {
	m := memory.New(memory.Limits{TaskBytes: 1_000_000})
	key := create(t, m, store.Owner{}, "t", "c", start)
	for v := range int64(20_000) {
		apply(t, m, key, v+1, status("t", runtime.StateWorking, start))
		if _, err := m.Events(ctx, key, v+1, 0); err != nil {
			t.Fatalf("the last event at version %d: %v", v+2, err)
		}
		if m.Bytes() > 1_000_000 {
			t.Fatalf("%d bytes are kept", m.Bytes())
		}
	}
}

func TestBytesEncodedForReadersCount(t *testing.T) {
	m := memory.New(memory.Limits{TaskBytes: 1_000_000})
	key := create(t, m, store.Owner{}, "t", "c", start)
	for v := range int64(80) {
		apply(t, m, key, v+1, chunk("t", strings.Repeat("x", 10_000)))
		recs, err := m.Events(ctx, key, v+1, 0)
		if err != nil || len(recs) != 1 {
			t.Fatalf("%d events: %v", len(recs), err)
		}
		if _, err := recs[0].Encode(0, proto.Versions[0].AppendEvent); err != nil {
			t.Fatal(err)
		}
		if now := int64(m.Bytes()); now > 1_000_000 || v < 40 && now < v*20_000 {
			t.Fatalf("after %d events %d bytes are kept", v+1, now)
		}
	}
	if recs, err := m.Events(ctx, key, 81, 0); err != nil || len(recs) != 0 {
		t.Errorf("after the last event: %d, %v", len(recs), err)
	}
}

func TestWhatWasReplacedDoesNotFillATask(t *testing.T) {
	m := memory.New(memory.Limits{TaskBytes: 1_000_000})
	key := create(t, m, store.Owner{}, "t", "c", start)
	for v := range int64(200) {
		apply(t, m, key, v+1, artifact("t", "same", 100_000))
	}
	n := fill(t, m, key, 201, func() store.Update { return artifact("t", fmt.Sprint(time.Now().UnixNano()), 100_000) })
	if n < 7 || n > 9 {
		t.Errorf("%d others fit beside it", n)
	}
}

func TestPrivateStateCountsUntilTheTaskEnds(t *testing.T) {
	m := memory.New(memory.Limits{TaskBytes: 1_000_000})
	key := store.Key{Task: "t"}
	if _, err := m.Create(ctx, key, store.New{Task: proto.NewTask("t", "c", start), Private: store.Private{Skill: "s"}}, nil); err != nil {
		t.Fatal(err)
	}
	save := func(size int) store.Update {
		u := status("t", runtime.StateWorking, start)
		saved := make([]byte, size)
		u.Saved = &saved
		return u
	}
	apply(t, m, key, 1, save(900_000))
	if _, err := m.Apply(ctx, key, 2, artifact("t", "a", 200_000), nil); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("an artifact beside what was saved: %v", err)
	}
	if _, err := m.Apply(ctx, key, 2, save(1_100_000), nil); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("saving more: %v", err)
	}
	apply(t, m, key, 2, save(100))
	apply(t, m, key, 3, artifact("t", "a", 200_000))
	u := save(2_000_000) // what a handler saved last of all is not needed any more
	u.Event = proto.NewStatus("t", "c", runtime.StateCompleted, nil, start)
	apply(t, m, key, 4, u)
	if snap, err := m.Get(ctx, key, store.Full); err != nil || snap.Private.Skill != "s" || snap.Private.Saved != nil || m.Bytes() > 300_000 {
		t.Errorf("%+v, %d bytes: %v", snap.Private, m.Bytes(), err)
	}
}

func heap() int {
	goruntime.GC()
	goruntime.GC()
	var s goruntime.MemStats
	goruntime.ReadMemStats(&s)
	return int(s.HeapAlloc)
}

// What is counted is what is held: rather more than less.
func TestTheStoreCountsWhatItHolds(t *testing.T) {
	many := func(id string, n int, parts []runtime.Part) runtime.Message {
		return proto.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: fmt.Sprintf("%s%036d", id, n)}, Parts: parts})
	}
	for _, c := range []struct {
		name  string
		tasks int
		do    func(m *memory.Store, key store.Key)
	}{
		{"empty tasks", 5000, func(*memory.Store, store.Key) {}},
		{"large artifacts", 20, func(m *memory.Store, key store.Key) { apply(t, m, key, 1, artifact(key.Task, "a", 1<<20)) }},
		{"chunks", 5, func(m *memory.Store, key store.Key) {
			for v := range int64(2000) {
				apply(t, m, key, v+1, chunk(key.Task, fmt.Sprintf("%016d", v)))
			}
		}},
		{"words", 5, func(m *memory.Store, key store.Key) {
			for v := range int64(2000) {
				said := many(key.Task, int(v), []runtime.Part{runtime.Text(fmt.Sprint("progress ", v))})
				apply(t, m, key, v+1, store.Update{Event: proto.NewStatus(key.Task, "c", runtime.StateWorking, said, start)})
			}
		}},
		{"many parts", 5, func(m *memory.Store, key store.Key) {
			parts := make([]runtime.Part, 2000)
			for i := range parts {
				parts[i] = runtime.Text("x")
			}
			u := status(key.Task, runtime.StateWorking, start)
			u.Messages = []runtime.Message{many(key.Task, 0, parts)}
			apply(t, m, key, 1, u)
		}},
		{"lists", 5, func(m *memory.Store, key store.Key) {
			said := proto.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{Extensions: make([]string, 10_000), References: make([]string, 10_000)}})
			u := status(key.Task, runtime.StateWorking, start)
			u.Messages = []runtime.Message{said}
			apply(t, m, key, 1, u)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := heap()
			m := memory.New(memory.Limits{})
			for i := range c.tasks {
				id := fmt.Sprintf("%036d", i)
				c.do(m, create(t, m, store.Owner{}, id, "context of "+id, start.Add(time.Duration(i))))
			}
			held, counted := heap()-before, m.Bytes()
			if counted < held*9/10 || counted > 4*held {
				t.Errorf("counted %d bytes, held are %d", counted, held)
			}
			goruntime.KeepAlive(m)
		})
	}
}

// 150 tasks of 8 MB held 1.2 GB once.
func TestMemoryStaysWithinTheStoresBytes(t *testing.T) {
	before := heap()
	m := memory.New(memory.Limits{Bytes: 48 << 20})
	for i := range 150 {
		id := fmt.Sprint("t", i)
		key := create(t, m, store.Owner{}, id, "c", start.Add(time.Duration(i)))
		apply(t, m, key, 1, artifact(id, "a", 8<<20))
		apply(t, m, key, 2, status(id, runtime.StateCompleted, start.Add(time.Duration(i))))
	}
	if held := heap() - before; held > 56<<20 || m.Bytes() > 48<<20 || m.Len() != 5 {
		t.Errorf("%d tasks are kept: %d bytes counted, %d held", m.Len(), m.Bytes(), held)
	}
	goruntime.KeepAlive(m)
}

// Pages end early when they get long, and go on after the last task that was shown.
func TestPagesAreLimitedByBytes(t *testing.T) {
	m := memory.New(memory.Limits{})
	var want []string
	for i := range 40 {
		id := fmt.Sprintf("t%02d", i)
		key := create(t, m, store.Owner{}, id, "c", start.Add(-time.Duration(i)))
		apply(t, m, key, 1, artifact(id, "a", i%5*100_000))
		want = append(want, id)
	}
	none := 0
	for _, c := range []struct {
		name       string
		view       store.View
		bytes      int
		pages, max int
	}{
		{"artifacts", store.Full, 500_000, 20, 26},
		{"smaller than one task", store.Full, 1, 40, 40},
		{"without artifacts", store.View{History: &none}, 500_000, 3, 3},
		{"no limit", store.Full, 0, 3, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			q, pages := store.Query{Size: 18, Bytes: c.bytes, View: c.view}, 0
			for {
				page, err := m.List(ctx, store.Owner{}, q)
				if err != nil || page.Total != 40 || len(page.Tasks) == 0 || len(page.Tasks) > 18 {
					t.Fatalf("%d of %d tasks: %v", len(page.Tasks), page.Total, err)
				}
				sum := 0
				for _, task := range page.Tasks {
					info := task.TaskInfo()
					got = append(got, info.ID)
					b, err := proto.Versions[0].AppendEvent(nil, task)
					if err != nil {
						t.Fatal(err)
					}
					sum += len(b)
				}
				if c.bytes > 0 && len(page.Tasks) > 1 && sum > c.bytes || page.Bytes < sum || page.Bytes > 2*sum+len(page.Tasks)*1500 {
					t.Errorf("a page of %d bytes, said to be %d", sum, page.Bytes)
				}
				pages++
				if q.Token = page.Next; q.Token == "" {
					break
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") || pages < c.pages || pages > c.max {
				t.Errorf("%d pages: %v", pages, got)
			}
		})
	}
}

// The size of a view is known before it is encoded.
func TestASnapshotKnowsItsSize(t *testing.T) {
	m := memory.New(memory.Limits{})
	key := create(t, m, store.Owner{}, "t", "c", start)
	for v := range int64(5) {
		apply(t, m, key, v+1, speak("t", runtime.StateWorking, 100_000))
	}
	file := runtime.File("f", "x/y", make([]byte, 300_000))
	apply(t, m, key, 6, store.Update{Event: proto.NewArtifact("t", "c", runtime.ArtifactData{ID: "f", Parts: []runtime.Part{file}})})
	none := 0
	for name, view := range map[string]store.View{"full": store.Full, "history": {}, "artifacts": {History: &none, Artifacts: true}, "status": {History: &none}} {
		snap, err := m.Get(ctx, key, view)
		if err != nil {
			t.Fatal(err)
		}
		b, err := proto.Versions[0].AppendEvent(nil, snap.Task)
		if err != nil || snap.Bytes < len(b) || snap.Bytes > len(b)+5000 {
			t.Errorf("%s: %d bytes, said to be %d: %v", name, len(b), snap.Bytes, err)
		}
	}
}

// The work for a task stays the same however many there are.
func TestTheStoreGrowsLinearly(t *testing.T) {
	made := func(n int, owner func(i int) store.Owner) (*memory.Store, []store.Key) {
		m, keys := memory.New(memory.Limits{Tasks: n}), make([]store.Key, n)
		for i := range keys {
			keys[i] = create(t, m, owner(i), fmt.Sprint("t", i), fmt.Sprint("c", i%7), start.Add(time.Duration(i)))
		}
		return m, keys
	}
	commit := func(m *memory.Store, keys []store.Key, state runtime.State) {
		for i, key := range keys {
			apply(t, m, key, 1, status(key.Task, state, start.Add(time.Hour+time.Duration(i))))
		}
	}
	many := func(i int) store.Owner { return store.Owner{Principal: fmt.Sprint("p", i/4)} }
	one := func(int) store.Owner { return store.Owner{} }
	for name, work := range map[string]func(n int){
		"create": func(n int) { made(n, one) },
		"commit": func(n int) { m, keys := made(n, one); commit(m, keys, runtime.StateWorking) },
		"create in a full store": func(n int) {
			m, keys := made(n, many)
			commit(m, keys, runtime.StateInputRequired)
			for i := range n / 2 { // the half that one owner may have
				create(t, m, store.Owner{Principal: "new"}, fmt.Sprint("n", i), "c", start.Add(2*time.Hour+time.Duration(i)))
			}
		},
		"list": func(n int) {
			m, _ := made(n, one)
			q := store.Query{Size: 100, Bytes: 20_000}
			for more := true; more; more = q.Token != "" {
				page, err := m.List(ctx, store.Owner{}, q)
				if err != nil {
					t.Fatal(err)
				}
				q.Token = page.Next
			}
		},
		"sweep": func(n int) {
			m, keys := made(n, many)
			commit(m, keys, runtime.StateCompleted)
			if dropped, err := m.SweepAt(start.Add(100 * time.Hour)); dropped != n || err != nil {
				t.Errorf("swept %d of %d: %v", dropped, n, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 1000, func(n int) func() { return func() { work(n) } })
		})
	}
}

// A store of an agent that was never there before takes a message that is sent again although it was made after the first attempt.
func TestAFirstStoreKnowsEachMessageThatCame(t *testing.T) {
	again := &store.Repeat{Key: "k", For: time.Hour, Since: time.Now().Add(-time.Minute)}
	if err := memory.New(memory.Limits{}).Repeated(again); !errors.Is(err, store.ErrForgotten) {
		t.Errorf("New: %v", err)
	}
	if err := memory.NewFirst(memory.Limits{}).Repeated(again); err != nil {
		t.Errorf("NewFirst: %v", err)
	}
}
