package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

var (
	proto = a2a.Protocol()
	start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	ctx   = context.Background()
)

func create(t testing.TB, m *memory.Store, owner store.Owner, id, contextID string, at time.Time) store.Key {
	t.Helper()
	key := store.Key{Owner: owner, Task: id}
	if _, err := m.Create(ctx, key, store.New{Task: proto.NewTask(id, contextID, at)}, nil); err != nil {
		t.Fatal(err)
	}
	return key
}

func status(id string, state runtime.State, at time.Time) store.Update {
	return store.Update{Event: proto.NewStatus(id, "c", state, nil, at)}
}

func chunk(id, text string) store.Update {
	return store.Update{Event: proto.NewArtifact(id, "c", runtime.ArtifactData{ID: "a", Append: true, Parts: []runtime.Part{runtime.Text(text)}})}
}

func apply(t testing.TB, m store.Store, key store.Key, version int64, u store.Update) {
	t.Helper()
	if _, err := m.Apply(ctx, key, version, u, nil); err != nil {
		t.Fatal(err)
	}
}

func texts(task runtime.Task) string {
	var b strings.Builder
	for _, a := range task.Generated().(*a2a.Task).Artifacts {
		b.WriteString(a.Text())
	}
	return strings.ReplaceAll(b.String(), "\n", "")
}

func TestTheLogIsTrimmedFromItsStart(t *testing.T) {
	m := memory.New(memory.Limits{Events: 10})
	key := create(t, m, store.Owner{}, "t", "c", start)
	for v := range int64(100) {
		apply(t, m, key, v+1, chunk("t", "x"))
		recs, err := m.Events(ctx, key, max(v-8, 1), 0)
		if err != nil || len(recs) == 0 || recs[len(recs)-1].Seq != v+2 {
			t.Fatalf("at version %d the last records are %d: %v", v+2, len(recs), err)
		}
	}
	if _, err := m.Events(ctx, key, 50, 0); !errors.Is(err, store.ErrTrimmed) {
		t.Errorf("old events: %v", err)
	}
	if recs, err := m.Events(ctx, key, 101, 0); err != nil || len(recs) != 0 {
		t.Errorf("events after the last: %d, %v", len(recs), err)
	}
}

// TestACreationThatIsRepeatedReadsNothing of the task, which the first one keeps and updates change. The race detector looks on.
func TestACreationThatIsRepeatedReadsNothing(t *testing.T) {
	m := memory.New(memory.Limits{})
	key := store.Key{Task: "t"}
	n := store.New{Task: proto.NewTask("t", "c", start), Stamp: 7}
	if _, err := m.Create(ctx, key, n, nil); err != nil {
		t.Fatal(err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		for v := range int64(500) {
			if _, err := m.Apply(ctx, key, v+1, status("t", runtime.StateWorking, start), nil); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
		}
		if _, err := m.Create(ctx, key, n, nil); err != nil && err != store.ErrExists {
			t.Fatal(err)
		}
	}
}

func TestUnreadEventsNeedNotBeKept(t *testing.T) {
	m := memory.New(memory.Limits{})
	key := create(t, m, store.Owner{}, "t", "c", start)
	u := chunk("t", "x")
	u.Unread = true
	apply(t, m, key, 1, u)
	apply(t, m, key, 2, chunk("t", "y"))
	if _, err := m.Events(ctx, key, 1, 0); !errors.Is(err, store.ErrTrimmed) {
		t.Errorf("events before the first reader: %v", err)
	}
	if recs, err := m.Events(ctx, key, 2, 0); err != nil || len(recs) != 1 || recs[0].Seq != 3 {
		t.Errorf("events after it: %v, %v", recs, err)
	}
}

func TestOnlyTheLastEndedTasksKeepTheirLogs(t *testing.T) {
	m := memory.New(memory.Limits{Logs: 2})
	for i := range 5 {
		id := fmt.Sprint("t", i)
		apply(t, m, create(t, m, store.Owner{}, id, "c", start), 1, status(id, runtime.StateCompleted, start))
	}
	for i := range 5 {
		recs, err := m.Events(ctx, store.Key{Task: fmt.Sprint("t", i)}, 1, 0)
		if kept := len(recs) == 1; kept != (i >= 3) || !kept && !errors.Is(err, store.ErrTrimmed) {
			t.Errorf("task %d: %d records, %v", i, len(recs), err)
		}
	}
}

// Nothing grows for ever: R234.
func TestRetention(t *testing.T) {
	now := start
	m := memory.NewAt(memory.Limits{Tasks: 3, Ended: time.Hour, Parked: 2 * time.Hour}, func() time.Time { return now })
	ended := create(t, m, store.Owner{}, "ended", "c1", start)
	apply(t, m, ended, 1, status("ended", runtime.StateCompleted, start))
	later := create(t, m, store.Owner{}, "later", "c2", start)
	now = start.Add(time.Minute)
	apply(t, m, later, 1, status("later", runtime.StateFailed, start)) // whatever time the status says
	now = start
	parked := create(t, m, store.Owner{}, "parked", "c3", start)
	apply(t, m, parked, 1, status("parked", runtime.StateInputRequired, start))
	create(t, m, store.Owner{}, "new", "c4", start.Add(2*time.Minute)) // makes room by dropping what ended first
	if _, err := m.Get(ctx, ended, store.Full); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the longest ended task is still there: %v", err)
	}
	create(t, m, store.Owner{}, "newer", "c5", start.Add(2*time.Minute))
	if _, err := m.Get(ctx, parked, store.Full); err != nil {
		t.Errorf("a task that waits goes before one that has ended: %v", err)
	}
	if n, err := m.SweepAt(start.Add(2 * time.Hour)); n != 0 || err != nil {
		t.Errorf("swept %d: %v", n, err)
	}
	if n, err := m.SweepAt(start.Add(2*time.Hour + time.Second)); n != 1 || err != nil || m.Len() != 2 {
		t.Errorf("swept %d, %d are left: %v", n, m.Len(), err)
	}
	if p, _ := m.List(ctx, store.Owner{}, store.Query{Size: 10, Context: "c3"}); p.Total != 0 {
		t.Error("the dropped task is still listed")
	}
	create(t, m, store.Owner{}, "newest", "c6", start)
	if _, err := m.Create(ctx, store.Key{Task: "more"}, store.New{Task: proto.NewTask("more", "c7", start)}, nil); !errors.Is(err, store.ErrFull) {
		t.Errorf("a store full of tasks that are worked on takes another one: %v", err)
	}
}

// The store does what a plain list of tasks would do: order, filters, pages, counts (R12–R15, R309, T30).
func TestListAgreesWithAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := memory.New(memory.Limits{})
		type entry struct {
			id, context string
			state       runtime.State
			at          time.Time
			version     int64
		}
		var model []*entry
		now := start
		states := []runtime.State{runtime.StateWorking, runtime.StateInputRequired, runtime.StateCompleted}
		for i := range rapid.IntRange(0, 30).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(rt, "tick")) * time.Millisecond)
			if len(model) == 0 || rapid.Bool().Draw(rt, "create") {
				e := &entry{fmt.Sprintf("t%02d", 99-i), fmt.Sprint("c", rapid.IntRange(0, 2).Draw(rt, "context")), runtime.StateSubmitted, now, 1}
				create(t, m, store.Owner{}, e.id, e.context, now)
				model = append(model, e)
				continue
			}
			e := model[rapid.IntRange(0, len(model)-1).Draw(rt, "task")]
			if e.state.Terminal() {
				continue
			}
			e.state, e.at = rapid.SampledFrom(states).Draw(rt, "state"), now
			apply(t, m, store.Key{Task: e.id}, e.version, status(e.id, e.state, now))
			e.version++
		}
		q := store.Query{Size: rapid.IntRange(1, 4).Draw(rt, "size")}
		q.Context = rapid.SampledFrom([]string{"", "c0", "c1"}).Draw(rt, "filter context")
		q.State = rapid.SampledFrom(append(states, runtime.StateUnspecified)).Draw(rt, "filter state")
		if rapid.Bool().Draw(rt, "filter time") {
			q.After = start.Add(time.Duration(rapid.IntRange(0, 20).Draw(rt, "after")) * time.Millisecond)
		}
		var want, got []string
		slices.SortFunc(model, func(a, b *entry) int {
			if c := b.at.Compare(a.at); c != 0 {
				return c
			}
			return strings.Compare(a.id, b.id)
		})
		for _, e := range model {
			if (q.Context == "" || q.Context == e.context) && (q.State == runtime.StateUnspecified || q.State == e.state) && !e.at.Before(q.After) {
				want = append(want, e.id)
			}
		}
		for {
			page, err := m.List(ctx, store.Owner{}, q)
			if err != nil || page.Total != len(want) || len(page.Tasks) > q.Size {
				rt.Fatalf("page of %d, total %d, want %d: %v", len(page.Tasks), page.Total, len(want), err)
			}
			for _, task := range page.Tasks {
				got = append(got, task.TaskInfo().ID)
			}
			if q.Token = page.Next; q.Token == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestPagesSurviveChangesBetweenThem(t *testing.T) {
	m := memory.New(memory.Limits{})
	for i := range 6 {
		create(t, m, store.Owner{}, fmt.Sprint("t", i), "c", start.Add(time.Duration(i)*time.Second))
	}
	first, err := m.List(ctx, store.Owner{}, store.Query{Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, m, store.Key{Task: "t4"}, 1, status("t4", runtime.StateWorking, start.Add(time.Minute))) // the cursor's task moves to the front
	second, err := m.List(ctx, store.Owner{}, store.Query{Size: 9, Token: first.Next})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range second.Tasks {
		got = append(got, task.TaskInfo().ID)
	}
	if strings.Join(got, " ") != "t3 t2 t1 t0" {
		t.Errorf("the second page is %v", got)
	}
	for _, token := range []string{"x", "AAAA", first.Next[:10], first.Next + "="} {
		if _, err := m.List(ctx, store.Owner{}, store.Query{Size: 2, Token: token}); !errors.Is(err, store.ErrCursor) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

// A snapshot and the events after its version are together exactly the task, whenever the snapshot is taken and however many write: nothing is lost,
// doubled or reordered (R66, R68).
func TestSnapshotAndEventsAreAtomicUnderConcurrency(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := memory.New(memory.Limits{Tasks: 1000})
		key := create(t, m, store.Owner{}, "t", "c", start)
		const writers, each = 3, 20
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					for {
						snap, err := m.Get(ctx, key, store.View{History: new(int)})
						if err != nil {
							t.Error(err)
							return
						}
						if _, err = m.Apply(ctx, key, snap.Version, chunk("t", fmt.Sprintf("%d.%d ", w, i)), nil); err == nil {
							break
						} else if !errors.Is(err, store.ErrConflict) {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		readers := rapid.IntRange(1, 3).Draw(rt, "readers")
		seen := make([]string, readers)
		for r := range readers {
			wg.Go(func() {
				snap, err := m.Get(ctx, key, store.Full)
				if err != nil {
					t.Error(err)
					return
				}
				text, version := texts(snap.Task), snap.Version
				for version < 1+writers*each {
					recs, err := m.Events(ctx, key, version, 0)
					if err != nil {
						t.Error(err)
						return
					}
					for _, rec := range recs {
						if rec.Seq != version+1 {
							t.Errorf("event %d follows %d", rec.Seq, version)
						}
						version = rec.Seq
						e, err := rec.Event()
						if err != nil {
							t.Error(err)
							return
						}
						text += e.Generated().(*a2a.TaskArtifactUpdateEvent).Artifact.Text()
					}
				}
				seen[r] = text
			})
		}
		wg.Wait()
		final, err := m.Get(ctx, key, store.Full)
		if err != nil {
			rt.Fatal(err)
		}
		for _, text := range seen {
			if text != texts(final.Task) {
				rt.Fatalf("a reader saw %q, the task is %q", text, texts(final.Task))
			}
		}
		for w := range writers {
			at := 0
			for i := range each {
				n := strings.Index(texts(final.Task)[at:], fmt.Sprintf("%d.%d ", w, i))
				if n < 0 {
					rt.Fatalf("chunk %d.%d is lost or out of order", w, i)
				}
				at += n
			}
		}
	})
}

func TestAnEventIsEncodedOnceForAllReaders(t *testing.T) {
	m := memory.New(memory.Limits{})
	key := create(t, m, store.Owner{}, "t", "c", start)
	apply(t, m, key, 1, chunk("t", "x"))
	recs, err := m.Events(ctx, key, 1, 0)
	if err != nil || len(recs) != 1 {
		t.Fatal(recs, err)
	}
	rec, calls := recs[0], 0
	encode := func(dst []byte, e runtime.Event) ([]byte, error) {
		calls++
		return proto.Versions[0].AppendEvent(dst, e)
	}
	for range 3 {
		b, err := rec.Encode(0, encode)
		if err != nil || !strings.Contains(string(b), `"x"`) {
			t.Fatalf("%s: %v", b, err)
		}
	}
	if calls != 1 || rec.Encoded(0) == nil || rec.Encoded(1) != nil {
		t.Errorf("encoded %d times", calls)
	}
	if b, err := rec.Encode(9, encode); err != nil || b == nil || rec.Encoded(9) != nil {
		t.Errorf("a version beyond the cache: %v", err)
	}
}

func TestARecordOfBytesIsDecodedWhenAsked(t *testing.T) {
	v := proto.Versions[0]
	newest, err := v.AppendEvent(nil, chunk("t", "x").Event)
	if err != nil {
		t.Fatal(err)
	}
	rec := store.NewRecord(7, runtime.EventArtifact, 0, newest, v.ReadEvent)
	if e, err := rec.Event(); err != nil || e.Generated().(*a2a.TaskArtifactUpdateEvent).Artifact.Text() != "x" {
		t.Errorf("decoded to %v: %v", e, err)
	}
	never := func([]byte, runtime.Event) ([]byte, error) { return nil, errors.New("encoded anew") }
	if b, err := rec.Encode(0, never); err != nil || string(b) != string(newest) {
		t.Errorf("encoded to %s: %v", b, err)
	}
	if b, err := rec.Encode(1, v.AppendEvent); err != nil || string(b) != string(newest) {
		t.Errorf("for another version %s: %v", b, err)
	}
}

func FuzzPageToken(f *testing.F) {
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("")
	m := memory.New(memory.Limits{})
	create(f, m, store.Owner{}, "t", "c", start)
	f.Fuzz(func(t *testing.T, token string) {
		if p, err := m.List(ctx, store.Owner{}, store.Query{Size: 1, Token: token}); err != nil && !errors.Is(err, store.ErrCursor) || len(p.Tasks) > 1 {
			t.Errorf("%v", err)
		}
	})
}
