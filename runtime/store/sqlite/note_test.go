package sqlite

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// TestAccountsHoldTheBytesOfTheirNotes: whatever becomes of notes and tasks, what accounts say is the sum of the rows.
func TestAccountsHoldTheBytesOfTheirNotes(t *testing.T) {
	now := time.Now()
	s := open(t, fresh(t), Options{Bytes: 600_000, Tasks: 60, Parked: time.Minute, Clock: func() time.Time { return now }})
	random := rand.New(rand.NewPCG(1, 2))
	refused := map[error]int{}
	for i := range 3000 {
		owner := store.Owner{Tenant: fmt.Sprint("t", random.IntN(2)), Principal: fmt.Sprint("p", random.IntN(9))}
		note := make([]byte, random.IntN(12_000))
		var err error
		switch random.IntN(8) {
		case 0:
			_, err = s.SetNote(ctx, owner, fmt.Sprint("c", random.IntN(4)), nil, store.AnyVersion)
		case 1:
			n := newTask(fmt.Sprint(i))
			n.Private.Input = note
			_, err = s.Create(ctx, store.Key{Owner: owner, Task: fmt.Sprint(i)}, n, nil)
		case 2:
			now = now.Add(20 * time.Second)
			_, _, err = s.Sweep(ctx)
		default:
			_, err = s.SetNote(ctx, owner, fmt.Sprint("c", random.IntN(40)), note, store.AnyVersion)
		}
		if err != nil {
			refused[err]++
		}
		if i%50 != 0 {
			continue
		}
		err = s.reading(ctx, func(c *conn) error {
			return c.query(`SELECT principal, bytes, notes, (SELECT coalesce(sum(charged),0) FROM task WHERE account=a.n),
				(SELECT coalesce(sum(bytes),0) FROM note WHERE account=a.n) FROM account a`, func(v []value) error {
				if bytes, notes, ofTasks, ofNotes := num(v[1]), num(v[2]), num(v[3]), num(v[4]); bytes != ofTasks+ofNotes || notes != ofNotes {
					t.Errorf("%s holds %d, %d of notes; its rows %d and %d", text(v[0]), bytes, notes, ofTasks, ofNotes)
				}
				return nil
			})
		})
		if err != nil || t.Failed() {
			t.Fatalf("after %d: %v", i, err)
		}
	}
	for err := range refused {
		if err != store.ErrFull && err != store.ErrTooLarge {
			t.Error(err)
		}
	}
	if list, err := wrong(s); err != nil || len(list) > 0 {
		t.Errorf("the check finds %q, %v", list, err)
	}
	_ = s.Close()
	script(t, s.path, "UPDATE account SET notes=notes+1 WHERE principal='p1'")
	c, err := connect(s.path, "rw")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	if list, err := wrong(s); len(list) != 1 || err != nil {
		t.Errorf("of a wrong sum the check says %q, %v", list, err)
	}
	if held, _, err := c.one("SELECT sum(bytes) FROM account"); held > 600_000 || err != nil {
		t.Errorf("%d bytes are held: %v", held, err)
	}
}
