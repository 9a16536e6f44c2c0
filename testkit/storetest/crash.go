package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// story is what a process did before it ended, as far as the store acknowledged it.
type story struct {
	*suite
	in      store.Store
	events  []string // acknowledged, of the task
	asked   []string // one that was not
	created bool
	whole   bool  // a task that came with its end
	calls   int64 // taken on
	pushed  bool
}

// tell makes calls of many kinds, and stops at the first that fails.
func (t *story) tell(in store.Store) {
	t.in = in
	n := t.working("t")
	n.Repeat = &store.Repeat{Key: "k", For: time.Hour}
	snap, err := in.Create(ctx, key("t"), n, nil)
	if err != nil {
		return
	}
	t.created, t.calls = true, 1
	if _, err := in.Create(ctx, wholeKey, t.answered("whole"), nil); err != nil {
		return
	}
	t.whole = true
	if err := in.SetPush(ctx, key("t"), store.Push{ID: "p"}); err != nil {
		return
	}
	t.pushed = true
	epoch := snap.Epoch
	follow := t.follow("t")
	follow.Messages = []runtime.Message{t.message("m2", "more")}
	big := t.chunk("t", "a", strings.Repeat("x", 70_000)) // so that a body is written
	end := t.status("t", runtime.StateWorking, time.Second)
	end.Epoch, end.Done = epoch, 1
	big.Epoch = epoch
	last := t.said("t", runtime.StateCompleted, "done")
	last.Epoch = epoch
	last.Done = 2
	for i, u := range []store.Update{follow, big, end, last} {
		if !t.says(i, u) {
			return
		}
	}
	due, _, err := in.Due(ctx, 1, time.Minute)
	if err != nil || len(due) != 1 {
		return
	}
	_ = in.Settle(ctx, due[0], store.Outcome{Sent: 3})
}

// wholeKey is that of a task that comes with its end.
var wholeKey = store.Key{Owner: store.Owner{Principal: "p"}, Task: "whole"}

// checkWhole finds the task that came with its end, all of it, or nothing unless it was acknowledged.
func (t *story) checkWhole(left store.Store) {
	h, err := left.Head(ctx, wholeKey)
	if errors.Is(err, store.ErrNotFound) && !t.whole {
		return
	}
	if err != nil || h.Version != 4 || h.State != runtime.StateCompleted || h.Calls != 1 || h.Done != 1 {
		t.Errorf("the task that came with its end is %+v, %v", h, err)
	} else if n := len(t.suite.events(left, wholeKey, 1)); n != 3 {
		t.Errorf("it has %d events", n)
	}
}

// says makes the next update.
func (t *story) says(i int, u store.Update) bool {
	expect := int64(0)
	if u.Epoch == 0 {
		expect = int64(i) + 1
	}
	t.asked = []string{t.json(u.Event)}
	if _, err := t.in.Apply(ctx, key("t"), expect, u, nil); err != nil {
		return false
	}
	if u.Call != nil {
		t.calls++
	}
	t.events, t.asked = append(t.events, t.asked...), nil
	return true
}

// check compares what is left with what was acknowledged.
func (t *story) check(left store.Store) {
	t.checkWhole(left)
	h, err := left.Head(ctx, key("t"))
	if errors.Is(err, store.ErrNotFound) && !t.created {
		t.create(left, t.working("t"), key("t"))
		return
	}
	if err != nil {
		t.Fatalf("after %d events: %v", len(t.events), err)
	}
	log := t.suite.events(left, key("t"), 1)
	known := len(t.events)
	if len(log) < known || len(log) > known+len(t.asked) || h.Version != int64(len(log))+1 {
		t.Fatalf("%d events were acknowledged, %d are there, and the version is %d", known, len(log), h.Version)
	}
	if want := append(t.events, t.asked...)[:len(log)]; !slices.Equal(log, want) {
		t.Errorf("the log is\n%s\nwant\n%s", log, want)
	}
	task, err := left.Get(ctx, key("t"), store.Full)
	if err != nil || task.Version != h.Version {
		t.Fatalf("the task has version %d, its log %d: %v", task.Version, h.Version, err)
	}
	page, err := left.List(ctx, store.Owner{}, store.Query{Size: 10, State: h.State})
	if err != nil || page.Total != 1 || len(page.Tasks) != 1 {
		t.Errorf("it is listed %d times of %d: %v", len(page.Tasks), page.Total, err)
	}
	list, err := left.Pushes(ctx, key("t"))
	if err != nil || t.pushed && len(list) != 1 {
		t.Errorf("there are %d configurations: %v", len(list), err)
	}
	var r *store.Repeated
	n := t.task("u")
	n.Repeat = &store.Repeat{Key: "k", For: time.Hour}
	if _, err := left.Create(ctx, key("u"), n, nil); !errors.As(err, &r) || r.Task != "t" {
		t.Errorf("the message again: %v", err)
	}
	t.goesOn(left, h)
}

// goesOn finishes the open calls, as the next process does.
func (t *story) goesOn(in store.Store, h store.Head) {
	runs, err := in.Claim(ctx, []string{"skill"}, 9)
	if err != nil {
		t.Fatal(err)
	}
	if open := !h.State.Terminal() && h.Calls > h.Done; open != (len(runs) == 1) || h.Calls < t.calls {
		t.Fatalf("%d calls were taken on; of %d are done %d, and %d are to be taken over", t.calls, h.Calls, h.Done,
			len(runs))
	}
	for run := runs; len(run) > 0; {
		u := t.said("t", runtime.StateWorking, "on")
		u.Epoch, u.Done = run[0].Epoch, run[0].Call.N
		if u.Done == h.Calls {
			u.Event = t.said("t", runtime.StateCompleted, "done").Event
		}
		snap := t.apply(in, key("t"), 0, u)
		if run = nil; snap.Run != nil {
			run = []store.Run{{Snapshot: snap, Call: snap.Run}}
		}
	}
	if h := t.head(in, key("t")); t.calls > 1 && h.Calls != h.Done {
		t.Errorf("in the end %d of %d calls are done", h.Done, h.Calls)
	}
}
