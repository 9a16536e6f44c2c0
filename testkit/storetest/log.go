package storetest

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// What a task and its log are.

// order: events are numbered one by one, and are what was stored.
func order(s *suite) {
	in, k := s.open(), key("t")
	if snap := s.create(in, s.task("t"), k); snap.Version != 1 {
		s.Fatalf("a new task has version %d", snap.Version)
	}
	var want []string
	for i, u := range []store.Update{
		s.status("t", runtime.StateWorking, time.Second), s.chunk("t", "a", "one"), s.chunk("t", "a", "two"), s.said("t",
			runtime.StateWorking, "half"),
		s.whole("t", "b", "three"), s.said("t", runtime.StateCompleted, "done"),
	} {
		want = append(want, s.json(u.Event))
		if snap := s.apply(in, k, int64(i)+1, u); snap.Version != int64(i)+2 {
			s.Errorf("update %d made version %d", i, snap.Version)
		}
	}
	s.same("the log", s.events(in, k, 1), want)
	s.same("its end", s.events(in, k, 5), want[4:])
	s.same("nothing newer", s.events(in, k, 7), nil)
	some, err := in.Events(ctx, k, 2, 3)
	if err != nil || len(some) != 3 || some[0].Seq != 3 || some[2].Kind != runtime.EventStatus ||
		some[2].State != runtime.StateWorking {
		s.Errorf("three after the second are %v: %v", some, err)
	}
	if b := some[0].Encoded(0); b != nil && string(b) != want[1] {
		s.Errorf("the bytes of a record are %s", b)
	}
	got := s.get(in, k).Task
	if list := got.ArtifactList(); len(list) != 2 || len(list[0].Parts) != 2 ||
		got.TaskInfo().State != runtime.StateCompleted {
		s.Errorf("the task is %s", s.json(got))
	}
	if n := got.TaskInfo().History; n != 2 {
		s.Errorf("the task has %d messages in its history", n)
	}
	_, err = in.Events(ctx, key("other"), 1, 0)
	s.refused("events of no task", err, store.ErrNotFound)
}

// conflict: a client's update names the version that it was decided on.
func conflict(s *suite) {
	in, k := s.open(), key("t")
	s.create(in, s.task("t"), k)
	s.apply(in, k, 1, s.chunk("t", "a", "x"))
	before := s.json(s.get(in, k).Task)
	for _, expect := range []int64{0, 1, 3} {
		_, err := in.Apply(ctx, k, expect, s.chunk("t", "a", "y"), nil)
		s.refused("another version", err, store.ErrConflict)
	}
	_, err := in.Apply(ctx, key("other"), 1, s.chunk("other", "a", "y"), nil)
	s.refused("no task", err, store.ErrNotFound)
	if _, err := in.Create(ctx, k, s.task("t"), nil); !errors.Is(err, store.ErrExists) {
		s.Errorf("a second task of that id: %v", err)
	}
	if after := s.json(s.get(in, k).Task); after != before {
		s.Errorf("what was refused changed the task to %s", after)
	}
}

// conflicts: of updates at the same time one succeeds, the others conflict.
func conflicts(s *suite) {
	const clients, each = 8, 20
	in, k := s.open(), key("t")
	s.create(in, s.task("t"), k)
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for done := 0; done < each; {
				h, err := in.Head(ctx, k)
				if err != nil {
					s.Error(err)
					return
				}
				switch _, err := in.Apply(ctx, k, h.Version, s.chunk("t", "a", "x"), nil); {
				case err == nil:
					done++
				case !errors.Is(err, store.ErrConflict):
					s.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	snap := s.get(in, k)
	if parts := snap.Task.ArtifactList()[0].Parts; snap.Version != clients*each+1 || len(parts) != clients*each {
		s.Errorf("%d updates made version %d with %d parts", clients*each, snap.Version, len(parts))
	}
	if n := len(s.events(in, k, 1)); n != clients*each {
		s.Errorf("the log has %d events", n)
	}
}

// ended: an ended task does not change.
func ended(s *suite) {
	in := s.open()
	for _, state := range []runtime.State{runtime.StateCompleted, runtime.StateFailed, runtime.StateCanceled,
		runtime.StateRejected} {
		k := key(state.String())
		s.create(in, s.task(k.Task), k)
		s.apply(in, k, 1, s.status(k.Task, state, time.Second))
		for _, expect := range []int64{1, 2} {
			_, err := in.Apply(ctx, k, expect, s.chunk(k.Task, "a", "x"), nil)
			s.refused(state.String(), err, store.ErrEnded)
		}
	}
}

// unfit: an event of another task is refused.
func unfit(s *suite) {
	in, k := s.open(), key("t")
	s.create(in, s.task("t"), k)
	for _, u := range []store.Update{
		s.chunk("other", "a", "x"), s.status("other", runtime.StateWorking, time.Second), {Event: s.task("t").Task},
	} {
		if _, err := in.Apply(ctx, k, 1, u, nil); !errors.Is(err, store.ErrUnfit) || store.Unsure(err) {
			s.Errorf("a %T of another: %v", u.Event.Generated(), err)
		}
	}
	if snap := s.get(in, k); snap.Version != 1 {
		s.Errorf("it made version %d", snap.Version)
	}
}

// private: what the agent keeps with a task is there as long as the task may go on.
func private(s *suite) {
	in, k := s.open(), key("t")
	n := s.task("t")
	n.Private = store.Private{Skill: "skill", Input: []byte(`{"a":1}`), Saved: []byte("x"), Asked: true, ClientID: true, Trace: "00-1-2-01\na=b"}
	snap := s.create(in, n, k)
	s.same("at first", snap.Private, n.Private)
	input, saved, asked := []byte(`{"a":2}`), []byte("y"), false
	u := s.chunk("t", "a", "x")
	u.Input = &input
	want := n.Private
	want.Input = input
	s.same("with input", s.apply(in, k, 1, u).Private, want)
	u = s.status("t", runtime.StateWorking, time.Second)
	u.Saved, u.Asked = &saved, &asked
	want.Saved, want.Asked = saved, false
	s.same("with what was saved", s.apply(in, k, 2, u).Private, want)
	if s.Heir != nil && s.Durable {
		in = s.heir(in)
	}
	s.same("read", s.get(in, k).Private, want)
	if h := s.head(in, k); h.Skill != "skill" || !h.ClientID || h.Trace != n.Private.Trace || h.Version != 3 || h.State != runtime.StateWorking ||
		h.Context != "context-of-t" {
		s.Errorf("the head is %+v", h)
	}
	p := s.apply(in, k, 3, s.status("t", runtime.StateFailed, time.Second)).Private
	if p.Skill != "skill" || !p.ClientID || p.Trace != n.Private.Trace {
		s.Errorf("of an ended task is known %+v", p)
	}
}

// content: all content is read as it was stored, by the next process, too.
func content(s *suite) {
	in, k := s.open(), key("t")
	n := s.task("t")
	s.create(in, n, k)
	parts := []runtime.Part{
		runtime.Text("text \u2028 \"quoted\" \\ \x00 \U0001F600"), {Kind: runtime.PartRaw, Raw: []byte{0, 1, 255},
			Filename: "f", MediaType: "image/png"},
		{Kind: runtime.PartURL, URL: "https://example.com/a?b=c"}, {Kind: runtime.PartData,
			Data: []byte(`{"z":1,"a":[1.50,1e400,null,true]}`)},
		{Kind: runtime.PartText, Text: "with", Metadata: []byte(`{"k":{"deep":[]}}`)},
	}
	info := runtime.MessageInfo{
		ID: "m2", User: true, Metadata: []byte(`{"m":1}`), Extensions: []string{"https://example.com/x"}, References: []string{"other"},
	}
	u := store.Update{Event: s.Protocol.NewStatus("t", "context-of-t", runtime.StateWorking, nil, start.Add(123456789)),
		Stamp: s.stamped()}
	u.Messages = []runtime.Message{s.Protocol.NewMessage(runtime.MessageData{MessageInfo: info, Parts: parts}),
		s.message("m3", "")}
	s.apply(in, k, 1, u)
	data := runtime.ArtifactData{
		ID: "a", Name: "name", Description: "description", Parts: parts, Metadata: []byte(`{"x":"y"}`), Extensions: []string{"https://example.com/y"},
	}
	s.apply(in, k, 2, store.Update{Event: s.Protocol.NewArtifact("t", "context-of-t", data), Stamp: s.stamped()})
	data = runtime.ArtifactData{ID: "a", Parts: parts, Append: true, LastChunk: true}
	s.apply(in, k, 3, store.Update{Event: s.Protocol.NewArtifact("t", "context-of-t", data), Stamp: s.stamped()})
	s.apply(in, k, 4, s.said("t", runtime.StateInputRequired, strings.Repeat("long ", 20_000)))
	s.apply(in, k, 5, s.said("t", runtime.StateWorking, "more"))
	task, log := s.json(s.get(in, k).Task), s.events(in, k, 1)
	if !s.Durable || s.Heir == nil {
		return
	}
	in = s.heir(in)
	if again := s.json(s.get(in, k).Task); again != task {
		s.Errorf("the task was\n%s\nand is\n%s", task, again)
	}
	s.same("the log", s.events(in, k, 1), log)
	s.apply(in, k, 6, s.said("t", runtime.StateCompleted, "done"))
	if got := s.get(in, k).Task.TaskInfo(); got.History != 5 || got.Artifacts != 1 ||
		!got.At.Equal(start.Add(time.Second)) {
		s.Errorf("the task goes on as %+v", got)
	}
}

// views: a view has what was asked for, and does not change.
func views(s *suite) {
	in, k := s.open(), key("t")
	s.create(in, s.task("t"), k)
	u := s.status("t", runtime.StateWorking, time.Second)
	u.Messages = []runtime.Message{s.message("m2", "two"), s.message("m3", "three")}
	s.apply(in, k, 1, u)
	s.apply(in, k, 2, s.chunk("t", "a", "x"))
	for _, test := range []struct {
		history   *int
		artifacts bool
		messages  int
	}{{nil, true, 3}, {new(int), true, 0}, {pointer(2), false, 2}, {pointer(9), false, 3}, {new(int), false, 0}} {
		snap, err := in.Get(ctx, k, store.View{History: test.history, Artifacts: test.artifacts})
		if err != nil {
			s.Fatal(err)
		}
		info := snap.Task.TaskInfo()
		if info.History != test.messages || (info.Artifacts == 1) != test.artifacts || info.State != runtime.StateWorking ||
			snap.Bytes == 0 {
			s.Errorf("a view has %+v, %d bytes, want %+v", info, snap.Bytes, test)
		}
	}
	old := s.get(in, k).Task
	was := s.json(old)
	s.apply(in, k, 3, s.chunk("t", "a", "y"))
	s.apply(in, k, 4, s.said("t", runtime.StateCompleted, "done"))
	if is := s.json(old); is != was {
		s.Errorf("a copy changed from\n%s\nto\n%s", was, is)
	}
	if snap, err := in.Apply(ctx, k, 5, s.chunk("t", "a", "z"), nil); err == nil || snap.Task != nil {
		s.Errorf("an ended task took an update: %v", err)
	}
}

func pointer(n int) *int { return &n }

// at: a task can be shown as it was at an event that is still to be sent.
func at(s *suite) {
	in, k := s.open(), key("t")
	s.create(in, s.task("t"), k)
	s.apply(in, k, 1, s.chunk("t", "a", "early"))
	if err := in.SetPush(ctx, k, store.Push{ID: "p", Tasks: true}); err != nil {
		s.Fatal(err)
	}
	var want []string
	big := strings.Repeat("x", 20_000) // so that bodies are written meanwhile, where a store has them
	for i := range 12 {
		u := s.chunk("t", "a", big)
		if i%4 == 3 {
			u = s.said("t", runtime.StateWorking, "so far")
			u.Messages = []runtime.Message{s.message("m", "go on")}
		}
		want = append(want, s.json(s.apply(in, k, int64(i)+2, u).Task))
	}
	shown := func(from int64) {
		s.Helper()
		for v := from; v <= 14; v++ {
			snap, err := in.Get(ctx, k, store.View{Artifacts: true, At: v})
			if err != nil || snap.Version != v {
				s.Fatalf("at %d there is version %d: %v", v, snap.Version, err)
			}
			if got := s.json(snap.Task); got != want[v-3] {
				s.Errorf("at %d the task is %d bytes, and was %d", v, len(got), len(want[v-3]))
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
	in, k := s.Open(s.T, memory.Limits{Events: 40}), key("t")
	s.create(in, s.task("t"), k)
	said := strings.Repeat("x", 2000)
	for v := range int64(400) {
		if _, err := in.Apply(ctx, k, v+1, s.chunk("t", "a", said), nil); err != nil {
			s.Fatal(err)
		}
	}
	if n := len(s.events(in, k, 401-40)); n != 40 {
		s.Errorf("of the last 40 events %d are there", n)
	}
	_, err := in.Events(ctx, k, 1, 0)
	s.refused("the first events", err, store.ErrTrimmed)
	if s.Durable && s.Heir != nil {
		in = s.heir(in)
	}
	if parts := s.get(in, k).Task.ArtifactList()[0].Parts; len(parts) != 400 {
		s.Errorf("the task has %d parts", len(parts))
	}
}
