package storetest

import (
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// Rules of an update that all stores must decide alike.

// fault is something for which an update is refused.
type fault struct {
	name string
	make func(in store.Store, u *store.Update, expect *int64)
	want error // nil: the update is answered as one that was made before
}

// checks: of several faults of an update, the first of this order is the answer. Every update here has one fault and all
// that come after it.
func checks(s *suite) {
	large, full := config("large"), config("full")
	large.Config.URL = strings.Repeat("x", 17<<10)
	unknown := sha256.Sum256([]byte("unknown"))
	faults := []fault{
		{"stamp made before", func(_ store.Store, u *store.Update, _ *int64) { u.Stamp = 77 }, nil},
		{"message sent before", func(in store.Store, u *store.Update, _ *int64) {
			n := s.task("other")
			n.Repeat = &store.Repeat{Key: "k", For: time.Hour}
			s.create(in, n, key("other"))
			u.Repeat = n.Repeat
		}, &store.Repeated{}},
		{"ended", func(in store.Store, _ *store.Update, _ *int64) {
			s.apply(in, key("t"), 1, s.status("t", runtime.StateCompleted, time.Second))
		}, store.ErrEnded},
		{"epoch of another", func(_ store.Store, u *store.Update, _ *int64) { u.Epoch = 99 }, store.ErrLost},
		{"version of another", func(_ store.Store, _ *store.Update, expect *int64) { *expect = 55 }, store.ErrConflict},
		{"event of another task", func(_ store.Store, u *store.Update, _ *int64) {
			u.Event = s.status("other", runtime.StateWorking, time.Second).Event
		}, store.ErrUnfit},
		{"unknown ticket", func(_ store.Store, u *store.Update, _ *int64) { u.Redeem = &unknown }, store.ErrTicket},
		{"large configuration", func(_ store.Store, u *store.Update, _ *int64) { u.Push = &large }, store.ErrTooLarge},
		{"one configuration too many", func(in store.Store, u *store.Update, _ *int64) {
			s.create(in, s.task("pushed"), key("pushed"))
			s.set(in, key("pushed"), config("p"))
			if u.Push == nil {
				u.Push = &full
			}
		}, store.ErrFull},
	}
	for i, first := range faults {
		in := s.Open(s.T, memory.Limits{Pushes: 1})
		n := s.task("t")
		n.Stamp = 77
		s.create(in, n, key("t"))
		u, expect := s.status("t", runtime.StateWorking, time.Second), int64(1)
		u.Stamp = 78
		for _, f := range faults[i:] {
			f.make(in, &u, &expect)
		}
		_, err := in.Apply(ctx, key("missing"), expect, u, nil)
		s.refused(first.name+", no such task", err, store.ErrNotFound)
		_, err = in.Apply(ctx, key("t"), expect, u, nil)
		var again *store.Repeated
		if _, repeats := first.want.(*store.Repeated); repeats && !errors.As(err, &again) || !repeats && !errors.Is(err, first.want) {
			s.Errorf("%s and all that comes after it: %v, want %v", first.name, err, first.want)
		}
		if err := in.SetPush(ctx, key("missing"), large); !errors.Is(err, store.ErrNotFound) {
			s.Errorf("a large configuration of no task: %v", err)
		}
	}
}

// oneCall: an update that brings a call and ends one, or the task, is refused.
func oneCall(s *suite) {
	in, k := s.open(), key("t")
	snap := s.create(in, s.working("t"), k)
	u := s.follow("t")
	u.Epoch, u.Done = snap.Epoch, 1
	_, err := in.Apply(ctx, k, 0, u, nil)
	s.refused("a call beside the end of one", err, store.ErrUnfit)
	u = s.status("t", runtime.StateCompleted, time.Second)
	u.Call = s.call("too late")
	_, err = in.Apply(ctx, k, 1, u, nil)
	s.refused("a call beside the end of the task", err, store.ErrUnfit)
	if h := s.head(in, k); h.Version != 1 || h.Calls != 1 {
		s.Errorf("the task has become %+v", h)
	}
}

// pushSize: a configuration is as large as what it says, however that is written. What cannot be written is refused.
func pushSize(s *suite) {
	in := s.open()
	s.create(in, s.task("t"), key("t"))
	for _, test := range []struct {
		what, url, token string
		want             error
	}{
		{"9 kB of quotes", strings.Repeat(`"`, 9<<10), "", nil},
		{"17 kB", strings.Repeat("x", 17<<10), "", store.ErrTooLarge},
		{"a token that is not UTF-8", "https://example.com", "\xff", store.ErrUnfit},
		{"a URL that is not UTF-8", "https://example.com/\xff", "", store.ErrUnfit},
	} {
		p := config("p")
		p.Config.URL, p.Config.Token = test.url, test.token
		s.refused("set "+test.what, in.SetPush(ctx, key("t"), p), test.want)
		u := s.status("t", runtime.StateWorking, time.Second)
		u.Push = &p
		_, err := in.Apply(ctx, key("t"), s.head(in, key("t")).Version, u, nil)
		s.refused("update with "+test.what, err, test.want)
		n := s.task(test.what)
		n.Push = &p
		_, err = in.Create(ctx, key(test.what), n, nil)
		s.refused("create with "+test.what, err, test.want)
	}
	list, err := in.Pushes(ctx, key("t"))
	if err != nil || len(list) != 1 || list[0].Config.URL != strings.Repeat(`"`, 9<<10) {
		s.Errorf("there are %d configurations: %v", len(list), err)
	}
}

// fullBesideATicket: a good ticket brings no room for a configuration, and stays good.
func fullBesideATicket(s *suite) {
	in := s.Open(s.T, memory.Limits{Pushes: 1})
	parked := s.park(in, key("t"), s.ticket("w"))
	s.create(in, s.task("other"), key("other"))
	s.set(in, key("other"), config("p"))
	u, p := s.redeem("t", "w"), config("p")
	u.Push = &p
	_, err := in.Apply(ctx, key("t"), parked.Version, u, nil)
	s.refused("one configuration too many", err, store.ErrFull)
	if !s.good(in, "w") {
		s.Error("the refused update has used the ticket up")
	}
}

// lastWords: what ends a task with few words has room in any case, and others go for it where that helps.
func lastWords(s *suite) {
	in := s.Open(s.T, memory.Limits{Bytes: 40_000, TaskBytes: 30_000})
	n := s.task("t")
	n.Private.Trace = strings.Repeat("t", 18_000)
	s.create(in, n, key("t"))
	n = s.task("rests")
	n.Private.Trace = strings.Repeat("t", 17_000)
	s.create(in, n, key("rests"))
	s.apply(in, key("rests"), 1, s.status("rests", runtime.StateCompleted, time.Second))
	s.apply(in, key("t"), 1, s.said("t", runtime.StateFailed, strings.Repeat("y", 3500)))
	if s.has(in, "rests") || !s.has(in, "t") {
		s.Error("the last words exceed the limit of the store, and a task that rests stays")
	}

	in = s.Open(s.T, memory.Limits{Bytes: 40_000, TaskBytes: 39_000})
	n = s.task("t")
	n.Private.Trace = strings.Repeat("t", 36_000)
	s.create(in, n, key("t"))
	s.apply(in, key("t"), 1, s.said("t", runtime.StateFailed, strings.Repeat("y", 3500)))
	if !s.has(in, "t") {
		s.Error("a task went for its own last words")
	}
}

// partsCount: a part takes room of its own, also in the last words.
func partsCount(s *suite) {
	in := s.Open(s.T, memory.Limits{Bytes: 1 << 20, TaskBytes: 20_000})
	n := s.task("t")
	n.Private.Trace = strings.Repeat("t", 17_500)
	s.create(in, n, key("t"))
	parts := make([]runtime.Part, 40)
	for i := range parts {
		parts[i] = runtime.Text(strings.Repeat("y", 40))
	}
	m := s.Protocol.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "a"}, Parts: parts})
	u := s.status("t", runtime.StateFailed, time.Second)
	u.Event = s.Protocol.NewStatus("t", "context-of-t", runtime.StateFailed, m, start.Add(time.Second))
	_, err := in.Apply(ctx, key("t"), 1, u, nil)
	s.refused("last words of many parts", err, store.ErrTooLarge)
}

// restsSince: a task rests since its state was set, or its last call was over, whatever comes later.
func restsSince(s *suite) {
	if s.OpenAt == nil {
		s.Skip("the store has no clock to be set")
	}
	now := start
	in := s.OpenAt(s.T, memory.Limits{Parked: time.Hour}, func() time.Time { return now })
	s.create(in, s.task("waits"), key("waits"))
	s.apply(in, key("waits"), 1, s.status("waits", runtime.StateInputRequired, 0))
	snap := s.create(in, s.working("asks"), key("asks"))
	u := s.status("asks", runtime.StateInputRequired, 0) // its call goes on
	u.Epoch = snap.Epoch
	s.apply(in, key("asks"), 0, u)
	now = now.Add(40 * time.Minute)
	s.apply(in, key("waits"), 2, s.chunk("waits", "a", "x"))
	u = s.chunk("asks", "a", "x")
	u.Epoch, u.Done = snap.Epoch, 1
	s.apply(in, key("asks"), 0, u)
	now = now.Add(30 * time.Minute)
	if n := s.sweep(in); n != 1 || s.has(in, "waits") {
		s.Errorf("%d tasks were dropped, of which the first one had waited for longer than an hour", n)
	}
	now = now.Add(40 * time.Minute)
	if n := s.sweep(in); n != 1 {
		s.Errorf("%d tasks were dropped an hour after the call of the second one was over", n)
	}
	_ = in.Close()
}

// ownClock: how long a task has ended goes by the clock of the store, not by the time of its status.
func ownClock(s *suite) {
	if s.OpenAt == nil {
		s.Skip("the store has no clock to be set")
	}
	now := start
	in := s.OpenAt(s.T, memory.Limits{Ended: time.Hour}, func() time.Time { return now })
	for i, after := range []time.Duration{2 * time.Hour, -2 * time.Hour} {
		s.create(in, s.task(name(i)), key(name(i)))
		s.apply(in, key(name(i)), 1, s.status(name(i), runtime.StateCompleted, after))
	}
	if n := s.sweep(in); n != 0 {
		s.Errorf("%d tasks were dropped at once", n)
	}
	now = now.Add(61 * time.Minute)
	if n := s.sweep(in); n != 2 {
		s.Errorf("%d tasks were dropped after an hour", n)
	}
	_ = in.Close()
}

// eightStamps: a store knows what the last eight updates of a task were, and the one that brought up the call at work.
func eightStamps(s *suite) {
	in, k := s.open(), key("t")
	n := s.task("t")
	s.create(in, n, k)
	begins := s.follow("t")
	s.apply(in, k, 1, begins)
	list := []store.Update{}
	for i := range 9 {
		list = append(list, s.chunk("t", "a", "x"))
		s.apply(in, k, int64(2+i), list[i])
	}
	_, err := in.Create(ctx, k, n, nil)
	s.refused("the creation again", err, store.ErrExists)
	if again := s.apply(in, k, 1, begins); again.Version != 11 || again.Run == nil || again.Run.N != 1 {
		s.Errorf("the update that brought the call up again: %+v", again)
	}
	if again := s.apply(in, k, 3, list[1]); again.Version != 11 {
		s.Errorf("the eighth last update again makes version %d", again.Version)
	}
	_, err = in.Apply(ctx, k, 2, list[0], nil)
	s.refused("the ninth last update again", err, store.ErrConflict)
}

// firstTicketGoes: of five tickets that are good for equally long the first one goes.
func firstTicketGoes(s *suite) {
	if s.OpenAt == nil {
		s.Skip("the store has no clock to be set")
	}
	in := s.OpenAt(s.T, memory.Limits{}, func() time.Time { return start })
	s.create(in, s.task("t"), key("t"))
	words := []string{"a", "b", "c", "d", "e", "f", "g"}
	for i, word := range words {
		u := s.status("t", runtime.StateAuthRequired, time.Second)
		u.Ticket = s.ticket(word)
		s.apply(in, key("t"), int64(i)+1, u)
	}
	for i, word := range words {
		if good := s.good(in, word); good != (i >= len(words)-store.MaxTickets) {
			s.Errorf("of %d tickets, number %d is good: %t", len(words), i, good)
		}
	}
	_ = in.Close()
}

// firstOfEqualGoes: of tasks that ended at the same time, the one that was made first makes room.
func firstOfEqualGoes(s *suite) {
	if s.OpenAt == nil {
		s.Skip("the store has no clock to be set")
	}
	in := s.OpenAt(s.T, memory.Limits{Tasks: 3}, func() time.Time { return start })
	for i := range 3 {
		s.create(in, s.task(name(i)), key(name(i)))
	}
	for _, i := range []int{2, 0, 1} {
		s.apply(in, key(name(i)), 1, s.status(name(i), runtime.StateCompleted, 0))
	}
	for i := range 3 {
		s.create(in, s.working(name(9+i)), key(name(9+i)))
		if s.has(in, name(i)) || i < 2 && !s.has(in, name(i+1)) {
			s.Errorf("another task than %s made room", name(i))
		}
	}
	_ = in.Close()
}
