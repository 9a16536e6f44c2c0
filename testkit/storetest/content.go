package storetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// What is stored is read as it was, and views of it.

// content: a task and its events are read as they were stored, by the next process, too.
func content(s *suite) {
	in, k := s.open(), keyOf("t")
	s.create(in, s.task("t"), k)
	parts := []runtime.Part{
		runtime.Text("text \u2028 \"quoted\" \\ \x00 \U0001F600"), {Kind: runtime.PartRaw, Raw: []byte{0, 1, 255}, Filename: "f", MediaType: "image/png"},
		{Kind: runtime.PartURL, URL: "https://example.com/a?b=c"}, {Kind: runtime.PartData, Data: []byte(`{"z":1,"a":[1.50,1e400,null,true]}`)},
		{Kind: runtime.PartText, Text: "with", Metadata: []byte(`{"k":{"deep":[]}}`)},
	}
	info := runtime.MessageInfo{
		ID: "m2", User: true, Metadata: []byte(`{"m":1}`), Extensions: []string{"https://example.com/x"}, References: []string{"other"},
	}
	said := s.status("t", runtime.StateWorking, 123456789)
	said.Messages = []runtime.Message{s.Protocol.NewMessage(runtime.MessageData{MessageInfo: info, Parts: parts}), s.message("m3", runtime.Text(""))}
	artifact := func(data runtime.ArtifactData) store.Update {
		data.ID, data.Parts = "b", parts
		return store.Update{Event: s.Protocol.NewArtifact("t", contextOf("t"), data), Stamp: s.stamped()}
	}
	var want []string
	for i, u := range []store.Update{
		said, artifact(runtime.ArtifactData{Name: "name", Description: "description", Metadata: []byte(`{"x":"y"}`), Extensions: []string{"https://example.com/y"}}),
		artifact(runtime.ArtifactData{Append: true, LastChunk: true}), s.chunk("t", "one"), s.chunk("t", "two"),
		s.status("t", runtime.StateInputRequired, time.Second, runtime.Text(strings.Repeat("long ", 20_000))),
		s.status("t", runtime.StateWorking, time.Second, runtime.Text("more")),
	} {
		want = append(want, s.json(u.Event))
		s.apply(in, k, int64(i)+1, u)
	}
	task := s.get(in, k)
	check := func(in store.Store) {
		s.Helper()
		s.same("the log", s.events(in, k, 1), want)
		s.same("its end", s.events(in, k, 5), want[4:])
		s.same("nothing newer", s.events(in, k, 8), nil)
		got := s.get(in, k)
		s.same("the task", s.json(got.Task), s.json(task.Task))
		if got.Bytes < task.Bytes {
			s.Errorf("the task had %d bytes, and has %d", task.Bytes, got.Bytes)
		}
		if list, err := in.Events(ctx, k, 2, 3); err != nil || len(list) != 3 {
			s.Errorf("three events are %v: %v", list, err)
		} else if b := list[0].Encoded(0); b != nil && string(b) != want[1] {
			s.Errorf("the bytes of a record are %s", b)
		}
	}
	check(in)
	if in = s.heir(in); s.Durable {
		check(in)
	}
	s.apply(in, k, 8, s.status("t", runtime.StateCompleted, time.Second, runtime.Text("done")))
	if got := s.get(in, k).Task.TaskInfo(); got.History != 5 || got.Artifacts != 2 || !got.At.Equal(start.Add(time.Second)) {
		s.Errorf("the task goes on as %+v", got)
	}
}

// requests: the request of a call is there for the handler that is begun after a takeover.
func requests(s *suite) {
	if s.Heir == nil {
		s.Skip("the store knows no other instances")
	}
	old, k := s.open(), keyOf("t")
	n, history := s.working("t"), 3
	want := n.Call.Request
	*want = runtime.SendRequest{
		Tenant: "tenant", Message: s.message("r", runtime.Text("please")), AcceptedOutputModes: []string{"text/plain", "image/png"},
		HistoryLength: &history, ReturnImmediately: true, Metadata: []byte(`{"k":[1,2]}`),
	}
	s.create(old, n, k)
	runs, err := s.heir(old).Claim(ctx, []string{skill(0)}, 1)
	if err != nil || len(runs) != 1 || runs[0].Call.Request == nil {
		s.Fatalf("claimed are %+v: %v", runs, err)
	}
	got := runs[0].Call.Request
	s.same("its message", s.json(got.Message), s.json(want.Message))
	s.same("the rest of it",
		[]any{got.Tenant, got.AcceptedOutputModes, got.HistoryLength, got.ReturnImmediately, string(got.Metadata)},
		[]any{want.Tenant, want.AcceptedOutputModes, want.HistoryLength, want.ReturnImmediately, string(want.Metadata)})
}

// private: what the agent keeps with a task is replaced piece by piece.
func private(s *suite) {
	in, k := s.open(), keyOf("t")
	n := s.task("t")
	n.Private = store.Private{Skill: "skill", Input: []byte(`{"a":1}`), Saved: []byte("x"), Asked: true, ClientID: true, Trace: "00-1-2-01\na=b"}
	want := n.Private
	s.same("at first", s.create(in, n, k).Private, want)
	asked, u := false, s.chunk("t", "x")
	want.Input, want.Asked = []byte(`{"a":2}`), false
	u.Input, u.Asked = &want.Input, &asked
	s.same("with input", s.apply(in, k, 1, u).Private, want)
	if in = s.heir(in); s.Durable {
		s.same("read", s.get(in, k).Private, want)
	}
	h, err := in.Head(ctx, k)
	if err != nil || h.Skill != "skill" || !h.ClientID || h.Trace != want.Trace || h.Context != contextOf("t") {
		s.Errorf("the head is %+v: %v", h, err)
	}
	want.Input, want.Saved = nil, nil
	s.same("of an ended task", s.apply(in, k, 2, s.status("t", runtime.StateFailed, time.Second)).Private, want)
}

// views: a view has what was asked for, and does not change.
func views(s *suite) {
	in, k := s.open(), keyOf("t")
	s.create(in, s.task("t"), k)
	u := s.status("t", runtime.StateWorking, time.Second)
	u.Messages = []runtime.Message{s.message("m2", runtime.Text("two")), s.message("m3", runtime.Text("three"))}
	s.apply(in, k, 1, u)
	s.apply(in, k, 2, s.chunk("t", "x"))
	two, nine := 2, 9
	for _, test := range []struct {
		history             *int
		messages, artifacts int
	}{{nil, 3, 1}, {new(int), 0, 1}, {&two, 2, 0}, {&nine, 3, 0}, {new(int), 0, 0}} {
		snap, err := in.Get(ctx, k, store.View{History: test.history, Artifacts: test.artifacts > 0})
		if err != nil {
			s.Fatal(err)
		}
		info := snap.Task.TaskInfo()
		if info.History != test.messages || info.Artifacts != test.artifacts || info.State != runtime.StateWorking || snap.Bytes == 0 {
			s.Errorf("a view has %+v, %d bytes, want %+v", info, snap.Bytes, test)
		}
	}
	old := s.get(in, k).Task
	was := s.json(old)
	s.apply(in, k, 3, s.chunk("t", "y"))
	s.apply(in, k, 4, s.status("t", runtime.StateCompleted, time.Second))
	s.same("a copy", s.json(old), was)
}

// at: a task can be shown as it was at an event that is still to be sent.
func at(s *suite) {
	in, k := s.open(), keyOf("t")
	s.create(in, s.task("t"), k)
	s.apply(in, k, 1, s.chunk("t", "early"))
	if err := in.SetPush(ctx, k, store.Push{ID: "p", Tasks: true}); err != nil {
		s.Fatal(err)
	}
	want := []string{2: ""}
	big := strings.Repeat("x", 20_000) // so that bodies are written meanwhile, where a store has them
	for i := range int64(12) {
		u := s.chunk("t", big)
		if i%4 == 3 {
			u = s.status("t", runtime.StateWorking, time.Second, runtime.Text("so far"))
			u.Messages = []runtime.Message{s.message("m", runtime.Text("go on"))}
		}
		want = append(want, s.json(s.apply(in, k, i+2, u).Task))
	}
	shown := func(from int64) {
		s.Helper()
		for v := from; v <= 14; v++ {
			snap, err := in.Get(ctx, k, store.View{Artifacts: true, At: v})
			if err != nil || snap.Version != v {
				s.Fatalf("at %d there is version %d: %v", v, snap.Version, err)
			}
			if got := s.json(snap.Task); got != want[v] {
				s.Errorf("at %d the task is %d bytes, and was %d", v, len(got), len(want[v]))
			}
		}
	}
	shown(3)
	due, _, err := in.Due(ctx, 1, time.Minute)
	if err != nil || len(due) != 1 || due[0].Next != 3 {
		s.Fatalf("due are %+v: %v", due, err)
	}
	if err := in.Settle(ctx, due[0], store.Outcome{Sent: 8}); err != nil {
		s.Fatal(err)
	}
	shown(9)
	_, err = in.Get(ctx, k, store.View{At: 99})
	s.refused("a version that is not there yet", err, store.ErrTrimmed)
}

// trim: a long log loses its oldest events; the task stays whole.
func trim(s *suite) {
	in, k := s.Open(s.T, memory.Limits{Events: 40}), keyOf("t")
	s.create(in, s.task("t"), k)
	said := strings.Repeat("x", 2000)
	for v := range int64(400) {
		if _, err := in.Apply(ctx, k, v+1, s.chunk("t", said), nil); err != nil {
			s.Fatal(err)
		}
		if v > 60 && v%7 == 0 {
			if n := len(s.events(in, k, v+2-40)); n != 40 {
				s.Errorf("of the last 40 events %d are there", n)
			}
		}
	}
	_, err := in.Events(ctx, k, 1, 0)
	s.refused("the first events", err, store.ErrTrimmed)
	if parts := s.get(s.heir(in), k).Task.ArtifactList()[0].Parts; len(parts) != 400 {
		s.Errorf("the task has %d parts", len(parts))
	}
}

// manySwept: what has rested for too long is dropped to the last, however much a sweep drops at once.
func manySwept(s *suite) {
	in := s.Open(s.T, memory.Limits{Ended: time.Millisecond, Parked: time.Millisecond})
	for i := range 250 {
		st := step{Task: name(i), State: runtime.StateCompleted, words: words{More: 1}}
		s.create(in, s.creation(&st, start, s.stamped()), keyOf(name(i)))
		if i%2 == 0 {
			if _, err := in.SetNote(ctx, store.Owner{Principal: name(i)}, "c", []byte("x"), 0); err != nil {
				s.Fatal(err)
			}
		}
	}
	s.create(in, s.working("t1"), keyOf("t1"))
	time.Sleep(5 * time.Millisecond)
	s.same("what a sweep says", s.side(in, time.Now).do(&step{Op: "sweep"}, 0).facts, []string{"250 dropped"})
	if page := s.list(in, store.Owner{}, store.Query{Size: 10}); page.Total != 1 || len(page.Tasks) != 1 {
		s.Errorf("listed are %d of %d", len(page.Tasks), page.Total)
	}
	for i := range 125 {
		if n, err := in.Note(ctx, store.Owner{Principal: name(2 * i)}, "c"); err != nil || n.Value != nil {
			s.Fatalf("note %d is %q: %v", i, n.Value, err)
		}
	}
}

// contexts: a call whose context has ended gets its answer or an error that says so.
func contexts(s *suite) {
	in, k := s.open(), keyOf("t")
	gone, cancel := context.WithCancel(ctx)
	cancel()
	n, u := s.task("t"), s.chunk("t", "x")
	if _, err := in.Create(gone, k, n, nil); err != nil && !store.Unsure(err) {
		s.Errorf("create: %v", err)
	}
	created := s.create(in, n, k)
	if _, err := in.Apply(gone, k, 1, u, nil); err != nil && !store.Unsure(err) {
		s.Errorf("apply: %v", err)
	}
	if applied := s.apply(in, k, 1, u); created.Version != 1 || applied.Version != 2 {
		s.Errorf("with the same stamps they made versions %d and %d", created.Version, applied.Version)
	}
	if _, err := in.Get(gone, k, store.Full); err != nil && !store.Unsure(err) {
		s.Errorf("get: %v", err)
	}
}

// closed: calls on a closed store do not hang, and it can be closed again.
func closed(s *suite) {
	in, k := s.open(), keyOf("t")
	if lease, err := in.Renew(ctx); err != nil || lease.Durable != s.Durable {
		s.Errorf("the lease is %+v: %v", lease, err)
	}
	s.create(in, s.task("t"), k)
	for range 2 {
		if err := in.Close(); err != nil {
			s.Error(err)
		}
	}
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err1 := in.Apply(within, k, 1, s.chunk("t", "x"), nil)
	_, err2 := in.Get(within, k, store.Full)
	if err := errors.Join(err1, err2); errors.Is(err, context.DeadlineExceeded) {
		s.Errorf("a call hangs: %v", err)
	}
}
