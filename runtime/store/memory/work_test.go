package memory_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

func found(t *testing.T, s store.Store, key store.Key, call *store.Call) store.Snapshot {
	t.Helper()
	n := store.New{
		Task: proto.NewTask(key.Task, "c", start), Private: store.Private{Skill: "s"}, Stamp: 1, Call: call,
	}
	snap, err := s.Create(ctx, key, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func said(id string, state runtime.State, stamp uint64, epoch, done int64) store.Update {
	u := status(id, state, start)
	u.Stamp, u.Epoch, u.Done = stamp, epoch, done
	return u
}

func message(id string, stamp uint64) store.Update {
	u := said(id, runtime.StateWorking, stamp, 0, 0)
	u.Call = &store.Call{}
	return u
}

func TestAnInstanceTakesOverWhatAnotherLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Limits{})
		a, b := m.Instance(time.Minute), m.Instance(time.Minute)
		key := store.Key{Task: "t"}
		found(t, a, key, &store.Call{})
		woken := make(chan struct{}, 9)
		defer a.Watch(key, func() { woken <- struct{}{} })()
		if runs, err := b.Claim(ctx, []string{"s"}, 9); err != nil || len(runs) != 0 {
			t.Fatalf("too early: %v, %v", runs, err)
		}
		time.Sleep(2 * time.Minute)
		if runs, err := b.Claim(ctx, []string{"other"}, 9); err != nil || len(runs) != 0 {
			t.Fatalf("of another skill: %v, %v", runs, err)
		}
		if _, err := b.Renew(ctx); err != nil {
			t.Fatal(err)
		}
		runs, err := b.Claim(ctx, []string{"s"}, 9)
		if err != nil || len(runs) != 1 || runs[0].Call.Attempt != 2 || runs[0].Key != key {
			t.Fatalf("taken over: %+v, %v", runs, err)
		}
		if _, err := a.Apply(ctx, key, 0, said("t", runtime.StateWorking, 2, 1, 0), nil); !errors.Is(err, store.ErrLost) {
			t.Errorf("the one before still speaks: %v", err)
		}
		if lease, err := a.Renew(ctx); err != nil || len(lease.Lost) != 1 || lease.For != time.Minute {
			t.Errorf("it hears %+v: %v", lease, err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := a.Claim(ctx, []string{"s"}, 9)
		if err != nil || len(again) != 1 || again[0].Call.Attempt != 2 || again[0].Epoch <= runs[0].Epoch {
			t.Fatalf("given back: %+v, %v", again, err)
		}
		end := said("t", runtime.StateCompleted, 3, again[0].Epoch, 1)
		if _, err := b.Apply(ctx, key, 0, end, nil); !errors.Is(err, store.ErrLost) {
			t.Errorf("another ends it: %v", err)
		}
		if _, err := b.Apply(ctx, key, 1, message("t", 4), nil); err != nil {
			t.Fatal(err)
		}
		<-woken
	})
}

func TestATaskIsShownAsItWasAtAnEventThatIsStillToBeSent(t *testing.T) {
	s := memory.New(memory.Limits{})
	key := store.Key{Task: "t"}
	found(t, s, key, nil)
	apply(t, s, key, 1, chunk("t", "early"))
	if err := s.SetPush(ctx, key, store.Push{ID: "p", Tasks: true}); err != nil {
		t.Fatal(err)
	}
	apply(t, s, key, 2, chunk("t", "a"))
	said := status("t", runtime.StateWorking, start)
	said.Messages = []runtime.Message{proto.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", User: true}})}
	apply(t, s, key, 3, said)
	apply(t, s, key, 4, chunk("t", "b"))
	apply(t, s, key, 5, status("t", runtime.StateCompleted, start))
	shown := func(at int64) (state runtime.State, parts, history int) {
		t.Helper()
		snap, err := s.Get(ctx, key, store.View{Artifacts: true, At: at})
		if err != nil || snap.Version != at {
			t.Fatalf("at %d there is version %d: %v", at, snap.Version, err)
		}
		info := snap.Task.TaskInfo()
		return info.State, len(snap.Task.ArtifactList()[0].Parts), info.History
	}
	for at, want := range map[int64]struct {
		state          runtime.State
		parts, history int
	}{
		2: {runtime.StateSubmitted, 1, 0}, 3: {runtime.StateSubmitted, 2, 0}, 4: {runtime.StateWorking, 2, 1},
		5: {runtime.StateWorking, 3, 1}, 6: {runtime.StateCompleted, 3, 1},
	} {
		if state, parts, history := shown(at); state != want.state || parts != want.parts || history != want.history {
			t.Errorf("at %d: %v, %d parts, %d messages; want %v", at, state, parts, history, want)
		}
	}
	due, _, err := s.Due(ctx, 1, time.Minute)
	if err != nil || len(due) != 1 || due[0].Next != 3 || due[0].Until != 0 {
		t.Fatalf("due are %+v: %v", due, err)
	}
	if err := s.Settle(ctx, due[0], store.Outcome{Sent: 4, Until: 6}); err != nil {
		t.Fatal(err)
	}
	if state, parts, _ := shown(5); state != runtime.StateWorking || parts != 3 {
		t.Errorf("after some were sent: %v, %d parts", state, parts)
	}
	if _, err := s.Get(ctx, key, store.View{At: 2}); !errors.Is(err, store.ErrTrimmed) {
		t.Errorf("before what is to be sent: %v", err)
	}
	due, _, _ = s.Due(ctx, 1, time.Minute)
	if len(due) != 1 || due[0].Next != 5 || due[0].Until != 6 {
		t.Fatalf("then are due %+v", due)
	}
	if err := s.Settle(ctx, due[0], store.Outcome{Again: time.Nanosecond}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
	if due, _, _ = s.Due(ctx, 1, time.Minute); len(due) != 1 || due[0].Until != 6 {
		t.Errorf("a failure forgets what travels together: %+v", due)
	}
}

// A stamp says what the instance is to begin only to the one that runs the task: not when its lease was over meanwhile,
// and however many updates there were since.
func TestAStampBeginsOnlyOwnWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Limits{}).Instance(time.Minute)
		key := store.Key{Task: "t"}
		found(t, s, key, &store.Call{})
		for i := range int64(20) {
			if _, err := s.Apply(ctx, key, i+1, message("t", uint64(100+i)), nil); err != nil {
				t.Fatal(err)
			}
		}
		if snap := found(t, s, key, &store.Call{}); snap.Run == nil {
			t.Error("it is not known any more after many updates")
		}
		time.Sleep(2 * time.Minute)
		if _, err := s.Renew(ctx); err != nil {
			t.Fatal(err)
		}
		if snap := found(t, s, key, &store.Call{}); snap.Run != nil {
			t.Error("it is to be begun by an instance that has lost it")
		}
	})
}

// A store in memory knows nothing of what came before it: a message that may have come then is not taken for a new one.
func TestAMessageFromBeforeTheStoreIsNotTakenForNew(t *testing.T) {
	opened := time.Now()
	m := memory.NewAt(memory.Limits{}, func() time.Time { return opened })
	send := func(task string, since time.Time) error {
		n := store.New{Task: proto.NewTask(task, "c", start), Private: store.Private{Skill: "s"}, Stamp: 1}
		n.Repeat = &store.Repeat{Key: task, For: time.Hour, Since: since}
		_, err := m.Create(ctx, store.Key{Task: task}, n, nil)
		return err
	}
	if err := send("before", opened.Add(-time.Second)); !errors.Is(err, store.ErrForgotten) {
		t.Errorf("from before: %v", err)
	}
	if err := errors.Join(send("first", time.Time{}), send("since", opened)); err != nil {
		t.Errorf("one that is new, and one that would be known: %v", err)
	}
}
