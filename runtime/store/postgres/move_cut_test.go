package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
	"github.com/a2agen/a2agen/runtime/store/spread"
)

// cutMove is a database as a mover reaches it whose process is killed before one of its calls.
type cutMove struct {
	*Whole
	left *int
}

var errKilled = errors.New("killed")

func (c *cutMove) may() error {
	if *c.left--; *c.left < 0 {
		return errKilled
	}
	return nil
}

func (c *cutMove) Arrive(ctx context.Context, principal string) (int64, error) {
	if err := c.may(); err != nil {
		return 0, err
	}
	return c.Whole.Arrive(ctx, principal)
}

func (c *cutMove) Step(ctx context.Context, principal string, from, to int64) error {
	if err := c.may(); err != nil {
		return err
	}
	return c.Whole.Step(ctx, principal, from, to)
}

func (c *cutMove) Put(ctx context.Context, principal string, drop []int64, tasks []transfer.Task) error {
	if err := c.may(); err != nil {
		return err
	}
	return c.Whole.Put(ctx, principal, drop, tasks)
}

func (c *cutMove) PutRepeats(ctx context.Context, principal string, list []transfer.Repeat) error {
	if err := c.may(); err != nil {
		return err
	}
	return c.Whole.PutRepeats(ctx, principal, list)
}

func (c *cutMove) Clear(ctx context.Context, principal string) error {
	if err := c.may(); err != nil {
		return err
	}
	return c.Whole.Clear(ctx, principal)
}

// TestAMoveThatIsKilledIsFinishedOrTakenBack: whatever was its last step, the next move leaves all that there was in
// one place.
func TestAMoveThatIsKilledIsFinishedOrTakenBack(t *testing.T) {
	addresses := []string{named(postgrestest.Server(t), "a"), named(postgrestest.Server(t), "b")}
	s := replica(t, Options{}, addresses...)
	fillStore(t, s, 12)
	a, b := openWhole(t, addresses[0], false), openWhole(t, addresses[1], false)
	clean := &spread.Mover{Places: []spread.Movable{a, b}}
	if err := clean.Move(t.Context(), "ada", "a"); err != nil {
		t.Fatal(err)
	}
	want, err := transfer.Count(t.Context(), a, "ada")
	if err != nil || want.Tasks != 4 || want.Notes != 4 || want.Repeats != 4 {
		t.Fatalf("%+v, %v", want, err)
	}
	for n, done := 0, false; !done; n++ {
		left := n
		m := &spread.Mover{Places: []spread.Movable{&cutMove{a, &left}, &cutMove{b, &left}}}
		err := m.Move(t.Context(), "ada", "b")
		if done = err == nil; !done && !errors.Is(err, errKilled) {
			t.Fatalf("before call %d: %v", n, err)
		}
		to, in := []string{"a", "b"}[n%2], []*Whole{a, b}[n%2]
		if err := clean.Move(t.Context(), "ada", to); err != nil {
			t.Fatalf("killed before call %d, then to %s: %v", n, to, err)
		}
		if got, err := transfer.Count(t.Context(), in, "ada"); err != nil || got.Tasks != want.Tasks || got.Events != want.Events || got.Notes != want.Notes ||
			got.Repeats != want.Repeats || got.Pushes != want.Pushes || got.Tickets != want.Tickets || got.Calls != want.Calls {
			t.Fatalf("killed before call %d, then to %s: %+v, %v, want %+v", n, to, got, err, want)
		}
		key := store.Key{Owner: store.Owner{Tenant: "acme", Principal: "ada"}, Task: "t1"}
		if h, err := s.Head(t.Context(), key); err != nil || h.Version != 4 {
			t.Fatalf("killed before call %d, then to %s: %+v, %v", n, to, h, err)
		}
		if err := clean.Move(t.Context(), "ada", "a"); err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range addresses {
		if list, err := wrong(openTested(t, address, Options{placed: "a b"})); err != nil || len(list) > 0 {
			t.Errorf("%v, %v", list, err)
		}
	}
	due, _, err := s.Due(t.Context(), 100, time.Minute)
	if err != nil || len(due) != 12 {
		t.Errorf("%d notifications are due, %v", len(due), err)
	}
}

// TestADatabaseIsAdded: replicas that know of it and those that do not go on together, until all know it and callers
// are moved.
func TestADatabaseIsAdded(t *testing.T) {
	addresses := []string{named(postgrestest.Server(t), "a"), named(postgrestest.Server(t), "b")}
	alone := openTested(t, addresses[0], Options{})
	fillStore(t, alone, 12)
	s := replica(t, Options{}, addresses...)
	for i := range 12 {
		key := store.Key{Owner: store.Owner{Tenant: []string{"", "acme"}[i%2], Principal: []string{"", "ada", "bob"}[i%3]}, Task: fmt.Sprint("t", i)}
		if _, err := s.Head(t.Context(), key); err != nil {
			t.Errorf("%v is not found: %v", key, err)
		}
	}
	fresh := ""
	for i := 0; fresh == ""; i++ {
		if p := fmt.Sprint("new", i); spread.First("a b", p) == "b" {
			fresh = p
		}
	}
	if _, err := s.SetNote(t.Context(), store.Owner{Principal: fresh}, "c", []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if note, err := alone.Note(t.Context(), store.Owner{Principal: fresh}, "c"); err != nil || note.Version == 0 {
		t.Errorf("the one that knows no other does not find it: %v", err)
	}
	m := &spread.Mover{Places: []spread.Movable{openWhole(t, addresses[0], false), openWhole(t, addresses[1], false)}}
	moved, err := m.MoveAll(t.Context())
	if err != nil || moved == 0 {
		t.Fatalf("%d moved, %v", moved, err)
	}
	if note, err := s.Note(t.Context(), store.Owner{Principal: fresh}, "c"); err != nil || string(note.Value) != "x" {
		t.Errorf("then it has %q, %v", note.Value, err)
	}
	if stand, err := m.Places[1].Find(t.Context(), fresh); err != nil || !stand.Known || stand.Steps%4 != spread.Here || stand.List != "a b" {
		t.Errorf("the new one says %+v, %v", stand, err)
	}
	if _, err := alone.SetNote(t.Context(), store.Owner{Principal: "another"}, "c", []byte("x"), 0); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the one that knows no other still takes new callers: %v", err)
	}
	if again, err := m.MoveAll(t.Context()); err != nil || again != 0 {
		t.Errorf("again %d are moved, %v", again, err)
	}
	if _, err := Open(t.Context(), addresses[0], a2a.Protocol(), Options{}); err == nil || !strings.Contains(err.Error(), "it is one of several databases (a b)") {
		t.Errorf("one of them is opened alone: %v", err)
	}
	if _, err := Open(t.Context(), addresses[0], a2a.Protocol(), Options{placed: "a c"}); err == nil || !strings.Contains(err.Error(), "list them all") {
		t.Errorf("one of others is opened: %v", err)
	}
}
