package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// Calls, who runs them, and what happens only once.

// working makes a task with a call.
func (s *suite) working(id string) store.New {
	n := s.task(id)
	n.Call = s.call("first of " + id)
	return n
}

func (s *suite) call(said string) *store.Call {
	return &store.Call{Input: []byte(`"` + said + `"`), Request: &runtime.SendRequest{Message: s.message("r", said)}}
}

// follow makes an update that brings another call.
func (s *suite) follow(id string) store.Update {
	u := s.status(id, runtime.StateWorking, time.Second)
	u.Call = s.call("next of " + id)
	return u
}

// epochs: a handler's update need not know the version, and is refused once the epoch has changed.
func epochs(s *suite) {
	in, k := s.open(), key("t")
	snap := s.create(in, s.working("t"), k)
	if snap.Epoch == 0 || snap.Run == nil {
		s.Fatalf("the new task has epoch %d and runs %v", snap.Epoch, snap.Run)
	}
	epoch := snap.Epoch
	says := func(u store.Update, epoch int64) (store.Snapshot, error) {
		u.Epoch = epoch
		return in.Apply(ctx, k, 0, u, nil)
	}
	s.apply(in, k, 1, s.status("t", runtime.StateWorking, 0)) // a client's
	if snap, err := says(s.chunk("t", "a", "x"), epoch); err != nil || snap.Version != 3 || snap.Epoch != epoch {
		s.Errorf("the handler's word made version %d, epoch %d: %v", snap.Version, snap.Epoch, err)
	}
	for _, other := range []int64{epoch + 1, epoch - 1, 1 << 40} {
		if other != 0 {
			_, err := says(s.chunk("t", "a", "y"), other)
			s.refused("another epoch", err, store.ErrLost)
		}
	}
	u := s.chunk("t", "a", "y")
	u.Epoch = epoch
	_, err := in.Apply(ctx, k, 1, u, nil)
	s.refused("another version", err, store.ErrConflict)
	u = s.status("t", runtime.StateInputRequired, time.Second)
	u.Done = snap.Run.N
	after, err := says(u, epoch)
	if err != nil || after.Run != nil || after.Epoch == epoch {
		s.Errorf("the end of the call: %+v, %v", after, err)
	}
	_, err = says(s.chunk("t", "a", "z"), epoch)
	s.refused("a word after the end", err, store.ErrLost)
	next := s.apply(in, k, s.head(in, k).Version, s.follow("t"))
	if next.Run == nil || next.Run.N != 2 || next.Epoch == epoch {
		s.Fatalf("the next call is %+v in epoch %d", next.Run, next.Epoch)
	}
	canceled := s.apply(in, k, next.Version, s.status("t", runtime.StateCanceled, time.Second))
	if canceled.Epoch == next.Epoch {
		s.Error("a cancel leaves the epoch as it was")
	}
	if _, err = says(s.chunk("t", "a", "z"), next.Epoch); !errors.Is(err, store.ErrEnded) && !errors.Is(err,
		store.ErrLost) {
		s.Errorf("a word after the cancel: %v", err)
	}
	if n := len(s.events(in, k, 1)); n != 5 {
		s.Errorf("the log has %d events", n)
	}
}

// stampsOfCreate: the same creation twice is one.
func stampsOfCreate(s *suite) {
	in, k := s.open(), key("t")
	n := s.working("t")
	first := s.create(in, n, k)
	again, err := in.Create(ctx, k, n, &store.Full)
	if err != nil || again.Version != 1 || again.Run == nil || again.Run.N != 1 || again.Epoch != first.Epoch {
		s.Errorf("again it made %+v: %v", again, err)
	}
	s.same("the task", again.Task, first.Task)
	other := s.working("t")
	_, err = in.Create(ctx, k, other, nil)
	s.refused("another creation", err, store.ErrExists)
	other.Stamp = 0
	_, err = in.Create(ctx, k, other, nil)
	s.refused("a creation without a stamp", err, store.ErrExists)
	if h := s.head(in, k); h.Calls != 1 || h.Done != 0 {
		s.Errorf("the head is %+v", h)
	}
}

// stampsOfUpdates: the same update twice is one, and has the same call for its maker.
func stampsOfUpdates(s *suite) {
	in, k := s.open(), key("t")
	s.create(in, s.task("t"), k)
	u := s.follow("t")
	first := s.apply(in, k, 1, u)
	for range 2 {
		again, err := in.Apply(ctx, k, 1, u, &store.Full)
		if err != nil || again.Version != 2 || again.Run == nil || again.Run.N != first.Run.N || again.Epoch != first.Epoch {
			s.Fatalf("again it made %+v: %v", again, err)
		}
	}
	said := s.chunk("t", "a", "x")
	said.Epoch = first.Epoch
	s.apply(in, k, 0, said)
	s.apply(in, k, 0, said)
	end := s.said("t", runtime.StateCompleted, "done")
	end.Epoch, end.Done = first.Epoch, 1
	s.apply(in, k, 0, end)
	if again := s.apply(in, k, 0, end); again.Version != 4 || again.Run != nil {
		s.Errorf("the end again made version %d", again.Version)
	}
	if n := len(s.events(in, k, 1)); n != 3 {
		s.Errorf("the log has %d events", n)
	}
	if s.Durable && s.Heir != nil {
		in = s.heir(in)
		if again := s.apply(in, k, 0, end); again.Version != 4 {
			s.Errorf("the end made version %d in another process", again.Version)
		}
	}
}

// calls: one is at work at a time, the others wait in order, and none is lost.
func calls(s *suite) {
	in, k := s.open(), key("t")
	first := s.create(in, s.working("t"), k)
	if c := first.Run; c.N != 1 || c.Attempt != 1 || c.Made != 0 || string(c.Input) != `"first of t"` {
		s.Errorf("the first call is %+v", c)
	}
	for i := range 3 {
		u := s.follow("t")
		u.Call = s.call(fmt.Sprint("call ", i+2))
		if snap := s.apply(in, k, int64(i)+1, u); snap.Run != nil {
			s.Errorf("call %d is to begin beside another", i+2)
		}
	}
	if h := s.head(in, k); h.Calls != 4 || h.Done != 0 {
		s.Errorf("the head is %+v", h)
	}
	epoch := first.Epoch
	for n := int64(1); n <= 4; n++ {
		made := s.whole("t", name(int(n)), "x")
		made.Epoch = epoch
		s.apply(in, k, 0, made)
		u := s.status("t", runtime.StateWorking, time.Second)
		u.Epoch, u.Done = epoch, n
		snap := s.apply(in, k, 0, u)
		if n == 4 {
			if snap.Run != nil {
				s.Errorf("after the last comes %+v", snap.Run)
			}
			break
		}
		c := snap.Run
		if c == nil || c.N != n+1 || c.Attempt != 1 || c.Made != int(n) || string(c.Input) != fmt.Sprintf(`"call %d"`, n+1) {
			s.Fatalf("after call %d comes %+v", n, c)
		}
		if got := runtimeText(c.Request.Message); got != fmt.Sprint("call ", n+1) {
			s.Errorf("its message says %q", got)
		}
		epoch = snap.Epoch
		if again := s.apply(in, k, 0, u); again.Run == nil || again.Run.N != n+1 {
			s.Errorf("the same word again brings up %+v", again.Run)
		}
	}
	if h := s.head(in, k); h.Calls != 4 || h.Done != 4 {
		s.Errorf("the head is %+v", h)
	}
}

// runtimeText is the text of a message.
func runtimeText(m runtime.Message) (all string) {
	for _, p := range m.Contents() {
		all += p.Text
	}
	return all
}

// callsEnd: the end of a task ends all its calls.
func callsEnd(s *suite) {
	in, k := s.open(), key("t")
	first := s.create(in, s.working("t"), k)
	s.apply(in, k, 1, s.follow("t"))
	end := s.status("t", runtime.StateCompleted, time.Second)
	end.Epoch, end.Done = first.Epoch, 1
	if snap := s.apply(in, k, 0, end); snap.Run != nil {
		s.Errorf("after the end comes %+v", snap.Run)
	}
	if h := s.head(in, k); h.Calls != 2 || h.Done != 2 {
		s.Errorf("the head is %+v", h)
	}
	if s.Heir == nil {
		return
	}
	if runs, err := s.heir(in).Claim(ctx, []string{"skill"}, 9); err != nil || len(runs) != 0 {
		s.Errorf("to be taken over are %v: %v", runs, err)
	}
}

// claim: the tasks of an instance that crashed are taken over, once, by skill; its own updates are refused then.
func claim(s *suite) {
	old := s.open()
	for i := range 5 {
		n := s.working(name(i))
		n.Private.Skill = fmt.Sprint("skill", i%2)
		s.create(old, n, key(name(i)))
	}
	s.create(old, s.task("idle"), key("idle"))
	done := s.working("done")
	snap := s.create(old, done, key("done"))
	end := s.status("done", runtime.StateCompleted, time.Second)
	end.Epoch, end.Done = snap.Epoch, 1
	s.apply(old, key("done"), 0, end)
	said := s.chunk(name(0), "a", "before")
	said.Epoch = snap.Epoch
	s.apply(old, key(name(0)), 0, said)

	in := s.heir(old)
	for _, none := range [][]string{nil, {"other"}} {
		if runs, err := in.Claim(ctx, none, 9); err != nil || len(runs) != 0 {
			s.Errorf("of the skills %v are claimed %v: %v", none, runs, err)
		}
	}
	two, err := in.Claim(ctx, []string{"skill0", "other"}, 2)
	if err != nil || len(two) != 2 {
		s.Fatalf("claimed are %d: %v", len(two), err)
	}
	rest, err := in.Claim(ctx, []string{"skill0", "skill1"}, 9)
	if err != nil || len(rest) != 3 {
		s.Fatalf("then are claimed %d: %v", len(rest), err)
	}
	seen := map[string]bool{}
	for _, r := range append(two, rest...) {
		id := r.Key.Task
		if seen[id] {
			s.Errorf("%s is claimed twice", id)
		}
		seen[id] = true
		info := r.Task.TaskInfo()
		if info.ID != id || r.Call == nil || r.Call.N != 1 || r.Call.Attempt != 2 || r.Epoch <= snap.Epoch ||
			string(r.Call.Input) != `"first of `+id+`"` {
			s.Errorf("claimed is %+v with %+v", r.Snapshot, r.Call)
		}
		if got := runtimeText(r.Call.Request.Message); got != "first of "+id {
			s.Errorf("its message says %q", got)
		}
		u := s.chunk(id, "b", "after")
		u.Epoch = r.Epoch
		if _, err := in.Apply(ctx, r.Key, 0, u, nil); err != nil {
			s.Error(err)
		}
		u.Stamp, u.Epoch = s.stamped(), snap.Epoch
		if _, err := in.Apply(ctx, r.Key, 0, u, nil); !errors.Is(err, store.ErrLost) {
			s.Errorf("the dead one's word: %v", err)
		}
	}
	if runs, err := in.Claim(ctx, []string{"skill0", "skill1"}, 9); err != nil || len(runs) != 0 {
		s.Errorf("there is more: %v, %v", runs, err)
	}
}

// attempts: each time a call is begun is counted, and Made stays that of the first; later calls wait.
func attempts(s *suite) {
	in, k := s.open(), key("t")
	snap := s.create(in, s.working("t"), k)
	u := s.whole("t", "a", "x")
	u.Epoch = snap.Epoch
	s.apply(in, k, 0, u)
	for attempt := 2; attempt <= 4; attempt++ {
		in = s.heir(in)
		if attempt == 3 { // a message that comes before the work was taken over
			if snap := s.apply(in, k, s.head(in, k).Version, s.follow("t")); snap.Run != nil {
				s.Errorf("the follow-up is to begin: %+v", snap.Run)
			}
		}
		runs, err := in.Claim(ctx, []string{"skill"}, 9)
		if err != nil || len(runs) != 1 || runs[0].Call.Attempt != attempt || runs[0].Call.Made != 0 || runs[0].Call.N != 1 {
			s.Fatalf("attempt %d: %+v, %v", attempt, runs, err)
		}
		snap = runs[0].Snapshot
	}
	u = s.status("t", runtime.StateWorking, time.Second)
	u.Epoch, u.Done = snap.Epoch, 1
	if next := s.apply(in, k, 0, u).Run; next == nil || next.N != 2 || next.Attempt != 1 || next.Made != 1 {
		s.Errorf("then comes %+v", next)
	}
}

// giveBack: tasks that an instance gives back when it closes are taken over without another attempt, those that it keeps
// with one.
func giveBack(s *suite) {
	if lease, err := s.open().Renew(ctx); err != nil || lease.Durable != s.Durable {
		s.Errorf("the lease is %+v: %v", lease, err)
	}
	if s.Leave == nil {
		s.Skip("the store knows no other instances")
	}
	old, k := s.open(), key("t")
	s.create(old, s.working("t"), k)
	s.apply(old, k, 1, s.follow("t"))
	s.create(old, s.working("u"), key("u"))
	if err := old.Close(key("u")); err != nil {
		s.Fatal(err)
	}
	in := s.Leave(s.T, old)
	runs, err := in.Claim(ctx, []string{"skill"}, 9)
	if len(runs) == 2 && runs[0].Key != k {
		slices.Reverse(runs)
	}
	if err != nil || len(runs) != 2 || runs[0].Call.Attempt != 1 || runs[0].Call.N != 1 || runs[1].Call.Attempt != 2 {
		s.Fatalf("claimed are %+v: %v", runs, err)
	}
	u := s.status("t", runtime.StateWorking, time.Second)
	u.Epoch, u.Done = runs[0].Epoch, 1
	if next := s.apply(in, k, 0, u).Run; next == nil || next.N != 2 || next.Attempt != 1 {
		s.Errorf("then comes %+v", next)
	}
}

// requests: the request of a call is there for the handler that is begun after a takeover.
func requests(s *suite) {
	old, k := s.open(), key("t")
	n, history := s.working("t"), 3
	n.Call.Request = &runtime.SendRequest{
		Tenant: "tenant", Message: s.message("r", "please"), AcceptedOutputModes: []string{"text/plain",
			"image/png"}, HistoryLength: &history,
		ReturnImmediately: true, Metadata: []byte(`{"k":[1,2]}`),
	}
	s.create(old, n, k)
	in := s.heir(old)
	runs, err := in.Claim(ctx, []string{"skill"}, 1)
	if err != nil || len(runs) != 1 {
		s.Fatalf("claimed are %v: %v", runs, err)
	}
	want, got := n.Call.Request, runs[0].Call.Request
	if got == nil || s.json(got.Message) != s.json(want.Message) {
		s.Fatalf("the request is %+v", got)
	}
	s.same("the rest of it",
		[]any{got.Tenant, got.AcceptedOutputModes, got.HistoryLength, got.ReturnImmediately, string(got.Metadata)},
		[]any{want.Tenant, want.AcceptedOutputModes, want.HistoryLength, want.ReturnImmediately, string(want.Metadata)})
}

// repeats: a message that was sent before is found out, for a while.
func repeats(s *suite) {
	in := s.open()
	repeat := func(key string, digest byte, d time.Duration) *store.Repeat {
		return &store.Repeat{Key: key, Digest: [32]byte{digest}, For: d}
	}
	n := s.task("t")
	n.Repeat = repeat("k", 1, time.Hour)
	s.create(in, n, key("t"))
	told := func(err error, task string, call int64, same bool) {
		s.Helper()
		var r *store.Repeated
		if !errors.As(err, &r) || r.Task != task || r.Call != call || r.Same != same || store.Unsure(err) {
			s.Errorf("sent again: %v (call %d), want call %d of task %s, same %v", err, r.Call, call, task, same)
		}
	}
	for digest := byte(1); digest <= 2; digest++ {
		other := s.task("other")
		other.Repeat = repeat("k", digest, time.Hour)
		_, err := in.Create(ctx, key("other"), other, nil)
		told(err, "t", 0, digest == 1)
		u := s.follow("t")
		u.Repeat = repeat("k", digest, time.Hour)
		_, err = in.Apply(ctx, key("t"), 1, u, nil)
		told(err, "t", 0, digest == 1)
	}
	u := s.follow("t")
	u.Repeat = repeat("k2", 1, time.Hour)
	s.apply(in, key("t"), 1, u)
	s.apply(in, key("t"), 1, u) // by its stamp
	u.Stamp = s.stamped()
	_, err := in.Apply(ctx, key("t"), 2, u, nil)
	told(err, "t", 1, true)
	foreign := store.Key{Owner: store.Owner{Principal: "p"}, Task: "t"}
	n = s.task("t")
	n.Repeat = repeat("k", 1, time.Nanosecond)
	s.create(in, n, foreign)
	foreign.Task = "u"
	s.eventually("it counts no more", func() bool {
		n := s.task("u")
		n.Repeat = repeat("k", 1, time.Hour)
		_, err := in.Create(ctx, foreign, n, nil)
		return err == nil
	})
	if s.Durable && s.Heir != nil {
		in = s.heir(in)
		u.Stamp = s.stamped()
		_, err := in.Apply(ctx, key("t"), 2, u, nil)
		told(err, "t", 1, true)
	}
}

// repeatsAreBounded: a client may choose as many keys as it likes, in as many tenants; the store knows the last ones.
func repeatsAreBounded(s *suite) {
	in := s.Open(s.T, memory.Limits{Tasks: 100_000})
	sent := func(principal string, i int, task string, since time.Time) error {
		k := store.Key{Owner: store.Owner{Tenant: fmt.Sprint(i % 3), Principal: principal}, Task: task}
		n := s.task(task)
		n.Repeat = &store.Repeat{Key: name(i), For: time.Hour, Since: since}
		_, err := in.Create(ctx, k, n, nil)
		return err
	}
	send := func(principal string, i int, task string) error { return sent(principal, i, task, time.Time{}) }
	opened := time.Now()
	first := func(principal string, i int) {
		if err := send(principal, i, name(i)); err != nil {
			s.Errorf("message %d: %v", i, err)
		}
	}
	first("p", 0)
	first("q", 0)
	time.Sleep(time.Millisecond) // so that they are later by the store's clock
	var all sync.WaitGroup
	for from := range 16 {
		all.Go(func() {
			for i := 1 + from; i < store.MaxRepeats; i += 16 {
				first("p", i)
			}
		})
	}
	all.Wait()
	time.Sleep(time.Millisecond)
	first("p", store.MaxRepeats)
	var r *store.Repeated
	if err := send("p", store.MaxRepeats, "again"); !errors.As(err, &r) {
		s.Errorf("the last one again: %v", err)
	}
	if err := send("q", 0, "again"); !errors.As(err, &r) {
		s.Errorf("another principal's again: %v", err)
	}
	if err := sent("p", 0, "again", opened); !errors.Is(err, store.ErrForgotten) || store.Unsure(err) {
		s.Errorf("the first one again, which it must not take for new: %v", err)
	}
	if err := sent("q", 1, "another", opened); err != nil {
		s.Errorf("one that never came, of a principal with few: %v", err)
	}
	if err := send("p", 0, "again"); err != nil {
		s.Errorf("the first one again: %v", err)
	}
}

// contexts: a call whose context has ended gets its answer or an error that says so.
func contexts(s *suite) {
	in, k := s.open(), key("t")
	gone, cancel := context.WithCancel(ctx)
	cancel()
	n := s.task("t")
	if _, err := in.Create(gone, k, n, nil); err != nil && !store.Unsure(err) {
		s.Errorf("create: %v", err)
	}
	if snap := s.create(in, n, k); snap.Version != 1 {
		s.Errorf("with the same stamp it made version %d", snap.Version)
	}
	u := s.chunk("t", "a", "x")
	if _, err := in.Apply(gone, k, 1, u, nil); err != nil && !store.Unsure(err) {
		s.Errorf("apply: %v", err)
	}
	if snap := s.apply(in, k, 1, u); snap.Version != 2 {
		s.Errorf("with the same stamp it made version %d", snap.Version)
	}
	if _, err := in.Get(gone, k, store.Full); err != nil && !store.Unsure(err) {
		s.Errorf("get: %v", err)
	}
}

// closed: calls on a closed store do not hang, and it can be closed again.
func closed(s *suite) {
	in, k := s.open(), key("t")
	s.create(in, s.task("t"), k)
	for range 2 {
		if err := in.Close(); err != nil {
			s.Error(err)
		}
	}
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := in.Apply(within, k, 1, s.chunk("t", "a", "x"), nil); errors.Is(err, context.DeadlineExceeded) {
		s.Error("an update hangs")
	}
	if _, err := in.Get(within, k, store.Full); errors.Is(err, context.DeadlineExceeded) {
		s.Error("a read hangs")
	}
}

// crashes: at whichever write the process ends, what was acknowledged is there, and nothing is half there.
func crashes(s *suite) {
	if s.Crash == nil {
		s.Skip("the store leaves nothing")
	}
	if testing.Short() {
		s.Skip("a process for each write")
	}
	for n := 1; ; n++ {
		story := &story{suite: s, in: nil}
		left, crashed := s.Crash(s.T, n, story.tell)
		story.check(left)
		if err := left.Close(); err != nil {
			s.Error(err)
		}
		if s.Failed() || !crashed {
			s.Logf("%d crashes", n-1)
			return
		}
	}
}
