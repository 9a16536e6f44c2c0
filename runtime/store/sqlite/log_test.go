package sqlite

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/admin"
)

// ran notes what statements run from now on, by their first words.
func ran(s *Store, words int) *[]string {
	list := new([]string)
	s.writer.before = func(sql string) error {
		if first := strings.Fields(sql); first[0] != "SELECT" {
			*list = append(*list, strings.Join(first[:min(len(first), words)], " "))
		}
		return nil
	}
	return list
}

// A task that is answered at once is one transaction, in which each row is written once, and none for its call.
func TestAnAnsweredTaskIsOneTransaction(t *testing.T) {
	s := open(t, fresh(t), Options{})
	create(t, s, "before") // there is an account now
	statements := ran(s, 3)
	n := newTask("t")
	n.Call, n.Done, n.Stamp = &store.Call{}, true, 1
	n.Then = []store.Change{{Event: chunk("t", "x").Event}, {Event: status("t", runtime.StateCompleted).Event}}
	if _, err := s.Create(ctx, key("t"), n, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"BEGIN IMMEDIATE", "PRAGMA data_version", "INSERT INTO event(task,", "INSERT INTO task(n,",
		"UPDATE account SET", "INSERT INTO usage(owner,", "COMMIT"}
	if !slices.Equal(*statements, want) {
		t.Errorf("ran %q, want %q", *statements, want)
	}
	integrity(t, s)
}

// The events of an update are one row, but that messages end one.
func TestEventsStoredTogetherAreOneRow(t *testing.T) {
	s := open(t, fresh(t), Options{})
	create(t, s, "t")
	u := chunk("t", "1")
	asked := store.Change{Event: status("t", runtime.StateInputRequired).Event}
	asked.Messages = []runtime.Message{proto.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: "m"}, Parts: []runtime.Part{runtime.Text("more")},
	})}
	u.Then = []store.Change{{Event: chunk("t", "2").Event}, asked, {Event: chunk("t", "3").Event}, {Event: chunk("t", "4").Event}}
	statements := ran(s, 3)
	apply(t, s, "t", 1, u)
	rows := slices.DeleteFunc(*statements, func(sql string) bool { return sql != "INSERT INTO event(task," })
	if len(rows) != 2 {
		t.Errorf("%d rows were written", len(rows))
	}
	f, err := OpenFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	list, err := f.Tasks(t.Context(), admin.Which{})
	if err != nil || len(list) != 1 || list[0].Version != 6 {
		t.Fatalf("%+v, %v", list, err)
	}
	page, err := f.Task(t.Context(), list[0])
	if err != nil || len(page.Events) != 6 {
		t.Fatalf("%+v, %v", page, err)
	}
	for i, want := range []admin.EventRow{
		{Kind: "task", State: "submitted"}, {Kind: "artifact", State: "submitted"}, {Kind: "artifact", State: "submitted"},
		{Kind: "status", State: "input-required"}, {Kind: "artifact", State: "input-required"},
		{Kind: "artifact", State: "input-required"},
	} {
		e := page.Events[i]
		if e.Seq != int64(i)+1 || e.Kind != want.Kind || e.State != want.State || (e.Messages != nil) != (i == 3) || e.Protocol == "" {
			t.Errorf("event %d is %+v", i, e)
		}
	}
}

// A log is trimmed by rows: what is left can be read, and counts right.
func TestALogOfRunsIsTrimmed(t *testing.T) {
	s := open(t, fresh(t), Options{Events: 20})
	create(t, s, "t")
	said := strings.Repeat("x", 3000)
	for version := int64(1); version < 200; version += 7 {
		u := chunk("t", said)
		for range 6 {
			u.Then = append(u.Then, store.Change{Event: chunk("t", said).Event})
		}
		apply(t, s, "t", version, u)
		s.cache.Clear()
		h, err := s.Head(ctx, key("t"))
		if err != nil || h.Version != version+7 || parts(t, s, "t") != int(version)+6 {
			t.Fatalf("the head is %+v, with %d parts: %v", h, parts(t, s, "t"), err)
		}
		if list, err := s.Events(ctx, key("t"), h.Version-3, 0); err != nil || len(list) != 3 || list[0].Seq != h.Version-2 {
			t.Fatalf("the last events at %d: %v, %v", h.Version, list, err)
		}
	}
	if _, err := s.Events(ctx, key("t"), 100, 0); err == nil {
		t.Error("the log was never trimmed")
	}
	if list, err := wrong(s); err != nil || len(list) > 0 {
		t.Errorf("the file: %q, %v", list, err)
	}
}

// Events that nobody has read are not kept in memory, and are in the file for who does.
func TestUnreadEventsAreInTheFileAlone(t *testing.T) {
	s := open(t, fresh(t), Options{})
	create(t, s, "t")
	for version := int64(1); version < 5; version++ {
		u := chunk("t", "x")
		u.Unread = version < 3
		apply(t, s, "t", version, u)
	}
	if n := len(s.cache.Get(key("t")).Tail); n != 2 {
		t.Errorf("%d events are kept in memory", n)
	}
	for after := int64(1); after < 5; after++ {
		if list, err := s.Events(ctx, key("t"), after, 0); err != nil || len(list) != int(5-after) || list[0].Seq != after+1 {
			t.Errorf("after %d are %v, %v", after, list, err)
		}
	}
}
