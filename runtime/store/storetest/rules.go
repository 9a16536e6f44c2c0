package storetest

import (
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Rules of an update that all stores must decide alike.

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
	in := s.Open(s.T, store.MemoryLimits{Pushes: 1})
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
	in := s.Open(s.T, store.MemoryLimits{Bytes: 40_000, TaskBytes: 30_000})
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

	in = s.Open(s.T, store.MemoryLimits{Bytes: 40_000, TaskBytes: 39_000})
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
	in := s.Open(s.T, store.MemoryLimits{Bytes: 1 << 20, TaskBytes: 20_000})
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

// firstTicketGoes: of five tickets that are good for equally long the first one goes.
func firstTicketGoes(s *suite) {
	if s.OpenAt == nil {
		s.Skip("the store has no clock to be set")
	}
	in := s.OpenAt(s.T, store.MemoryLimits{}, func() time.Time { return start })
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
