package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a feed with a task that the test writes.
type desk struct {
	*Feed
	Topic
	t       *testing.T
	key     store.Key
	budget  budget.Budget
	encoded int // tasks
	closed  int // streams
	close   chan struct{}
}

func newDesk(t *testing.T, limits memory.Limits) *desk {
	t.Helper()
	p := a2a.Protocol()
	d := &desk{t: t, key: store.Key{Task: "t"}, budget: budget.Budget{Limit: 1 << 20}, close: make(chan struct{})}
	d.Feed = &Feed{Config: Config{
		Store: memory.New(limits), Protocol: p, Context: t.Context, MaxStreams: 2,
		Show:      func(_ context.Context, task runtime.Task) runtime.Task { return task },
		Heartbeat: time.Minute, Stall: time.Minute, Closing: d.close,
	}}
	d.Ticker.SetPace(time.Minute, time.Minute)
	d.Ticker.Tick, d.Ticker.Started = func(time.Time) {}, func() {}
	t.Cleanup(d.Ticker.Stop)
	task := p.NewTask("t", "c", time.Now())
	if _, err := d.Store.Create(t.Context(), d.key, store.New{Task: task}, nil); err != nil {
		t.Fatal(err)
	}
	return d
}

// says adds events to the task: a word in capitals is a status, any other a chunk.
func (d *desk) says(words ...string) {
	d.t.Helper()
	for _, word := range words {
		h, err := d.Store.Head(d.t.Context(), d.key)
		if err != nil {
			d.t.Fatal(err)
		}
		u := store.Update{Event: d.Protocol.NewArtifact("t", "c", runtime.ArtifactData{
			ID: "story", Append: h.Version > 1, Parts: []runtime.Part{runtime.Text(word)},
		})}
		states := map[string]runtime.State{"COMPLETED": runtime.StateCompleted, "ASKS": runtime.StateInputRequired}
		if state, ok := states[word]; ok {
			u.Event = d.Protocol.NewStatus("t", "c", state, nil, time.Now())
		}
		if _, err := d.Store.Apply(d.t.Context(), d.key, h.Version, u, nil); err != nil {
			d.t.Fatal(err)
		}
		d.Wake()
	}
}

func (d *desk) open(ctx context.Context) *Stream {
	d.t.Helper()
	v := d.Protocol.Versions[0]
	st, err := d.Open(Reading{
		Client: ctx, Key: d.key, Version: v, Response: &budget.Response{Budget: &d.budget, Stall: time.Second},
		Release: func() { d.closed++ },
		Coding: Coding{Append: func(dst []byte, e runtime.Event) ([]byte, error) {
			if _, ok := e.(runtime.Task); ok {
				d.encoded++
			}
			return v.AppendEvent(dst, e)
		}},
	}, &d.Topic)
	if err != nil {
		d.t.Fatal(err)
	}
	return st
}

// step tells what a stream has: the numbers of its events, or the task.
func (d *desk) step(st *Stream) string {
	d.t.Helper()
	switch st.Next() {
	case Snapshot:
		said := ""
		if err := st.WriteSnapshot(func(seq int64, event []byte) error {
			said += fmt.Sprintf("task at %d", seq)
			return nil
		}); err != nil {
			d.t.Fatal(err)
		}
		return said
	case Events:
		var said []string
		for st.Len() > 0 {
			if _, err := st.Append(nil, 0); err != nil {
				d.t.Fatal(err)
			}
			said = append(said, fmt.Sprint(st.Seq(0)))
			st.Take(1)
		}
		return strings.Join(said, " ")
	case Silence:
		return "silence"
	}
	return "over"
}

func (d *desk) wants(st *Stream, steps ...string) {
	d.t.Helper()
	for _, want := range steps {
		if got := d.step(st); got != want {
			d.t.Fatalf("the stream has %q, want %q", got, want)
		}
	}
}

func TestASubscriptionIsTheTaskAndThenItsEvents(t *testing.T) {
	d := newDesk(t, memory.Limits{})
	d.says("a")
	st := d.open(t.Context())
	defer st.Close()
	if err := st.Subscribe(0); err != nil {
		t.Fatal(err)
	}
	d.wants(st, "task at 2")
	d.says("b", "ASKS") // a subscription goes on while the task waits for its client
	d.wants(st, "3 4")
	d.says("c", "COMPLETED")
	d.wants(st, "5 6", "over")
	if !st.Complete() {
		t.Error("the stream is not complete")
	}
}

func TestTheStreamOfAMessageEndsWithAQuestion(t *testing.T) {
	d := newDesk(t, memory.Limits{})
	snap, err := d.Store.Get(t.Context(), d.key, store.Full)
	if err != nil {
		t.Fatal(err)
	}
	st := d.open(t.Context())
	defer st.Close()
	st.Begin(snap.Task, snap.Version)
	d.says("a", "ASKS")
	d.wants(st, "task at 1", "2 3", "over")
}

func TestASubscriptionGoesOnAfterTheLastEventThatItsClientHas(t *testing.T) {
	d := newDesk(t, memory.Limits{Events: 4})
	reader := NewReader(false) // a store in memory keeps events for readers
	d.Attach(reader)
	defer d.Detach(reader)
	d.says("a", "b", "c", "COMPLETED")
	for after, want := range map[int64][]string{4: {"5", "over"}, 3: {"4 5", "over"}} {
		st := d.open(t.Context())
		if err := st.Subscribe(after); err != nil {
			t.Fatal(err)
		}
		d.wants(st, want...)
		st.Close()
	}
	st := d.open(t.Context())
	defer st.Close()
	if err := st.Subscribe(0); runtime.Made(err) == nil || runtime.Made(err).Code != runtime.ErrUnsupportedOperation.Code {
		t.Errorf("a subscription to a task that has ended: %v", err) // R310
	}
}

func TestAClientThatIsTooSlowForTheLogBeginsAnew(t *testing.T) {
	d := newDesk(t, memory.Limits{Events: 4})
	st := d.open(t.Context())
	defer st.Close()
	if err := st.Subscribe(0); err != nil {
		t.Fatal(err)
	}
	d.wants(st, "task at 1")
	for range 20 {
		d.says("x")
	}
	d.wants(st, "task at 21")
}

func TestStreamsThatBeginTogetherEncodeTheTaskOnce(t *testing.T) {
	d := newDesk(t, memory.Limits{})
	d.says("a")
	one, two := d.open(t.Context()), d.open(t.Context())
	for _, st := range []*Stream{one, two} {
		defer st.Close()
		if err := st.Subscribe(0); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.WriteSnapshot(func(int64, []byte) error { // while one is being written the other begins
		d.wants(two, "task at 2")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if d.encoded != 1 {
		t.Errorf("the task was encoded %d times", d.encoded)
	}
	if taken := d.budget.Taken(); taken != 0 || len(d.snapshots.all) != 0 {
		t.Errorf("%d bytes and %d snapshots are left", taken, len(d.snapshots.all))
	}
}

func TestASilentStreamHasAHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, memory.Limits{})
		st := d.open(t.Context())
		defer st.Close()
		if err := st.Subscribe(0); err != nil {
			t.Fatal(err)
		}
		d.wants(st, "task at 1")
		begin := time.Now()
		d.wants(st, "silence", "silence")
		if took := time.Since(begin); took > 2*time.Minute+time.Second {
			t.Errorf("two heartbeats took %v", took)
		}
		d.Ticker.Stop()
		synctest.Wait()
	})
}

func TestAStreamEndsWithItsClientAndWithTheAgent(t *testing.T) {
	d := newDesk(t, memory.Limits{})
	ctx, leave := context.WithCancel(t.Context())
	left, closed := d.open(ctx), d.open(t.Context())
	if _, err := d.Open(Reading{Client: ctx, Release: func() { d.closed++ }}, &d.Topic); !errors.Is(err, budget.ErrBusy) || d.closed != 1 {
		t.Errorf("a stream too many: %v", err)
	}
	for _, st := range []*Stream{left, closed} {
		if err := st.Subscribe(0); err != nil {
			t.Fatal(err)
		}
		d.wants(st, "task at 1")
	}
	leave()
	d.wants(left, "over")
	d.says("a") // what the log holds when the agent closes still goes out
	close(d.close)
	d.Ticker.Stop()
	d.wants(closed, "2", "over")
	left.Close()
	closed.Close()
	if d.Streams() != 0 || d.closed != 3 || d.attached.Load() != 0 {
		t.Errorf("%d streams and %d readers are left", d.Streams(), d.attached.Load())
	}
}

func TestASequenceEndsWithItsErrorOrItsTime(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		run  func(ctx context.Context, yield func(any, error) bool)
		want string
	}{
		"to the end": {func(_ context.Context, yield func(any, error) bool) { _ = yield(1, nil) && yield(2, nil) }, "1 2 complete"},
		"an error":   {func(_ context.Context, yield func(any, error) bool) { _ = yield(1, nil) && yield(nil, broken) }, "1 broken"},
		"no end": {func(ctx context.Context, yield func(any, error) bool) {
			_ = yield(1, nil)
			<-ctx.Done()
		}, "1 count: context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, memory.Limits{})
				defer d.Ticker.Stop()
				q, err := d.OpenSequence(t.Context(), time.Second, "count", c.run)
				if err != nil {
					t.Fatal(err)
				}
				var said []string
				for q.Next() == Events {
					item, err := q.Item()
					if err != nil {
						said = append(said, err.Error())
						break
					}
					said = append(said, fmt.Sprint(item))
				}
				if q.Complete() {
					said = append(said, "complete")
				}
				q.Close()
				if got := strings.Join(said, " "); got != c.want || d.Streams() != 0 {
					t.Errorf("it has %q, want %q; %d streams are left", got, c.want, d.Streams())
				}
			})
		})
	}
}
