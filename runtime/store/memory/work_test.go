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

// stores are those of one and of several instances.
func stores(t *testing.T, run func(t *testing.T, s store.Store)) {
	t.Run("memory", func(t *testing.T) { run(t, memory.New(memory.Limits{})) })
	t.Run("instance", func(t *testing.T) { run(t, memory.New(memory.Limits{}).Instance(time.Minute)) })
}

func TestACallWaitsForTheOneBefore(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		key := store.Key{Task: "t"}
		snap := found(t, s, key, &store.Call{})
		if snap.Run == nil || snap.Run.N != 1 || snap.Run.Attempt != 1 || snap.Epoch == 0 {
			t.Fatalf("the first call is %+v in epoch %d", snap.Run, snap.Epoch)
		}
		epoch := snap.Epoch
		if snap, err := s.Apply(ctx, key, 1, message("t", 2), nil); err != nil || snap.Run != nil {
			t.Fatalf("the second begins at once: %+v, %v", snap.Run, err)
		}
		a := chunk("t", "x")
		a.Epoch = epoch
		if _, err := s.Apply(ctx, key, 0, a, nil); err != nil {
			t.Fatal(err)
		}
		end := said("t", runtime.StateInputRequired, 3, epoch, 1)
		for range 2 { // the second time nothing happens
			snap, err := s.Apply(ctx, key, 0, end, nil)
			if err != nil || snap.Run == nil || snap.Run.N != 2 || snap.Run.Made != 1 || snap.Version != 4 {
				t.Fatalf("then %+v at %d: %v", snap.Run, snap.Version, err)
			}
		}
		if h, err := s.Head(ctx, key); err != nil || h.Calls != 2 || h.Done != 1 || !h.Running || h.Skill != "s" {
			t.Errorf("the head is %+v: %v", h, err)
		}
		end = said("t", runtime.StateInputRequired, 4, epoch, 2)
		if snap, err := s.Apply(ctx, key, 0, end, nil); err != nil || snap.Run != nil {
			t.Fatalf("then %+v: %v", snap.Run, err)
		}
		late := said("t", runtime.StateWorking, 5, epoch, 0)
		if _, err := s.Apply(ctx, key, 0, late, nil); !errors.Is(err, store.ErrLost) {
			t.Errorf("a handler that is over: %v", err)
		}
		snap, err := s.Apply(ctx, key, 5, message("t", 6), nil)
		if err != nil || snap.Run == nil || snap.Run.N != 3 || snap.Epoch <= epoch {
			t.Errorf("the third is %+v in epoch %d: %v", snap.Run, snap.Epoch, err)
		}
		if _, err := s.Apply(ctx, key, 6, said("t", runtime.StateCanceled, 7, 0, 0), nil); err != nil {
			t.Fatal(err)
		}
		if h, err := s.Head(ctx, key); err != nil || h.Calls != 3 || h.Done != 3 || h.Running {
			t.Errorf("in the end the head is %+v: %v", h, err)
		}
	})
}

func TestTheSameStampIsOneUpdate(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		key := store.Key{Task: "t"}
		found(t, s, key, &store.Call{})
		if snap := found(t, s, key, &store.Call{}); snap.Run == nil || snap.Version != 1 {
			t.Errorf("created again: %+v at %d", snap.Run, snap.Version)
		}
		for range 2 {
			if snap, err := s.Apply(ctx, key, 1, message("t", 2), nil); err != nil || snap.Version != 2 {
				t.Errorf("at %d: %v", snap.Version, err)
			}
		}
		end := said("t", runtime.StateCompleted, 3, 1, 1)
		for range 2 {
			if snap, err := s.Apply(ctx, key, 0, end, nil); err != nil || snap.Version != 3 {
				t.Errorf("at %d: %v", snap.Version, err)
			}
		}
		if snap, _ := s.Get(ctx, key, store.Full); snap.Version != 3 {
			t.Errorf("the task is at %d", snap.Version)
		}
	})
}

func TestARepeatedMessageNamesItsTask(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		r := func(digest byte) *store.Repeat {
			return &store.Repeat{Key: "k", Digest: [32]byte{digest}, For: time.Hour}
		}
		n := store.New{Task: proto.NewTask("t", "c", start), Repeat: r(1)}
		if _, err := s.Create(ctx, store.Key{Task: "t"}, n, nil); err != nil {
			t.Fatal(err)
		}
		for digest, same := range map[byte]bool{1: true, 2: false} {
			n := store.New{Task: proto.NewTask("u", "c", start), Repeat: r(digest)}
			_, err := s.Create(ctx, store.Key{Task: "u"}, n, nil)
			var again *store.Repeated
			if !errors.As(err, &again) || again.Task != "t" || again.Same != same || store.Unsure(err) {
				t.Errorf("digest %d: %v", digest, err)
			}
		}
		n.Task = proto.NewTask("u", "c", start)
		if _, err := s.Create(ctx, store.Key{Task: "u", Owner: store.Owner{Principal: "eve"}}, n, nil); err != nil {
			t.Errorf("of somebody else: %v", err)
		}
	})
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

func TestWhatIsDueIsDeliveredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Limits{Pushes: 2})
		key := store.Key{Task: "t"}
		found(t, s, key, nil)
		apply(t, s, key, 1, chunk("t", "early"))
		p := store.Push{ID: "p", Config: runtime.PushConfig{URL: "https://example.com"}}
		for _, id := range []string{"p", "a"} {
			p.ID = id
			if err := s.SetPush(ctx, key, p); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.SetPush(ctx, key, store.Push{ID: "z"}); !errors.Is(err, store.ErrFull) {
			t.Errorf("one too many: %v", err)
		}
		if all, err := s.Pushes(ctx, key); err != nil || len(all) != 2 || all[0].ID != "a" {
			t.Errorf("there are %+v: %v", all, err)
		}
		if err := s.DeletePush(ctx, key, "p"); err != nil {
			t.Fatal(err)
		}
		if due, next, err := s.Due(ctx, 9, time.Minute); err != nil || len(due) != 0 || next != -1 {
			t.Fatalf("before there is anything: %+v, %v, %v", due, next, err)
		}
		u := chunk("t", "x")
		u.Unread = true
		apply(t, s, key, 2, u)
		due, next, err := s.Due(ctx, 9, time.Minute)
		if err != nil || len(due) != 1 || due[0].Next != 3 || next != time.Minute {
			t.Fatalf("due are %+v, %v: %v", due, next, err)
		}
		if recs, err := s.Events(ctx, key, due[0].Next-1, 5); err != nil || len(recs) != 1 {
			t.Errorf("to be sent are %v: %v", recs, err)
		}
		if again, _, _ := s.Due(ctx, 9, time.Minute); len(again) != 0 {
			t.Errorf("claimed twice: %+v", again)
		}
		apply(t, s, key, 3, chunk("t", "y"))
		if err := s.Settle(ctx, due[0], store.Outcome{Sent: 3, Again: time.Second}); err != nil {
			t.Fatal(err)
		}
		if err := s.Settle(ctx, due[0], store.Outcome{Sent: 4}); !errors.Is(err, store.ErrLost) {
			t.Errorf("settled twice: %v", err)
		}
		time.Sleep(time.Second)
		due, _, _ = s.Due(ctx, 9, time.Minute)
		if len(due) != 1 || due[0].Next != 4 || due[0].Attempt != 1 || due[0].Since.IsZero() {
			t.Fatalf("tried again: %+v", due)
		}
		if err := s.Settle(ctx, due[0], store.Outcome{Sent: 4}); err != nil {
			t.Fatal(err)
		}
		if due, next, _ := s.Due(ctx, 9, time.Minute); len(due) != 0 || next != -1 {
			t.Errorf("nothing is left: %+v, %v", due, next)
		}
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

// A task stays for what is still to be sent of it, but not when its room is needed: receivers that are away would keep the
// store full.
func TestWhatIsToBeSentKeepsATaskFromTheSweepOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Limits{Tasks: 2, Ended: time.Hour})
		for _, id := range []string{"a", "b"} {
			key := store.Key{Task: id}
			found(t, s, key, nil)
			if err := s.SetPush(ctx, key, store.Push{ID: "p"}); err != nil {
				t.Fatal(err)
			}
			apply(t, s, key, 1, status(id, runtime.StateCompleted, time.Now()))
		}
		time.Sleep(2 * time.Hour)
		if n, _, err := s.Sweep(ctx); err != nil || n != 0 || s.Len() != 2 {
			t.Fatalf("%d are swept: %v", n, err)
		}
		due, _, err := s.Due(ctx, 2, time.Minute)
		if err != nil || len(due) != 2 {
			t.Fatalf("due are %v: %v", due, err)
		}
		found(t, s, store.Key{Task: "c"}, nil)
		if err := s.Settle(ctx, due[0], store.Outcome{Sent: 2}); !errors.Is(err, store.ErrLost) || s.Len() != 2 {
			t.Errorf("the longest ended one is still there: %v", err)
		}
		if err := s.Settle(ctx, due[1], store.Outcome{Sent: 2}); err != nil {
			t.Fatal(err)
		}
		if n, _, err := s.Sweep(ctx); err != nil || n != 1 {
			t.Errorf("%d are swept when all is sent: %v", n, err)
		}
	})
}

func TestOneOwnerDoesNotTakeAllPushConfigurations(t *testing.T) {
	s := memory.New(memory.Limits{Pushes: 4})
	ann, bob := store.Key{Owner: store.Owner{Principal: "ann"}, Task: "t"}, store.Key{Owner: store.Owner{Principal: "bob"}, Task: "t"}
	found(t, s, ann, nil)
	found(t, s, bob, nil)
	set := func(key store.Key, id string) error { return s.SetPush(ctx, key, store.Push{ID: id}) }
	for i, want := range []error{nil, nil, store.ErrFull} {
		if err := set(ann, string(rune('a'+i))); !errors.Is(err, want) {
			t.Errorf("%d of ann's: %v, want %v", i+1, err, want)
		}
	}
	if err := set(bob, "a"); err != nil {
		t.Errorf("the first of bob's: %v", err)
	}
	if err := s.DeletePush(ctx, ann, "a"); err != nil {
		t.Fatal(err)
	}
	if err := set(ann, "c"); err != nil {
		t.Errorf("in place of one that was deleted: %v", err)
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
