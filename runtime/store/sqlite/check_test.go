package sqlite

import (
	"os"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// TestCheckFindsWhatIsWrong: each kind of damage by a sentence that names the task or the caller.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	for _, damage := range []struct{ name, sql, want string }{
		{"none", "", ""},
		{"a gap", "DELETE FROM event WHERE task=1 AND seq=2", `task "t" has 2 events from 1 to 3, and should have all from 1 to 3`},
		{"the last event", "DELETE FROM event WHERE task=1 AND seq=3", `task "t" has 2 events from 1 to 2, and should have all from 1 to 3`},
		{"no events", "DELETE FROM event WHERE task=1", `task "t" has 0 events from 0 to 0`},
		{"first events without a body", "DELETE FROM event WHERE task=1 AND seq=1; UPDATE task SET oldest=1 WHERE n=1", `task "t": its first events are gone, and what they made of it`},
		{"a call", "DELETE FROM call", `task "works" has 1 messages to be worked off, of which 0 are there`},
		{"a call too many", "UPDATE task SET done=1 WHERE id='works'", `task "works" has 0 messages to be worked off, of which 0 are there`},
		{"a task", "DELETE FROM task WHERE n=1", `3 rows of "event" belong to task number 1, which is not there`},
		{"an owner", "DELETE FROM owner", `task "t": it is nobody's`},
		{"bytes", "UPDATE account SET bytes=bytes+7", `caller "": `},
		{"rest", "UPDATE account SET restedtasks=2", `caller "": 2 tasks that rest are counted, there are 1`},
		{"configurations", "UPDATE account SET pushes=5", `caller "": 5 push configurations are counted, there are 0`},
		{"states", "UPDATE usage SET tasks=9 WHERE state=3", `caller "" of tenant "" is counted 9 tasks that are completed, and has 1`},
		{"states that are not counted", "DELETE FROM usage", `is counted 0 tasks that are completed, and has 1`},
	} {
		t.Run(damage.name, func(t *testing.T) {
			s := open(t, fresh(t), Options{})
			create(t, s, "t")
			apply(t, s, "t", 1, chunk("t", "x"))
			apply(t, s, "t", 2, status("t", runtime.StateCompleted))
			n := newTask("works")
			n.Call = &store.Call{Input: []byte("{}")}
			if _, err := s.Create(ctx, key("works"), n, nil); err != nil {
				t.Fatal(err)
			}
			if err := s.writer.script(damage.sql); err != nil {
				t.Fatal(err)
			}
			list, err := wrong(s)
			if err != nil || damage.want == "" != (len(list) == 0) || !strings.Contains(strings.Join(list, "\n"), damage.want) {
				t.Errorf("said is %q, %v; want %s", list, err, damage.want)
			}
		})
	}
}

// TestCheckFindsDamagedPages: bytes that changed on the disk.
func TestCheckFindsDamagedPages(t *testing.T) {
	path := fresh(t)
	s := open(t, path, Options{})
	for i := range 200 {
		create(t, s, "task-"+strings.Repeat("x", i))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := len(b) / 2; at < len(b)/2+3*4096; at += 64 {
		b[at] ^= 0xff
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := wrong(s); err != nil || len(list) == 0 || !strings.Contains(list[0], "the database is damaged") {
		t.Errorf("said is %q, %v", list, err)
	}
}
