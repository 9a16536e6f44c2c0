package memory_test

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// newest is how an engine has its tasks packed.
var newest = memory.Coding{Append: proto.Versions[0].AppendEvent, Read: proto.Versions[0].ReadEvent}

// packing makes a store that packs.
func packing(c memory.Coding) *memory.Store {
	m := memory.New(memory.Limits{})
	m.Pack(c)
	return m
}

// ended creates a task with a message and an artifact of some parts, and ends it. It returns what the end showed.
func ended(t *testing.T, m *memory.Store, id string, parts ...runtime.Part) (key store.Key, last runtime.Task) {
	t.Helper()
	key = create(t, m, store.Owner{}, id, "context-of-"+id, start)
	said := proto.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: "said-" + id, User: true}, Parts: []runtime.Part{runtime.Text("make it")},
	})
	u := status(id, runtime.StateWorking, start)
	u.Messages, u.Unread = []runtime.Message{said}, true
	apply(t, m, key, 1, u)
	made := proto.NewArtifact(id, "c", runtime.ArtifactData{ID: "made-" + id, Parts: parts})
	apply(t, m, key, 2, store.Update{Event: made, Unread: true})
	u = status(id, runtime.StateCompleted, start)
	u.Unread = true
	snap, err := m.Apply(ctx, key, 3, u, &store.Full)
	if err != nil {
		t.Fatal(err)
	}
	return key, snap.Task
}

// Many small tasks that have ended are few objects, which the collector has to look at again and again.
func TestEndedTasksAreKeptAsFewObjects(t *testing.T) {
	const tasks, most = 2000, 8 // 12 objects more, unpacked
	m := packing(newest)
	objects := func() uint64 {
		var s goruntime.MemStats
		goruntime.GC()
		goruntime.GC()
		goruntime.ReadMemStats(&s)
		return s.HeapObjects
	}
	ended(t, m, "first", runtime.Text("done"))
	before := objects()
	for i := range tasks {
		ended(t, m, fmt.Sprint("task ", i), runtime.Text("done"), runtime.Text("and done"))
	}
	if n := float64(objects()-before) / tasks; n > most {
		t.Errorf("a task is kept as %.1f objects, want at most %d", n, most)
	}
	goruntime.KeepAlive(m)
}

func TestAPackedTaskIsShownAsItEnded(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 90) + "1" + strings.Repeat("}", 90)
	for name, parts := range map[string][]runtime.Part{
		"small":           {runtime.Text("done\n\"now\"")},
		"several parts":   {runtime.Text("a"), {Kind: runtime.PartData, Data: []byte(`{"b":[1,2.50,null]}`)}, {Kind: runtime.PartRaw, Raw: []byte{0, 255}, Filename: "c"}},
		"large":           {runtime.Text(strings.Repeat("long ", 20_000))},
		"of many objects": {{Kind: runtime.PartData, Data: []byte("[" + strings.Repeat("{},", 500) + "{}]")}},
		"nested deeply":   {{Kind: runtime.PartData, Data: []byte(deep)}},
	} {
		t.Run(name, func(t *testing.T) {
			m := packing(newest)
			key, last := ended(t, m, "t", parts...)
			want, err := newest.Append(nil, last)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Get(ctx, key, store.Full)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := newest.Append(nil, got.Task); err != nil || string(b) != string(want) {
				t.Errorf("the task is shown as %.300s (%v), it ended as %.300s", b, err, want)
			}
			got, err = m.Get(ctx, key, store.View{History: new(int)})
			if info := got.Task.TaskInfo(); err != nil || info.History != 0 || info.Artifacts != 0 || info.State != runtime.StateCompleted {
				t.Errorf("without history and artifacts it is %+v: %v", info, err)
			}
			page, err := m.List(ctx, store.Owner{}, store.Query{Size: 10, View: store.Full})
			if err != nil || len(page.Tasks) != 1 {
				t.Fatalf("the list has %d tasks: %v", len(page.Tasks), err)
			}
			if b, _ := newest.Append(nil, page.Tasks[0]); string(b) != string(want) {
				t.Errorf("the list shows %.300s", b)
			}
		})
	}
}

// A task that cannot be written is kept as it is; one that cannot be read is an error, not another task.
func TestACodingThatFailsLosesNothing(t *testing.T) {
	broken := errors.New("broken")
	m := packing(memory.Coding{Append: func(dst []byte, _ runtime.Event) ([]byte, error) { return dst, broken }, Read: newest.Read})
	key, _ := ended(t, m, "t", runtime.Text("done"))
	if snap, err := m.Get(ctx, key, store.Full); err != nil || texts(snap.Task) != "done" {
		t.Errorf("the task is %v: %v", snap.Task, err)
	}
	m = packing(memory.Coding{Append: newest.Append, Read: func([]byte) (runtime.Event, error) { return nil, broken }})
	key, _ = ended(t, m, "t", runtime.Text("done"))
	if _, err := m.Get(ctx, key, store.Full); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
	if _, err := m.List(ctx, store.Owner{}, store.Query{Size: 10, View: store.Full}); !errors.Is(err, broken) {
		t.Errorf("error of the list is %v", err)
	}
}
